"""One bulk creation: its request, how the run after an interrupted one finds it again, and who owns its instances."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs

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
    instances_in_region,
    membership_labels,
    without_deleted,
)
from gcpx.compute.bulk_instances.generation import template_path
from gcpx.compute.bulk_instances.shortfalls import reason_of_error
from gcpx.compute.insertion import LAG, Insertion, orphan_warning, with_reason
from gcpx.compute.operations import Operation, Outcome, Wait, created_instances, percentage
from gcpx.errors import ProviderError
from gcpx.gcp.errors import ApiError, Unfinished
from gcpx.gcp.request import COMPUTE, Request
from gcpx.model import codec
from gcpx.model.fields import object_type, without
from gcpx.model.links import name_of
from gcpx.model.ownership import Owner, owner
from gcpx.model.resource import Context

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues


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
        minimum: the fewest that the request may create; with fewer, it fails and creates none.
        names: their names; empty if the fleet's name pattern gives them.
        zone: the name of their zone; empty if the location policy chooses it.
        labels: labels in addition to those of the inputs and of the fleet.
        policy: the name of the placement policy that the instances share; may be empty.
    """
    body = codec.to_body(object_type(BulkInstancesModel), inputs)
    properties = dict(body.get("instanceProperties", {}))
    if template := body.get("sourceInstanceTemplate"):
        body["sourceInstanceTemplate"] = template if "/" in template else template_path(fleet.project, template)
    # A label of another fleet in the template would make the instances members of both.
    removed = dict.fromkeys(sorted(RESERVED_LABELS)) if template else {}
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
        resumed: whether an interrupted run may have sent the request so long ago that Google has forgotten its ID.
        followers: returns the requests of which an earlier run sent one only if this one had created nothing.
    """

    namespace = _NAMESPACE
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
        """Return whether there are no more instances than those before the request, without known unmanaged ones."""
        known = {str(member["id"]) for member in self.existing} | self.fleet.membership.unmanaged.keys()
        return sum(str(item["id"]) not in known for item in instances) <= self.created

    def sent_earlier(self, request_id: str) -> Operation | None:
        """Also look for a request that was sent so long ago that Google may no longer recognize its ID."""
        if self.resumed:
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
        """Return whether the state has the group of operations, or what this creation replaces."""
        group = operation.get("operationGroupId")
        known = fleet_values(self.context.prior).get("operationGroupId", "")
        return group == known or self.context.is_replaced(group)

    def thing(self, operation: Operation) -> str:
        """Name the instances."""
        del operation
        return f"what was created of {self.fleet.resource_id}"

    def is_certainly_earlier(self, operation: Operation) -> bool:
        """Return whether an earlier run started an operation; never for a generated ID, because each run generates another.

        That fleet may have another ID: then the creation is repeated under that ID, and the user reads about it.
        """
        return not self.context.autonamed and super().is_certainly_earlier(operation)

    def outcome(self) -> Outcome:
        """Insert, and return how it ended; without an operation if Google refused the request."""
        try:
            return self.insert().outcome
        except ApiError as error:
            return Outcome({}, error, {})

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
    """Return the names of the zones in which a bulk creation was to create instances; all, if it does not say that."""
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
            context.warn(orphan_warning(context, earlier.resource_id, _deletion(earlier)))


def _deletion(fleet: Fleet) -> str:
    listed = (
        f"gcloud compute instances list --project={fleet.project} --filter=labels.{TRACKING_LABEL}={fleet.id} --uri"
    )
    return f"{listed} | xargs gcloud compute instances delete --quiet"


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
        outcomes: how the operations ended that created them.

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
