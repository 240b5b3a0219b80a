"""The IAM permissions of each API method that gcpx calls, and the explanation of a missing one.

`docs/permissions.md` is generated from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

import attrs

from gcpx.errors import sentences
from gcpx.gcp.errors import ApiDisabled, ApiError, PermissionDenied, ScopeTooNarrow, disabled_api, object_of, objects
from gcpx.gcp.request import COMPUTE, PUBSUB, STORAGE, Api, Request

_PARAMETER: Final = re.compile(r"\{\w+\}")


@attrs.frozen
class Need:
    """A need for a permission.

    Attributes:
        permission: its name, such as `compute.instances.get`.
        on: the resource that it is needed on, in words, such as `the instance`.
        when: the condition of the need, in words; empty if every call needs it.
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
        call: the HTTP method and the path without the version, as in `GET [projects/{project}]/regions`; the resource
            of the first need is in brackets.
        needs: the permissions that it needs; every call needs the first one.
    """

    id: str
    api: Api
    call: str
    needs: tuple[Need, ...]

    def resource(self, request: Request) -> str | None:
        """Return the path of the resource on which a request needs the first permission; None for another method."""
        call = request.description
        found = re.fullmatch(_expression(self.call), call) if request.api.name == self.api.name else None
        return found["on"] if found else None


def _expression(call: str) -> str:
    """Write the regular expression of a call; a parameter stands for one segment of the path."""
    return _PARAMETER.sub("[^/]+", call.replace("[", "(?P<on>").replace("]", ")"))


_PROJECT: Final = "the project"
_INSTANCE: Final = "the instance"
_ACCOUNT: Final = "the service account"
_ACCOUNT_IS_SET: Final = "if `serviceAccounts` is set"
_NETWORK: Final = "if an interface names a network"
_EXTERNAL: Final = "if an interface has an external address (`accessConfigs`)"
_ACT_AS: Final = "iam.serviceAccounts.actAs"
_SET_ACCOUNT: Final = "compute.instances.setServiceAccount"
_NOT_PUBLIC: Final = "if the image is not public"
_TEMPLATE: Final = (
    Need("compute.instanceTemplates.create", _PROJECT),
    Need("compute.networks.get", "the network", _NETWORK),
    Need("compute.subnetworks.get", "the subnetwork", "if an interface names a subnetwork"),
    Need(_ACT_AS, _ACCOUNT, _ACCOUNT_IS_SET),
)
_NEEDS: Final = {
    "compute.regionInstances.bulkInsert": (
        Need("compute.instances.create", _PROJECT),
        Need("compute.disks.create", _PROJECT, "if disks are created, as in nearly every fleet"),
        Need("compute.instances.setLabels", _PROJECT),  # gcpx labels the members of a fleet
        Need("compute.networks.use", "the network", _NETWORK),
        Need("compute.networks.useExternalIp", "the network", f"{_EXTERNAL} in a legacy network"),
        Need(
            "compute.subnetworks.use",
            "the subnetwork",
            "if an interface names a subnetwork, or a VPC network, from which Google chooses one",
        ),
        Need("compute.subnetworks.useExternalIp", "the subnetwork", f"{_EXTERNAL} in a VPC network"),
        Need("compute.addresses.use", _PROJECT, "if an interface has a reserved address (`natIP`)"),
        Need("compute.instances.pscInterfaceCreate", _PROJECT, "if an interface names a network attachment"),
        Need("compute.instances.setMetadata", _PROJECT, "if `metadata` is set"),
        Need("compute.instances.setTags", _PROJECT, "if `tags` are set"),
        Need(_SET_ACCOUNT, _PROJECT, _ACCOUNT_IS_SET),
        Need(_ACT_AS, _ACCOUNT, _ACCOUNT_IS_SET),
        Need("compute.resourcePolicies.use", _PROJECT, "if `resourcePolicies` or `placement` is set"),
        Need("compute.instanceTemplates.useReadOnly", "the template", "if `sourceInstanceTemplate` is set"),
        Need("compute.images.useReadOnly", "the image", "if a disk is made from an image that is not public"),
        Need("compute.disks.useReadOnly", "the disk", "if an existing disk is attached, which is then read-only"),
    ),
    "compute.instanceTemplates.insert": _TEMPLATE,
    "compute.regionInstanceTemplates.insert": _TEMPLATE,
    "compute.machineImages.insert": (
        Need("compute.machineImages.create", _PROJECT),
        Need("compute.instances.useReadOnly", "the source instance"),
        Need("compute.disks.createSnapshot", "the disks of the source instance"),
    ),
    "compute.instances.attachDisk": (
        Need("compute.instances.attachDisk", _INSTANCE),
        Need("compute.disks.use", "the disk", "if `mode` is `READ_WRITE`, which is the default"),
        Need("compute.disks.useReadOnly", "the disk", "if `mode` is `READ_ONLY`"),
    ),
    "compute.instances.setDiskAutoDelete": (
        Need("compute.instances.setDiskAutoDelete", _INSTANCE),
        Need("compute.disks.update", "the disk"),
    ),
    "compute.instances.setServiceAccount": (
        Need(_SET_ACCOUNT, _INSTANCE),
        Need(_ACT_AS, _ACCOUNT, "if a service account is set, not removed"),
    ),
    "compute.images.get": (Need("compute.images.get", "the image", _NOT_PUBLIC),),
    "compute.images.getFromFamily": (Need("compute.images.getFromFamily", "the image", _NOT_PUBLIC),),
}
"""The needs of those methods of Compute that need more than the permission of the same name."""


_REGIONAL: Final = frozenset({"regionDisks", "regionInstanceTemplates"})
"""Collections that share the permissions of the zonal or the global collection."""


def _compute(what: str, place: str, methods: str) -> Iterator[ApiMethod]:
    """Declare methods of Compute; most of their calls and permissions have the same form.

    Args:
        what: the resource that the permissions are needed on; lists and creations need them on the project.
        place: the place of the resources below the project.
        methods: the collection's name in the IDs of the methods, and their names, with spaces between them.
    """
    collection, *names = methods.split()
    kind = place.rpartition("/")[2]
    every, one = f"[projects/{{project}}]/{place}", f"[projects/{{project}}/{place}/{{name}}]"
    if kind == "operations":  # their permissions are needed on the project
        one = f"{every}/{{name}}"
    calls = {
        "aggregatedList": f"GET [projects/{{project}}]/aggregated/{kind}",
        "bulkInsert": f"POST {every}/bulkInsert",
        "capacity": f"POST {every}/capacity",
        "delete": f"DELETE {one}",
        "get": f"GET {one}",
        "getFromFamily": f"GET {every}/family/{{family}}",
        "getGuestAttributes": f"GET {one}/getGuestAttributes",
        "insert": f"POST {every}",
        "list": f"GET {every}",
    }
    for name in names:
        method = f"compute.{collection}.{name}"
        permitted = {"aggregatedList": "list", "wait": "get"}.get(name, name)
        permission = f"compute.{kind if collection in _REGIONAL else collection}.{permitted}"
        need = Need(permission, _PROJECT if permitted == "list" else what)
        yield ApiMethod(method, COMPUTE, calls.get(name, f"POST {one}/{name}"), _NEEDS.get(method, (need,)))


_PAYER: Final = Need("serviceusage.services.use", "the project that pays", "if `userProject` is set")
_GET_BUCKET: Final = (Need("storage.buckets.get", "the bucket"), _PAYER)
_UPDATE_BUCKET: Final = (Need("storage.buckets.update", "the bucket"), _PAYER)
_CONFIGS: Final = "[b/{bucket}]/notificationConfigs"
_CONFIG: Final = f"{_CONFIGS}/{{notification}}"
_METHODS: Final = (
    *_compute(_PROJECT, "regions/{region}/instances", "regionInstances bulkInsert"),
    *_compute("the template", "global/instanceTemplates", "instanceTemplates insert get delete list aggregatedList"),
    *_compute("the template", "regions/{region}/instanceTemplates", "regionInstanceTemplates insert get delete list"),
    *_compute("the machine image", "global/machineImages", "machineImages insert get setLabels delete list"),
    *_compute(
        _INSTANCE,
        "zones/{zone}/instances",
        "instances attachDisk detachDisk setDiskAutoDelete get list aggregatedList delete setLabels setMetadata "
        "setTags setScheduling setMachineType setMinCpuPlatform setServiceAccount setMachineResources stop start "
        "resume getGuestAttributes",
    ),
    *_compute("the disk", "zones/{zone}/disks", "disks get aggregatedList"),
    *_compute("the disk", "regions/{region}/disks", "regionDisks get"),
    *_compute("the snapshot", "global/snapshots", "snapshots get"),
    *_compute(_PROJECT, "global/operations", "globalOperations get wait list"),
    *_compute(_PROJECT, "regions/{region}/operations", "regionOperations get wait list"),
    *_compute(_PROJECT, "zones/{zone}/operations", "zoneOperations get wait list"),
    ApiMethod("compute.projects.get", COMPUTE, "GET [projects/{project}]", (Need("compute.projects.get", _PROJECT),)),
    *_compute(_PROJECT, "regions", "regions get list"),
    *_compute(_PROJECT, "zones", "zones get list"),
    *_compute(_PROJECT, "zones/{zone}/machineTypes", "machineTypes aggregatedList"),
    *_compute("the image", "global/images", "images getFromFamily get"),
    *_compute("the network", "global/networks", "networks get"),
    *_compute("the subnetwork", "regions/{region}/subnetworks", "subnetworks get"),
    *_compute("the policy", "regions/{region}/resourcePolicies", "resourcePolicies get"),
    *_compute(_PROJECT, "regions/{region}/advice", "advice capacity"),
    ApiMethod("storage.notifications.list", STORAGE, f"GET {_CONFIGS}", _GET_BUCKET),
    ApiMethod("storage.notifications.get", STORAGE, f"GET {_CONFIG}", _GET_BUCKET),
    ApiMethod("storage.notifications.insert", STORAGE, f"POST {_CONFIGS}", _UPDATE_BUCKET),
    ApiMethod("storage.notifications.delete", STORAGE, f"DELETE {_CONFIG}", _UPDATE_BUCKET),
    ApiMethod("storage.buckets.get", STORAGE, "GET [b/{bucket}]", _GET_BUCKET),
    ApiMethod("storage.buckets.list", STORAGE, "GET [b]", (Need("storage.buckets.list", _PROJECT),)),
    ApiMethod(
        "storage.projects.serviceAccount.get",
        STORAGE,
        "GET [projects/{project}]/serviceAccount",
        (Need("resourcemanager.projects.get", "the bucket's project"),),
    ),
    ApiMethod(
        "pubsub.projects.topics.get",
        PUBSUB,
        "GET [projects/{project}/topics/{topic}]",
        (Need("pubsub.topics.get", "the topic"),),
    ),
)
METHODS: Final = {method.id: method for method in _METHODS}
"""Every method that gcpx calls and that needs permissions, by its ID.

