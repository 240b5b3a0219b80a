"""The permissions that calls of Compute Engine need.

Source: the section "IAM Permissions" on the page of each method in the REST reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gcpx_emulator.compute.links import path_of
from gcpx_emulator.compute.method_permissions import PUBLIC, resource_of
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
    "updateNetworkInterface",
    "updateShieldedInstanceConfig",
)
"""Methods of instances that need the permission of their own name on the instance."""
_SETTINGS: Final = {
    "labels": "compute.instances.setLabels",
    "metadata": "compute.instances.setMetadata",
    "resourcePolicies": "compute.resourcePolicies.use",
    "serviceAccounts": "compute.instances.setServiceAccount",
    "tags": "compute.instances.setTags",
}
"""The permissions that properties of new instances need."""
_DISKS: Final = ("compute.disks.use", "compute.disks.useReadOnly")
_SOURCE_IMAGES: Final = ("compute.disks.create", "compute.images.useReadOnly")
_AUTO_DELETE: Final = ("compute.disks.update", "compute.instances.setDiskAutoDelete")
_NETWORKS: Final = ("compute.networks.use", "compute.networks.useExternalIp")
_SUBNETWORKS: Final = ("compute.subnetworks.use", "compute.subnetworks.useExternalIp")


def _on_project(call: Call, *permissions: str) -> Need:
    return Need(permissions, f"projects/{call.path['project']}")


def _on_link(call: Call, link: str | None, *permissions: str) -> Iterator[Need]:
    """Need any one of these permissions on the resource that a request refers to, if it does."""
    if link:
        yield Need(permissions, path_of(link, call.path["project"]))


def _insert_in_bulk(call: Call) -> Iterator[Need]:
    yield _on_project(call, *_BULK_CREATION)
    yield from _on_link(call, call.body.get("sourceInstanceTemplate"), "compute.instanceTemplates.useReadOnly")
    yield from _set_properties(call, call.body.get("instanceProperties") or {})


def _insert_instance(call: Call) -> Iterator[Need]:
    yield _on_project(call, "compute.instances.create")
    yield from _set_properties(call, call.body)


def _set_properties(call: Call, properties: Json) -> Iterator[Need]:
    """Need what new instances with these properties do.

    Source: also "Required permissions" of the guide "Create and start a Compute Engine instance".
    """
    for name, permission in _SETTINGS.items():
        if properties.get(name):
            yield _on_project(call, permission)
    yield from _act_as_accounts(properties)
    for interface in properties.get("networkInterfaces") or ():
        yield from _use_network(call, interface)
    for disk in properties.get("disks") or ():
        yield from _use_disk(call, disk)


def _act_as_accounts(properties: Json) -> Iterator[Need]:
    for account in properties.get("serviceAccounts") or ():
        if account.get("email"):
            yield Need((_ACT_AS,), account["email"])


def _use_disk(call: Call, disk: Json) -> Iterator[Need]:
    """Need to use what a disk is made from; everyone may use the images of Google's public projects."""
    made_from = disk.get("initializeParams") or {}
    image = made_from.get("sourceImage") or ""
    if image and not PUBLIC.match(path_of(image, call.path["project"])):
        yield from _on_link(call, image, "compute.images.useReadOnly")
    yield from _on_link(call, made_from.get("sourceSnapshot"), "compute.snapshots.useReadOnly")
    yield from _on_link(call, disk.get("source"), *_DISKS)


def _use_network(call: Call, interface: Json) -> Iterator[Need]:
    yield from _on_link(call, interface.get("network"), *_NETWORKS)
    yield from _on_link(call, interface.get("subnetwork"), *_SUBNETWORKS)
    if any(config.get("natIP") for config in interface.get("accessConfigs") or ()):
        yield _on_project(call, "compute.addresses.use")


def _insert_template(call: Call) -> Iterator[Need]:
    properties: Json = call.body.get("properties") or {}
    yield _on_project(call, "compute.instanceTemplates.create")
    yield from _act_as_accounts(properties)
    for interface in properties.get("networkInterfaces") or ():
        yield from _on_link(call, interface.get("network"), "compute.networks.get")
        yield from _on_link(call, interface.get("subnetwork"), "compute.subnetworks.get")


def _insert_machine_image(call: Call) -> Iterator[Need]:
    yield _on_project(call, "compute.machineImages.create")
    source = call.query.get("sourceInstance") or call.body.get("sourceInstance")
    yield from _on_link(call, source, "compute.instances.useReadOnly")
    yield _on_project(call, "compute.disks.createSnapshot")


def _set_disk_auto_delete(call: Call) -> Iterator[Need]:
    yield Need(_AUTO_DELETE, resource_of(call))


def _attach_disk(call: Call) -> Iterator[Need]:
    yield Need(("compute.instances.attachDisk",), resource_of(call))
    yield from _on_link(call, call.body.get("source"), *_DISKS)
    yield from _on_link(call, (call.body.get("initializeParams") or {}).get("sourceImage"), *_SOURCE_IMAGES)


def _on_instance(call: Call) -> Iterator[Need]:
    """Need the permission that is named like the method, and those on what the request refers to."""
    yield Need((call.method.id,), resource_of(call))
    if call.body.get("email"):
        yield Need((_ACT_AS,), call.body["email"])
    if call.method.id == "compute.instances.addResourcePolicies":
        yield _on_project(call, "compute.resourcePolicies.use")


declare_needs(
    (
        _ACT_AS,
        *(f"compute.instances.{name}" for name in _ON_INSTANCE),
        *(_AUTO_DELETE + _BULK_CREATION + _DISKS + _SOURCE_IMAGES + _NETWORKS + _SUBNETWORKS),
        *_SETTINGS.values(),
        "compute.addresses.use",
        "compute.disks.createSnapshot",
        "compute.instanceTemplates.create",
        "compute.instanceTemplates.useReadOnly",
        "compute.instances.attachDisk",
        "compute.instances.useReadOnly",
        "compute.machineImages.create",
        "compute.networks.get",
        "compute.resourcePolicies.use",
        "compute.snapshots.useReadOnly",
        "compute.subnetworks.get",
    ),
    {
        "compute.instanceTemplates.insert": _insert_template,
        "compute.instances.bulkInsert": _insert_in_bulk,
        "compute.instances.insert": _insert_instance,
        "compute.instances.setDiskAutoDelete": _set_disk_auto_delete,
        "compute.machineImages.insert": _insert_machine_image,
        "compute.regionInstanceTemplates.insert": _insert_template,
        "compute.regionInstances.bulkInsert": _insert_in_bulk,
        "compute.instances.attachDisk": _attach_disk,
        **{f"compute.instances.{name}": _on_instance for name in _ON_INSTANCE},
    },
)
