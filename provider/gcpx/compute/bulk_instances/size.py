"""The size of a fleet: how many instances its inputs ask for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from gcpx.model.numbers import as_integer
from gcpx.model.rules import nested


@attrs.frozen
class FleetSize:
    """How many instances a fleet should have.

    Attributes:
        wanted: `count`, or the number of `perInstanceProperties` without it; 0 for a parked fleet, and if it is not
            known.
        minimum: `minCount`, the fewest instances that a creation may end with; `wanted` without it, and for a parked
            fleet.
    """

    wanted: int
    minimum: int

    @classmethod
    def of(cls, inputs: dict[str, Any]) -> FleetSize:
        """Read the size from a fleet's inputs; unknown and malformed values count as missing."""
        count, minimum = as_integer(inputs.get("count")), as_integer(inputs.get("minCount"))
        wanted = len(nested(inputs, "perInstanceProperties")) if count is None else count
        return cls(wanted, wanted if minimum is None or is_parked(inputs) else minimum)

    def request_minimum(self, missing: int, existing: int) -> int:
        """Return the `minCount` of a request that creates the missing instances beside the existing ones.

        A request that creates nothing may succeed only if the fleet's minimum is 0.
        """
        at_least = min(1, self.minimum)
        return min(missing, max(at_least, self.minimum - existing))


def is_parked(inputs: dict[str, Any]) -> bool:
    """Return whether a fleet's inputs ask for no instances: it exists in the state only, until its `count` is raised."""
    return as_integer(inputs.get("count")) == 0


def with_members(inputs: dict[str, Any], members: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a fleet's inputs that ask for all these members, too.

    A refresh leaves stopped members out of the inputs, so that the next update starts or replaces them.
    """
    names, existing = inputs.get("perInstanceProperties"), [member["name"] for member in members]
    count = max(FleetSize.of(inputs).wanted, len(existing))
    if not names:
        return {**inputs, "count": count}
    named = {"perInstanceProperties": {**{name: {} for name in existing}, **names}}
    return {**inputs, **named, **({"count": count} if inputs.get("count") is not None else {})}
