"""Adds missing permissions to errors: the one that Google names or, without one, all that the call needs.

`permissions.csv` lists the calls with their permissions. It is generated from the emulator's table of what Google
requires, as is `docs/permissions.md`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Final

from gcpx.errors import sentences
from gcpx.gcp.errors import ApiDisabled, ApiError, PermissionDenied, ScopeTooNarrow, disabled_api, object_of, objects
from gcpx.gcp.request import Api, Request

_PARAMETER: Final = re.compile(r"\{\w+\}")


@cache
def _table() -> list[tuple[str, re.Pattern[str], list[str]]]:
    """Read the method, call and permissions of each row.

    A call has brackets around the path of what the first permission is needed on.
    """
    with (resources.files("gcpx.gcp") / "permissions.csv").open() as file:
        rows = [*csv.DictReader(file)]
    forms = [_PARAMETER.sub("[^/]+", row["call"].replace("[", "(?P<on>").replace("]", ")")) for row in rows]
    return [
        (row["method"], re.compile(form), row["permissions"].split()) for row, form in zip(rows, forms, strict=True)
    ]


def needed(request: Request) -> tuple[list[str], str] | None:
    """Return the permissions that a request may need, and the resource that the first one is needed on.

    Every call needs the first one. None if they are not known, as of OS Login, for which Google documents none.
    """
    for method, call, permissions in _table():
        found = call.fullmatch(request.description)
        if found and method.startswith(f"{request.api.name}."):
            # The project of a list of buckets is in the query.
            return permissions, found.groupdict().get("on", "the project")
    return None


_PERMISSION_REASONS: Final = frozenset({"", "forbidden", "PERMISSION_DENIED", "IAM_PERMISSION_DENIED"})
"""Reasons about permissions; other reasons, such as a security policy, have another cause."""


_UNKNOWN_CALLER: Final = (
    "gcpx does not know the account of these credentials; `gcloud auth list` shows your own, and "
    "https://oauth2.googleapis.com/tokeninfo that of an access token"
)


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
    caller = f"The caller is {principal}" if principal and principal not in error.message else ""
    caller = _UNKNOWN_CALLER if principal is None else caller
    explained = error.with_hint(sentences(_missing(error, request), caller))
    return explained.with_next_step(_GRANT) if _NAMED.search(explained.message) else explained


_GRANT: Final = (
    "Grant the named permission to the caller, or set gcpx:impersonateServiceAccount to an account that has it."
)
_PROJECT_OF_PATH: Final = re.compile(r"/projects/([^/]+)")


def _how_to_enable(error: ApiDisabled, request: Request) -> str:
    """Return the command that enables an API, in the project that Google names, or else in the request's project."""
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


_NAMED: Final = re.compile(r"(?<![\w@./-])[a-z]\w*\.[a-zA-Z]+\.(?!(?:com|dev|io|net|org)\b)[a-zA-Z]+\b")
"""A permission in Google's words, of any service, but no similar part of an address or name of a host."""


def _missing(error: PermissionDenied, request: Request) -> str:
    """Name the permission in the error's details or, without one, the call's; empty if Google's message names it."""
    if _NAMED.search(error.message):
        return ""
    found = _in_details(error)
    if found is not None:
        return f"The call needs the permission {found[0]} on {found[1]}"
    known = needed(request)
    if known is None:
        return ""
    (first, *others), resource = known
    perhaps = f", and perhaps, depending on the inputs, {', '.join(others)}" if others else ""
    return f"The call needs the permission {first} on {resource}{perhaps}"


def _in_details(error: PermissionDenied) -> tuple[str, str] | None:
    for detail in objects(list(error.details)):
        metadata: Mapping[str, object] = object_of(detail.get("metadata"))
        if metadata.get("permission"):
            return str(metadata["permission"]), str(metadata.get("resource") or "the resource")
    return None
