"""What exists in the emulator, by the identity that a stack's state has for it."""

from __future__ import annotations

import base64
import hashlib
from typing import Any, Final

import attrs
from driver import Resource
from emulated import Emulated
from programs import ATTACHMENT, BUCKET, FLEET, IMAGE, KEY, NOTIFICATION, PROJECT, TEMPLATE, USER, VM, ZONE

from gcpx_emulator.core.json_data import Json

REGION: Final = ZONE.rpartition("-")[0]
ZONES: Final = [f"projects/{PROJECT}/zones/{REGION}-{letter}" for letter in "bcd"]
_COLLECTIONS: Final = (
    f"projects/{PROJECT}/global/instanceTemplates",
    f"projects/{PROJECT}/regions/{REGION}/instanceTemplates",
    f"projects/{PROJECT}/global/machineImages",
    f"b/{BUCKET}/notificationConfigs",
    f"users/{USER}/sshPublicKeys",
)
_CHANGED_BY_GOOGLE: Final = frozenset({"users", "labelFingerprint", "disks", "_due"})
_KINDS: Final = {TEMPLATE: "instanceTemplates", IMAGE: "machineImages"}
_FLEETS: Final = f"projects/{PROJECT}/regions/{REGION}/bulkInstances"


@attrs.frozen
class Inventory:
    """What exists at a moment, by identity: templates, images, notifications, keys, attachments, fleets and the rest.

    Attributes:
        things: their content; that of a fleet is its members by path.
    """

    things: dict[str, Any]

    @classmethod
    def of(cls, cloud: Emulated) -> Inventory:
        """Look at everything that exists."""
        cloud.emulator.operations.settle()
        store = cloud.emulator.store
        found: dict[str, Any] = {
            f"{path}/{_key(item)}": _content(item) for path in _COLLECTIONS for item in store.list(path)
        }
        instances = {
            f"{zone}/instances/{item['name']}": item for zone in ZONES for item in store.list(f"{zone}/instances")
        }
        for path, item in instances.items():
            fleet = item.get("labels", {}).get("gcpx-bulk")
            if fleet is None:
                found[path] = _content(item)
            else:
                found.setdefault(f"{_FLEETS}/{fleet}", {})[path] = _content(item)
        for disk in instances.get(VM, {}).get("disks", ())[1:]:
            found[f"{VM} {_path(disk['source'])}"] = {
                key: disk.get(key) for key in ("deviceName", "mode", "autoDelete")
            }
        for zone in ZONES:
            for disk in store.list(f"{zone}/disks"):
                if f"{zone}/instances/{disk['name']}" not in instances:
                    found[f"{zone}/disks/{disk['name']}"] = {}
        return cls(found)

    def holds(self, resource: Resource) -> bool:
        """Return whether a resource of a state exists, and is not a later one with the same name."""
        found, number = self.things.get(identity(resource)), resource.outputs.get("numericId")
        return found is not None and number in {None, found.get("id")}

    def fleet(self, identity: str) -> dict[str, Json]:
        """Return the members of a fleet, by path."""
        members: dict[str, Json] = self.things.get(identity, {})
        return members


def identity(resource: Resource) -> str:
    """Return the identity of a resource in the state."""
    token = resource.urn.split("::")[2]
    if token == ATTACHMENT:
        return declared_identity(token, {**resource.outputs, **resource.inputs}) or resource.id
    return f"b/{resource.id}" if token == NOTIFICATION else resource.id


def declared_identity(token: str, inputs: dict[str, Any]) -> str | None:
    """Return the identity that follows from inputs; None if Google or gcpx chooses it."""
    if token == ATTACHMENT:
        return f"{VM} projects/{PROJECT}/zones/{ZONE}/disks/{inputs['disk'].rpartition('/')[2]}"
    if token == KEY:
        digest = hashlib.sha256(base64.b64decode(inputs["key"].split()[1])).hexdigest()
        return f"users/{USER}/sshPublicKeys/{digest}"
    if token == FLEET:
        return f"{_FLEETS}/{inputs['fleetId']}" if inputs.get("fleetId") else None
    if token == NOTIFICATION or not inputs.get("name"):
        return None
    scope = f"regions/{REGION}" if inputs.get("region") else "global"
    return f"projects/{PROJECT}/{scope}/{_KINDS[token]}/{inputs['name'].rpartition('/')[2]}"


def _key(item: Json) -> str:
    return str(item.get("name") or item["id"]).rpartition("/")[2]


def _content(item: Json) -> Json:
    return {key: value for key, value in item.items() if key not in _CHANGED_BY_GOOGLE}


def _path(link: str) -> str:
    return link[link.index("projects/") :]
