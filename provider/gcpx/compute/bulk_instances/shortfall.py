"""A bulk creation that creates fewer instances than wanted: a warning, a partial failure or an error."""

from __future__ import annotations

from typing import Any

from gcpx.compute.bulk_instances.size import FleetSize
from gcpx.compute.operations import Outcome
from gcpx.errors import ProviderError
from gcpx.model.call import Call
from gcpx.model.resource import Live, PartialError


class NoInstanceCreatedError(ProviderError):
    """A bulk creation that succeeded without creating an instance, for a fleet that has none."""

    def __init__(self, wanted: int, outcome: Outcome) -> None:
        super().__init__(
            f"a fleet needs at least one instance, but 0 of {wanted:,} could be created{_reasons(outcome)}; nothing was "
            "left behind: run `pulumi up` to try again, or allow other zones with locationPolicy or other machine "
            "types with instanceFlexibilityPolicy"
        )


def report_shortfall(call: Call, inputs: dict[str, Any], live: Live, outcome: Outcome) -> None:
    """Report a fleet that has fewer instances than its inputs ask for; `live` describes it after the creation.

    A fleet that has its minimum is accepted with a warning.

    Raises:
        ApiError, NoInstanceCreatedError: the fleet has no instance, so there is nothing to keep in the state.
        PartialError: the creation failed, and the fleet has fewer instances than its minimum.
    """
    size, created = FleetSize.of(inputs), live.properties["createdCount"]
    if not created:
        raise outcome.error or NoInstanceCreatedError(size.wanted, outcome)
    if outcome.error is not None and created < size.minimum:
        words = f"{outcome.error} {created:,} of {size.wanted:,} instances exist; run `pulumi up` to try again."
        raise PartialError(live, words)
    if created < size.wanted:
        reason = f": {outcome.error}" if outcome.error else ""
        call.warn(
            f"{created:,} of {size.wanted:,} instances could be created{reason}; to create the others, run `pulumi refresh`, then `pulumi up`"
        )


def _reasons(outcome: Outcome) -> str:
    """List by location how many instances could not be created, and Google's warnings; in parentheses, or empty."""
    failed = {name: status.get("failedToCreateVmCount", 0) for name, status in outcome.per_location.items()}
    reasons = [f"{name}: {number:,} could not be created" for name, number in failed.items() if number]
    reasons += [item.get("message") or item.get("code", "") for item in outcome.operation.get("warnings", ())]
    return f" ({'; '.join(reasons)})" if reasons else ""
