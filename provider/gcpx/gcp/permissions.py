"""The IAM permissions of each API method that gcpx calls, and what an error says when one is missing.

`docs/permissions.md` follows from them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import attrs

from gcpx.gcp.errors import ApiDisabled, ApiError, PermissionDenied, ScopeTooNarrow, disabled_api, object_of, objects
from gcpx.gcp.request import COMPUTE, OAUTH2, OSLOGIN, PUBSUB, STORAGE, Api, Request

_PARAMETER: Final = re.compile(r"\{\w+\}")


@attrs.frozen
class Need:
    """A need for a permission.

    Attributes:
        permission: its name, such as `compute.instances.get`.
        on: what it is needed on, in words, such as `the instance`.
        when: the condition under which it is needed, in words; empty if every call needs it.
    """

    permission: str
    on: str
    when: str = ""


@attrs.frozen
class ApiMethod:
    """A method that gcpx calls.

    Attributes:
        id: as in Google's API descriptions, such as `compute.instances.get`.
        api: the API that it belongs to.
        call: the HTTP method and the path without the version, as in `GET [projects/{project}]/regions`; the brackets
            enclose the resource that the first need is on.
        needs: the permissions that it needs; none if Google documents none.
    """

    id: str
    api: Api
    call: str
    needs: tuple[Need, ...]

    def resource(self, request: Request) -> str | None:
        """Return the path of the resource that a request needs the first permission on; None for another method's."""
        call = request.description
        found = re.fullmatch(_expression(self.call), call) if request.api.name == self.api.name else None
        return found["on"] if found else None


def _expression(call: str) -> str:
    """Write the regular expression of a call; a parameter stands for one segment of the path."""
    return _PARAMETER.sub("[^/]+", call.replace("[", "(?P<on>").replace("]", ")"))


PROJECT: Final = "the project"
INSTANCE: Final = "the instance"
_ACCOUNT_IS_SET: Final = "if `serviceAccounts` is set"
_NETWORK: Final = "if an interface names a network"
_SUBNETWORK: Final = "if an interface names a subnetwork, or a VPC network, from which Google chooses one"
_EXTERNAL: Final = "if an interface has an external address (`accessConfigs`)"
ACT_AS: Final = Need("iam.serviceAccounts.actAs", "the service account", _ACCOUNT_IS_SET)
SET_SERVICE_ACCOUNT: Final = "compute.instances.setServiceAccount"

CREATION: Final = (
    Need("compute.instances.create", PROJECT),
    Need("compute.disks.create", PROJECT, "if disks are created, as in nearly every fleet"),
    Need("compute.instances.setLabels", PROJECT, "always, because gcpx labels the members of a fleet"),
    Need("compute.networks.use", "the network", _NETWORK),
    Need("compute.networks.useExternalIp", "the network", f"{_EXTERNAL} in a legacy network"),
    Need("compute.subnetworks.use", "the subnetwork", _SUBNETWORK),
    Need("compute.subnetworks.useExternalIp", "the subnetwork", f"{_EXTERNAL} in a VPC network"),
    Need("compute.addresses.use", PROJECT, "if an interface has a reserved address (`natIP`)"),
    Need("compute.instances.pscInterfaceCreate", PROJECT, "if an interface names a network attachment"),
    Need("compute.instances.setMetadata", PROJECT, "if `metadata` is set"),
    Need("compute.instances.setTags", PROJECT, "if `tags` are set"),
    Need(SET_SERVICE_ACCOUNT, PROJECT, _ACCOUNT_IS_SET),
    ACT_AS,
    Need("compute.resourcePolicies.use", PROJECT, "if `resourcePolicies` or `placement` is set"),
    Need("compute.instanceTemplates.useReadOnly", "the template", "if `sourceInstanceTemplate` is set"),
    Need("compute.images.useReadOnly", "the image", "if a disk is made from an image that is not public"),
    Need("compute.disks.useReadOnly", "the disk", "if an existing disk is attached, which is then read-only"),
)
"""What the creation of instances needs."""
TEMPLATE: Final = (
    Need("compute.instanceTemplates.create", PROJECT),
    Need("compute.networks.get", "the network", _NETWORK),
    Need("compute.subnetworks.get", "the subnetwork", "if an interface names a subnetwork"),
    ACT_AS,
)
"""What the creation of an instance template needs."""
MACHINE_IMAGE: Final = (
    Need("compute.machineImages.create", PROJECT),
    Need("compute.instances.useReadOnly", "the source instance"),
    Need("compute.disks.createSnapshot", "the disks of the source instance"),
)
"""What the creation of a machine image needs."""
ATTACHMENT: Final = (
    Need("compute.instances.attachDisk", INSTANCE),
    Need("compute.disks.use", "the disk", "if `mode` is `READ_WRITE`, which is the default"),
    Need("compute.disks.useReadOnly", "the disk", "if `mode` is `READ_ONLY`"),
)
"""What attaching an existing disk needs."""
AUTO_DELETE: Final = (Need("compute.instances.setDiskAutoDelete", INSTANCE), Need("compute.disks.update", "the disk"))
"""What changing the automatic deletion of an attached disk needs."""


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


