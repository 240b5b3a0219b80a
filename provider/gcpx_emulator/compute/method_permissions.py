"""The permissions of methods of Compute Engine that need only the one of their own collection and verb.

Source: the section "IAM Permissions" on the page of each method in the REST reference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.permissions import Need, declare_needs

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
