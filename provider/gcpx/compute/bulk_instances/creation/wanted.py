"""The instances that a creation should create."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Wanted:
    """Instances to create.

    Attributes:
        count: how many.
        names: their names; empty if the fleet's name pattern gives them.
        zone: the name of their zone; None if the fleet's location policy chooses it.
        labels: labels in addition to those of the inputs, such as the generation.
        begun: whether an interrupted run has begun to create them.
    """

    count: int
    names: list[str] = attrs.Factory(list)
    zone: str | None = None
    labels: dict[str, str] = attrs.Factory(dict)
    begun: bool = False
