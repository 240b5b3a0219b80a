"""How the instances of one attempt are divided into requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from gcpx.compute.bulk_instances.creation.placement_groups import PlacementGroup

MOST_INSTANCES: Final = 5000
"""The most instances that Google creates in one request."""


@attrs.frozen(kw_only=True)
class Batch:
    """The instances that one request creates.

    Attributes:
        count: how many.
        names: their names; empty if the fleet's name pattern gives them.
        later: how many instances later requests of the same attempt create.
        group: the placement group that they join.
    """

    count: int
    names: list[str]
    later: int
    group: PlacementGroup | None = None


def batches(count: int, names: list[str], groups: list[PlacementGroup]) -> Iterator[Batch]:
    """Divide instances into requests: as few as possible without placement groups."""
    done = 0
    for size, group in _sizes(count, groups):
        yield Batch(count=size, names=names[done : done + size], later=count - done - size, group=group)
        done += size


def _sizes(count: int, groups: list[PlacementGroup]) -> Iterator[tuple[int, PlacementGroup | None]]:
    left = count
    places: Sequence[PlacementGroup | None] = groups or [None]
    for group in places:
        room = left if group is None else min(left, group.free)
        while room > 0:
            size = min(room, MOST_INSTANCES)
            yield size, group
            room, left = room - size, left - size
