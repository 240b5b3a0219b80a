"""Creates instances of a fleet by a sequence of bulk creations, until all exist or nothing more can be tried."""

from __future__ import annotations

import hashlib
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from gcpx.compute.bulk_instances.capacity import (
    Alternative,
    Batch,
    Demand,
    FleetSize,
    PlacementGroup,
    alternatives,
    batches,
    index_of_fallback,
    placement_groups,
)
from gcpx.compute.bulk_instances.declaration import BulkInstancesModel
from gcpx.compute.bulk_instances.fleet import (
    RESERVED_LABELS,
    TIMEOUT,
    TRACKING_LABEL,
    Fleet,
    GroupCreation,
    Instance,
    created_in_group,
    fleet_values,
    membership_labels,
    region_of,
    without_deleted,
)
from gcpx.compute.bulk_instances.member import Member
from gcpx.compute.bulk_instances.names import names_across_zones, names_beside_others
from gcpx.compute.bulk_instances.shortfalls import (
    Diagnosis,
    Reason,
    is_message_of,
    reason_of_error,
    shortfall_lines,
    shortfall_outputs,
)
from gcpx.compute.insertion import LAG, Insertion, orphan_warning, with_reason
from gcpx.compute.listing import ImportableResources
from gcpx.compute.operations import Operation, Outcome, Wait, created_instances, percentage
from gcpx.errors import RUN_AGAIN, ProviderError, safe_message, sentences
from gcpx.gcp.errors import ApiError, Unfinished
from gcpx.gcp.list_method import scopes_in
from gcpx.gcp.request import COMPUTE, Request
from gcpx.model import codec
from gcpx.model.fields import nested, object_type, text
from gcpx.model.links import name_of
from gcpx.model.ownership import Owner, owner
from gcpx.model.resource import Context, PartialError, State

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues, LocationStatusValues, ShortfallValues


@attrs.frozen(kw_only=True)
class BulkInsertBody:
    """What a request says in addition to the fleet's inputs.

    Attributes:
        count: the number of instances to create.
        minimum: the fewest that it may create; with fewer, it fails and creates none.
        names: their names; empty if the fleet's name pattern gives them.
        zone: the name of their zone; None if the location policy chooses it.
        labels: labels in addition to those of the inputs and of the fleet.
        placement_policy: the name of the placement policy that the instances share; empty without one.
    """

    count: int
    minimum: int
    names: list[str] = attrs.Factory(list)
    zone: str | None = None
    labels: dict[str, str] = attrs.Factory(dict)
    placement_policy: str = ""

    def write(self, fleet: Fleet, inputs: BulkInstancesValues) -> dict[str, Any]:
        """Write the body (REST JSON); `inputs` are the fleet's, without secrets and unknowns."""
        body = codec.to_body(object_type(BulkInstancesModel), inputs)
        properties = self._with_labels(fleet, body)
        if self.placement_policy:
            policies = [*properties.get("resourcePolicies", ()), self.placement_policy]
            properties = {**properties, "resourcePolicies": policies}
        if self.names:  # they take the place of a name pattern
            own = body.pop("perInstanceProperties", {})
            body.pop("namePattern", None)
            body["perInstanceProperties"] = {name: own.get(name, {}) for name in self.names}
        return {
            **body,
            **({"instanceProperties": properties} if properties else {}),
            **({"locationPolicy": {"zones": [{"zone": f"zones/{self.zone}"}]}} if self.zone else {}),
            "count": str(self.count),
            "minCount": str(self.minimum),
        }

    @staticmethod
    def without_tracking_label(body: dict[str, Any]) -> dict[str, Any]:
        """Return a body without the label that has the fleet's ID."""
        properties = body.get("instanceProperties") or {}
        labels = {key: value for key, value in (properties.get("labels") or {}).items() if key != TRACKING_LABEL}
        return {**body, "instanceProperties": {**properties, "labels": labels}}

    def _with_labels(self, fleet: Fleet, body: dict[str, Any]) -> dict[str, Any]:
        """Return the instance properties of a body, with the labels that make the instances members of this fleet only."""
        properties = dict(body.get("instanceProperties", {}))
        # A label of another fleet in the template would make the instances members of both.
        removed = dict.fromkeys(sorted(RESERVED_LABELS)) if "sourceInstanceTemplate" in body else {}
        added = {**membership_labels(fleet.id), **self.labels}
        if (added or removed) and properties.get("labels", {}) is not None:
            properties["labels"] = {**removed, **properties.get("labels", {}), **added}
        return properties


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


