"""The permissions and the rate quotas of Compute Engine's methods."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from gcpx_emulator.compute.call import path_of
from gcpx_emulator.core.call import Call
from gcpx_emulator.core.discovery import Method
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.permissions import Need, declare_needs
from gcpx_emulator.core.rates import RateQuota, declare_rate_quotas

_VERBS: Final = {"aggregatedList": "list", "insert": "create", "wait": "get"}
"""The verbs of permissions, where methods have another name."""
PUBLIC: Final = re.compile(r"projects/[a-z-]+-cloud/")
"""The beginning of the paths of Google's public images, which everyone may use."""
_ON_PROJECT: Final = frozenset({"capacity", "create", "list"})
_METHODS: Final = {
    "advice": "capacity",
    "diskTypes": "get list",
    "disks": "delete get insert list resize",
    "globalOperations": "get list wait",
    "images": "delete get getFromFamily insert list",
    "instanceTemplates": "aggregatedList delete get list",
    "instances": "aggregatedList delete detachDisk get list setLabels setMetadata setTags",
    "machineImages": "delete get list setLabels",
    "machineTypes": "aggregatedList get list",
    "networks": "get list",
    "projects": "get",
    "regionDisks": "delete get insert list resize",
    "regionInstanceTemplates": "delete get list",
    "regionOperations": "get list wait",
    "regions": "get list",
    "reservations": "delete get insert list",
    "resourcePolicies": "delete get insert list",
    "subnetworks": "get list",
    "zoneOperations": "get list wait",
    "zones": "get list",
}
_REGIONAL: Final = {"regionDisks": "disks", "regionInstanceTemplates": "instanceTemplates"}
"""The collections whose permissions are those of another one."""


def _permission(collection: str, method: str) -> str:
    return f"compute.{_REGIONAL.get(collection, collection)}.{_VERBS.get(method, method)}"


def resource_of(call: Call) -> str:
    """Name the resource that a method of one resource is called on, as in `projects/p/zones/z/instances/i`."""
    collection = call.method.id.split(".")[1]
    path = dict(call.path)
    project = f"projects/{path.pop('project')}"
    if not path:
        return project
    *places, name = path.items()
    scope = "".join(f"/{kind}s/{place}" for kind, place in places) or "/global"
    kept = _REGIONAL.get(collection, collection)
    return f"{project}/{kept}/{name[1]}" if kept in {"regions", "zones"} else f"{project}{scope}/{kept}/{name[1]}"


def _needs(permission: str) -> Callable[[Call], Iterator[Need]]:
    def find(call: Call) -> Iterator[Need]:
        verb = permission.rpartition(".")[2]
        if not (permission.startswith("compute.images.get") and PUBLIC.match(resource_of(call))):
            yield Need((permission,), f"projects/{call.path['project']}" if verb in _ON_PROJECT else resource_of(call))

    return find


_PERMISSIONS: Final = {
    f"compute.{collection}.{method}": _permission(collection, method)
    for collection, methods in _METHODS.items()
    for method in methods.split()
}
declare_needs(_PERMISSIONS.values(), {method: _needs(permission) for method, permission in _PERMISSIONS.items()})


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


_HEAVY: Final = RateQuota(
    "heavyWeightReads",
    "Heavy-weight read requests",
    "heavy_weight_read_requests",
    "HeavyWeightReadRequestsPerMinutePerProject",
)
_LISTS: Final = RateQuota("lists", "List requests", "list_requests", "ListRequestsPerMinutePerProject")
_MUTATIONS: Final = RateQuota("mutations", "Queries", "default", "defaultPerMinutePerProject")
_OPERATIONS: Final = RateQuota(
    "operationReads", "Operation read requests", "operation_read_requests", "OperationReadRequestsPerMinutePerProject"
)
_READS: Final = RateQuota("reads", "Read requests", "read_requests", "ReadRequestsPerMinutePerProject")
_HEAVY_WAITS: Final = frozenset({"compute.regionOperations.wait", "compute.zoneOperations.wait"})


def _quota_of(method: Method) -> RateQuota:
    _, resource, verb = method.id.split(".")
    if verb == "aggregatedList" or method.id in _HEAVY_WAITS:
        return _HEAVY
    if verb == "list":
        return _LISTS
    if resource.endswith("Operations") and verb in {"get", "wait"}:
        return _OPERATIONS
    return _READS if method.http_method == "GET" or resource == "advice" else _MUTATIONS


declare_rate_quotas("compute", (_HEAVY, _LISTS, _MUTATIONS, _OPERATIONS, _READS), _quota_of)
