"""What an error says when an IAM permission is missing, an API is not enabled, or a token is not meant for the call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from gcpx.gcp.apis import Api
from gcpx.gcp.error_details import disabled_api, object_of, objects
from gcpx.gcp.errors import ApiDisabled, ApiError, PermissionDenied, ScopeTooNarrow
from gcpx.gcp.method_permissions import method_of
from gcpx.gcp.request import Request

_NAMED: Final = re.compile(r"\b(?:compute|iam|pubsub|resourcemanager|serviceusage|storage)\.\w+\.\w+\b")
_PERMISSION_REASONS: Final = frozenset({"", "forbidden", "PERMISSION_DENIED", "IAM_PERMISSION_DENIED"})
"""Reasons that speak of permissions; others, such as a security policy, have another cause."""
_PROJECT: Final = re.compile(r"/projects/([^/]+)")
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
    project = _PROJECT.search(f"/{request.path}")
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
