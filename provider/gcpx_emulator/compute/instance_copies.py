"""A template's properties, copied from an instance without its addresses, and with disks as requested."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.images import found_image
from gcpx_emulator.core.discovery import document
from gcpx_emulator.core.errors import invalid, required
from gcpx_emulator.core.handlers import Call
from gcpx_emulator.core.store import Json

_WHERE: Final = "resource.sourceInstanceParams.diskConfigs"
_OTHERWISE: Final = frozenset({"disks", "machineType", "networkInterfaces", "resourceManagerTags"})
"""Properties that are not copied as they are."""
_OF_ONE_INSTANCE: Final = frozenset(
    {"externalIpv6", "externalIpv6PrefixLength", "fingerprint", "internalIpv6PrefixLength", "ipv6AccessType",
     "ipv6Address", "kind", "natIP", "networkIP", "securityPolicy"}
)  # fmt: skip
"""What of an interface is one instance's own, and cannot be another's."""
_BOOT, _WRITTEN, _READ, _LOCAL = "boot disk", "additional read-write disk", "read-only disk", "local SSD"
_FITS: Final = {
    "ATTACH_READ_ONLY": {_READ},
    "BLANK": {_WRITTEN, _LOCAL},
    "CUSTOM_IMAGE": {_BOOT, _WRITTEN},
    "DEFAULT": {_BOOT, _WRITTEN, _READ, _LOCAL},
    "DO_NOT_INCLUDE": {_WRITTEN, _READ, _LOCAL},
    "SOURCE_IMAGE": {_BOOT, _WRITTEN},
    "SOURCE_IMAGE_FAMILY": {_BOOT, _WRITTEN},
}
"""Which disks each value of `instantiateFrom` is for. Source: Compute API, `DiskInstantiationConfig`."""


def copied_properties(call: Call, instance: Json, params: Json) -> Json:
    """Copy an instance's properties, its disks as the parameters say."""
    names = document("compute.beta").schemas["InstanceProperties"]["properties"].keys() - _OTHERWISE
    properties = {name: instance[name] for name in names & instance.keys()}
    properties |= {
        "machineType": _last(instance["machineType"]),
        "disks": _copied_disks(call, instance, params.get("diskConfigs") or []),
        "networkInterfaces": [_copied_interface(nic) for nic in instance["networkInterfaces"]],
    }
    if "resourcePolicies" in properties:
        properties["resourcePolicies"] = [_last(policy) for policy in properties["resourcePolicies"]]
    if "guestAccelerators" in properties:
        properties["guestAccelerators"] = [
            item | {"acceleratorType": _last(item.get("acceleratorType", ""))}
            for item in properties["guestAccelerators"]
        ]
    return properties


def _last(link: str) -> str:
    return link.rpartition("/")[2]


def _copied_interface(nic: Json) -> Json:
    kept = {key: value for key, value in nic.items() if key not in {*_OF_ONE_INSTANCE, "name"}}
    for name in ("accessConfigs", "ipv6AccessConfigs"):
        if kept.get(name):
            kept[name] = [
                {key: value for key, value in config.items() if key not in _OF_ONE_INSTANCE} for config in kept[name]
            ]
    return kept


def _copied_disks(call: Call, instance: Json, configs: list[Json]) -> list[Json]:
    devices = {disk["deviceName"] for disk in instance["disks"]}
    wanted = {}
    for index, config in enumerate(configs):
        name = config.get("deviceName")
        if not name:
            raise required(f"{_WHERE}[{index}].deviceName")
        if name not in devices:
            raise invalid(f"{_WHERE}[{index}].deviceName", name, "No such device.")
        wanted[name] = config | {"_where": f"{_WHERE}[{index}]"}
    copies = [_copied_disk(call, disk, wanted.get(disk["deviceName"], {})) for disk in instance["disks"]]
    return [disk for disk in copies if disk is not None]


def _kind(disk: Json) -> str:
    if disk["boot"]:
        return _BOOT
    if disk["type"] == "SCRATCH":
        return _LOCAL
    return _READ if disk["mode"] == "READ_ONLY" else _WRITTEN


def _copied_disk(call: Call, disk: Json, config: Json) -> Json | None:
    how, kind = config.get("instantiateFrom", "DEFAULT"), _kind(disk)
    if kind not in _FITS[how]:
        raise invalid(f"{config['_where']}.instantiateFrom", how, f"'{disk['deviceName']}' is a {kind}.")
    if how == "DO_NOT_INCLUDE":
        return None
    kept = {key: disk[key] for key in ("deviceName", "boot", "mode", "type", "interface")}
    kept["autoDelete"] = config.get("autoDelete", disk["autoDelete"])
    if kind == _LOCAL:
        size = {"diskSizeGb": disk["diskSizeGb"]} if "diskSizeGb" in disk else {}
        return kept | {"initializeParams": {"diskType": "local-ssd", **size}}
    path = call.linked(disk["source"])
    if kind == _READ:
        return kept | {"source": disk["source"] if "/regions/" in path else _last(path)}
    stored = call.found(path)
    parameters = {"diskSizeGb": stored["sizeGb"], "diskType": _last(stored["type"])}
    key = {"diskEncryptionKey": disk["diskEncryptionKey"]} if "diskEncryptionKey" in disk else {}
    return kept | key | {"initializeParams": parameters | _content(call, how, config, stored)}


def _content(call: Call, how: str, config: Json, stored: Json) -> Json:
    """Say what a new disk begins with."""
    if how == "DEFAULT":
        return {key: stored[key] for key in ("sourceImage", "sourceSnapshot") if key in stored}
    if how == "BLANK":
        return {}
    if how == "CUSTOM_IMAGE":
        if not config.get("customImage"):
            raise required(f"{config['_where']}.customImage")
        return {"sourceImage": config["customImage"]}
    return {"sourceImage": _source_image(call, how, f"{config['_where']}.instantiateFrom", stored)}


def _source_image(call: Call, how: str, where: str, stored: Json) -> str:
    if "sourceImage" not in stored:
        source = "a snapshot" if "sourceSnapshot" in stored else "no image"
        raise invalid(where, how, f"The disk '{stored['name']}' was made from {source}.")
    image = str(stored["sourceImage"])
    if how == "SOURCE_IMAGE":
        return image
    family = found_image(call, where, image).get("family")
    if family is None:
        raise invalid(where, how, f"The image '{image}' belongs to no image family.")
    return f"{image.rpartition('/')[0]}/family/{family}"
