"""The permissions that calls need, as services declare them. A call that no service declares needs none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import attrs

from gcpx_emulator.core.call import Call

PERMISSIONS: Final[set[str]] = set()
"""Every permission that calls may need, and that policies can name."""


@attrs.frozen
class Need:
    """A need for one of several permissions on a resource."""

    permissions: tuple[str, ...]
    resource: str


Needs = Callable[[Call], Iterable[Need]]
_NEEDS: Final[dict[str, Needs]] = {}


def declare_needs(permissions: Iterable[str], needs: Mapping[str, Needs]) -> None:
    """Register the permissions of a service, and by method ID the functions that list the needs of a call."""
    PERMISSIONS.update(permissions)
    _NEEDS.update(needs)


def needs_of(call: Call) -> list[Need]:
    """List what a call needs."""
    find = _NEEDS.get(call.method.id)
    return list(find(call)) if find else []
