"""The IAM permissions that calls need, in one table, and what an error says when one is missing.

Source: "IAM Permissions" or "Required permissions" on the page of each method in the REST references.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import attrs

from gcpx.gcp.apis import COMPUTE, PUBSUB, STORAGE
from gcpx.gcp.error_details import object_of, objects
from gcpx.gcp.errors import ApiError, PermissionDenied
from gcpx.gcp.request import Request


@attrs.frozen
class Permission:
    r"""The permission that some calls of an API need.

    Attributes:
        api: the API's name.
        call: matches the HTTP method, a space, and the path without the version; its group `on` is the resource that
            the permission is needed on.
        name: the permission, in which `\g<...>` stands for another group.
    """

    api: str
    call: re.Pattern[str]
    name: str


def _of(api: str, call: str, name: str) -> Permission:
    return Permission(api, re.compile(call), name)


_ON: Final = r"(?P<on>projects/[^/]+)"
_IN: Final = r"/(?P<place>region|zone)s/[^/]+"
_SCOPE: Final = r"/(?:global|aggregated|regions/[^/]+|zones/[^/]+)"
_ITEM: Final = rf"(?P<on>projects/[^/]+{_SCOPE}/(?P<all>\w+)/[^/]+)"
PERMISSIONS: Final = (
    _of(COMPUTE.name, rf"GET {_ON}", "compute.projects.get"),
    _of(COMPUTE.name, rf"GET {_ON}/(?P<places>regions|zones)", r"compute.\g<places>.list"),
    _of(COMPUTE.name, r"GET (?P<on>projects/[^/]+/(?P<places>regions|zones)/[^/]+)", r"compute.\g<places>.get"),
    _of(COMPUTE.name, rf"GET {_ON}/global/operations", "compute.globalOperations.list"),
    _of(COMPUTE.name, rf"GET {_ON}{_IN}/operations", r"compute.\g<place>Operations.list"),
    _of(COMPUTE.name, rf"(?:GET|POST) {_ON}/global/operations/.*", "compute.globalOperations.get"),
    _of(COMPUTE.name, rf"(?:GET|POST) {_ON}{_IN}/operations/.*", r"compute.\g<place>Operations.get"),
    _of(COMPUTE.name, rf"GET {_ON}/global/images/family/.*", "compute.images.getFromFamily"),
    _of(COMPUTE.name, rf"POST {_ON}{_IN}/instances/bulkInsert", "compute.instances.create"),
    _of(COMPUTE.name, rf"GET {_ON}{_SCOPE}/(?P<all>\w+)", r"compute.\g<all>.list"),
    _of(COMPUTE.name, rf"POST {_ON}{_SCOPE}/(?P<all>\w+)", r"compute.\g<all>.create"),
    _of(COMPUTE.name, rf"GET {_ITEM}", r"compute.\g<all>.get"),
    _of(COMPUTE.name, rf"DELETE {_ITEM}", r"compute.\g<all>.delete"),
    _of(COMPUTE.name, rf"(?:GET|POST) {_ITEM}/(?P<method>\w+)", r"compute.\g<all>.\g<method>"),
    _of(STORAGE.name, r"GET (?P<on>b)", "storage.buckets.list"),
    _of(STORAGE.name, r"GET (?P<on>b/[^/]+)/notificationConfigs.*", "storage.buckets.get"),
    _of(STORAGE.name, r"(?:POST|DELETE) (?P<on>b/[^/]+)/notificationConfigs.*", "storage.buckets.update"),
    _of(STORAGE.name, rf"GET {_ON}/serviceAccount", "resourcemanager.projects.get"),
    _of(PUBSUB.name, r"GET (?P<on>projects/[^/]+/topics/[^/]+)", "pubsub.topics.get"),
)
"""The first row that matches a call counts. OS Login is missing: no permission lets an account manage others' keys."""
_NAMED: Final = re.compile(r"\b(?:compute|iam|pubsub|resourcemanager|serviceusage|storage)\.\w+\.\w+\b")
_PERMISSION_REASONS: Final = frozenset({"", "forbidden", "PERMISSION_DENIED", "IAM_PERMISSION_DENIED"})
"""Reasons that speak of permissions; others, such as a disabled API, have another cause."""
_UNKNOWN_CALLER: Final = (
    "gcpx does not know the account of these credentials; `gcloud auth list` shows your own, and "
    "https://oauth2.googleapis.com/tokeninfo that of an access token"
)


def needed(request: Request) -> tuple[str, str] | None:
    """Return the permission that a call needs and the resource that it is needed on; None if they are not known."""
    call = f"{request.method} {request.path.partition('/')[2]}"
    for row in PERMISSIONS:
        found = row.call.fullmatch(call) if row.api == request.api.name else None
        if found is not None:
            return found.expand(row.name), found["on"]
    return None


def explain_denial(error: ApiError, request: Request, principal: str | None) -> ApiError:
    """Add to an error the missing permission, the resource and the account, as far as Google does not name them.

    `principal` is the account that the call was made as: None if it is not known, and empty if there is none. Errors
    other than a missing permission are returned as they are.
    """
    if not isinstance(error, PermissionDenied) or error.reason not in _PERMISSION_REASONS:
        return error
    hints = [_missing(error, request), _caller(error, principal)]
    text = ". ".join(hint for hint in hints if hint)
    return error.with_hint(f"{text}.") if text else error


def _missing(error: PermissionDenied, request: Request) -> str:
    if _NAMED.search(error.message):
        return ""
    found = _in_details(error) or needed(request)
    return f"The call needs the permission {found[0]} on {found[1]}" if found else ""


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
