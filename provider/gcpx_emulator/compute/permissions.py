"""The permissions and the rate quotas of Compute Engine's methods.

Source of the permissions: "IAM Permissions" on the page of each method in the REST reference, mostly as
https://github.com/iann0036/iam-dataset collects them, and "Required permissions" of the guide "Create and start a
Compute Engine instance".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from gcpx_emulator.compute.call import collection_of, path_of
from gcpx_emulator.core.call import Call
from gcpx_emulator.core.discovery import Method
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.permissions import Need, Resources, declare_needs, need
from gcpx_emulator.core.rates import RateQuota, declare_rate_quotas

_VERBS: Final = {"aggregatedList": "list", "insert": "create", "listDisks": "get", "patch": "update", "wait": "get"}
"""The verbs of permissions that differ from the methods' names."""
PUBLIC: Final = re.compile(r"projects/[a-z-]+-cloud/")
"""The beginning of the paths of Google's public images, which everyone may use."""
_ON_PROJECT: Final = frozenset({"capacity", "create", "list"})
_KINDS: Final = {
    "disks": "disk",
    "images": "image",
    "instanceTemplates": "template",
    "instances": "instance",
    "machineImages": "machine image",
    "networks": "network",
    "resourcePolicies": "policy",
    "snapshots": "snapshot",
    "subnetworks": "subnetwork",
}
"""What the documentation calls a resource; other permissions are named there as those on the project."""
_REGIONAL: Final = {"regionDisks": "disks", "regionInstanceTemplates": "instanceTemplates"}
"""The collections that use the permissions of another collection."""


def resource_of(call: Call) -> str:
    """Return the path of the resource that a method is called on, such as `projects/p/zones/z/instances/i`."""
    path = dict(call.path)
    project = f"projects/{path.pop('project')}"
    if not path:
        return project
    *places, name = path.items()
    scope = "".join(f"/{kind}s/{place}" for kind, place in places) or "/global"
    kept = collection_of(call.method.id)
    return f"{project}/{kept}/{name[1]}" if kept in {"regions", "zones"} else f"{project}{scope}/{kept}/{name[1]}"


def _project(call: Call) -> Iterator[str]:
    yield f"projects/{call.path['project']}"


def _itself(call: Call) -> Iterator[str]:
    yield resource_of(call)


def _not_public(resources: Resources) -> Resources:
    """Leave out the images of Google's public projects."""
    return lambda call: (path for path in resources(call) if not PUBLIC.match(path))


def _email(call: Call) -> Iterator[str]:
    if call.body.get("email"):
        yield call.body["email"]


def _linked(links: Callable[[Call], Iterable[str | None]]) -> Resources:
    """List the resources that a request refers to by links."""
    return lambda call: (path_of(link, call.path["project"]) for link in links(call) if link)


def _named(field: str) -> Resources:
    """List the resource that a field of the body, or a query parameter, refers to."""
    return _linked(lambda call: [call.query.get(field) or call.body.get(field)])


def _properties(call: Call) -> Json:
    """Return the properties of new instances."""
    found: Json = call.body.get("instanceProperties") or call.body.get("properties") or call.body
    return found


def _if_set(name: str) -> Resources:
    return lambda call: _project(call) if _properties(call).get(name) else ()


def _each(name: str, field: str) -> Callable[[Call], Iterator[Any]]:
    """List the values of a field in the elements of a property."""
    return lambda call: (item.get(field) for item in _properties(call).get(name) or ())


def _accounts(call: Call) -> Iterator[str]:
    return filter(None, _each("serviceAccounts", "email")(call))


def _reserved_addresses(call: Call) -> Iterator[str]:
    configs = (config for found in _each("networkInterfaces", "accessConfigs")(call) for config in found or ())
    if any(config.get("natIP") for config in configs):
        yield from _project(call)


def _made_from(field: str) -> Resources:
    """List the sources of disks."""
    return _linked(lambda call: ((made or {}).get(field) for made in _each("disks", "initializeParams")(call)))