def zones_of(fleet: Fleet, outcome: Outcome) -> list[str]:
    """Return the names of the zones in which a bulk creation was to create instances; all, if it does not say that."""
    return [name_of(name) for name in outcome.per_location] or fleet.zones.of(fleet.project, fleet.region)


def earlier_fleet(context: Context, fleet: Fleet, outcome: Outcome) -> Fleet | None:
    """Find the fleet whose instances a bulk creation has created; None if none of them exists any more.

    Raises:
        ApiError: it cannot be determined.
    """
    created = created_ids(context, fleet, outcome)
    if not created:
        return None
    instances = ImportableResources(
        google=fleet.google,
        project=fleet.project,
        version="beta",
        collection="instances",
        fields="id,zone,labels,creationTimestamp",
        filter=f"labels.{TRACKING_LABEL}:*",
        needs=scopes_in(fleet.region),
    ).read_all(context)
    listed = [item for item in instances if item["id"] in created and region_of(item) == fleet.region]
    found = without_deleted(context, fleet.operations, cast("list[Instance]", listed))
    return attrs.evolve(fleet, id=found[0]["labels"][TRACKING_LABEL]) if found else None


def created_ids(context: Context, fleet: Fleet, outcome: Outcome) -> set[str]:
    """Return the IDs of the instances that a bulk creation has created, from their operations; raises `ApiError`."""
    group = outcome.operation.get("operationGroupId")
    return fleet.operations.targets_of_group(context, zones_of(fleet, outcome), group) if group else set()


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
            context.warn(orphan_warning(context, earlier.resource_id, _deletion(earlier)))


def _deletion(fleet: Fleet) -> str:
    listed = (
        f"gcloud compute instances list --project={fleet.project} --filter=labels.{TRACKING_LABEL}={fleet.id} --uri"
    )
    return f"{listed} | xargs gcloud compute instances delete --quiet"


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
    def of(cls, context: Context, fleet: Fleet, outcome: Outcome) -> CreatedMembers:
        """Read the operations of the instances, and those that were begun after them."""
        operations, operation = fleet.operations, outcome.operation
        try:
            created = frozenset(created_ids(context, fleet, outcome))
        except ApiError:
            return cls(frozenset(), frozenset())
        scopes = [f"zones/{zone}" for zone in zones_of(fleet, outcome)] if created else []
        deleted = {found for scope in scopes for found in operations.deleted_since(context, scope, operation)}
        return cls(created, created & deleted)

    @property
    def are_gone(self) -> bool:
        """Whether it is certain that none of them exists any more."""
        return bool(self.created) and self.created == self.deleted


def members_after(
    context: Context, fleet: Fleet, known: Iterable[Instance], created: int, outcomes: Sequence[Outcome]
) -> list[Instance]:
    """List the members repeatedly, for up to 20 seconds, until the list shows all instances that were created.

    Args:
        context: the engine's call.
        fleet: the fleet.
        known: the members before the creation.
        created: how many instances were created.
        outcomes: how the operations ended that created them.

    Raises:
        Unfinished: Google neither lists all of them, nor says that the others were deleted.
        ApiError: the members cannot be listed.
    """
    before = {member["id"] for member in known}
    for _ in context.tries(LAG):
        members = fleet.members(context)
        missing = created - sum(member["id"] not in before for member in members)
        if missing <= 0 or missing <= sum(len(CreatedMembers.of(context, fleet, item).deleted) for item in outcomes):
            return members
    raise Unfinished(
        f"Google reports {created:,} created {'instance' if created == 1 else 'instances'}, but lists neither {missing:,} "
        "of them nor operations that deleted them",
        outcomes[-1].operation if outcomes else None,
    )


