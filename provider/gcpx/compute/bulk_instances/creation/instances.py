"""Create instances of a fleet by a sequence of bulk creations, until all exist or nothing more can be tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import attrs

from gcpx.compute.bulk_instances.bulk_insert import BulkInsert
from gcpx.compute.bulk_instances.bulk_insert_body import BulkInsertBody
from gcpx.compute.bulk_instances.creation.attempts import Attempt, attempt_of, attempts
from gcpx.compute.bulk_instances.creation.batches import Batch, batches
from gcpx.compute.bulk_instances.creation.causes import Reason
from gcpx.compute.bulk_instances.creation.created_members import members_after
from gcpx.compute.bulk_instances.creation.diagnosis import Diagnosis
from gcpx.compute.bulk_instances.creation.earlier_fleet import BulkCreationGroup, EarlierFleetError, raise_if_earlier
from gcpx.compute.bulk_instances.creation.numbering import names_across_zones
from gcpx.compute.bulk_instances.creation.placement_groups import PlacementGroup, placement_groups
from gcpx.compute.bulk_instances.creation.result import Creation
from gcpx.compute.bulk_instances.creation.wanted import Wanted
from gcpx.compute.bulk_instances.fleet import Fleet, Instance
from gcpx.compute.bulk_instances.size import FleetSize
from gcpx.compute.operation_outcome import Outcome
from gcpx.errors import safe_message
from gcpx.gcp.errors import ApiError, Unfinished
from gcpx.model.call import Call
from gcpx.model.links import name_of
from gcpx.model.rules import nested, text


def create_instances(
    call: Call, fleet: Fleet, inputs: dict[str, Any], existing: list[Instance], wanted: Wanted
) -> Creation:
    """Create instances with the fleet's own properties, then with those of its fallbacks for what is still missing.

    The request IDs are derived from the fleet, its inputs, `existing` and `wanted`, so another run with the same
    arguments finds what an earlier one created.

    Args:
        call: the engine's call.
        fleet: the fleet that the instances join.
        inputs: its inputs, without secrets and unknowns.
        existing: its members.
        wanted: the instances to create.

    Returns:
        How the creation ended, whether all instances were created or not; with Google's error, if there was one.

    Raises:
        Unfinished: an instance was created, or may have been, and what happened then is not known.
        EarlierFleetError: an interrupted run created the first of them for a fleet with another generated ID.
        ProviderError: nothing was created, because the user cancelled or a request could not be sent.
    """
    run = _Run(call, fleet, existing, wanted, FleetSize.of(inputs), placement_groups(inputs, existing))
    try:
        run.make(attempts(inputs, wanted))
    except (Unfinished, EarlierFleetError):
        raise
    except Exception as error:
        if run.created:
            raise Unfinished(f"created instances: {run.created:,}; {safe_message(error)}") from error
        raise
    return run.result()


def created_earlier(
    call: Call, fleet: Fleet, inputs: dict[str, Any], wanted: Wanted, instances: list[Instance]
) -> list[Instance]:
    """Return those instances with which an earlier run began to create the same new fleet; raises `ApiError`.

    An attempt that left no instance is followed by the next one, which asks for the same number.
    """
    run = _Run(call, fleet, [], wanted, FleetSize.of(inputs), placement_groups(inputs, []))
    inserts = run.first_inserts(attempts(inputs, wanted))
    return [instance for insert in inserts for instance in insert.created_earlier(call, instances)]


@attrs.define
class _Run:
    """One run of a sequence of bulk creations.

    Attributes:
        names: the wanted names of instances that do not exist yet.
        created: how many instances it has created.
        shortfalls: how many instances could not be created, by reason.
        error: Google's last error.
        stopped: whether an error shows that further attempts cannot help.
        outcomes: how the operations ended.
    """

    call: Call
    fleet: Fleet
    existing: list[Instance]
    wanted: Wanted
    size: FleetSize
    groups: list[PlacementGroup]
    names: list[str] = attrs.Factory(lambda run: run.wanted.names, takes_self=True)
    created: int = 0
    shortfalls: Counter[Reason] = attrs.Factory(Counter)
    error: ApiError | None = None
    stopped: bool = False
    outcomes: list[Outcome] = attrs.Factory(list)

    def make(self, tried: list[Attempt]) -> None:
        """Make the attempts one after the other, until all instances exist or an error stops it."""
        for number, attempt in enumerate(tried):
            if attempt.name and self._missing:
                self.call.progress(f"missing instances: {self._missing:,}; trying {attempt.name}")
                self._leave_out_existing_names()
            if not self._missing:
                return
            self._attempt(attempt, tried[number + 1 :])
            if attempt.name:
                self.call.progress(f"{self.created:,}/{self.wanted.count:,} instances created")
            if self.stopped:
                return

    def were_requested(self, tried: list[Attempt], call: Call) -> bool:
        """Return whether an earlier run began one of these attempts, and had created nothing in those before it."""
        return any(insert.was_requested(call) for insert in self.first_inserts(tried))

    def first_inserts(self, tried: list[Attempt]) -> Iterator[BulkInsert]:
        """Yield the first request of each attempt, if the attempts before it create nothing."""
        firsts = ((attempt, next(self._batches(attempt), None)) for attempt in tried)
        return (self._insert(attempt, batch, 0, self._zone(batch, [])) for attempt, batch in firsts if batch)

    def result(self) -> Creation:
        """Describe how the run ended."""
        complete = not self._missing
        return Creation.of(
            outcomes=self.outcomes,
            created=self.created,
            shortfalls=Counter() if complete else self.shortfalls,
            error=None if complete else self.error,
            stopped=self.stopped,
        )

    @property
    def _missing(self) -> int:
        return self.wanted.count - self.created

    def _leave_out_existing_names(self) -> None:
        """Keep those of the names that no member has, and count the others as created."""
        if not self.names:
            return
        taken = {member["name"] for member in self._members()}
        self.names = [name for name in self.names if name not in taken]
        self.created = self.wanted.count - len(self.names)

    def _attempt(self, attempt: Attempt, following: list[Attempt]) -> None:
        """Send the requests of one attempt, until one creates fewer instances than it asks for."""
        was_followed = partial(self.were_requested, following)
        zones: list[str] = []
        for number, batch in enumerate(self._batches(attempt)):
            insert = self._insert(attempt, batch, number, self._zone(batch, zones))
            outcome = self._send(attrs.evolve(insert, was_followed=was_followed))
            created = insert.created_by(outcome) if outcome else 0
            if outcome is not None:
                zones = _used_zones(outcome) if _in_one_zone(attempt) else []
                self._count(batch, created, _used_zones(outcome))
            if created < batch.count:
                return

    def _batches(self, attempt: Attempt) -> Iterator[Batch]:
        """Divide what is missing into requests, with names where Google would give some of them twice."""
        names = self.names or names_across_zones(attempt.inputs, self._members_before(attempt), self._missing)
        return batches(self._missing, names, self.groups)

    def _members_before(self, attempt: Attempt) -> list[Instance]:
        """Return the members without those of this attempt and later ones.

        An earlier run may have created these. The request ID depends on the names, so these must not depend on them.
        """
        if not self.created:
            return self.existing
        existing = {member["id"] for member in self.existing}
        members = self._members()
        return [member for member in members if member["id"] in existing or attempt_of(member) < attempt.index]

    def _members(self) -> list[Instance]:
        """List the members, with all that this run has created."""
        return members_after(self.call, self.fleet, self.existing, self.created, self.outcomes)

    def _insert(self, attempt: Attempt, batch: Batch, number: int, zone: str | None) -> BulkInsert:
        body = BulkInsertBody(
            count=batch.count,
            minimum=self._minimum(attempt, batch),
            names=batch.names,
            zone=zone,
            labels={**self.wanted.labels, **attempt.labels},
            placement_policy=batch.group.policy if batch.group else "",
        )
        written = body.write(self.fleet, attempt.inputs)
        return BulkInsert(
            fleet=self.fleet,
            body=written,
            existing=self.existing,
            created=self.created,
            number=number,
            begun=self.wanted.begun,
        )

    def _zone(self, batch: Batch, used: list[str]) -> str | None:
        """Return the zone that a request has to use: the wanted one, its group's, or that of the request before it."""
        of_group = batch.group.zone if batch.group else next(iter(used), None)
        return self.wanted.zone or of_group

    def _minimum(self, attempt: Attempt, batch: Batch) -> int:
        """Return the fewest instances that a request may create.

        A request that others follow may create so few that they can still reach the fleet's minimum.
        """
        existing = len(self.existing) + self.created
        if not attempt.is_last:
            return 0
        if batch.later:
            return max(0, min(batch.count, self.size.minimum - existing - batch.later))
        return self.size.request_minimum(batch.count, existing)

    def _verify(self) -> None:
        """Before a second request, verify that the first one created instances of this fleet."""
        if self.call.autonamed and len(self.outcomes) == 1 and self.created and not self.existing:
            raise_if_earlier(self.call, self.fleet, BulkCreationGroup.of_outcome(self.outcomes[0]))

    def _send(self, insert: BulkInsert) -> Outcome | None:
        """Send a request and wait for its operation; None if Google refused it. A shortfall is recorded."""
        self._verify()
        asked = int(insert.body["count"])
        diagnosis = Diagnosis(self.call, self.fleet, text(nested(insert.body, "instanceProperties"), "machineType"))
        try:
            outcome = insert.run(self.call)
        except ApiError as error:
            self._fall_short(diagnosis.of_refusal(error, asked), error)
            return None
        self.outcomes.append(outcome)
        created = insert.created_by(outcome)
        if created < asked:
            self._fall_short(diagnosis.of_outcome(outcome, asked - created), outcome.error)
        return outcome

    def _fall_short(self, reasons: Counter[Reason], error: ApiError | None) -> None:
        self.shortfalls |= reasons  # the same instances may be missing after several attempts
        self.error = error
        self.stopped = not any(reason.is_shortage for reason in reasons)

    def _count(self, batch: Batch, created: int, zones: list[str]) -> None:
        self.created += created
        if batch.group is not None and created:
            batch.group.free -= created
            batch.group.zone = batch.group.zone or next(iter(zones), None)


def _in_one_zone(attempt: Attempt) -> bool:
    """Return whether all instances of an attempt are to be in one zone, as Google chooses."""
    return text(nested(attempt.inputs, "locationPolicy"), "targetShape") in {"", "ANY_SINGLE_ZONE"}


def _used_zones(outcome: Outcome) -> list[str]:
    """Return the zones in which an operation created instances."""
    return [name_of(name) for name, status in outcome.per_location.items() if status.get("createdVmCount")]
