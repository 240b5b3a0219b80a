"""The members that bulk creations have created. Lists may lag, so a list is repeated until it shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from gcpx.compute.bulk_instances.creation.earlier_fleet import BulkCreationGroup, created_ids
from gcpx.compute.bulk_instances.fleet import Fleet, Instance
from gcpx.compute.lagging_reads import looks
from gcpx.compute.operation_outcome import Outcome
from gcpx.gcp.errors import ApiError, Unfinished
from gcpx.model.call import Call


@attrs.frozen
class CreatedMembers:
    """The instances that an operation has created, by their IDs, as far as Google says.

    Attributes:
        created: all of them.
        deleted: those of them that were deleted since.
    """

    created: frozenset[str]
    deleted: frozenset[str]

    @classmethod
    def of(cls, call: Call, fleet: Fleet, outcome: Outcome) -> CreatedMembers:
        """Read the operations of the instances, and those that were begun after them."""
        group, operation = BulkCreationGroup.of_outcome(outcome), outcome.operation
        try:
            created = frozenset(created_ids(call, fleet, group))
        except ApiError:
            return cls(frozenset(), frozenset())
        scopes = [f"zones/{zone}" for zone in group.zones] if created else []
        deleted = {found for scope in scopes for found in fleet.operations.deleted_since(call, scope, operation)}
        return cls(created, created & deleted)

    @property
    def are_gone(self) -> bool:
        """Whether it is certain that none of them exists any more."""
        return bool(self.created) and self.created == self.deleted


def members_after(
    call: Call, fleet: Fleet, known: Iterable[Instance], created: int, outcomes: Sequence[Outcome]
) -> list[Instance]:
    """List the members repeatedly, for up to 20 seconds, until the list shows all instances that were created.

    Args:
        call: the engine's call.
        fleet: the fleet.
        known: the members before the creation.
        created: how many instances were created.
        outcomes: how the operations ended that created them.

    Raises:
        Unfinished: Google neither lists all of them, nor says that the others were deleted.
        ApiError: the members cannot be listed.
    """
    before = {member["id"] for member in known}
    for _ in looks(call):
        members = fleet.members(call)
        missing = created - sum(member["id"] not in before for member in members)
        if missing <= 0 or missing <= sum(len(CreatedMembers.of(call, fleet, item).deleted) for item in outcomes):
            return members
    raise Unfinished(
        f"Google reports {created:,} created {'instance' if created == 1 else 'instances'}, but lists neither {missing:,} "
        "of them nor operations that deleted them",
        outcomes[-1].operation if outcomes else None,
    )
