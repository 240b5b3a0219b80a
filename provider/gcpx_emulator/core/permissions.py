"""Which permissions a call needs, and on what.

Source: documentation of the compute API, section 5, and of push authentication, section 5. Calls that the documentation
names no permission for need none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import attrs

from gcpx_emulator.compute.links import path_of
from gcpx_emulator.core.handlers import Call
from gcpx_emulator.core.store import Json

ACT_AS: Final = "iam.serviceAccounts.actAs"
_TEMPLATE_LISTS: Final = (
    "compute.instanceTemplates.aggregatedList",
    "compute.instanceTemplates.list",
    "compute.regionInstanceTemplates.list",
)
_CREATION: Final = ("compute.disks.create", "compute.instances.create", "compute.instances.pscInterfaceCreate")
_DISKS: Final = ("compute.disks.use", "compute.disks.useReadOnly")
_SOURCE_IMAGES: Final = ("compute.disks.create", "compute.images.useReadOnly")
_NETWORKS: Final = ("compute.networks.use", "compute.networks.useExternalIp")
_SUBNETWORKS: Final = ("compute.subnetworks.use", "compute.subnetworks.useExternalIp")
PERMISSIONS: Final = frozenset({
    *_CREATION, *_DISKS, *_SOURCE_IMAGES, *_NETWORKS, *_SUBNETWORKS, ACT_AS, "iam.serviceAccounts.getOpenIdToken",
    "compute.addresses.use", "compute.instanceTemplates.create", "compute.instanceTemplates.list",
    "compute.instanceTemplates.useReadOnly", "compute.instances.setTags", "compute.networks.get",
    "compute.regions.list", "compute.resourcePolicies.use", "compute.subnetworks.get", "storage.buckets.update",
})  # fmt: skip
"""Every permission that a policy can be about."""


@attrs.frozen
class Need:
    """Any one of these permissions, on a resource."""

    permissions: tuple[str, ...]
    resource: str


def needs(call: Call) -> list[Need]:
    """List what a call needs."""
    find = _NEEDS.get(call.method)
    return list(find(call)) if find else []


def _on_project(permission: str) -> Callable[[Call], Iterator[Need]]:
    return lambda call: iter([Need((permission,), _project(call))])


def _project(call: Call) -> str:
    return f"projects/{call.path['project']}"


def _link(call: Call, link: str | None, *permissions: str) -> Iterator[Need]:
    """Need something on a resource that a request refers to, if it does."""
    if link:
        yield Need(permissions, path_of(link, call.path["project"]))


def _bulk(call: Call) -> Iterator[Need]:
    properties = call.body.get("instanceProperties") or {}
    yield Need(_CREATION, _project(call))
    yield from _link(call, call.body.get("sourceInstanceTemplate"), "compute.instanceTemplates.useReadOnly")
    if properties.get("tags"):
        yield Need(("compute.instances.setTags",), _project(call))
    for interface in properties.get("networkInterfaces") or ():
        yield from _link(call, interface.get("network"), *_NETWORKS)
        yield from _link(call, interface.get("subnetwork"), *_SUBNETWORKS)
        if any(config.get("natIP") for config in interface.get("accessConfigs") or ()):
            yield Need(("compute.addresses.use",), _project(call))
    if properties.get("resourcePolicies"):
        yield Need(("compute.resourcePolicies.use",), _project(call))


def _template(call: Call) -> Iterator[Need]:
    yield Need(("compute.instanceTemplates.create",), _project(call))
    for interface in (call.body.get("properties") or {}).get("networkInterfaces") or ():
        yield from _link(call, interface.get("network"), "compute.networks.get")
        yield from _link(call, interface.get("subnetwork"), "compute.subnetworks.get")


def _attachment(call: Call) -> Iterator[Need]:
    yield from _link(call, call.body.get("source"), *_DISKS)
    yield from _link(call, (call.body.get("initializeParams") or {}).get("sourceImage"), *_SOURCE_IMAGES)


def _bucket(call: Call) -> Iterator[Need]:
    yield Need(("storage.buckets.update",), f"b/{call.path['bucket']}")


def _account(config: Json | None) -> Iterator[Need]:
    """Need to act as the account that signs the pushes of a subscription."""
    email = ((config or {}).get("oidcToken") or {}).get("serviceAccountEmail")
    if email:
        yield Need((ACT_AS,), email)


def _pushed(call: Call) -> Iterator[Need]:
    return _account(call.body.get("pushConfig"))


def _patched(call: Call) -> Iterator[Need]:
    fields = str(call.body.get("updateMask") or "").split(",")
    if any(field.strip().partition(".")[0] in {"pushConfig", "push_config"} for field in fields):
        yield from _account((call.body.get("subscription") or {}).get("pushConfig"))


def _signed(call: Call) -> Iterator[Need]:
    yield Need(("iam.serviceAccounts.getOpenIdToken",), call.path["serviceAccountsId"])


_NEEDS: Final[dict[str, Callable[[Call], Iterator[Need]]]] = {
    **dict.fromkeys(_TEMPLATE_LISTS, _on_project("compute.instanceTemplates.list")),
    "compute.regions.list": _on_project("compute.regions.list"),
    "compute.regionInstances.bulkInsert": _bulk,
    "compute.regionInstanceTemplates.insert": _template,
    "compute.instances.attachDisk": _attachment,
    "iamcredentials.projects.serviceAccounts.generateIdToken": _signed,
    "pubsub.projects.subscriptions.create": _pushed,
    "pubsub.projects.subscriptions.modifyPushConfig": _pushed,
    "pubsub.projects.subscriptions.patch": _patched,
    "storage.notifications.delete": _bucket,
}
