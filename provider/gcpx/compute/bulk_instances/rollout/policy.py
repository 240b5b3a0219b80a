"""An update policy with its numbers resolved for the size of a fleet."""

from __future__ import annotations

import math
from typing import Any, Final

import attrs

from gcpx.compute.bulk_instances.rollout.levels import CHANGES, Level
from gcpx.compute.bulk_instances.size import FleetSize
from gcpx.model.numbers import as_integer, as_integer_or_percentage
from gcpx.model.rules import nested, text

_READY_WITHIN: Final = 600
_LEVELS: Final = {level.name: level for level in CHANGES}


@attrs.frozen(kw_only=True)
class Policy:
    """How a change reaches the members of a fleet.

    Attributes:
        wanted: the number of members that the fleet should have.
        rolling: members are changed in batches; otherwise all at once, and only what changes on running instances.
        unavailable: how many members may be missing, stopped or not ready.
        surge: how many more members than wanted may exist.
        least, most: the least and the most that is done to a member that is behind.
        keep_names: a member that replaces another one gets its name and zone.
        rolls_back: whether the changed members get their previous properties back after a failed batch.
        pause_after: the number of up-to-date members at which the rollout stops; None for all.
        guest_attribute: what a ready member has set, as `NAMESPACE/KEY` or `NAMESPACE/KEY=VALUE`; may be empty.
        ready_within: the seconds within which the members of a batch must be ready.
        starts, replaces_stopped: whether stopped members are started or replaced; otherwise they stay as they are.
    """

    wanted: int
    rolling: bool
    unavailable: int
    surge: int = 0
    least: Level = Level.REFRESH
    most: Level = Level.REPLACE
    keep_names: bool = False
    rolls_back: bool = False
    pause_after: int | None = None
    guest_attribute: str = ""
    ready_within: int = _READY_WITHIN
    starts: bool = True
    replaces_stopped: bool = False

    @property
    def keeps_stopped(self) -> bool:
        """Whether stopped members stay as they are."""
        return not (self.starts or self.replaces_stopped)

    @classmethod
    def of(cls, inputs: dict[str, Any]) -> Policy:
        """Read the policy from a fleet's inputs; unknown and malformed values count as missing."""
        given, wanted = nested(inputs, "updatePolicy"), FleetSize.of(inputs).wanted
        on_stopped = text(inputs, "onStopped") or "START"
        starts, replaces = on_stopped == "START", on_stopped == "REPLACE"
        if not is_rolling(inputs):
            return cls(wanted=wanted, rolling=False, unavailable=wanted, starts=starts, replaces_stopped=replaces)
        surge = share(given.get("maxSurge"), wanted, math.ceil) or 0
        ready = nested(given, "ready")
        return cls(
            wanted=wanted,
            rolling=True,
            unavailable=_unavailable(given.get("maxUnavailable"), wanted, surge),
            surge=surge,
            least=_LEVELS.get(text(given, "minimalAction"), Level.REFRESH),
            most=_LEVELS.get(text(given, "mostDisruptiveAction"), Level.REPLACE),
            keep_names=given.get("keepNames") is True or bool(inputs.get("perInstanceProperties")),
            rolls_back=given.get("onFailure") == "ROLL_BACK",
            pause_after=share(given.get("pauseAfter"), wanted, math.ceil),
            guest_attribute=text(ready, "guestAttribute"),
            ready_within=as_integer(ready.get("within")) or _READY_WITHIN,
            starts=starts,
            replaces_stopped=replaces,
        )


def is_rolling(inputs: dict[str, Any]) -> bool:
    """Return whether a fleet's changes reach its members in batches."""
    return text(nested(inputs, "updatePolicy"), "strategy") == "ROLLING"


def share(given: Any, whole: int, rounded: Any = math.floor) -> int | None:
    """Resolve a number or a percentage of the whole; None if it is missing, unknown or malformed."""
    value = as_integer_or_percentage(given)
    if isinstance(value, str):
        return int(rounded(int(value[:-1]) * whole / 100))
    return value


def _unavailable(given: Any, wanted: int, surge: int) -> int:
    """Resolve `maxUnavailable`; without a surge it is at least 1, because no member could be changed otherwise."""
    least = 0 if surge else 1
    number = share(given, wanted)
    return least if number is None else max(least, number)
