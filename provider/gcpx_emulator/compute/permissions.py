"""The permissions that calls of Compute Engine need.

Source: the section "IAM Permissions" on the page of each method in the REST reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gcpx_emulator.compute.links import path_of
from gcpx_emulator.core.call import Call
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.permissions import Need, declare_needs

_BULK_CREATION: Final = ("compute.disks.create", "compute.instances.create", "compute.instances.pscInterfaceCreate")
_ACT_AS: Final = "iam.serviceAccounts.actAs"
_ON_INSTANCE: Final = (
    "addResourcePolicies",
    "getGuestAttributes",
    "removeResourcePolicies",
    "reset",
    "resume",
    "setDeletionProtection",
    "setMachineResources",
    "setMachineType",
    "setMinCpuPlatform",
    "setScheduling",
    "setServiceAccount",
    "start",
    "startWithEncryptionKey",
    "stop",
    "suspend",
    "updateDisplayDevice",
    "updateShieldedInstanceConfig",
)
"""Methods of instances that need the permission of their own name on the instance."""
_DISKS: Final = ("compute.disks.use", "compute.disks.useReadOnly")
_SOURCE_IMAGES: Final = ("compute.disks.create", "compute.images.useReadOnly")
_NETWORKS: Final = ("compute.networks.use", "compute.networks.useExternalIp")
_SUBNETWORKS: Final = ("compute.subnetworks.use", "compute.subnetworks.useExternalIp")


def _on_project(call: Call, *permissions: str) -> Need:
    return Need(permissions, f"projects/{call.path['project']}")


def _on_link(call: Call, link: str | None, *permissions: str) -> Iterator[Need]:
    """Need any one of these permissions on the resource that a request refers to, if it does."""
    if link:
        yield Need(permissions, path_of(link, call.path["project"]))


def _list_templates(call: Call) -> Iterator[Need]:
    yield _on_project(call, "compute.instanceTemplates.list")


def _list_regions(call: Call) -> Iterator[Need]:
    yield _on_project(call, "compute.regions.list")


def _insert_in_bulk(call: Call) -> Iterator[Need]:
    properties: Json = call.body.get("instanceProperties") or {}
    yield _on_project(call, *_BULK_CREATION)
    yield from _on_link(call, call.body.get("sourceInstanceTemplate"), "compute.instanceTemplates.useReadOnly")
    if properties.get("tags"):
        yield _on_project(call, "compute.instances.setTags")
    for interface in properties.get("networkInterfaces") or ():
        yield from _use_network(call, interface)
    if properties.get("resourcePolicies"):
        yield _on_project(call, "compute.resourcePolicies.use")


def _use_network(call: Call, interface: Json) -> Iterator[Need]:
    yield from _on_link(call, interface.get("network"), *_NETWORKS)
    yield from _on_link(call, interface.get("subnetwork"), *_SUBNETWORKS)
    if any(config.get("natIP") for config in interface.get("accessConfigs") or ()):
        yield _on_project(call, "compute.addresses.use")


def _insert_template(call: Call) -> Iterator[Need]:
    yield _on_project(call, "compute.instanceTemplates.create")
    for interface in (call.body.get("properties") or {}).get("networkInterfaces") or ():
        yield from _on_link(call, interface.get("network"), "compute.networks.get")
        yield from _on_link(call, interface.get("subnetwork"), "compute.subnetworks.get")


def _attach_disk(call: Call) -> Iterator[Need]:
    yield from _on_link(call, call.body.get("source"), *_DISKS)
    yield from _on_link(call, (call.body.get("initializeParams") or {}).get("sourceImage"), *_SOURCE_IMAGES)


def _on_instance(call: Call) -> Iterator[Need]:
    """Need the permission that is named like the method, and those on what the request refers to."""
    instance = call.path.get("instance") or call.path["resource"]
    yield Need((call.method.id,), f"projects/{call.path['project']}/zones/{call.path['zone']}/instances/{instance}")
    if call.body.get("email"):
        yield Need((_ACT_AS,), call.body["email"])
    if call.method.id == "compute.instances.addResourcePolicies":
        yield _on_project(call, "compute.resourcePolicies.use")


declare_needs(
    (
        _ACT_AS,
        *(f"compute.instances.{name}" for name in _ON_INSTANCE),
        *(_BULK_CREATION + _DISKS + _SOURCE_IMAGES + _NETWORKS + _SUBNETWORKS),
        "compute.addresses.use",
        "compute.instanceTemplates.create",
        "compute.instanceTemplates.list",
        "compute.instanceTemplates.useReadOnly",
        "compute.instances.setTags",
        "compute.networks.get",
        "compute.regions.list",
        "compute.resourcePolicies.use",
        "compute.subnetworks.get",
    ),
    {
        "compute.instanceTemplates.aggregatedList": _list_templates,
        "compute.instanceTemplates.list": _list_templates,
        "compute.regionInstanceTemplates.list": _list_templates,
        "compute.regions.list": _list_regions,
        "compute.regionInstances.bulkInsert": _insert_in_bulk,
        "compute.regionInstanceTemplates.insert": _insert_template,
        "compute.instances.attachDisk": _attach_disk,
        **{f"compute.instances.{name}": _on_instance for name in _ON_INSTANCE},
    },
)
