"""The IAM permissions of each API method that gcpx calls, from which error messages and `docs/permissions.md` follow.

Sources: "IAM Permissions" on the page of each method in the REST reference of Compute Engine, "IAM permissions for JSON
methods" of Cloud Storage, and "Access control with IAM" of Pub/Sub. The pages of OS Login's methods name no permission.
"""

from __future__ import annotations

from typing import Final

from gcpx.gcp.api_method import ApiMethod, Need
from gcpx.gcp.apis import COMPUTE, OAUTH2, OSLOGIN, PUBSUB, STORAGE, Api
from gcpx.gcp.instance_needs import (
    ATTACHMENT,
    AUTO_DELETE,
    CREATION,
    INSTANCE,
    MACHINE_IMAGE,
    PROJECT,
    SET_SERVICE_ACCOUNT,
    TEMPLATE,
)
from gcpx.gcp.request import Request

_PROJECT: Final = "[projects/{project}]"
_MEMBER: Final = "[projects/{project}/zones/{zone}/instances/{instance}]"
_REGIONAL_TEMPLATE: Final = "regions/{region}/instanceTemplates/{instanceTemplate}"
_INSTANCE_METHODS: Final = (
    "detachDisk",
    "resume",
    "setLabels",
    "setMachineResources",
    "setMachineType",
    "setMetadata",
    "setMinCpuPlatform",
    "setScheduling",
    "setTags",
    "start",
    "stop",
)
"""Methods of an instance that need the permission of their own name."""


def _of(api: Api, method: str, call: str, *needs: Need) -> ApiMethod:
    return ApiMethod(f"{api.name}.{method}", api, call, needs)


def _compute(method: str, call: str, *needs: Need) -> ApiMethod:
    return _of(COMPUTE, method, call, *needs)


def _listing(method: str, place: str, kind: str) -> ApiMethod:
    """Declare a method that lists the resources of a kind in a place, such as `zones/{zone}`."""
    path = "/".join(filter(None, (_PROJECT, place, kind)))
    return _compute(method, f"GET {path}", Need(f"compute.{_permitted(method)}.list", PROJECT))


def _permitted(method: str) -> str:
    """Return what the permissions of a method's collection are named after; regional templates are templates, too."""
    return method.partition(".")[0].replace("regionInstanceTemplates", "instanceTemplates")


def _reading(method: str, path: str, what: str) -> ApiMethod:
    return _compute(method, f"GET [projects/{{project}}/{path}]", Need(f"compute.{_permitted(method)}.get", what))


def _deleting(method: str, path: str, what: str) -> ApiMethod:
    return _compute(method, f"DELETE [projects/{{project}}/{path}]", Need(f"compute.{_permitted(method)}.delete", what))


def _operations(collection: str, place: str) -> tuple[ApiMethod, ...]:
    """Declare how operations in a place are read."""
    get, name = Need(f"compute.{collection}.get", PROJECT), f"{_PROJECT}/{place}/operations/{{operation}}"
    return (
        _listing(f"{collection}.list", place, "operations"),
        _compute(f"{collection}.get", f"GET {name}", get),
        _compute(f"{collection}.wait", f"POST {name}/wait", get),
    )