Google documents none for the methods of OS Login and OAuth 2.0.
"""


def method_of(request: Request) -> ApiMethod | None:
    """Return the method that a request calls; None if it is not declared."""
    return next((method for method in METHODS.values() if method.resource(request) is not None), None)


_PERMISSION_REASONS: Final = frozenset({"", "forbidden", "PERMISSION_DENIED", "IAM_PERMISSION_DENIED"})
"""Reasons about permissions; other reasons, such as a security policy, have another cause."""


def needed(request: Request) -> tuple[str, str] | None:
    """Return the permission that a call needs, and the resource on which it needs it; None if they are not known.

    Of several permissions, it returns the first declared one, which every call of the method needs.
    """
    method = method_of(request)
    resource = method.resource(request) if method else None
    return (method.needs[0].permission, resource) if method and resource else None


def explain_denial(error: ApiError, request: Request, principal: str | None) -> ApiError:
    """Add to an error the missing permission, the resource and the account, as far as Google does not name them.

    `principal` is the account that made the call: None if it is not known, and empty if there is none. An
    error about a disabled API, or about too narrow scopes, gets the command that fixes it. Other errors are returned
    unchanged.
    """
    if isinstance(error, ApiDisabled):
        return error.with_hint(_how_to_enable(error, request))
    if isinstance(error, ScopeTooNarrow):
        return error.with_hint(_how_to_widen(request.api))
    if not isinstance(error, PermissionDenied) or error.reason not in _PERMISSION_REASONS:
        return error
    explained = error.with_hint(sentences(_missing(error, request), _caller(error, principal)))
    return explained.with_next_step(_GRANT) if _NAMED.search(explained.message) else explained


_GRANT: Final = (
    "Grant the named permission to the caller, or set gcpx:impersonateServiceAccount to an account that has it."
)


_PROJECT_OF_PATH: Final = re.compile(r"/projects/([^/]+)")


def _how_to_enable(error: ApiDisabled, request: Request) -> str:
    """Return the command that enables an API, in the project that Google names, or else in that of the request."""
    project = _PROJECT_OF_PATH.search(f"/{request.path}")
    service, consumer = disabled_api(error.details) or (
        f"{request.api.name}.googleapis.com",
        project[1] if project else "PROJECT",
    )
    return f"Enable the API with `gcloud services enable {service} --project={consumer}`."


_ALL_SCOPES: Final = "https://www.googleapis.com/auth/cloud-platform"


def _how_to_widen(api: Api) -> str:
    """Say which scope a call needs, and how each kind of credentials gets it."""
    return (
        f"The access token needs the OAuth scope {api.scope} or {_ALL_SCOPES}. If gcpx:scopes is set, add one of them "
        "there. If gcpx:accessToken is set, create that token with one of them. For your own credentials, run "
        f"`gcloud auth application-default login --scopes={_ALL_SCOPES}`. If gcpx runs on a VM, stop the VM, run "
        "`gcloud compute instances set-service-account VM --scopes=cloud-platform`, and start it again."
    )


_NAMED: Final = re.compile(r"\b(?:compute|iam|pubsub|resourcemanager|serviceusage|storage)\.\w+\.\w+\b")


def _missing(error: PermissionDenied, request: Request) -> str:
    if _NAMED.search(error.message):
        return ""
    found = _in_details(error)
    if found is not None:
        return f"The call needs the permission {found[0]} on {found[1]}"
    return _declared(request)


def _declared(request: Request) -> str:
    """Name the declared permission of a call, and those that it may need, too."""
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


_UNKNOWN_CALLER: Final = (
    "gcpx does not know the account of these credentials; `gcloud auth list` shows your own, and "
    "https://oauth2.googleapis.com/tokeninfo that of an access token"
)


def _caller(error: PermissionDenied, principal: str | None) -> str:
    if principal is None:
        return _UNKNOWN_CALLER
    return f"The caller is {principal}" if principal and principal not in error.message else ""
