"""Projects, of which every one exists, and their IAM policies."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.core.call import ANONYMOUS, Call, handles
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.iam import UNSET_POLICY, replace_policy, shown_policy
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.permissions import declare_needs, held_permissions, need
from gcpx_emulator.core.projects import project_number

_CREATED: Final = "2024-01-01T08:00:00.000Z"
_MASK: Final = "bindings,etag"
"""The fields of a policy that change if the request names none."""
_KNOWN: Final = frozenset({"bindings", "etag", "version"})
_PUBLIC: Final = frozenset({"allUsers", "allAuthenticatedUsers"})
_FIRST: Final[Json] = {
    **UNSET_POLICY,
    "version": 1,
    "bindings": [{"role": "roles/owner", "members": [f"user:{ANONYMOUS}"]}],
}
"""The policy of a project before one is set: it has an owner."""


def _resource(call: Call) -> str:
    return f"projects/{call.path['resource']}"


def _policy_path(call: Call) -> str:
    return f"{_resource(call)}/iamPolicy/current"


declare_needs(
    {
        "cloudresourcemanager.projects.get": (
            need(lambda call: [f"projects/{call.path['projectId']}"], "resourcemanager.projects.get on the project"),
        ),
        **{
            f"cloudresourcemanager.projects.{verb}": (
                need(lambda call: [_resource(call)], f"resourcemanager.projects.{verb} on the project"),
            )
            for verb in ("getIamPolicy", "setIamPolicy")
        },
    }
)


@handles("cloudresourcemanager.projects.get")
def get_project(call: Call) -> Json:
    """Read a project, which has no name of its own and is in no organization."""
    project = call.path["projectId"]
    return {
        "projectNumber": project_number(project),
        "projectId": project,
        "lifecycleState": "ACTIVE",
        "name": project,
        "createTime": _CREATED,
    }


@handles("cloudresourcemanager.projects.getIamPolicy")
def get_policy(call: Call) -> Json:
    """Read the policy of a project."""
    version = (call.body.get("options") or {}).get("requestedPolicyVersion")
    return shown_policy(call.store.get(_policy_path(call)) or _FIRST, version)


@handles("cloudresourcemanager.projects.setIamPolicy")
def set_policy(call: Call) -> Json:
    """Replace the policy of a project, if the etag in the request is the current one.

    Source: the description of the method, and of `updateMask`.
    """
    given, mask = call.body.get("policy") or {}, set((call.body.get("updateMask") or _MASK).split(","))
    if "bindings" not in mask or (mask - _KNOWN and mask - _KNOWN & given.keys()):
        raise ApiError(501, f"{call.method.id} of other fields than the bindings is not emulated")
    for binding in given.get("bindings") or ():
        for member in _PUBLIC.intersection(binding.get("members") or ()):
            raise ApiError(400, f"The member {member} is not supported in the policy of a project.")
    return replace_policy(call.store, _policy_path(call), given, _FIRST)


@handles("cloudresourcemanager.projects.testIamPermissions")
def test_permissions(call: Call) -> Json:
    """Return the permissions of the request that the caller has."""
    held = held_permissions(call, _resource(call), call.body.get("permissions") or [])
    return {"permissions": held} if held else {}