_ACT_AS: Final = "iam.serviceAccounts.actAs on the service account if"
_NETWORKS: Final = _linked(_each("networkInterfaces", "network"))
_SUBNETWORKS: Final = _linked(_each("networkInterfaces", "subnetwork"))
_ON_NETWORK: Final = "on the network if an interface names a network"
_ON_SUBNETWORK: Final = "on the subnetwork if an interface names a subnetwork"
_EXTERNAL: Final = "if an interface has an external address (`accessConfigs`) in a"
_UPDATE_POLICY: Final = "compute.networks.updatePolicy on the network"
_SET_PROPERTIES: Final = (
    need(_if_set("labels"), "compute.instances.setLabels on the project if `labels` is set"),
    need(_if_set("metadata"), "compute.instances.setMetadata on the project if `metadata` is set"),
    need(_if_set("resourcePolicies"), "compute.resourcePolicies.use on the project if `resourcePolicies` is set"),
    need(_if_set("serviceAccounts"), "compute.instances.setServiceAccount on the project if `serviceAccounts` is set"),
    need(_if_set("tags"), "compute.instances.setTags on the project if `tags` are set"),
    need(_accounts, f"{_ACT_AS} `serviceAccounts` is set"),
    need(
        _NETWORKS,
        f"compute.networks.use {_ON_NETWORK}",
        f"compute.networks.useExternalIp on the network {_EXTERNAL} legacy network",
    ),
    need(
        _SUBNETWORKS,
        f"compute.subnetworks.use {_ON_SUBNETWORK}, or a VPC network, from which Google chooses one",
        f"compute.subnetworks.useExternalIp on the subnetwork {_EXTERNAL} VPC network",
    ),
    need(_reserved_addresses, "compute.addresses.use on the project if an interface has a reserved address (`natIP`)"),
    need(
        _not_public(_made_from("sourceImage")),
        "compute.images.useReadOnly on the image if a disk is made from an image that is not public",
    ),
    need(
        _made_from("sourceSnapshot"), "compute.snapshots.useReadOnly on the snapshot if a disk is made from a snapshot"
    ),
    need(
        _linked(_each("disks", "source")),
        "compute.disks.use on the disk if an existing disk is attached for writing",
        "compute.disks.useReadOnly on the disk if an existing disk is attached for reading",
    ),
)
"""What new instances with some properties need."""
_INSERT_IN_BULK: Final = (
    need(
        _project,
        "compute.instances.create on the project",
        "compute.disks.create on the project if disks are created",
        "compute.instances.pscInterfaceCreate on the project if an interface names a network attachment",
    ),
    need(
        _named("sourceInstanceTemplate"),
        "compute.instanceTemplates.useReadOnly on the template if `sourceInstanceTemplate` is set",
    ),
    *_SET_PROPERTIES,
)
_CREATE_SNAPSHOT: Final = (
    need(_itself, "compute.disks.createSnapshot on the disk"),
    need(_project, "compute.snapshots.create on the project"),
)
_INSERT_TEMPLATE: Final = (
    need(_project, "compute.instanceTemplates.create on the project"),
    need(_accounts, f"{_ACT_AS} `serviceAccounts` is set"),
    need(_NETWORKS, f"compute.networks.get {_ON_NETWORK}"),
    need(_SUBNETWORKS, f"compute.subnetworks.get {_ON_SUBNETWORK}"),
)


