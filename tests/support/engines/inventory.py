"""What exists in the emulator: by path, and by the identity that a stack's state has for it."""

from __future__ import annotations

import functools
import json
from collections import Counter
from typing import Any, Final

import attrs
from engines.driver import Resource
from samples import BY_TOKEN
from servers.emulated import Emulated

from gcpx_emulator.core.json_data import Json

_IN_THE_CLOUD: Final = ("projects/", "b/", "users/")
"""How the paths of resources begin; other paths belong to settings of the emulator."""
_CHANGED_BY_OTHERS: Final = frozenset(
    {"disks", "fingerprint", "labelFingerprint", "users", "lastAttachTimestamp", "lastDetachTimestamp", "_due"}
    | {"etag", "metageneration", "updated"}
)
"""What Google computes, and what attachments and notifications change of instances, disks and buckets of others."""


@attrs.frozen
class Inventory:
    """All that exists at a moment, by path; disks that are attached to instances are items of their own."""

    items: dict[str, Json]

    @classmethod
    def of(cls, cloud: Emulated) -> Inventory:
        """Take the inventory of an emulator, when all operations have ended."""
        cloud.emulator.operations.settle()
        rows = cloud.emulator.store.run("select path, body from resources")
        found = {row["path"]: json.loads(row["body"]) for row in rows if row["path"].startswith(_IN_THE_CLOUD)}
        attached = {
            f"{path}/attachedDisks/{disk['deviceName']}": disk
            for path, body in found.items()
            if "/instances/" in path
            for disk in body.get("disks", ())[1:]
        }
        return cls({path: _content(body) for path, body in found.items()} | attached)

    def new_since(self, before: Inventory) -> dict[str, Json]:
        """Return what is new, by path."""
        return {path: body for path, body in self.items.items() if path not in before.items}

    def added_since(self, before: Inventory) -> Counter[str]:
        """Count what is new, by kind."""
        return Counter(path.split("/")[-2] for path in self.new_since(before))

    def changed_since(self, before: Inventory) -> list[str]:
        """Name what existed before, and is gone or different."""
        return sorted(path for path, body in before.items.items() if self.items.get(path) != body)

    @functools.cached_property
    def things(self) -> dict[str, Any]:
        """What exists, by identity: a fleet is its members by path, and an instance includes its boot disk."""
        found: dict[str, Any] = {}
        for path, body in self.items.items():
            parent, _, attached = path.partition("/attachedDisks/")
            fleet = self.items[parent].get("labels", {}).get("gcpx-bulk") if "/instances/" in path else None
            if fleet is not None and not attached:
                found.setdefault(f"{_region_of(path)}/bulkInstances/{fleet}", {})[path] = body
            elif fleet is None and attached:
                source = body["source"]
                found[f"{parent} {source[source.index('projects/') :]}"] = body
            elif fleet is None and not self._is_boot_disk(path):
                found[path] = body
        return found

    def holds(self, resource: Resource) -> bool:
        """Return whether a resource of a state exists, and is not a later one with the same name."""
        found, number = self.things.get(identity(resource)), resource.outputs.get("numericId")
        return found is not None and number in {None, found.get("id")}

    def _is_boot_disk(self, path: str) -> bool:
        return "/disks/" in path and path.replace("/disks/", "/instances/") in self.items

    def fleet(self, identity: str) -> dict[str, Json]:
        """Return the members of a fleet, by path."""
        members: dict[str, Json] = self.things.get(identity, {})
        return members


def identity(resource: Resource) -> str:
    """Return the identity of a resource in the state: its path, except for fleets and attachments."""
    return BY_TOKEN[resource.urn.split("::")[2]].identity_of(resource)


def _content(item: Json) -> Json:
    return {key: value for key, value in item.items() if key not in _CHANGED_BY_OTHERS}


def _region_of(path: str) -> str:
    """Return the path of the region of what is in a zone."""
    scope, _, zone = "/".join(path.split("/")[:4]).rpartition("/zones/")
    return f"{scope}/regions/{zone.rpartition('-')[0]}"
