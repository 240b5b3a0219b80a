"""The permissions that calls need, as services declare them, and who has them, as set at `/_emulator/policy`.

No other table says what Google requires: the page of permissions, and the file from which the plugin names them, are
generated from this one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.controls import setting
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.store import Store

PERMISSIONS: Final[set[str]] = set()
"""Every permission that calls may need and policies may name."""
Resources = Callable[[Call], Iterable[str]]
"""A function that lists the resources on which a call needs a permission."""


@attrs.frozen
class Permission:
    """A permission that a call may need: its name, what it is needed on, and the condition, if any, both in words."""

    name: str
    on: str
    when: str


@attrs.frozen
class Need:
    """A need for one of several permissions on each of some resources."""

    resources: Resources
    permissions: tuple[Permission, ...]


NEEDS: Final[dict[str, tuple[Need, ...]]] = {}
"""What calls need, by method ID; every call needs the first permission of the first need."""


def need(resources: Resources, *permissions: str) -> Need:
    """Declare a need for any one of these permissions, each as in `compute.disks.use on the disk if it is attached`."""
    return Need(resources, tuple(map(_permission, permissions)))


def _permission(words: str) -> Permission:
    name, place = words.split(" on ", 1)
    on, condition, when = place.partition(" if ")
    return Permission(name, on, f"{condition}{when}".strip())


def declare_needs(needs: Mapping[str, tuple[Need, ...]]) -> None:
    """Register the needs of a service's methods, and the permissions that policies may name."""
    NEEDS.update(needs)
    PERMISSIONS.update(item.name for found in needs.values() for one in found for item in one.permissions)


_EVERYONE: Final = "*"


def _checked(policy: Any) -> Json:
    if not isinstance(policy, dict) or set(policy) != {"bindings"} or not isinstance(policy["bindings"], list):
        raise ApiError(400, 'A policy is {"bindings": [{"permission": ..., "members": [...], "resources": [...]}]}.')
    for index, binding in enumerate(policy["bindings"]):
        _check_binding(f"bindings[{index}]", binding)
    return dict(policy)


def _check_binding(where: str, binding: Any) -> None:
    if not isinstance(binding, dict) or set(binding) - {"permission", "members", "resources"}:
        raise ApiError(400, f"{where} must be an object with permission, members and, optionally, resources.")
    if binding.get("permission") not in sorted(PERMISSIONS):
        raise ApiError(400, f"{where}.permission must be one of {', '.join(sorted(PERMISSIONS))}.")
    _check_texts(f"{where}.members", binding.get("members"), "e-mail addresses, or * for everyone")
    _check_texts(f"{where}.resources", binding.get("resources", []), "names of resources; omit it for all resources")


def _check_texts(where: str, value: Any, what: str) -> None:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise ApiError(400, f"{where} must be a list of {what}.")


POLICY: Final = setting("policy", _checked, default={"bindings": []})


def check_permissions(call: Call) -> None:
    """Refuse a call whose caller lacks a permission that the call needs."""
    bindings = POLICY.read(call.store)["bindings"]
    for one in NEEDS.get(call.method.id, ()) if bindings else ():
        named = [it.name for it in one.permissions if any(item["permission"] == it.name for item in bindings)]
        granting = [item for item in bindings if item["permission"] in named]
        for resource in map(call.store.with_name, one.resources(call)):
            if named and not any(_grants(item, resource, call.caller) for item in granting):
                wanted = " or ".join(f"'{name}'" for name in named)
                raise ApiError(403, f"Required {wanted} permission for '{resource}'")


def held_permissions(call: Call, resource: str, wanted: Iterable[str]) -> list[str]:
    """Return those of the given permissions that the caller has on a resource."""
    return [name for name in wanted if is_granted(call.store, name, resource, call.caller) is not False]


def is_granted(store: Store, permission: str, resource: str, account: str) -> bool | None:
    """Return whether an account has a permission on a resource; None if no binding names the account."""
    bindings = [item for item in POLICY.read(store)["bindings"] if item["permission"] == permission]
    return any(_grants(item, resource, account) for item in bindings) if bindings else None


def _grants(binding: Json, resource: str, caller: str) -> bool:
    everywhere = "resources" not in binding
    return (everywhere or resource in binding["resources"]) and bool({caller, _EVERYONE} & set(binding["members"]))