_COMPUTE: Final = (
    _compute("projects.get", f"GET {_PROJECT}", Need("compute.projects.get", PROJECT)),
    _listing("regions.list", "", "regions"),
    _reading("regions.get", "regions/{region}", PROJECT),
    _listing("zones.list", "", "zones"),
    _reading("zones.get", "zones/{zone}", PROJECT),
    *_operations("globalOperations", "global"),
    *_operations("regionOperations", "regions/{region}"),
    *_operations("zoneOperations", "zones/{zone}"),
    _listing("instanceTemplates.aggregatedList", "aggregated", "instanceTemplates"),
    _listing("instanceTemplates.list", "global", "instanceTemplates"),
    _listing("regionInstanceTemplates.list", "regions/{region}", "instanceTemplates"),
    _reading("instanceTemplates.get", "global/instanceTemplates/{instanceTemplate}", "the template"),
    _reading("regionInstanceTemplates.get", _REGIONAL_TEMPLATE, "the template"),
    _deleting("instanceTemplates.delete", "global/instanceTemplates/{instanceTemplate}", "the template"),
    _deleting("regionInstanceTemplates.delete", _REGIONAL_TEMPLATE, "the template"),
    _compute("instanceTemplates.insert", f"POST {_PROJECT}/global/instanceTemplates", *TEMPLATE),
    _compute("regionInstanceTemplates.insert", f"POST {_PROJECT}/regions/{{region}}/instanceTemplates", *TEMPLATE),
    _listing("machineImages.list", "global", "machineImages"),
    _reading("machineImages.get", "global/machineImages/{machineImage}", "the machine image"),
    _deleting("machineImages.delete", "global/machineImages/{machineImage}", "the machine image"),
    _compute("machineImages.insert", f"POST {_PROJECT}/global/machineImages", *MACHINE_IMAGE),
    _compute(
        "machineImages.setLabels",
        "POST [projects/{project}/global/machineImages/{resource}]/setLabels",
        Need("compute.machineImages.setLabels", "the machine image"),
    ),
    _listing("instances.aggregatedList", "aggregated", "instances"),
    _listing("instances.list", "zones/{zone}", "instances"),
    _reading("instances.get", "zones/{zone}/instances/{instance}", INSTANCE),
    _deleting("instances.delete", "zones/{zone}/instances/{instance}", INSTANCE),
    _compute("instances.attachDisk", f"POST {_MEMBER}/attachDisk", *ATTACHMENT),
    _compute("instances.setDiskAutoDelete", f"POST {_MEMBER}/setDiskAutoDelete", *AUTO_DELETE),
    _compute(
        "instances.getGuestAttributes",
        f"GET {_MEMBER}/getGuestAttributes",
        Need("compute.instances.getGuestAttributes", INSTANCE),
    ),
    _compute(
        "instances.setServiceAccount",
        f"POST {_MEMBER}/setServiceAccount",
        Need(SET_SERVICE_ACCOUNT, INSTANCE),
        Need("iam.serviceAccounts.actAs", "the service account", "if a service account is set, not removed"),
    ),
    *(
        _compute(f"instances.{name}", f"POST {_MEMBER}/{name}", Need(f"compute.instances.{name}", INSTANCE))
        for name in _INSTANCE_METHODS
    ),
    _compute("regionInstances.bulkInsert", f"POST {_PROJECT}/regions/{{region}}/instances/bulkInsert", *CREATION),
    _compute(
        "advice.capacity",
        f"POST {_PROJECT}/regions/{{region}}/advice/capacity",
        Need("compute.advice.capacity", PROJECT),
    ),
    _reading("disks.get", "zones/{zone}/disks/{disk}", "the boot disk"),
    _listing("machineTypes.aggregatedList", "aggregated", "machineTypes"),
    _compute(
        "images.getFromFamily",
        f"GET {_PROJECT}/global/images/family/{{family}}",
        Need("compute.images.getFromFamily", "the image", "if the image is not public"),
    ),
    _compute(
        "images.get",
        "GET [projects/{project}/global/images/{image}]",
        Need("compute.images.get", "the image", "if the image is not public"),
    ),
    _reading("networks.get", "global/networks/{network}", "the network"),
    _reading("subnetworks.get", "regions/{region}/subnetworks/{subnetwork}", "the subnetwork"),
    _reading("resourcePolicies.get", "regions/{region}/resourcePolicies/{resourcePolicy}", "the policy"),
)
_PAYER: Final = Need("serviceusage.services.use", "the project that pays", "if `userProject` is set")
_GET_BUCKET: Final = Need("storage.buckets.get", "the bucket")
_UPDATE_BUCKET: Final = Need("storage.buckets.update", "the bucket")
_CONFIGS: Final = "[b/{bucket}]/notificationConfigs"
_TOPIC: Final = "[projects/{project}/topics/{topic}]"
_USER: Final = "[users/{user}]"
_KEY: Final = "[users/{user}/sshPublicKeys/{fingerprint}]"
_OTHERS: Final = (
    _of(STORAGE, "buckets.list", "GET [b]", Need("storage.buckets.list", PROJECT)),
    _of(STORAGE, "notifications.list", f"GET {_CONFIGS}", _GET_BUCKET, _PAYER),
    _of(STORAGE, "notifications.get", f"GET {_CONFIGS}/{{notification}}", _GET_BUCKET, _PAYER),
    _of(STORAGE, "notifications.insert", f"POST {_CONFIGS}", _UPDATE_BUCKET, _PAYER),
    _of(STORAGE, "notifications.delete", f"DELETE {_CONFIGS}/{{notification}}", _UPDATE_BUCKET, _PAYER),
    _of(
        STORAGE,
        "projects.serviceAccount.get",
        f"GET {_PROJECT}/serviceAccount",
        Need("resourcemanager.projects.get", PROJECT),
    ),
    _of(PUBSUB, "projects.topics.get", f"GET {_TOPIC}", Need("pubsub.topics.get", "the topic")),
    _of(OSLOGIN, "users.getLoginProfile", f"GET {_USER}/loginProfile"),
    _of(OSLOGIN, "users.importSshPublicKey", "POST [users/{user}]:importSshPublicKey"),
    _of(OSLOGIN, "users.sshPublicKeys.create", f"POST {_USER}/sshPublicKeys"),
    _of(OSLOGIN, "users.sshPublicKeys.delete", f"DELETE {_KEY}"),
    _of(OSLOGIN, "users.sshPublicKeys.get", f"GET {_KEY}"),
    _of(OSLOGIN, "users.sshPublicKeys.patch", f"PATCH {_KEY}"),
    _of(OAUTH2, "tokeninfo", "GET [tokeninfo]"),
    _of(OAUTH2, "certs", "GET [oauth2/v1/certs]"),
)
METHODS: Final = {method.id: method for method in (*_COMPUTE, *_OTHERS)}
"""Every method that gcpx calls, by its ID."""


def method_of(request: Request) -> ApiMethod | None:
    """Return the method that a request calls; None if it is not declared."""
    return next((method for method in METHODS.values() if method.resource(request) is not None), None)
