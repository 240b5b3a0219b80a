"""IAM policies of resources, with conditions and etags."""

from __future__ import annotations

import base64
import re
from collections.abc import Collection
from typing import Any, Final

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.store import Store

_VERSIONS: Final = frozenset({0, 1, 3})
_WITH_CONDITIONS: Final = 3
_MEMBER: Final = re.compile(r"allUsers|allAuthenticatedUsers|[a-zA-Z]+:\S+")
_ROLE: Final = re.compile(r"roles/\S+|(?:projects|organizations)/[^/\s]+/roles/\S+")
UNSET_POLICY: Final[Json] = {"etag": "ACAB"}
"""The policy of a resource before one is set: it has an etag, but no version."""


class _ConcurrentChangeError(ApiError):
    """The policy was changed since it was read."""

    def body(self, *form: Any) -> Json:
        """Return the body of the response, with the status of such errors."""
        body = super().body(*form)
        body["error"]["status"] = "ABORTED"
        return body


def replace_policy(store: Store, path: str, given: Json, unset: Json = UNSET_POLICY) -> Json:
    """Replace the policy at a path, if the etag in the request is the current one; `unset` is the policy before."""
    current, policy = store.get(path) or unset, new_policy(given)
    if given.get("etag") not in (None, "", current["etag"]):
        why = "There were concurrent policy changes. Please retry the whole read-modify-write with exponential backoff."
        raise _ConcurrentChangeError(409, why, "aborted")
    policy["etag"] = base64.b64encode(b"\x07" + store.next("policies").to_bytes(7)).decode()
    store.put(path, policy)
    return policy


def new_policy(given: Json) -> Json:
    """Check the policy of a request; return its bindings and its version, without an etag.

    Source: the field `version` in the description of the API; the version in a response was recorded in 2024.
    """
    version = _checked_version(given.get("version"))
    bindings = [binding for binding in given.get("bindings") or () if binding.get("members")]
    for binding in bindings:
        role = str(binding.get("role", ""))
        if not _ROLE.fullmatch(role):
            raise ApiError(400, f"Role {role} is not supported for this resource.")
        for member in binding["members"]:
            if not _MEMBER.fullmatch(member):
                raise ApiError(400, f"The member {member} is of an unknown type.")
        if "condition" in binding and not binding["condition"].get("expression"):
            raise ApiError(400, "The condition of a binding must have an expression.")
    if _has_conditions(bindings) and version != _WITH_CONDITIONS:
        raise ApiError(400, "A policy with conditional role bindings must have version 3.")
    kept = {"version": _WITH_CONDITIONS if _has_conditions(bindings) else 1}
    return kept | ({"bindings": bindings} if bindings else {})


def _checked_version(given: str | int | None) -> int:
    version = int(given or 0)
    if version not in _VERSIONS:
        raise ApiError(400, f"Invalid policy version: {version}. Valid values are 0, 1 and 3.")
    return version


def _has_conditions(bindings: list[Json]) -> bool:
    return any("condition" in binding for binding in bindings)


def shown_policy(policy: Json, requested_version: str | int | None) -> Json:
    """Show a policy; refuse a requested version that does not support the policy's conditions.

    Source: the parameters `optionsRequestedPolicyVersion` and `options.requestedPolicyVersion` of the APIs.
    """
    version = _checked_version(requested_version)
    if _has_conditions(policy.get("bindings") or []) and version != _WITH_CONDITIONS:
        raise ApiError(400, "The policy has conditional role bindings; request version 3.")
    return policy


def has_role(policy: Json, roles: Collection[str], account: str) -> bool:
    """Return whether a policy gives a service account one of these roles, or any custom role, which may be equivalent.

    Conditions count as met.
    """
    members = {f"serviceAccount:{account}", "allAuthenticatedUsers", "allUsers"}
    return any(
        (binding["role"] in roles or not binding["role"].startswith("roles/"))
        and not members.isdisjoint(binding["members"])
        for binding in policy.get("bindings") or ()
    )
