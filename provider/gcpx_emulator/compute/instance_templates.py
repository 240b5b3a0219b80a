"""Instance templates, global and regional, also made from an instance."""

from __future__ import annotations

import re
from typing import Any, Final

import attrs

from gcpx_emulator.compute.call import Call, last_part, path_of
from gcpx_emulator.compute.collection import USUAL, Collection
from gcpx_emulator.compute.encryption_keys import is_customer_supplied
from gcpx_emulator.compute.images import image_warnings, linked_image
from gcpx_emulator.compute.instance_properties import check_properties, kept_properties
from gcpx_emulator.compute.locations import REGIONAL, ZONAL, region_in
from gcpx_emulator.compute.networks import find_network, find_subnetwork, is_of_project, network_path, subnetwork_path
from gcpx_emulator.core.discovery import document
from gcpx_emulator.core.errors import invalid, not_found, required
from gcpx_emulator.core.json_data import Json

_FIELD: Final = "resource.sourceInstanceParams.diskConfigs"
_CONVERTED: Final = frozenset({"disks", "machineType", "networkInterfaces", "resourceManagerTags"})
"""Properties that are not copied unchanged."""
_OF_THE_INSTANCE: Final = frozenset(
    {"externalIpv6", "externalIpv6PrefixLength", "fingerprint", "internalIpv6PrefixLength", "ipv6AccessType",
     "ipv6Address", "kind", "natIP", "networkIP", "securityPolicy"}
)  # fmt: skip
"""Fields of network interfaces and access configs that belong to one instance only, and are not copied."""
_BOOT, _READ_WRITE, _READ_ONLY, _LOCAL = "boot disk", "additional read-write disk", "read-only disk", "local SSD"
_INSTANTIATE_FROM: Final = {
    "ATTACH_READ_ONLY": {_READ_ONLY},
    "BLANK": {_READ_WRITE, _LOCAL},
    "CUSTOM_IMAGE": {_BOOT, _READ_WRITE},
    "DEFAULT": {_BOOT, _READ_WRITE, _READ_ONLY, _LOCAL},
    "DO_NOT_INCLUDE": {_READ_WRITE, _READ_ONLY, _LOCAL},
    "SOURCE_IMAGE": {_BOOT, _READ_WRITE},
    "SOURCE_IMAGE_FAMILY": {_BOOT, _READ_WRITE},
}
"""The kinds of disks that each value of `instantiateFrom` applies to.

Source: REST reference of instanceTemplates, `sourceInstanceParams.diskConfigs[].instantiateFrom`.
"""


@attrs.frozen
class _DiskConfig:
    """The `DiskInstantiationConfig` of one disk.

    Attributes:
        field: its place in the request.
    """

    field: str = _FIELD
    instantiate_from: str = "DEFAULT"
    custom_image: str = ""
    auto_delete: bool | None = None

    def refusal(self, why: str) -> Exception:
        return invalid(f"{self.field}.instantiateFrom", self.instantiate_from, why)


def copied_properties(call: Call, instance: Json, params: Json) -> Json:
    """Copy the properties of an instance; `params` are the request's `sourceInstanceParams`."""
    names = document("compute.beta").schemas["InstanceProperties"]["properties"].keys() - _CONVERTED
    configs = _configs_by_device(instance, params.get("diskConfigs") or [])
    copies = [_copied_disk(call, disk, configs.get(disk["deviceName"], _DiskConfig())) for disk in instance["disks"]]
    properties = {name: instance[name] for name in names & instance.keys()}
    properties |= {
        "machineType": last_part(instance["machineType"]),
        "disks": [disk for disk in copies if disk is not None],
        "networkInterfaces": [copied_interface(nic) for nic in instance["networkInterfaces"]],
    }
    if "resourcePolicies" in properties:
        properties["resourcePolicies"] = [last_part(policy) for policy in properties["resourcePolicies"]]
    if "guestAccelerators" in properties:
        properties["guestAccelerators"] = [
            item | {"acceleratorType": last_part(item.get("acceleratorType", ""))}
            for item in properties["guestAccelerators"]
        ]
    return properties


