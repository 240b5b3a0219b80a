"""The call that creates instances: `regionInstances.bulkInsert`, with its request IDs and progress."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs

from gcpx.compute.bulk_instances.bulk_insert_body import BulkInsertBody
from gcpx.compute.bulk_instances.creation.causes import reason_of_error
from gcpx.compute.bulk_instances.creation.earlier_fleet import BulkCreationGroup, earlier_fleet
from gcpx.compute.bulk_instances.fleet import TIMEOUT, Fleet, Instance
from gcpx.compute.idempotent_insert import IdempotentInsert
from gcpx.compute.operation_outcome import Outcome
from gcpx.compute.operations import Operations, Wait, moment, percentage
from gcpx.compute.request_ids import RequestIds
from gcpx.gcp.apis import COMPUTE
from gcpx.gcp.errors import ApiError, Conflict, Rejected
from gcpx.gcp.request import Request
from gcpx.model.call import Call
from gcpx.model.links import name_of

_NAMESPACE: Final = uuid.UUID("0b9d4f5a-58f7-5a4d-8e67-5a1a9d0d7c11")
_CLOCK_SKEW: Final = 2.0
"""Seconds by which the times of operations and of instances may differ, because different machines write them."""
_DIRECTIONS: Final = {"CREATING": "rolling forward", "ROLLING_BACK": "rolling back", "DONE": "done"}


@attrs.frozen(kw_only=True)
class BulkInsert:
    """One call of `bulkInsert`.

    Attributes:
        fleet: the fleet that the instances join.
        body: the request body (REST JSON).
        existing: the members that the fleet had before its creation or growth began. The request ID is derived from
            them too, so that creating as many instances later is a different request.
        created: how many instances earlier requests of the same creation or growth created.
        number: distinguishes requests of one creation or growth that have equal bodies.
        begun: whether an interrupted run may have sent the request so long ago that Google has forgotten its request ID.
        was_followed: returns whether an earlier run went on to another attempt after this request had created nothing.
    """

    fleet: Fleet
    body: dict[str, Any]
    existing: list[Instance]
    created: int = 0
    number: int = 0
    begun: bool = False
    was_followed: Callable[[Call], bool] = lambda _: False

    def run(self, call: Call) -> Outcome:
        """Create the instances, and return how the operation ended, whether it succeeded or failed.

        Raises:
            ApiError: Google refused the request, and nothing was created.
            Unfinished: Google accepted the request, and its result is not known.
        """
        return self._insert(call).run().outcome

    def was_requested(self, call: Call) -> bool:
        """Return whether an earlier run sent this same request and it did not fail; raises `ApiError`."""
        return any(True for _ in self._earlier_operations(call))

    def has_created(self, call: Call, instances: list[Instance]) -> bool:
        """Return whether an earlier run sent this same request, and it created one of the instances; raises `ApiError`."""
        operations = self._earlier_operations(call)
        return any(_was_created_by(operation, instance) for operation in operations for instance in instances)

    def _earlier_operations(self, call: Call) -> Iterator[dict[str, Any]]:
        """Yield the operations that earlier runs started with this same request, except those that failed."""
        for request_id in self._insert(call).derived_request_ids:
            operation = self._operations.requested(call, self._scope, request_id)
            if operation is not None:
                yield operation

    def _insert(self, call: Call) -> IdempotentInsert:
        return IdempotentInsert(
            request_ids=self._request_ids(call),
            send=lambda request_id: self._earlier_operation(call, request_id) or self._send(call, request_id),
            wait=lambda operation: self._outcome(call, operation),
            exists=lambda outcome: self._counts(call, outcome),
        )

    def _outcome(self, call: Call, operation: dict[str, Any]) -> Outcome:
        outcome = self._operations.outcome(call, operation, Wait("bulk insert", TIMEOUT, describe_progress))
        self.fleet.look_in(outcome.per_location)
        return outcome

    def _request_ids(self, call: Call) -> RequestIds:
        """Derive the request IDs; a generated fleet ID is left out, because every run generates another."""
        fleet, body = self.fleet, self.body
        if call.autonamed:
            body = BulkInsertBody.without_tracking_label(body)
        ids = sorted(str(member["id"]) for member in self.existing)
        existing = hashlib.sha256(",".join(ids).encode()).hexdigest()
        place = [fleet.project, fleet.region, "" if call.autonamed else fleet.id]
        number = [self.number] if self.number else []
        return RequestIds(call=call, namespace=_NAMESPACE, content=[*place, body, existing, *number])

    def _earlier_operation(self, call: Call, request_id: str) -> dict[str, Any] | None:
        return self._operations.requested(call, self._scope, request_id) if self.begun else None

    def _send(self, call: Call, request_id: str) -> dict[str, Any]:
        request = Request(
            api=COMPUTE,
            method="POST",
            path=f"beta/projects/{self.fleet.project}/regions/{self.fleet.region}/instances/bulkInsert",
            query={"requestId": request_id},
            body=self.body,
            patience=call.timeout or TIMEOUT,
            is_final=lambda error: reason_of_error(error).is_shortage,
        )
        try:
            return self.fleet.google.send(request, call)
        except (Conflict, Rejected) as error:
            return self._begun_for_another_id(call, request_id, error)

    def _begun_for_another_id(self, call: Call, request_id: str, error: ApiError) -> dict[str, Any]:
        """Return the operation of a refused request ID that was used with another fleet ID; otherwise raise the error."""
        operation = self._operations.requested_if_known(call, self._scope, request_id) if call.autonamed else None
        if operation is None:
            raise error
        return operation

    def created_by(self, outcome: Outcome) -> int:
        """Count the instances that an operation of this request has created and not rolled back."""
        if outcome.per_location:
            return _created(outcome.per_location)
        return int(self.body["count"]) if outcome.error is None else 0

    def _counts(self, call: Call, outcome: Outcome) -> bool:
        """Return whether to accept the result of an earlier run's operation, instead of creating once more."""
        if self.created_by(outcome) == 0:
            return self.was_followed(call)
        if len(self.fleet.members(call)) > len(self.existing) + self.created:
            return True
        return call.autonamed and self._has_earlier_fleet(call, outcome)

    def _has_earlier_fleet(self, call: Call, outcome: Outcome) -> bool:
        """Return whether the instances exist in a fleet with another ID, which the engine is not about to replace."""
        earlier = earlier_fleet(call, self.fleet, BulkCreationGroup.of_outcome(outcome))
        if earlier is None or call.is_anothers(earlier.resource_id):
            return False
        return earlier.id not in call.shown and earlier.resource_id not in call.shown

    @property
    def _scope(self) -> str:
        return f"regions/{self.fleet.region}"

    @property
    def _operations(self) -> Operations:
        return Operations(google=self.fleet.google, version="beta", project=self.fleet.project)