_NAMESPACE: Final = uuid.UUID("0b9d4f5a-58f7-5a4d-8e67-5a1a9d0d7c11")
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
        begun: whether an interrupted run may have sent the request so long ago that Google has forgotten its request ID.
        was_followed: returns whether an earlier run went on to another alternative after this request had created nothing.
    """

    namespace = _NAMESPACE
    fleet: Fleet
    body: dict[str, Any]
    existing: list[Instance]
    created: int = 0
    number: int = 0
    begun: bool = False
    was_followed: Callable[[], bool] = lambda: False

    @property
    def content(self) -> list[Any]:
        """Place, body and members; a generated fleet ID is left out, because every run generates another."""
        fleet, body, is_generated = self.fleet, self.body, self.context.autonamed
        if is_generated:
            body = BulkInsertBody.without_tracking_label(body)
        ids = sorted(str(member["id"]) for member in self.existing)
        existing = hashlib.sha256(",".join(ids).encode()).hexdigest()
        place = [fleet.project, fleet.region, "" if is_generated else fleet.id]
        return [*place, body, existing, *([self.number] if self.number else [])]

    def request(self, request_id: str) -> Request:
        """Return the request. A shortage is not tried again: other alternatives follow."""
        return Request(
            api=COMPUTE,
            method="POST",
            path=f"beta/projects/{self.fleet.project}/regions/{self.fleet.region}/instances/bulkInsert",
            query={"requestId": request_id},
            body=self.body,
            patience=self.context.timeout or TIMEOUT,
            is_final=lambda error: reason_of_error(error).is_shortage,
            done=lambda: self._done(request_id),
        )

    def _done(self, request_id: str) -> Operation | None:
        """Find the operation of an attempt without a response, before the request is sent again.

        Raises ProviderError if no operation shows it, but there are instances that an attempt may have created. New
        instances are somebody else's if Google lists no operation that created them for a while.
        """
        for _ in self.context.tries(LAG):
            operation, unknown = None, None
            try:
                operation = self.operations.requested(self.context, self.scope, request_id)
            except ApiError as error:
                unknown = error
            if operation is not None or self._has_as_many(self.fleet.matching(self.context)):
                return operation
            if unknown is not None:
                raise unknown
        if self.context.is_over or not self._has_as_many(self.fleet.members(self.context)):
            raise ProviderError(f"{self.fleet.resource_id} has new instances, whose operation is not listed")
        return None

    def _has_as_many(self, instances: list[Instance]) -> bool:
        """Return whether there are no more instances than those before the request, without known strangers."""
        known = {str(member["id"]) for member in self.existing} | self.fleet.membership.strangers.keys()
        return sum(str(item["id"]) not in known for item in instances) <= self.created

    def sent_earlier(self, request_id: str) -> Operation | None:
        """Also look for a request that was sent so long ago that Google may no longer recognize its ID."""
        if self.begun:
            return self.operations.requested(self.context, self.scope, request_id)
        return self.fleet.earlier.requested(self.context, self.operations, self.scope, request_id)

    def refusal_of_lost(self, lost: Unfinished, request_id: str) -> ApiError:
        """Return the shortage for which Google refused a repetition, if nothing shows that an attempt was carried out.

        Otherwise raise the error as it is: the next list of the members shows what was created.
        """
        refusal = lost.__cause__
        if not isinstance(refusal, ApiError) or not reason_of_error(refusal).is_shortage:
            raise lost
        try:
            is_made = any(self._done(request_id) is not None for _ in self.context.tries(LAG))
        except Exception as error:  # whatever went wrong, Google may have carried the request out
            raise with_reason(lost, error) from error
        if is_made or self.context.is_over:
            raise lost
        return refusal

    def created_earlier(self, instances: list[Instance]) -> list[Instance]:
        """Return those instances that this same request created when an earlier run sent it; raises `ApiError`."""
        groups = [operation.get("operationGroupId") for operation in self.earlier_operations()]
        return [
            item
            for group in groups
            if group
            for item in created_in_group(self.context, self.operations, group, instances)
        ]

    def wait(self, operation: Operation) -> Outcome:
        """Wait until the operation has ended, with all instances or without; record it in the membership."""
        is_new, created = operation.get("status") != "DONE" and not self.begun, None
        wait = Wait("bulk insert", TIMEOUT, describe_progress)
        try:
            outcome = self.operations.outcome(self.context, operation, wait)
            created = created_instances(outcome.per_location) if is_new else None
        finally:
            self.fleet.membership.creations.append(GroupCreation(operation, created))
        self.fleet.zones.add(self.fleet.project, self.fleet.region, outcome.per_location)
        return outcome

    def was_known(self, operation: Operation) -> bool:
        """Return whether the state has the group of operations, or what this creation replaces."""
        group = operation.get("operationGroupId")
        known = fleet_values(self.context.prior).get("operationGroupId", "")
        return group == known or self.context.is_replaced(group)

    def thing(self, operation: Operation) -> str:
        """Name the instances."""
        del operation
        return f"what was created of {self.fleet.resource_id}"

    def is_certainly_earlier(self, operation: Operation) -> bool:
        """Return whether an earlier run began an operation; not for a generated ID, under which nothing may exist.

        The fleet that the operation created may have another ID, under which its creation is repeated and told.
        """
        return not self.context.autonamed and super().is_certainly_earlier(operation)

    def created_by(self, outcome: Outcome) -> int:
        """Count the instances that an operation of this request has created and not rolled back."""
        if outcome.per_location:
            return created_instances(outcome.per_location).total()
        return int(self.body["count"]) if outcome.error is None else 0

    def owner(self, outcome: Outcome) -> Owner:
        """Determine who owns the instances: they may be members of a fleet with another ID, which another resource has.

        Instances that were not created are ours if a later alternative took their place: this one is then finished.
        """
        context = self.context
        if self.created_by(outcome) == 0:
            return Owner.OURS if self.was_followed() else Owner.NOBODY
        if len(self.fleet.members(context)) > len(self.existing) + self.created:
            return Owner.OURS
        earlier = earlier_fleet(context, self.fleet, outcome) if context.autonamed else None
        if earlier is None:
            return owner(None, lambda: not CreatedMembers.of(context, self.fleet, outcome).are_gone)
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


@attrs.frozen(kw_only=True)
class Creation:
    """How a creation ended, whether all instances were created or not.

    Attributes:
        created: how many instances were created.
        error: why fewer were created than wanted, if Google said so as an error; its next step is left out if the
            explanation has one.
        stopped: whether the error is not a shortage, so that no further alternative was tried.
        explanation: lines that say for each cause how many instances are missing, and what to do next; empty if the
            error says all that is known.
        outputs: engine values of the outputs `perLocationStatus`, `operationGroupId` and `shortfalls`.
        outcomes: how its operations ended.
    """

    created: int
    error: ApiError | None
    stopped: bool
    explanation: str
    outputs: BulkInstancesValues
    outcomes: list[Outcome]

    @property
    def shortfalls(self) -> list[ShortfallValues]:
        """The engine values of the output `shortfalls`."""
        return self.outputs["shortfalls"]

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

    def completed(self) -> Creation:
        """Return the creation of a fleet that turned out to have all wanted instances, whatever an error said."""
        outputs: BulkInstancesValues = {**self.outputs, "shortfalls": []}
        return attrs.evolve(self, error=None, stopped=False, explanation="", outputs=outputs)

    @property
    def refusal(self) -> ApiError | None:
        """The error of a last request that Google did not accept, if nothing was created; otherwise None."""
        if self.error is None or self.error.operation is not None or self.created:
            return None
        return self.explained_error


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


def create_instances(
    context: Context, fleet: Fleet, inputs: BulkInstancesValues, existing: list[Instance], demand: Demand
) -> Creation:
    """Create instances with the fleet's own properties, then with those of its fallbacks for what is still missing.

    If others have names that they should get, they get free ones of the name pattern.

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
    creation = _created(context, fleet, inputs, existing, demand)
    if creation.error is None or creation.refusal is None:
        return creation
    try:
        names = names_beside_others(context, fleet, inputs, demand, existing, creation.error)
    except ApiError as explained:
        return attrs.evolve(creation, error=explained)
    return _created(context, fleet, inputs, existing, attrs.evolve(demand, names=names)) if names else creation


