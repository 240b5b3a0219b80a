"""A fleet that got fewer instances than wanted: a warning, a partial failure or an error."""

from __future__ import annotations

from typing import Any

from gcpx.compute.bulk_instances.creation.result import Creation
from gcpx.compute.bulk_instances.size import FleetSize
from gcpx.errors import ProviderError
from gcpx.model.call import Call
from gcpx.model.resource import Live, PartialError


class NoInstanceCreatedError(ProviderError):
    """A creation that succeeded without creating an instance, for a fleet that has none."""

    def __init__(self, wanted: int, explanation: str) -> None:
        super().__init__(
            f"a fleet needs at least one instance, but 0 of {wanted:,} could be created, and nothing was left behind; run "
            f"`pulumi up` to try again{_below(explanation)}"
        )


def report_shortfall(call: Call, inputs: dict[str, Any], live: Live, creation: Creation) -> None:
    """Report a fleet that has fewer instances than its inputs ask for; `live` describes it after the creation.

    A fleet that has its minimum is accepted with a warning.

    Raises:
        ApiError, NoInstanceCreatedError: the fleet has no instance, so there is nothing to keep in the state.
        PartialError: the creation failed for a reason other than a shortage, or the fleet has fewer instances than its
            minimum.
    """
    size, existing = FleetSize.of(inputs), live.properties["createdCount"]
    below = _below(creation.explanation)
    if not existing:
        raise creation.explained_error or NoInstanceCreatedError(size.wanted, creation.explanation)
    if existing >= size.wanted:
        return
    if creation.error is not None and (creation.stopped or existing < size.minimum):
        words = f"{creation.error} {existing:,} of {size.wanted:,} instances exist; run `pulumi up` to try again{below}"
        raise PartialError(live, words)
    reason = f": {creation.error}" if creation.error and not creation.explanation else ""
    call.warn(
        f"{existing:,} of {size.wanted:,} instances exist{reason}; to create the others, run `pulumi up --refresh`{below}"
    )


def _below(explanation: str) -> str:
    return f":\n{explanation}" if explanation else ""
