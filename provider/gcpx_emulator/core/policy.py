"""Who may do what, as ordered at `/_emulator/policy`.

A permission that no binding names is everyone's. One that is named is held by the members of its bindings alone; where
any one of several permissions is enough, those that the policy does not name are left out of account.
"""

from __future__ import annotations

from typing import Any, Final

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.handlers import Call
from gcpx_emulator.core.permissions import PERMISSIONS, Need, needs
from gcpx_emulator.core.store import Json

POLICY: Final = "policy/all"
"""Where the policy is kept: {"bindings": [{"permission": ..., "members": [...], "resources": [...]}, ...]}."""
OPEN: Final[Json] = {"bindings": []}
"""The policy under which everyone may do everything."""
EVERYONE: Final = "*"


def checked(policy: Any) -> Json:
    """Refuse an order that is not a policy."""
    if not isinstance(policy, dict) or set(policy) != {"bindings"} or not isinstance(policy["bindings"], list):
        raise ApiError(400, 'A policy is {"bindings": [{"permission": ..., "members": [...], "resources": [...]}]}.')
    for index, binding in enumerate(policy["bindings"]):
        _check(f"bindings[{index}]", binding)
    return dict(policy)


def _check(where: str, binding: Any) -> None:
    if not isinstance(binding, dict) or set(binding) - {"permission", "members", "resources"}:
        raise ApiError(400, f"{where} must be an object with permission, members and, optionally, resources.")
    if binding.get("permission") not in sorted(PERMISSIONS):
        raise ApiError(400, f"{where}.permission must be one of {', '.join(sorted(PERMISSIONS))}.")
    _check_texts(f"{where}.members", binding.get("members"), "e-mail addresses, or * for everyone")
    _check_texts(f"{where}.resources", binding.get("resources", []), "names of resources; omit it for all resources")


def _check_texts(where: str, value: Any, what: str) -> None:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise ApiError(400, f"{where} must be a list of {what}.")


def check(call: Call) -> None:
    """Refuse a call without the required permission."""
    bindings = (call.store.get(POLICY) or OPEN)["bindings"]
    for need in needs(call) if bindings else ():
        named = [name for name in need.permissions if any(item["permission"] == name for item in bindings)]
        if named and not any(_grants(item, need, call.caller) for item in bindings if item["permission"] in named):
            wanted = " or ".join(f"'{name}'" for name in named)
            raise ApiError(403, f"Required {wanted} permission for '{need.resource}'")


def _grants(binding: Json, need: Need, caller: str) -> bool:
    everywhere = "resources" not in binding
    return (everywhere or need.resource in binding["resources"]) and bool({caller, EVERYONE} & set(binding["members"]))