def _created(
    context: Context, fleet: Fleet, inputs: BulkInstancesValues, existing: list[Instance], demand: Demand
) -> Creation:
    """Create instances under the wanted names, as `create_instances` does."""
    groups = placement_groups(inputs, existing)
    run = _Run(context, fleet, existing, demand, FleetSize.of(inputs), groups, demand.names)
    try:
        run.make(alternatives(inputs, demand))
    except (Unfinished, EarlierFleetError):
        raise
    except Exception as error:
        if run.created:
            words = f"created instances: {run.created:,}; {safe_message(error)}"
            raise Unfinished(words, next_step=RUN_AGAIN) from error
        raise
    return run.result()


def created_earlier(
    context: Context, fleet: Fleet, inputs: BulkInstancesValues, demand: Demand, instances: list[Instance]
) -> list[Instance]:
    """Return those instances with which an earlier run began to create the same new fleet; raises `ApiError`.

    An alternative that left no instance is followed by the next one, which asks for the same number.
    """
    run = _Run(context, fleet, [], demand, FleetSize.of(inputs), placement_groups(inputs, []), demand.names)
    inserts = run.first_inserts(alternatives(inputs, demand))
    return [instance for insert in inserts for instance in insert.created_earlier(instances)]


@attrs.define
class _Run:
    """One run of a sequence of bulk creations.

    Attributes:
        names: the wanted names of instances that do not exist yet.
        created: how many instances it has created.
        shortfalls: how many instances could not be created, by reason.
        error: Google's last error.
        stopped: whether an error shows that further alternatives cannot help.
        outcomes: how the operations ended.
    """

    context: Context
    fleet: Fleet
    existing: list[Instance]
    demand: Demand
    size: FleetSize
    groups: list[PlacementGroup]
    names: list[str]
    created: int = 0
    shortfalls: Counter[Reason] = attrs.Factory(Counter)
    error: ApiError | None = None
    stopped: bool = False
    outcomes: list[Outcome] = attrs.Factory(list)

    def make(self, tried: list[Alternative]) -> None:
        """Try the alternatives one after the other, until all instances exist or an error stops it."""
        for number, alternative in enumerate(tried):
            if alternative.name and self._missing:
                self.context.progress(f"missing instances: {self._missing:,}; trying {alternative.name}")
                self._leave_out_existing_names()
            if not self._missing:
                return
            self._try(alternative, tried[number + 1 :])
            if alternative.name:
                self.context.progress(f"{self.created:,}/{self.demand.count:,} instances created")
            if self.stopped and not alternative.is_tentative:
                return

    def were_requested(self, tried: list[Alternative]) -> bool:
        """Return whether an earlier run began one of these alternatives, because those before it had created nothing."""
        return any(True for insert in self.first_inserts(tried) for _ in insert.earlier_operations())

    def first_inserts(self, tried: list[Alternative]) -> Iterator[BulkInsert]:
        """Yield the first request of each alternative, if the alternatives before it create nothing."""
        firsts = ((alternative, next(self._batches(alternative), None)) for alternative in tried)
        return (self._insert(alternative, batch, 0, []) for alternative, batch in firsts if batch)

    def result(self) -> Creation:
        """Describe how the run ended, and what it fell short of."""
        is_complete = not self._missing
        shortfalls, error = (Counter[Reason](), None) if is_complete else (self.shortfalls, self.error)
        explained = {reason: count for reason, count in shortfalls.items() if not is_message_of(reason, error)}
        if error is not None and explained.keys() == shortfalls.keys():
            error = error.with_next_step("")  # the lines say it for each cause
        groups = [group for outcome in self.outcomes if (group := outcome.operation.get("operationGroupId"))]
        shared: BulkInstancesValues = {"operationGroupId": groups[-1]} if groups else {}
        outputs: BulkInstancesValues = {
            "perLocationStatus": _location_outputs(self.outcomes),
            **shared,
            "shortfalls": shortfall_outputs(shortfalls),
        }
        return Creation(
            created=self.created,
            error=error,
            stopped=self.stopped,
            explanation=shortfall_lines(explained),
            outputs=outputs,
            outcomes=self.outcomes,
        )

    @property
    def _missing(self) -> int:
        return self.demand.count - self.created

    def _leave_out_existing_names(self) -> None:
        """Keep those of the names that no member has, and count the others as created."""
        if not self.names:
            return
        taken = {member["name"] for member in self._members()}
        self.names = [name for name in self.names if name not in taken]
        self.created = self.demand.count - len(self.names)

    def _try(self, alternative: Alternative, following: list[Alternative]) -> None:
        """Send the requests of one alternative, until one creates fewer instances than it asks for."""
        was_followed = partial(self.were_requested, following)
        # Google chooses one zone for all instances, which the requests that follow the first one have to use.
        in_one_zone = text(nested(alternative.inputs, "locationPolicy"), "targetShape") in {"", "ANY_SINGLE_ZONE"}
        zones: list[str] = []
        for number, batch in enumerate(self._batches(alternative)):
            insert = self._insert(alternative, batch, number, zones)
            outcome = self._send(attrs.evolve(insert, was_followed=was_followed))
            created = insert.created_by(outcome) if outcome else 0
            if outcome is not None:
                used = [name_of(name) for name, status in outcome.per_location.items() if status.get("createdVmCount")]
                zones = used if in_one_zone else []
                self.created += created
                if batch.group is not None and created:
                    batch.group.free -= created
                    batch.group.zone = batch.group.zone or next(iter(used), None)
            if created < batch.count:
                return

    def _batches(self, alternative: Alternative) -> Iterator[Batch]:
        """Divide what is missing into requests, with names where Google would give some of them twice."""
        members = self._members_before(alternative) if self.created else self.existing
        names = self.names or names_across_zones(alternative.inputs, members, self._missing)
        return batches(self._missing, names, self.groups)

    def _members_before(self, alternative: Alternative) -> list[Instance]:
        """Return the members without those of this alternative and later ones.

        An earlier run may have created these. The request ID depends on the names, so these must not depend on them.
        """
        existing = {member["id"] for member in self.existing}
        members = self._members()
        if self.demand.zones:  # beside existing members, what an earlier run has created exists already
            return members
        return [
            member
            for member in members
            if member["id"] in existing or index_of_fallback(Member.of_instance(member).fallback) < alternative.index
        ]

    def _members(self) -> list[Instance]:
        """List the members, with all that this run has created."""
        return members_after(self.context, self.fleet, self.existing, self.created, self.outcomes)

    def _insert(self, alternative: Alternative, batch: Batch, number: int, used: list[str]) -> BulkInsert:
        """Write a request; `used` are the zones of the request before it, if it has to use the same."""
        zone = batch.group.zone if batch.group else next(iter(used), None)
        body = BulkInsertBody(
            count=batch.count,
            minimum=self._minimum(alternative, batch),
            names=batch.names,
            zone=self.demand.zone or zone,
            labels={**self.demand.labels, **alternative.labels},
            placement_policy=batch.group.policy if batch.group else "",
        )
        written = body.write(self.fleet, alternative.inputs)
        return BulkInsert(
            context=self.context,
            operations=self.fleet.operations,
            scope=f"regions/{self.fleet.region}",
            fleet=self.fleet,
            body=written,
            existing=self.existing,
            created=self.created,
            number=number,
            begun=self.demand.begun,
        )

    def _minimum(self, alternative: Alternative, batch: Batch) -> int:
        """Return the fewest instances that a request may create.

        A request that others follow may create so few that they can still reach the fleet's minimum.
        """
        existing = len(self.existing) + self.created
        if not alternative.is_last:
            return 0
        if batch.later:
            return max(0, min(batch.count, self.size.minimum - existing - batch.later))
        return self.size.request_minimum(batch.count, existing)

    def _send(self, insert: BulkInsert) -> Outcome | None:
        """Send a request and wait for its operation; None if Google refused it. A shortfall is recorded."""
        if self.context.autonamed and len(self.outcomes) == 1 and self.created and not self.existing:
            # Before a second request, verify that the first one created instances of this fleet.
            raise_if_earlier(self.context, self.fleet, self.outcomes[0])
        asked = int(insert.body["count"])
        machine_type = text(nested(fleet_values(insert.body), "instanceProperties"), "machineType")
        diagnosis = Diagnosis(self.context, self.fleet, machine_type, is_pinned=self.demand.zone is not None)
        try:
            outcome = insert.insert().outcome
        except ApiError as error:
            self._fall_short(diagnosis.of_refusal(error, asked), error)
            return None
        self.outcomes.append(outcome)
        created = insert.created_by(outcome)
        if created < asked:
            self._fall_short(diagnosis.of_outcome(outcome, asked - created), outcome.error)
        return outcome

    def _fall_short(self, reasons: Counter[Reason], error: ApiError | None) -> None:
        self.shortfalls |= reasons  # the same instances may be missing after several alternatives
        self.error = error
        self.stopped = not any(reason.is_shortage for reason in reasons)


