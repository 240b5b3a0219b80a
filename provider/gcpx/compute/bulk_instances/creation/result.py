"""How the creation of a fleet's instances ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import attrs

from gcpx.compute.bulk_instances.creation.earlier_fleet import BulkCreationGroup
from gcpx.compute.bulk_instances.creation.shortfalls import Shortfalls, shortfall_lines, shortfall_outputs
from gcpx.compute.operation_outcome import Outcome
from gcpx.gcp.errors import ApiError


@attrs.frozen(kw_only=True)
class Creation:
    """How a creation ended, whether all instances were created or not.

    Attributes:
        created: how many instances were created.
        error: why fewer were created than wanted, if Google said so as an error.
        stopped: whether the error is not a shortage, so that no further attempt was made.
        explanation: lines that say for each cause how many instances are missing, and what to do next; or empty.
        outputs: engine values of the outputs `perLocationStatus`, `operationGroupId` and `shortfalls`.
        outcomes: how its operations ended.
    """

    created: int
    error: ApiError | None
    stopped: bool
    explanation: str
    outputs: dict[str, Any]
    outcomes: list[Outcome]

    @classmethod
    def of(
        cls, *, outcomes: list[Outcome], created: int, shortfalls: Shortfalls, error: ApiError | None, stopped: bool
    ) -> Creation:
        """Describe a creation by how its operations ended, and by what it fell short of."""
        groups = [group for outcome in outcomes if (group := outcome.operation.get("operationGroupId"))]
        outputs = {
            "perLocationStatus": _location_outputs(outcomes),
            **({"operationGroupId": groups[-1]} if groups else {}),
            "shortfalls": shortfall_outputs(shortfalls),
        }
        explanation = shortfall_lines(shortfalls)
        return cls(
            created=created, error=error, stopped=stopped, explanation=explanation, outputs=outputs, outcomes=outcomes
        )

    @property
    def shortfalls(self) -> list[dict[str, Any]]:
        """The engine values of the output `shortfalls`."""
        found: list[dict[str, Any]] = self.outputs["shortfalls"]
        return found

    @property
    def group(self) -> BulkCreationGroup:
        """The operations of the last bulk creation."""
        return BulkCreationGroup.of(self.outputs.get("operationGroupId"), self.outputs["perLocationStatus"])

    @property
    def last_operation(self) -> dict[str, Any]:
        """The last bulk creation (REST JSON); empty if no request was accepted."""
        return self.outcomes[-1].operation if self.outcomes else {}

    @property
    def explained_error(self) -> ApiError | None:
        """The error with a line for each cause; None if there was no error."""
        if self.error is None or not self.explanation:
            return self.error
        return self.error.with_hint(f"\n{self.explanation}")

    def completed(self) -> Creation:
        """Return the creation of a fleet that turned out to have all wanted instances, whatever an error said."""
        outputs = {**self.outputs, "shortfalls": []}
        return attrs.evolve(self, error=None, stopped=False, explanation="", outputs=outputs)

    @property
    def refusal(self) -> ApiError | None:
        """The error of a last request that Google did not accept, if nothing was created; otherwise None."""
        if self.error is None or self.error.operation is not None or self.created:
            return None
        return self.explained_error


def _location_outputs(outcomes: Iterable[Outcome]) -> dict[str, dict[str, Any]]:
    """Add up the status of each location over several operations; the state is that of the last."""
    numbers: dict[str, Counter[str]] = {}
    states: dict[str, dict[str, Any]] = {}
    for outcome in outcomes:
        for name, values in outcome.per_location.items():
            counts = {key: value for key, value in values.items() if isinstance(value, int)}
            numbers.setdefault(name, Counter()).update(counts)
            states[name] = {key: value for key, value in values.items() if key not in counts}
    return {name: {**dict(counts), **states[name]} for name, counts in numbers.items()}