def _was_created_by(operation: dict[str, Any], instance: Instance) -> bool:
    """Return whether an instance was created while an operation was under way; true if that cannot be told."""
    created, begun = instance.get("creationTimestamp"), operation.get("insertTime")
    if not created or not begun:
        return True
    earliest, ended = moment(begun) - _CLOCK_SKEW, operation.get("endTime")
    return earliest <= moment(created) and (not ended or moment(created) <= moment(ended) + _CLOCK_SKEW)


def describe_progress(operation: dict[str, Any]) -> str:
    """Describe the progress of a bulk creation: `140/200 instances, zone us-east1-b rolling forward`."""
    locations = operation.get("instancesBulkInsertOperationMetadata", {}).get("perLocationStatus", {})
    if not locations:
        return percentage(operation)
    target = sum(status.get("targetVmCount", 0) for status in locations.values())
    zones = (
        f"zone {name_of(name)} {_DIRECTIONS.get(status.get('status', ''), 'waiting')}"
        for name, status in locations.items()
    )
    return f"{_created(locations):,}/{target:,} instances, {', '.join(zones)}"


def _created(locations: dict[str, Any]) -> int:
    """Count the instances that a bulk creation has created and not rolled back."""
    return sum(status.get("createdVmCount", 0) - status.get("deletedVmCount", 0) for status in locations.values())