def copied_interface(interface: Json) -> Json:
    """Copy a network interface, without the parts that belong to one instance only."""
    copied = _without_own_fields(interface)
    copied.pop("name", None)
    for name in ("accessConfigs", "ipv6AccessConfigs"):
        if copied.get(name):
            copied[name] = [_without_own_fields(config) for config in copied[name]]
    return copied


def _without_own_fields(value: Json) -> Json:
    return {name: item for name, item in value.items() if name not in _OF_THE_INSTANCE}


def _configs_by_device(instance: Json, configs: list[Json]) -> dict[str, _DiskConfig]:
    devices = {disk["deviceName"] for disk in instance["disks"]}
    by_device = {}
    for index, config in enumerate(configs):
        field, name = f"{_FIELD}[{index}]", config.get("deviceName")
        if not name:
            raise required(f"{field}.deviceName")
        if name not in devices:
            raise invalid(f"{field}.deviceName", name, "No such device.")
        how, image = config.get("instantiateFrom", "DEFAULT"), config.get("customImage", "")
        by_device[name] = _DiskConfig(field, how, image, config.get("autoDelete"))
    return by_device


def _kind(disk: Json) -> str:
    if disk["boot"]:
        return _BOOT
    if disk["type"] == "SCRATCH":
        return _LOCAL
    return _READ_ONLY if disk["mode"] == "READ_ONLY" else _READ_WRITE


def _copied_disk(call: Call, disk: Json, config: _DiskConfig) -> Json | None:
    """Write the template's disk for a disk of the instance; None leaves the disk out."""
    kind = _kind(disk)
    if kind not in _INSTANTIATE_FROM[config.instantiate_from]:
        raise config.refusal(f"'{disk['deviceName']}' is a {kind}.")
    if config.instantiate_from == "DO_NOT_INCLUDE":
        return None
    copied = {name: disk[name] for name in ("deviceName", "boot", "mode", "type", "interface")}
    copied["autoDelete"] = disk["autoDelete"] if config.auto_delete is None else config.auto_delete
    if kind == _LOCAL:
        size = {"diskSizeGb": disk["diskSizeGb"]} if "diskSizeGb" in disk else {}
        return copied | {"initializeParams": {"diskType": "local-ssd", **size}}
    path = call.resolve(disk["source"])
    if kind == _READ_ONLY:
        return copied | {"source": disk["source"] if "/regions/" in path else last_part(path)}
    source = call.read(path)
    parameters = {"diskSizeGb": source["sizeGb"], "diskType": last_part(source["type"])}
    key = {"diskEncryptionKey": disk["diskEncryptionKey"]} if "diskEncryptionKey" in disk else {}
    copied |= {"diskSizeGb": source["sizeGb"]}
    return copied | key | {"initializeParams": parameters | _content(call, source, config)}


def _content(call: Call, source: Json, config: _DiskConfig) -> dict[str, Any]:
    """Return the source of the new disk."""
    if config.instantiate_from == "DEFAULT":
        return {name: source[name] for name in ("sourceImage", "sourceSnapshot") if name in source}
    if config.instantiate_from == "BLANK":
        return {}
    if config.instantiate_from == "CUSTOM_IMAGE":
        if not config.custom_image:
            raise required(f"{config.field}.customImage")
        return {"sourceImage": config.custom_image}
    return {"sourceImage": _source_image(call, source, config)}


def _source_image(call: Call, source: Json, config: _DiskConfig) -> str:
    if "sourceImage" not in source:
        origin = "a snapshot" if "sourceSnapshot" in source else "no image"
        raise config.refusal(f"The disk '{source['name']}' was created from {origin}.")
    image = str(source["sourceImage"])
    if config.instantiate_from == "SOURCE_IMAGE":
        return image
    family = linked_image(call, f"{config.field}.instantiateFrom", image).get("family")
    if family is None:
        raise config.refusal(f"The image '{image}' belongs to no image family.")
    return f"{image.rpartition('/')[0]}/family/{family}"


