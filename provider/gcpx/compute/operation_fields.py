"""What an operation of Compute Engine (REST JSON) says about itself: its kind, its times, and where it is."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any


def moment(timestamp: str) -> float:
    """Return the time of an operation or a resource in seconds since 1970."""
    return datetime.fromisoformat(timestamp).timestamp()


def kind_of(operation: Mapping[str, Any]) -> str:
    """Return what an operation (REST JSON) does, such as `insert` or `attachDisk`; empty if it does not say.

    This is the last part of its type, because some types begin with the collection: Google calls the insertion of a
    template `compute.instanceTemplates.insert`, and its deletion `delete`.
    """
    return str(operation.get("operationType", "")).rpartition(".")[2]


def scope_of(operation: dict[str, Any]) -> str:
    """Tell where an operation is: `global`, `regions/R` or `zones/Z`."""
    for name in ("zone", "region"):
        if operation.get(name):
            return f"{name}s/{operation[name].rpartition('/')[2]}"
    return "global"