_NAMED: Final = re.compile(r"\b(?:compute|iam|pubsub|resourcemanager|serviceusage|storage)\.\w+\.\w+\b")
_PERMISSION_REASONS: Final = frozenset({"", "forbidden", "PERMISSION_DENIED", "IAM_PERMISSION_DENIED"})
"""Reasons that speak of permissions; others, such as a security policy, have another cause."""
_PROJECT_OF_PATH: Final = re.compile(r"/projects/([^/]+)")
_ALL_SCOPES: Final = "https://www.googleapis.com/auth/cloud-platform"
_UNKNOWN_CALLER: Final = (
    "gcpx does not know the account of these credentials; `gcloud auth list` shows your own, and "
    "https://oauth2.googleapis.com/tokeninfo that of an access token"
)


def needed(request: Request) -> tuple[str, str] | None:
    """Return the permission that a call needs and the resource that it is needed on; None if they are not known.

    Of several permissions, the first one that is declared is returned, which every call of the method needs.
    """
    method = method_of(request)
    resource = method.resource(request) if method else None
    return (method.needs[0].permission, resource) if method and method.needs and resource else None


def explain_denial(error: ApiError, request: Request, principal: str | None) -> ApiError:
    """Add to an error the missing permission, the resource and the account, as far as Google does not name them.

    `principal` is the account that the call was made as: None if it is not known, and empty if there is none. An
    error about a disabled API, or about scopes that are too narrow, gets the command that fixes it. Other errors are
    returned as they are.
    """
    if isinstance(error, ApiDisabled):
        return error.with_hint(_how_to_enable(error, request))
    if isinstance(error, ScopeTooNarrow):
        return error.with_hint(_how_to_widen(request.api))
    if not isinstance(error, PermissionDenied) or error.reason not in _PERMISSION_REASONS:
        return error
    hints = [_missing(error, request), _caller(error, principal)]
    text = ". ".join(hint for hint in hints if hint)
    return error.with_hint(f"{text}.") if text else error


def _how_to_enable(error: ApiDisabled, request: Request) -> str:
    """Give the command that enables an API, in the project that Google names, or in that of the request."""
    project = _PROJECT_OF_PATH.search(f"/{request.path}")
    service, consumer = disabled_api(error.details) or (
        f"{request.api.name}.googleapis.com",
        project[1] if project else "PROJECT",
    )
    return f"Enable the API with `gcloud services enable {service} --project={consumer}`."


def _how_to_widen(api: Api) -> str:
    """Name the scope that a call needs, and how each kind of credentials gets it."""
    return (
        f"The access token needs the OAuth scope {api.scope} or {_ALL_SCOPES}. If gcpx:scopes is set, add one of them "
        "there. If gcpx:accessToken is set, create that token with one of them. For your own credentials, run "
        f"`gcloud auth application-default login --scopes={_ALL_SCOPES}`. If gcpx runs on a VM, stop the VM, run "
        "`gcloud compute instances set-service-account VM --scopes=cloud-platform`, and start it again."
    )


def _missing(error: PermissionDenied, request: Request) -> str:
    if _NAMED.search(error.message):
        return ""
    found = _in_details(error)
    if found is not None:
        return f"The call needs the permission {found[0]} on {found[1]}"
    return _declared(request)


def _declared(request: Request) -> str:
    """Name the permission that a call needs by its declaration, and those that it may need, too."""
    method, known = method_of(request), needed(request)
    if method is None or known is None:
        return ""
    names = [need.permission for need in method.needs[1:]]
    others = f", and perhaps, depending on the inputs, {', '.join(names)}" if names else ""
    return f"The call needs the permission {known[0]} on {known[1]}{others}"


def _in_details(error: PermissionDenied) -> tuple[str, str] | None:
    for detail in objects(list(error.details)):
        metadata: Mapping[str, object] = object_of(detail.get("metadata"))
        if metadata.get("permission"):
            return str(metadata["permission"]), str(metadata.get("resource") or "the resource")
    return None


def _caller(error: PermissionDenied, principal: str | None) -> str:
    if principal is None:
        return _UNKNOWN_CALLER
    return f"The caller is {principal}" if principal and principal not in error.message else ""