_REGIONAL: Final = re.compile(r"projects/[^/]+/regions/([^/]+)/instanceTemplates/[^/]+")


def _create(call: Call, path: str, head: Json) -> Json:
    """Create a template, from properties or from an instance."""
    properties = _properties(call)
    given = {name: value for name, value in call.body.items() if name != "sourceInstanceParams"}
    link = call.body.get("sourceInstance")
    source = {"sourceInstance": call.url(call.resolve(link))} if link else {}
    template = {"description": "", **given, **head, "properties": _kept(call, properties), **source}
    return call.insert(path, template, details=image_warnings(call, properties))


def _kept(call: Call, properties: Json) -> Json:
    """Write the properties of a template, whose network tags have no fingerprint."""
    kept = {name: value for name, value in kept_properties(call, properties).items() if name != "tags"}
    tags = {name: value for name, value in (properties.get("tags") or {}).items() if name != "fingerprint"}
    return kept | ({"tags": tags} if "tags" in properties else {})


def _properties(call: Call) -> Json:
    """Return the properties in the call, or copy those of the instance that it names."""
    link, properties = call.body.get("sourceInstance"), call.body.get("properties")
    if not link:
        check_properties(call.store, properties or {})
        _check_networks(call, properties or {})
        return _without_customer_keys(properties or {})
    if properties is not None:
        raise invalid("resource.sourceInstance", link, "Conflicts with properties.")
    instance = call.read(call.resolve(link))
    return copied_properties(call, instance, call.body.get("sourceInstanceParams") or {})


def _check_networks(call: Call, properties: Json) -> None:
    """Refuse networks and subnetworks that the project does not have.

    Those of other projects may be shared without being here.
    """
    for interface in properties["networkInterfaces"]:
        link, network = interface.get("subnetwork"), interface.get("network")
        found: Json = {}
        if link:
            path = subnetwork_path(call, link)
            found[path] = find_subnetwork(call, path)
        if network or not link:
            path = network_path(call, network or "default")
            found[path] = find_network(call, path)
        for path, resource in found.items():
            if resource is None and is_of_project(call, path):
                raise not_found(path)


def _without_customer_keys(properties: Json) -> Json:
    """Leave out customer-supplied keys, which templates do not keep."""
    disks = [
        {name: value for name, value in disk.items() if name != "diskEncryptionKey" or not is_customer_supplied(value)}
        for disk in properties["disks"]
    ]
    return properties | {"disks": disks}


def linked_template_properties(call: Call, field: str, link: str) -> Json:
    """Read the properties of the template that a link in a field names.

    A regional template can only be used in its own region.
    """
    path = call.resolve(link.partition("?")[0])
    regional, region = _REGIONAL.fullmatch(path), region_in(call)
    if regional and regional[1] != region:
        message = f"The template of region {regional[1]} cannot be used in region {region}."
        raise invalid(field, link, message)
    properties: Json = call.read(path)["properties"]
    return properties


def _managers_of(call: Call, path: str) -> list[str]:
    """Return the paths of the managers of instance groups that use the template at a path, or soon will."""
    collections = [f"{call.project}/{zone}/instanceGroupManagers" for zone in ZONAL]
    soon = [row for collection in collections for row in call.cloud.operations.planned(collection).items()]
    rows = {**dict(call.store.scan(collections)), **dict(soon)}
    return [manager for manager, item in rows.items() if path_of(item["instanceTemplate"], "") == path]


_TEMPLATES: Final = Collection(
    name="instanceTemplates",
    singular="instanceTemplate",
    create=_create,
    scopes=("global", *REGIONAL),
    users=_managers_of,
    list_kind="compute#instanceTemplatesListResponse",
)
_TEMPLATES.register("aggregatedList", *USUAL)
_TEMPLATES.register(*USUAL, methods="regionInstanceTemplates")
