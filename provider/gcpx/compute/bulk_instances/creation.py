"""Creates instances in batches; a batch is one request, which is sent once and counts what it created."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from gcpx.compute.bulk_instances.capacity import (
    OWN,
    Batch,
    FleetSize,
    NamesExhaustedError,
    Places,
    batches,
    beside,
    free_names,
    in_zones,
    index_of_fallback,
    labels_of_fallback,
    next_names,
    runs_out,
    with_fallback,
    zones_of,
)
from gcpx.compute.bulk_instances.declaration import BulkInstancesModel
from gcpx.compute.bulk_instances.fleet import (
    TIMEOUT,
    Fleet,
    GroupCreation,
    created_in_group,
    instances_in_region,
    without_deleted,
)
from gcpx.compute.bulk_instances.member import (
    RESERVED_LABELS,
    TRACKING_LABEL,
    Instance,
    Member,
    fleet_values,
    membership_labels,
    pattern_expression,
)
from gcpx.compute.bulk_instances.shortfalls import (
    Reason,
    is_message_of,
    reason_of_error,
    shortfall_lines,
    shortfall_outputs,
    why_missing,
)
from gcpx.compute.insertion import LAG, Insertion, insert_once, orphan_warning, with_reason
from gcpx.compute.operations import Operation, Outcome, Wait, created_instances, percentage
from gcpx.errors import RUN_AGAIN, ProviderError, safe_message, sentences, without_stop
from gcpx.gcp.client import unfinished
from gcpx.gcp.errors import ApiError, Conflict, Rejected, Unfinished
from gcpx.gcp.request import COMPUTE, Request
from gcpx.gcp.retries import LONGEST_PAUSE, is_transient, may_pass
from gcpx.model import codec
from gcpx.model.context import Context
from gcpx.model.fields import nested, object_type, text, without
from gcpx.model.import_command import how_to_manage
from gcpx.model.links import name_of
from gcpx.model.ownership import Owner, owner
from gcpx.model.resource import PartialError, State
from gcpx.model.words import names_in_words

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues, LocationStatusValues


def body_of(
    fleet: Fleet,
    inputs: BulkInstancesValues,
    *,
    count: int,
    minimum: int,
    names: Sequence[str] = (),
    zone: str = "",
    labels: dict[str, str],
    policy: str = "",
) -> dict[str, Any]:
    """Write the body of a request (REST JSON).

    Args:
        fleet: the fleet that the instances join.
        inputs: its inputs, without secrets and unknowns.
        count: the number of instances to create.
        minimum: the fewest that the request may create; if it would create fewer, it fails and creates none.
        names: their names; empty if the fleet's name pattern gives them.
        zone: the name of their zone; empty if the location policy chooses it.
        labels: labels in addition to the labels of the inputs and of the fleet.
        policy: the name of the placement policy that the instances share; may be empty.
    """
    body = codec.to_body(object_type(BulkInstancesModel), inputs)
    properties = dict(body.get("instanceProperties", {}))
    # A label of another fleet in the template would make the instances members of both.
    removed = dict.fromkeys(sorted(RESERVED_LABELS)) if "sourceInstanceTemplate" in body else {}
    added = {**membership_labels(fleet.id), **labels}
    if (added or removed) and properties.get("labels", {}) is not None:
        properties["labels"] = {**removed, **properties.get("labels", {}), **added}
    if policy:
        properties["resourcePolicies"] = [*properties.get("resourcePolicies", ()), policy]
    if properties:
        body["instanceProperties"] = properties
    if names:  # they take the place of a name pattern
        own = body.pop("perInstanceProperties", {})
        body.pop("namePattern", None)
        body["perInstanceProperties"] = {name: own.get(name, {}) for name in names}
    if zone:
        body["locationPolicy"] = {"zones": [{"zone": f"zones/{zone}"}]}
    return {**body, "count": str(count), "minCount": str(minimum)}


_DIRECTIONS: Final = {"CREATING": "rolling forward", "ROLLING_BACK": "rolling back", "DONE": "done"}


@attrs.frozen(kw_only=True)
class BulkInsert(Insertion):
    """One call of `bulkInsert`.

    Attributes:
        fleet: the fleet that the instances join.
        body: the request body (REST JSON).
        existing: the members that the fleet had before its creation or growth began. The request ID is derived from
            them too, so that creating as many instances later is a different request.
        created: how many instances earlier requests of the same creation or growth created.
        number: distinguishes requests of one creation or growth that have equal bodies.
        resumed: whether an interrupted run may have sent the request so long ago that Google has forgotten its ID.
        followers: returns the requests that follow if this one creates nothing; if an earlier run sent one of them,
            this one had created nothing.
    """

    fleet: Fleet
    body: dict[str, Any]
    existing: list[Instance]
    created: int = 0
    number: int = 0
    resumed: bool = False
    followers: Callable[[], Iterable[BulkInsert]] = tuple

    @property
    def content(self) -> list[Any]:
        """Place, body and members; a generated fleet ID is left out, because every run generates another."""
        fleet, body, is_generated = self.fleet, self.body, self.context.autonamed
        if is_generated:
            properties = body.get("instanceProperties") or {}
            labels = without(properties.get("labels") or {}, (TRACKING_LABEL,))
            body = {**body, "instanceProperties": {**properties, "labels": labels}}
        ids = sorted(str(member["id"]) for member in self.existing)
        existing = hashlib.sha256(",".join(ids).encode()).hexdigest()
        place = [fleet.project, fleet.region, "" if is_generated else fleet.id]
        return [*place, body, existing, *([self.number] if self.number else [])]

    def request(self, request_id: str) -> Request:
        """Return the request. The client sends it once: `send` looks for its result before it sends it again."""
        return Request(
            api=COMPUTE,
            method="POST",
            path=f"beta/projects/{self.fleet.project}/regions/{self.fleet.region}/instances/bulkInsert",
            query={"requestId": request_id},
            body=self.body,
            idempotent=False,
            patience=self._patience,
        )

    @property
    def _patience(self) -> float:
        return self.context.timeout or TIMEOUT

    def send(self, request_id: str) -> Operation:
        """Send the request; after a lost response, send it again if nothing shows that Google has carried it out.

        A shortage is not tried again: other alternatives follow.
        """
        try:
            return self.accepted(request_id)
        except Unfinished as error:
            lost = self._lost(error, None, request_id)
        rounds = self.context.tries(self._patience, pause=self.fleet.google.backoff, longest=LONGEST_PAUSE)
        next(rounds)  # it was just sent
        for _ in rounds:
            self.context.progress(f"{without_stop(str(lost.__cause__))}; looking for what was created")
            try:
                operation = self._done(request_id)
            except Exception as error:
                if may_pass(error):
                    continue
                raise with_reason(lost, error) from error
            try:
                return operation or self.accepted(request_id)
            except Exception as error:  # noqa: BLE001 - after any error, Google may have carried out the first attempt
                lost = self._lost(error, lost, request_id)
        raise lost

    def _lost(self, error: Exception, before: Unfinished | None, request_id: str) -> Unfinished:
        """Return the error of an attempt without a response, after which another one may follow; raise any other error.

        `before` is the error of the attempt before it. A shortage is raised as Google's refusal, if nothing shows that the
        attempt before it was carried out.
        """
        cause = error.__cause__ if isinstance(error, Unfinished) else error
        if isinstance(cause, ApiError) and reason_of_error(cause).is_shortage:
            if before is not None:
                self._raise_if_created(before, request_id)
            raise cause
        if isinstance(error, Unfinished):
            if isinstance(cause, ApiError) and (is_transient(cause) or (may_pass(cause) and cause.status is None)):
                return error
        elif isinstance(error, Conflict):
            error.is_repeated = True
        elif before is not None and isinstance(before.__cause__, ApiError):
            raise unfinished(error, before.__cause__) from error
        raise error

    def _raise_if_created(self, lost: Unfinished, request_id: str) -> None:
        """Raise the error of a lost attempt, unless for a while nothing shows that it was carried out."""
        found = (
            self.operations.find_insertion_if_listed(self.context, self.scope, request_id)
            for _ in self.context.tries(LAG)
        )
        try:
            is_made = any(found) or self._done(request_id) is not None
        except Exception as error:  # whatever went wrong, Google may have carried the request out
            raise with_reason(lost, error) from error
        if is_made or self.context.is_over:
            raise lost

    def _done(self, request_id: str) -> Operation | None:
        """Find the operation of an attempt without a response; None at once if there are no new instances either.

        New instances are somebody else's if, for a while, no operation of this request is listed, and no other
        operation shows that they are ours. If they may be ours, this raises ProviderError.
        """
        for _ in self.context.tries(LAG):
            operation, unknown = None, None
            try:
                operation = self.operations.find_insertion(self.context, self.scope, request_id)
            except ApiError as error:
                unknown = error
            if operation is not None or self._has_as_many(self.fleet.matching(self.context)):
                return operation
            if unknown is not None:
                raise unknown
        if self.context.is_over or not self._has_as_many(self.fleet.members(self.context)):
            raise ProviderError(f"{self.fleet.resource_id} has new instances, but Google lists no operation for them")
        return None

    def _has_as_many(self, instances: list[Instance]) -> bool:
        """Return whether there are no more instances than before the request, not counting known unmanaged ones."""
        known = {str(member["id"]) for member in self.existing} | self.fleet.membership.unmanaged.keys()
        return sum(str(item["id"]) not in known for item in instances) <= self.created

    def sent_earlier(self, request_id: str) -> Operation | None:
        """Also look for a request that was sent so long ago that Google may no longer recognize its ID."""
        if self.resumed:
            return self.operations.find_insertion(self.context, self.scope, request_id)
        return self.fleet.earlier.find_recent(self.context, self.operations, self.scope, request_id)

    def created_earlier(self, instances: list[Instance]) -> list[Instance]:
        """Return the instances that this same request created when an earlier run sent it; raises `ApiError`."""
        groups = [operation.get("operationGroupId") for operation in self.earlier_operations()]
        return [
            item
            for group in groups
            if group
            for item in created_in_group(self.context, self.operations, group, instances)
        ]

    def wait(self, operation: Operation) -> Outcome:
        """Wait until the operation has ended, with all instances or without; record it in the membership."""
        is_new, created = operation.get("status") != "DONE" and not self.resumed, None
        wait = Wait("bulk insert", TIMEOUT, describe_progress)
        try:
            outcome = self.operations.outcome(self.context, operation, wait)
            created = created_instances(outcome.per_location) if is_new else None
        finally:
            self.fleet.membership.creations.append(GroupCreation(operation, created))
        self.fleet.zones.add(self.fleet.project, self.fleet.region, outcome.per_location)
        return outcome

    def was_known(self, operation: Operation) -> bool:
        """Return whether the group of operations is in the state: of this fleet, or of the one that it replaces."""
        group = operation.get("operationGroupId")
        known = fleet_values(self.context.prior).get("operationGroupId", "")
        return group == known or self.context.is_replaced(group)

    def thing(self, operation: Operation) -> str:
        """Name the instances."""
        del operation
        return f"what was created of {self.fleet.resource_id}"

    def is_certainly_earlier(self, operation: Operation) -> bool:
        """Return whether an earlier run started an operation; false for a generated ID.

        Each run generates another ID. So the operation may have created a fleet with another ID: the creation is then
        repeated under that ID, with a message.
        """
        return not self.context.autonamed and super().is_certainly_earlier(operation)

    def outcome(self) -> Outcome:
        """Insert, and return how it ended; without an operation if Google refused the request."""
        try:
            return insert_once(self).outcome
        except ApiError as error:
            return Outcome({}, error, {})

    def created_by(self, outcome: Outcome) -> int:
        """Count the instances that an operation of this request has created and not rolled back."""
        if outcome.per_location:
            return created_instances(outcome.per_location).total()
        return int(self.body["count"]) if outcome.error is None else 0

    def owner(self, outcome: Outcome) -> Owner:
        """Determine who owns the instances: they may be members of a fleet with another ID, which another resource has.

        If none was created, the operation counts as ours if a later alternative followed it: it is then finished.
        """
        context = self.context
        if self.created_by(outcome) == 0:
            was_followed = any(True for insert in self.followers() for _ in insert.earlier_operations())
            return Owner.OURS if was_followed else Owner.NOBODY
        if len(self.fleet.members(context)) > len(self.existing) + self.created:
            return Owner.OURS
        earlier = earlier_fleet(context, self.fleet, outcome) if context.autonamed else None
        if earlier is None:
            created, deleted = _created_and_deleted(context, self.fleet, outcome)
            return owner(None, lambda: not created or created != deleted)
        is_in_state = context.is_anothers(earlier.resource_id) or context.is_replaced(earlier.id, earlier.resource_id)
        return Owner.OTHER_RESOURCE if is_in_state else Owner.OURS


def describe_progress(operation: Operation) -> str:
    """Describe the progress of a bulk creation: `140/200 instances, zone us-east1-b rolling forward`."""
    locations = operation.get("instancesBulkInsertOperationMetadata", {}).get("perLocationStatus", {})
    if not locations:
        return percentage(operation)
    target = sum(status.get("targetVmCount", 0) for status in locations.values())
    zones = (
        f"zone {name_of(name)} {_DIRECTIONS.get(status.get('status', ''), 'waiting')}"
        for name, status in locations.items()
    )
    return f"{created_instances(locations).total():,}/{target:,} instances, {', '.join(zones)}"


class EarlierFleetError(ProviderError):
    """An interrupted run created the instances, for a fleet with another generated ID.

    Attributes:
        fleet: that fleet.
        operation: the bulk creation (REST JSON).
    """

    code = "ABORTED"

    def __init__(self, fleet: Fleet, operation: Operation) -> None:
        super().__init__(f"an interrupted run has created {fleet.resource_id}; run `pulumi up` again to take it over")
        self.fleet, self.operation = fleet, operation


def _zones_of(fleet: Fleet, outcome: Outcome) -> list[str]:
    """Return the names of the zones in which a bulk creation was to create instances; all zones if it names none."""
    return [name_of(name) for name in outcome.per_location] or fleet.zones.of(fleet.project, fleet.region)


def earlier_fleet(context: Context, fleet: Fleet, outcome: Outcome) -> Fleet | None:
    """Find the fleet that a bulk creation has created; None if none of its instances exists any more.

    Raises:
        ApiError: it cannot be determined.
    """
    created = _created_ids(context, fleet, outcome)
    if not created:
        return None
    instances = instances_in_region(context, fleet, "id,zone,labels,creationTimestamp", f"labels.{TRACKING_LABEL}:*")
    listed = [item for item in instances if item["id"] in created]
    found = without_deleted(context, fleet.operations, listed)
    return attrs.evolve(fleet, id=found[0]["labels"][TRACKING_LABEL]) if found else None


def _created_ids(context: Context, fleet: Fleet, outcome: Outcome) -> set[str]:
    """Return the IDs of the instances that a bulk creation has created, from their operations; raises `ApiError`."""
    group = outcome.operation.get("operationGroupId")
    return fleet.operations.targets_of_group(context, _zones_of(fleet, outcome), group) if group else set()


def raise_if_earlier(context: Context, fleet: Fleet, outcome: Outcome) -> None:
    """Raise EarlierFleetError if an interrupted run made a bulk creation, and not this run for this fleet.

    Raises the same as `earlier_fleet`, too.
    """
    earlier = None if fleet.members(context) else earlier_fleet(context, fleet, outcome)
    if earlier is not None and earlier.id != fleet.id:
        raise EarlierFleetError(earlier, outcome.operation)


def warn_of_earlier_fleets(context: Context, fleet: Fleet) -> None:
    """Warn of fleets with other generated IDs that interrupted runs of the resource created and that no state has."""
    if not context.autonamed:
        return
    known = {fleet.resource_id}
    for operation in fleet.earlier.of_resource(context, fleet.operations, f"regions/{fleet.region}"):
        try:
            earlier = earlier_fleet(context, fleet, Outcome.of("bulk insert", operation))
        except ProviderError:
            continue
        if earlier is None or context.urn_of(earlier.resource_id) is not None:
            continue
        if earlier.resource_id not in known and not context.is_replaced(earlier.resource_id, earlier.id):
            known.add(earlier.resource_id)
            listed = f"--project={earlier.project} --filter=labels.{TRACKING_LABEL}={earlier.id} --uri"
            deletion = f"gcloud compute instances list {listed} | xargs gcloud compute instances delete --quiet"
            context.warn(orphan_warning(context, earlier.resource_id, deletion))


def _created_and_deleted(context: Context, fleet: Fleet, outcome: Outcome) -> tuple[set[str], set[str]]:
    """Return the IDs of the instances that an operation has created, and the IDs of those deleted since.

    Both are empty if Google does not say.
    """
    try:
        created = _created_ids(context, fleet, outcome)
    except ApiError:
        return set(), set()
    scopes = [f"zones/{zone}" for zone in _zones_of(fleet, outcome)] if created else []
    return created, {
        found
        for scope in scopes
        for found in fleet.operations.deleted_since(context, scope, outcome.operation) & created
    }


def members_after(
    context: Context, fleet: Fleet, known: Iterable[Instance], created: int, outcomes: Sequence[Outcome]
) -> list[Instance]:
    """List the members repeatedly, for up to 20 seconds, until the list shows all instances that were created.

    Args:
        context: the engine's call.
        fleet: the fleet.
        known: the members before the creation.
        created: how many instances were created.
        outcomes: the results of the operations that created them.

    Raises:
        Unfinished: Google neither lists all of them, nor says that the others were deleted.
        ApiError: the members cannot be listed.
    """
    before = {member["id"] for member in known}
    for _ in context.tries(LAG):
        members = fleet.members(context)
        missing = created - sum(member["id"] not in before for member in members)
        if missing <= 0 or missing <= sum(len(_created_and_deleted(context, fleet, item)[1]) for item in outcomes):
            return members
    raise Unfinished(
        f"Google reports {created:,} created {'instance' if created == 1 else 'instances'}, but lists neither {missing:,} "
        "of them nor operations that deleted them",
        outcomes[-1].operation if outcomes else None,
    )


@attrs.frozen(kw_only=True)
class Demand:
    """Instances to create.

    Attributes:
        count: how many.
        names: their names; empty if the fleet's name pattern gives them.
        zone: the name of their zone; None if the fleet's location policy chooses it.
        zones: how many each zone gets, so that the fleet stays spread as wanted; empty if Google chooses.
        others: how many each zone gets if the zones in `zones` have no room.
        existing: how many members each zone has, for the zones' limits.
        labels: labels in addition to the inputs' labels, such as the generation.
        resumed: whether an interrupted run has created some of them.
    """

    count: int
    names: list[str] = attrs.Factory(list)
    zone: str | None = None
    zones: Mapping[str, int] = attrs.Factory(dict)
    others: Mapping[str, int] = attrs.Factory(dict)
    existing: Counter[str] = attrs.Factory(Counter)
    labels: dict[str, str] = attrs.Factory(dict)
    resumed: bool = False


def create_instances(
    context: Context, fleet: Fleet, inputs: BulkInstancesValues, existing: list[Instance], demand: Demand
) -> Creation:
    """Create instances with the fleet's own properties, then the missing ones with each of its fallbacks.

    If other instances have the wanted names, the new ones get free names of the name pattern.

    The request IDs are derived from the fleet, its inputs, `existing` and `demand`, so another run with the same
    arguments finds what an earlier one created.

    Args:
        context: the engine's call.
        fleet: the fleet that the instances join.
        inputs: its inputs, without secrets and unknowns.
        existing: its members.
        demand: the instances to create.

    Returns:
        How the creation ended, whether all instances were created or not; with Google's error, if there was one.

    Raises:
        Unfinished: an instance was created, or may have been, and what happened then is not known.
        EarlierFleetError: an interrupted run created the first of them for a fleet with another generated ID.
        ProviderError: nothing was created, because the user cancelled or a request could not be sent.
    """
    creation = Creation(context=context, fleet=fleet, inputs=inputs, existing=existing, demand=demand)
    creation.run()
    names = creation.names_beside_others()
    if names:
        creation = attrs.evolve(creation, demand=attrs.evolve(demand, names=names))
        creation.run()
    return creation


def created_earlier(
    context: Context, fleet: Fleet, inputs: BulkInstancesValues, demand: Demand, instances: list[Instance]
) -> list[Instance]:
    """Return the instances with which an earlier run began to create the same new fleet; raises `ApiError`.

    An alternative that left no instance is followed by the next one, which asks for the same number.
    """
    creation = Creation(context=context, fleet=fleet, inputs=inputs, existing=[], demand=demand)
    inserts = creation.first_inserts(creation.alternatives)
    return [instance for insert in inserts for instance in insert.created_earlier(instances)]


@attrs.frozen(kw_only=True)
class Alternative:
    """One way to create instances.

    Attributes:
        name: what it is called in messages: `fallbacks[0]`, or empty for the fleet's own properties.
        inputs: the fleet's inputs with what the fallback changes.
        labels: the labels that show which fallback a member was created with.
        fallback: the index of the fallback; `OWN` without one.
        is_tentative: whether the next one follows whatever Google answers, because gcpx has chosen the zones.
    """

    name: str = ""
    inputs: BulkInstancesValues
    labels: dict[str, str] = attrs.Factory(dict)
    fallback: int = OWN
    is_tentative: bool = False


def alternatives_for(inputs: BulkInstancesValues, demand: Demand) -> list[Alternative]:
    """List the alternatives in their order; fallbacks without the wanted zone are left out."""
    anywhere = beside(inputs, demand.existing)
    placed = in_zones(inputs, demand.count, demand.zones) if demand.zones else anywhere
    found = [Alternative(inputs=placed, is_tentative=bool(demand.others))]
    if demand.others:
        found.append(Alternative(name="other zones", inputs=in_zones(inputs, demand.count, demand.others)))
    for index, fallback in enumerate(inputs.get("fallbacks") or ()):
        zones = fallback.get("zones")
        if demand.zone is None or not zones or demand.zone in map(name_of, zones):
            merged = with_fallback(anywhere if zones else placed, fallback)
            labels = labels_of_fallback(index, fallback)
            found.append(Alternative(name=f"fallbacks[{index}]", inputs=merged, labels=labels, fallback=index))
    return found


@attrs.define(kw_only=True)
class Creation:
    """A creation of instances, and its progress.

    Attributes:
        context: the engine's call.
        fleet: the fleet that the instances join.
        inputs: its inputs, without secrets and unknowns.
        existing: its members before.
        demand: the instances to create.
        alternatives: the ways to create them, in their order.
        names: the wanted names of instances that do not exist yet.
        members: the members as they were last listed.
        created: how many instances were created.
        outcomes: the results of the requests that Google accepted.
        missing_for: how many instances could not be created, by reason.
        error: Google's error, if fewer were created than wanted; in the end without its next step, if the explanation
            has one.
        stopped: whether the error is not a shortage, so that no further alternative can help.
        explanation: in the end, lines that say for each cause how many instances are missing, and what to do next; empty
            if the error says all that is known.
    """

    context: Context
    fleet: Fleet
    inputs: BulkInstancesValues
    existing: list[Instance]
    demand: Demand
    alternatives: list[Alternative] = attrs.field(init=False)
    names: list[str] = attrs.field(init=False)
    members: list[Instance] = attrs.field(init=False)
    created: int = attrs.field(default=0, init=False)
    outcomes: list[Outcome] = attrs.field(factory=list, init=False)
    missing_for: Counter[Reason] = attrs.field(factory=Counter, init=False)
    error: ApiError | None = attrs.field(default=None, init=False)
    stopped: bool = attrs.field(default=False, init=False)
    explanation: str = attrs.field(default="", init=False)

    def __attrs_post_init__(self) -> None:
        """Begin with all alternatives, and with nothing created."""
        self.alternatives = alternatives_for(self.inputs, self.demand)
        self.names, self.members = self.demand.names, self.existing

    def run(self) -> None:
        """Try the alternatives one after the other, and say in the end what is missing, and why."""
        try:
            for alternative in self.alternatives:
                self._begin(alternative)
                if self.missing:
                    self._make(alternative)
                if not self.missing or (self.stopped and not alternative.is_tentative):
                    break
        except (Unfinished, EarlierFleetError):
            raise
        except Exception as error:
            if self.created:
                words = f"created instances: {self.created:,}; {safe_message(error)}"
                raise Unfinished(words, next_step=RUN_AGAIN) from error
            raise
        self._explain()

    @property
    def missing(self) -> int:
        """How many instances do not exist yet."""
        return self.demand.count - self.created

    @property
    def in_zones(self) -> Counter[str]:
        """How many instances were created, by the names of their zones."""
        return sum((created_instances(outcome.per_location) for outcome in self.outcomes), Counter())

    def _begin(self, alternative: Alternative) -> None:
        """Before an alternative that follows others, list what these have created, whatever they reported."""
        if not alternative.name:
            return
        self.context.progress(f"missing instances: {self.missing:,}; trying {alternative.name}")
        if self.names or self.created:
            self.members = self.list_members()
        if self.names:
            taken = {member["name"] for member in self.members}
            self.names = [name for name in self.names if name not in taken]
            self.created = self.demand.count - len(self.names)

    def _make(self, alternative: Alternative) -> None:
        """Send the requests of one alternative, until one creates fewer instances than it asks for."""
        later = self.alternatives[self.alternatives.index(alternative) + 1 :]

        def followers() -> Iterator[BulkInsert]:
            if self.created:  # what the batches before this one have created is not asked for again
                self.members = self.list_members()
            return self.first_inserts(later)

        # Google chooses one zone for all instances, which the requests that follow the first one have to use.
        in_one_zone = text(nested(alternative.inputs, "locationPolicy"), "targetShape") in {"", "ANY_SINGLE_ZONE"}
        zone = ""
        for number, batch in enumerate(self._batches(alternative)):
            if self.context.autonamed and len(self.outcomes) == 1 and self.created and not self.existing:
                # Before a second request, verify that the first one created instances of this fleet.
                raise_if_earlier(self.context, self.fleet, self.outcomes[0])
            insert = attrs.evolve(self._insert(alternative, batch, number, zone), followers=followers)
            outcome = self._explained(insert.outcome(), alternative)
            created = insert.created_by(outcome)
            self.created += created
            if outcome.operation:
                self.outcomes.append(outcome)
            if created < batch.count:
                pinned = self.demand.zone is not None
                missing, places = batch.count - created, Places.of(self.inputs)
                reasons = why_missing(self.context, self.fleet, insert.body, outcome, missing, places, pinned=pinned)
                self.missing_for |= reasons  # the same instances may be missing after several alternatives
                self.error, self.stopped = outcome.error, not any(reason.is_shortage for reason in reasons)
                break
            if in_one_zone:
                zone = next(
                    (name_of(name) for name, one in outcome.per_location.items() if one.get("createdVmCount")), ""
                )
        if alternative.name:
            self.context.progress(f"{self.created:,}/{self.demand.count:,} instances created")

    def _explained(self, outcome: Outcome, alternative: Alternative) -> Outcome:
        """Name in a refusal the zones of the alternative that do not exist, because Google may not."""
        error, named = outcome.error, Places.of(alternative.inputs).named
        if not isinstance(error, Rejected) or error.operation is not None or not named:
            return outcome
        try:
            zones = sorted(map(name_of, self.fleet.of_region(self.context, "zones")))
        except ProviderError:
            return outcome
        unknown = sorted(named.difference(zones))
        if not (unknown and zones):
            return outcome
        names, are = ", ".join(unknown), "is not a zone" if len(unknown) == 1 else "are not zones"
        hint = f"{names} {are} of {self.fleet.region}, which has the zones {', '.join(zones)}"
        return attrs.evolve(outcome, error=error.with_hint(hint))

    def _explain(self) -> None:
        """Write the explanation, without what the error itself says."""
        if not self.missing:
            self.complete()
        others = {reason: count for reason, count in self.missing_for.items() if not is_message_of(reason, self.error)}
        self.explanation = shortfall_lines(others)
        if self.error is not None and others.keys() == self.missing_for.keys():
            self.error = self.error.with_next_step("")  # the lines say it for each cause

    def names_beside_others(self) -> list[str]:
        """Return free names if Google refused the creation because others have the names; none after any other error.

        If the program lists the names, the error says which instances have them.

        Raises:
            NamesExhaustedError: the fleet's name pattern has too few.
        """
        refusal, wanted, pattern = self.error, self.demand.names, text(self.inputs, "namePattern")
        if self.refusal is None or not isinstance(refusal, (Conflict, Rejected) if pattern else Conflict):
            return []
        if self.context.is_blocked and isinstance(refusal, Conflict):
            advice = how_to_manage(self.context, self.fleet.resource_id, "choose other names")
            self.error = refusal.with_hint(f"\n{advice}")
            return []
        expression = pattern_expression(pattern) if pattern else "|".join(map(re.escape, wanted))
        try:
            found = instances_in_region(self.context, self.fleet, "name,zone", f"name eq {expression}", "v1")
        except ApiError:
            return []
        in_use = {item["name"] for item in found}
        others = sorted(in_use - {member["name"] for member in self.existing})
        are = "is not a member" if len(others) == 1 else "are not members"
        say = f"{names_in_words(others)} {are} of this fleet" if others else ""
        kept, count = [name for name in wanted if name not in in_use], self.demand.count
        if pattern and (len(kept) < len(wanted) or (not wanted and runs_out(pattern, in_use, count))):
            try:
                return kept + free_names(pattern, in_use | {*kept}, count - len(kept))
            except NamesExhaustedError:
                raise NamesExhaustedError(pattern, in_use, count, say) from None
        if others and isinstance(refusal, Conflict):
            self.error = refusal.with_hint(
                f"perInstanceProperties: {say}; choose other names, or delete or import these instances"
            )
        return []

    def complete(self) -> None:
        """Clear the shortfall, because all wanted instances exist, whatever an error said."""
        self.missing_for, self.error, self.stopped, self.explanation = Counter(), None, False, ""

    def list_members(self, known: Iterable[Instance] = ()) -> list[Instance]:
        """List the members, with all that were created; `known` are other instances that existed before.

        Raises the same as `members_after`.
        """
        before = [*self.existing, *known]
        return members_after(self.context, self.fleet, before, self.created, self.outcomes)

    def first_inserts(self, alternatives: Iterable[Alternative]) -> Iterator[BulkInsert]:
        """Yield the first request of each alternative, as it is if the alternatives before it create nothing."""
        firsts = ((alternative, next(self._batches(alternative), None)) for alternative in alternatives)
        return (self._insert(alternative, batch, 0, "") for alternative, batch in firsts if batch)

    def _batches(self, alternative: Alternative) -> Iterator[Batch]:
        """Divide what is missing into requests, with names where Google would give some of them twice.

        The request ID depends on the names. So, unless the demand has zones, they must not depend on members that an
        earlier run has created with this alternative or with later ones.
        """
        existing = {member["id"] for member in self.existing}
        members = [
            item
            for item in self.members
            if self.demand.zones
            or item["id"] in existing
            or index_of_fallback(Member.of_instance(item).fallback) < alternative.fallback
        ]
        names, pattern = self.names, text(alternative.inputs, "namePattern")
        if not names and pattern and not all(map(Places.of(alternative.inputs).allows, zones_of(members))):
            # Google looks for names only in the zones of the request.
            names = next_names(pattern, {member["name"] for member in members}, self.missing)
        return batches(alternative.inputs, members, self.missing, names)

    def _insert(self, alternative: Alternative, batch: Batch, number: int, used: str) -> BulkInsert:
        """Write a request; `used` is the zone of the requests before it, if it has to use the same zone."""
        body = body_of(
            self.fleet,
            alternative.inputs,
            count=batch.count,
            minimum=self._minimum(alternative, batch),
            names=batch.names,
            zone=self.demand.zone or (batch.zone if batch.policy else used),
            labels={**self.demand.labels, **alternative.labels},
            policy=batch.policy,
        )
        return BulkInsert(
            context=self.context,
            operations=self.fleet.operations,
            scope=f"regions/{self.fleet.region}",
            fleet=self.fleet,
            body=body,
            existing=self.existing,
            created=self.created,
            number=number,
            resumed=self.demand.resumed,
        )

    def _minimum(self, alternative: Alternative, batch: Batch) -> int:
        """Return the fewest instances that a request may create.

        A request that others follow may create so few that they can still reach the fleet's minimum. The last one may
        succeed without creating any only if the fleet's minimum is 0.
        """
        minimum = FleetSize.of(self.inputs).minimum
        missing = minimum - len(self.existing) - self.created
        if alternative is not self.alternatives[-1]:
            return 0
        if batch.later:
            return max(0, min(batch.count, missing - batch.later))
        return min(batch.count, max(min(1, minimum), missing))

    @property
    def last_operation(self) -> Operation:
        """The last bulk creation (REST JSON); empty if no request was accepted."""
        return self.outcomes[-1].operation if self.outcomes else {}

    @property
    def explained_error(self) -> ApiError | None:
        """The error with a line for each cause; None if there was no error."""
        if self.error is None or not self.explanation:
            return self.error
        return self.error.with_next_step(f"{self.error.next_step}\n{self.explanation}")

    @property
    def refusal(self) -> ApiError | None:
        """The error of a last request that Google did not accept, if nothing was created; otherwise None."""
        if self.error is None or self.error.operation is not None or self.created:
            return None
        return self.explained_error

    @property
    def outputs(self) -> BulkInstancesValues:
        """Engine values of the outputs `perLocationStatus`, `operationGroupId` and `shortfalls`."""
        groups = [group for outcome in self.outcomes if (group := outcome.operation.get("operationGroupId"))]
        shared: BulkInstancesValues = {"operationGroupId": groups[-1]} if groups else {}
        return {
            "perLocationStatus": _location_outputs(self.outcomes),
            **shared,
            "shortfalls": shortfall_outputs(self.missing_for),
        }


def _location_outputs(outcomes: Iterable[Outcome]) -> dict[str, LocationStatusValues]:
    """Add up the status of each location over several operations; the state is that of the last."""
    numbers: dict[str, Counter[str]] = {}
    states: dict[str, dict[str, Any]] = {}
    for outcome in outcomes:
        for name, values in outcome.per_location.items():
            counts = {key: value for key, value in values.items() if isinstance(value, int)}
            numbers.setdefault(name, Counter()).update(counts)
            states[name] = {key: value for key, value in values.items() if key not in counts}
    return {name: cast("LocationStatusValues", {**counts, **states[name]}) for name, counts in numbers.items()}


def report_shortfall(context: Context, inputs: BulkInstancesValues, state: State, creation: Creation) -> None:
    """Report a fleet that has fewer instances than its inputs ask for; `state` describes it after the creation.

    A fleet that has its minimum is accepted with a warning.

    Raises:
        ProviderError: the fleet has no instance, so there is nothing to keep in the state.
        PartialError: the creation failed for a reason other than a shortage, or the fleet has fewer instances than its
            minimum.
    """
    size, existing = FleetSize.of(inputs), state.properties["memberCount"]
    below = f":\n{creation.explanation}" if creation.explanation else ""
    if not existing:
        raise creation.explained_error or ProviderError(
            f"a fleet needs at least one instance, but 0 of {size.wanted:,} could be created, and nothing was left behind; "
            f"run `pulumi up` to try again{below}"
        )
    if existing >= size.wanted:
        return
    if creation.error is not None and (creation.stopped or existing < size.minimum):
        words = f"{existing:,} of {size.wanted:,} instances exist; run `pulumi up` to try again{below}"
        raise PartialError(state, sentences(str(creation.error), words))
    reason = f": {creation.error}" if creation.error and not creation.explanation else ""
    # With `validateOnline`, each `pulumi up` reads the fleet, and a shortage that was accepted stays accepted.
    again = "raise minCount" if creation.fleet.google.settings.validate_online else "run `pulumi up --refresh`"
    context.warn(f"{existing:,} of {size.wanted:,} instances exist{reason}; to create the others, {again}{below}")
