"""What an error says when an IAM permission is missing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from gcpx.gcp.error_details import object_of, objects
from gcpx.gcp.errors import ApiError, PermissionDenied
from gcpx.gcp.method_permissions import method_of
from gcpx.gcp.request import Request

_NAMED: Final = re.compile(r"\b(?:compute|iam|pubsub|resourcemanager|serviceusage|storage)\.\w+\.\w+\b")
_PERMISSION_REASONS: Final = frozenset({"", "forbidden", "PERMISSION_DENIED", "IAM_PERMISSION_DENIED"})
"""Reasons that speak of permissions; others, such as a disabled API, have another cause."""
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
