"""How much a change of the instance properties disturbs a member: the least that it needs."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import Any, Final

from gcpx.model.values import Path

_SCHEDULING: Final = "scheduling"


class Level(enum.IntEnum):
    """What has to be done to a member, the least disruptive first."""

    NONE = 0
    REFRESH = 1
    RESTART = 2
    REPLACE = 3


CHANGES: Final = (Level.REFRESH, Level.RESTART, Level.REPLACE)
_OF_PROPERTY: Final[Mapping[str, Level]] = {
    "labels": Level.REFRESH,
    "metadata": Level.REFRESH,
    "tags": Level.REFRESH,
    "machineType": Level.RESTART,
    "minCpuPlatform": Level.RESTART,
    "serviceAccounts": Level.RESTART,
    "guestAccelerators": Level.RESTART,
}
"""The properties of instances that change without a new instance. Every other change replaces the member."""
_OF_SCHEDULING: Final[Mapping[str, Level]] = {
    "automaticRestart": Level.REFRESH,
    "onHostMaintenance": Level.REFRESH,
    "instanceTerminationAction": Level.RESTART,
    "maxRunDuration": Level.RESTART,
    "terminationTime": Level.RESTART,
}
"""The parts of `scheduling` that change without a new instance."""


def level_of(name: str, part: str = "") -> Level:
    """Return what a change of an instance property needs; `part` is the part of `scheduling` that changes."""
    if name == _SCHEDULING:
        return _OF_SCHEDULING.get(part, Level.REPLACE)
    return _OF_PROPERTY.get(name, Level.REPLACE)


def levels_of(paths: Iterable[Path]) -> set[Level]:
    """Return what changes at these paths of a fleet's inputs need.

    A change of the template may need anything, because it may change every property.
    """
    found: set[Level] = set()
    for path in paths:
        if path[0] == "sourceInstanceTemplate" or path == ("instanceProperties",):
            return set(CHANGES)
        if path[0] == "instanceProperties":
            found |= {level_of(str(path[1]), str(path[2]))} if path[2:] else _of_whole(str(path[1]))
    return found


def _of_whole(name: str) -> set[Level]:
    """Return what a change of a whole property needs; a change of all of `scheduling` may need anything."""
    return set(CHANGES) if name == _SCHEDULING else {level_of(name)}


def by_level(properties: dict[str, Any]) -> dict[Level, dict[str, Any]]:
    """Divide instance properties (REST JSON) by what a change of them needs."""
    parts: dict[Level, dict[str, Any]] = {level: {} for level in CHANGES}
    for name, value in properties.items():
        if name == _SCHEDULING and isinstance(value, dict):
            for part, item in value.items():
                parts[level_of(name, part)][f"{name}.{part}"] = item
        else:
            parts[level_of(name)][name] = value
    return parts
