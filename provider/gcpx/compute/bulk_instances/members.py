"""The members of a fleet: which go and come, what differs on them, and what they tell of the fleet."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from gcpx.compute.bulk_instances.fleet import TRACKING_LABEL, Fleet, natural
from gcpx.compute.instance_properties.declaration import InstanceProperties
from gcpx.model import codec, state
from gcpx.model.fields import object_type
from gcpx.model.links import name_of
from gcpx.model.numbers import as_integer


def size(inputs: dict[str, Any]) -> int:
    """Say how many instances are wanted."""
    return as_integer(inputs.get("count")) or len(inputs.get("perInstanceProperties") or ())


def scaling(
    members: list[dict[str, Any]], old: dict[str, Any], new: dict[str, Any]
) -> tuple[list[dict[str, Any]], int, list[str]]:
    """Say which members to delete, how many to make, and under which names."""
    wanted = new.get("perInstanceProperties")
    if not wanted:
        surplus = len(members) - size(new)
        highest = sorted(members, key=lambda item: natural(item["name"]), reverse=True)
        return highest[: max(0, surplus)], max(0, -surplus), []
    before = old.get("perInstanceProperties") or {}
    moved = {name for name, own in wanted.items() if name in before and before[name] != own}
    extra = [item for item in members if item["name"] not in wanted or item["name"] in moved]
    there = {item["name"] for item in members} - {item["name"] for item in extra}
    names = [name for name in wanted if name not in there]
    return extra, len(names), names


def settings(item: dict[str, Any], old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Find the methods a member needs, each with how its body follows from the instance as it then is."""
    found: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
        "setLabels": lambda live: {
            "labels": _three_way(live.get("labels", {}), old.get("labels"), new.get("labels")),
            "labelFingerprint": live.get("labelFingerprint"),
        },
        "setMetadata": lambda live: {
            "items": _items(_three_way(_by_key(live.get("metadata")), _by_key(old.get("metadata")), _by_key(new.get("metadata")))),
            "fingerprint": live.get("metadata", {}).get("fingerprint"),
        },
        "setTags": lambda live: {
            "items": sorted(_three_way(_marks(live), _marks(old), _marks(new))),
            "fingerprint": live.get("tags", {}).get("fingerprint"),
        },
    }  # fmt: skip
    as_it_is = {
        "setLabels": item.get("labels", {}),
        "setMetadata": _items(_by_key(item.get("metadata"))),
        "setTags": sorted((item.get("tags") or {}).get("items") or ()),
    }
    changed = {verb: body(item) for verb, body in found.items()}
    return {
        verb: found[verb] for verb, body in changed.items() if body.get("labels", body.get("items")) != as_it_is[verb]
    }


def _marks(values: dict[str, Any]) -> dict[str, Any]:
    """Read tags as a map, so that they can be merged like the others."""
    return dict.fromkeys((values.get("tags") or {}).get("items") or (), True)


def _three_way(live: dict[str, Any], old: Any, new: Any) -> dict[str, Any]:
    """Take away what the user no longer wants, and set what is wanted; what others added stays."""
    wanted = {key: value for key, value in (new or {}).items() if value is not None}
    dropped = (set(old or ()) | set(new or ())) - set(wanted)
    return {key: value for key, value in live.items() if key not in dropped} | wanted


def _by_key(metadata: Any) -> dict[str, Any]:
    return {item["key"]: item.get("value") for item in (metadata or {}).get("items") or ()}


def _items(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": value} for key, value in sorted(values.items())]


def member(item: dict[str, Any]) -> dict[str, Any]:
    """Describe an instance as a member of a fleet."""
    nic: dict[str, Any] = next(iter(item.get("networkInterfaces", ())), {})
    external = next((config.get("natIP") for config in nic.get("accessConfigs", ()) if config.get("natIP")), None)
    found = {
        "name": item["name"],
        "selfLink": item["selfLink"],
        "id": str(item["id"]),
        "zone": name_of(item["zone"]),
        "status": item.get("status"),
        "internalAddress": nic.get("networkIP"),
        "externalAddress": external,
    }
    return {name: value for name, value in found.items() if value is not None}


def made_up(fleet: Fleet, members: list[dict[str, Any]], image: Callable[[str], str | None]) -> dict[str, Any]:
    """Describe a fleet that is imported: the pattern of its names, and what its first member is made of.

    `image` tells what image a disk was made from, which an instance does not say.
    """
    kind = object_type(InstanceProperties)
    first = dict(members[0])
    first["machineType"] = name_of(first.get("machineType", ""))
    first["labels"] = {key: value for key, value in first.get("labels", {}).items() if key != TRACKING_LABEL}
    properties = state.minimal(kind, codec.from_body(kind, first))
    properties["disks"] = [_disk_of(disk, image) for disk in first.get("disks", ())]
    properties["networkInterfaces"] = [_network_of(nic) for nic in first.get("networkInterfaces", ())]
    found: dict[str, Any] = {"__found": True, "instanceProperties": properties}
    pattern = (
        fleet.id.partition("/")[2] if fleet.id.startswith("namePattern/") else _pattern([i["name"] for i in members])
    )
    if pattern is not None:
        return {**found, "namePattern": pattern}
    return {**found, "perInstanceProperties": {item["name"]: {} for item in members}}


def _pattern(names: list[str]) -> str | None:
    forms = {re.sub(r"\d+(?=\D*$)", lambda run: "#" * len(run[0]), name) for name in names}
    form = forms.pop()
    return form if not forms and form.count("#") else None


def _disk_of(disk: dict[str, Any], image: Callable[[str], str | None]) -> dict[str, Any]:
    kept = {name: disk[name] for name in ("boot", "autoDelete") if disk.get(name)}
    size = {"diskSizeGb": int(disk["diskSizeGb"])} if disk.get("diskSizeGb") else {}
    source = image(disk["source"]) if disk.get("source") else None
    return {**kept, "initializeParams": {**size, **({"sourceImage": source} if source else {})}}


def _network_of(nic: dict[str, Any]) -> dict[str, Any]:
    kept = {name: nic[name] for name in ("network", "subnetwork") if nic.get(name)}
    return {**kept, "accessConfigs": [{}]} if nic.get("accessConfigs") else kept