_FURTHER: Final = {
    **{
        f"compute.firewalls.{method}": (need(_named("network"), _UPDATE_POLICY),)
        for method in ("insert", "patch", "update")
    },
    "compute.routes.insert": (need(_named("network"), _UPDATE_POLICY),),
    "compute.disks.insert": (
        need(_named("storagePool"), "compute.storagePools.use on the storage pool if `storagePool` is set"),
    ),
    "compute.instances.addResourcePolicies": (need(_project, "compute.resourcePolicies.use on the project"),),
    "compute.instances.attachDisk": (
        need(
            _named("source"),
            "compute.disks.use on the disk if `mode` is `READ_WRITE`, which is the default",
            "compute.disks.useReadOnly on the disk if `mode` is `READ_ONLY`",
        ),
        need(
            _linked(lambda call: [(call.body.get("initializeParams") or {}).get("sourceImage")]),
            "compute.disks.create on the project if the disk is made from an image",
            "compute.images.useReadOnly on the image if the disk is made from an image",
        ),
    ),
    "compute.instances.setServiceAccount": (need(_email, f"{_ACT_AS} a service account is set, not removed"),),
    "compute.snapshots.insert": (need(_named("sourceDisk"), "compute.disks.createSnapshot on the disk"),),
    "compute.subnetworks.insert": (need(_named("network"), _UPDATE_POLICY),),
}
"""Additional permissions of some methods that need the permission of their own name."""


def _regular_needs(method: str) -> tuple[Need, ...]:
    """Need the permission of the method's name, on the resource or, if there is none yet, on the project."""
    _, collection, name = method.split(".")
    verb, kind = _VERBS.get(name, name), _REGIONAL.get(collection, collection)
    further = _FURTHER.get(method, ())
    if verb in _ON_PROJECT:
        return need(_project, f"compute.{kind}.{verb} on the project"), *further
    is_image = kind == "images" and verb.startswith("get")
    words = f"compute.{kind}.{verb} on the {_KINDS.get(kind, 'project')}{' if the image is not public' * is_image}"
    return need(_not_public(_itself) if is_image else _itself, words), *further


_OF_GROUPS: Final = (
    (
        "instanceGroupManagers",
        "update",
        (
            "abandonInstances",
            "createInstances",
            "deleteInstances",
            "recreateInstances",
            "resize",
            "setInstanceTemplate",
        ),
    ),
    ("instanceGroupManagers", "get", ("listErrors", "listManagedInstances")),
    ("instanceGroups", "update", ("addInstances", "removeInstances", "setNamedPorts")),
    ("instanceGroups", "list", ("listInstances",)),
)
"""The methods of instance groups that need the permission of another name: their kind, its verb, and the methods."""


_IRREGULAR: Final = {
    "compute.disks.createSnapshot": _CREATE_SNAPSHOT,
    "compute.instanceTemplates.insert": _INSERT_TEMPLATE,
    "compute.instances.bulkInsert": _INSERT_IN_BULK,
    **{
        f"compute.{kind}.{method}": (need(_itself, f"compute.{kind}.{verb} on the project"),)
        for kind, verb, methods in _OF_GROUPS
        for method in methods
    },
    "compute.instances.insert": (
        need(_project, "compute.instances.create on the project"),
        need(
            _named("sourceMachineImage"),
            "compute.machineImages.useReadOnly on the machine image if `sourceMachineImage` is set",
        ),
        *_SET_PROPERTIES,
    ),
    "compute.instances.setDiskAutoDelete": (
        need(_itself, "compute.instances.setDiskAutoDelete on the instance", "compute.disks.update on the disk"),
    ),
    "compute.machineImages.insert": (
        need(_project, "compute.machineImages.create on the project"),
        need(_named("sourceInstance"), "compute.instances.useReadOnly on the source instance"),
        need(_project, "compute.disks.createSnapshot on the disks of the source instance"),
    ),
    "compute.regionDisks.createSnapshot": _CREATE_SNAPSHOT,
    **{
        f"compute.{disks}.stopGroupAsyncReplication": (
            need(_project, "compute.disks.stopGroupAsyncReplication on the project"),
        )
        for disks in ("disks", "regionDisks")
    },
    "compute.regionInstanceTemplates.insert": _INSERT_TEMPLATE,
    "compute.regionInstances.bulkInsert": _INSERT_IN_BULK,
}
"""The needs of the methods that do not need the permission of their own name, or not on a resource of their own."""


def declare(methods: Iterable[str]) -> None:
    """Register the needs of these methods."""
    declare_needs({method: _IRREGULAR.get(method) or _regular_needs(method) for method in methods})


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