class NoInstanceCreatedError(ProviderError):
    """A creation that succeeded without creating an instance, for a fleet that has none."""

    def __init__(self, wanted: int, explanation: str) -> None:
        super().__init__(
            f"a fleet needs at least one instance, but 0 of {wanted:,} could be created, and nothing was left behind; run "
            f"`pulumi up` to try again{_below(explanation)}"
        )


def report_shortfall(context: Context, inputs: BulkInstancesValues, state: State, creation: Creation) -> None:
    """Report a fleet that has fewer instances than its inputs ask for; `state` describes it after the creation.

    A fleet that has its minimum is accepted with a warning.

    Raises:
        ApiError, NoInstanceCreatedError: the fleet has no instance, so there is nothing to keep in the state.
        PartialError: the creation failed for a reason other than a shortage, or the fleet has fewer instances than its
            minimum.
    """
    size, existing = FleetSize.of(inputs), state.properties["createdCount"]
    if not existing:
        raise creation.explained_error or NoInstanceCreatedError(size.wanted, creation.explanation)
    if existing >= size.wanted:
        return
    below = _below(creation.explanation)
    if creation.error is not None and (creation.stopped or existing < size.minimum):
        words = f"{existing:,} of {size.wanted:,} instances exist; run `pulumi up` to try again{below}"
        raise PartialError(state, sentences(str(creation.error), words))
    reason = f": {creation.error}" if creation.error and not creation.explanation else ""
    context.warn(
        f"{existing:,} of {size.wanted:,} instances exist{reason}; to create the others, run `pulumi up --refresh`{below}"
    )


def _below(explanation: str) -> str:
    return f":\n{explanation}" if explanation else ""
