"""The call that creates instances: `regionInstances.bulkInsert`, with its request IDs and progress."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs

from gcpx.compute.bulk_instances.bulk_insert_body import BulkInsertBody
from gcpx.compute.bulk_instances.creation.causes import reason_of_error
from gcpx.compute.bulk_instances.creation.created_members import CreatedMembers
from gcpx.compute.bulk_instances.creation.earlier_fleet import BulkCreationGroup, earlier_fleet
from gcpx.compute.bulk_instances.fleet import TIMEOUT, Fleet, Instance
from gcpx.compute.bulk_instances.membership import created_in_group
from gcpx.compute.idempotent_insert import MOST_FAILURES, Fate, IdempotentInsert
from gcpx.compute.operation_outcome import Outcome, created_instances
from gcpx.compute.operations import Wait, percentage
from gcpx.compute.request_ids import RequestIds
from gcpx.gcp.apis import COMPUTE
from gcpx.gcp.errors import ApiError, Conflict, Rejected
from gcpx.gcp.request import Request
from gcpx.model.call import Call
from gcpx.model.links import name_of

_NAMESPACE: Final = uuid.UUID("0b9d4f5a-58f7-5a4d-8e67-5a1a9d0d7c11")
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

    def created_earlier(self, call: Call, instances: list[Instance]) -> list[Instance]:
        """Return those instances that this same request created when an earlier run sent it; raises `ApiError`."""
        groups = [operation.get("operationGroupId") for operation in self._earlier_operations(call)]
        operations = self.fleet.operations
        return [item for group in groups if group for item in created_in_group(call, operations, group, instances)]

    def _earlier_operations(self, call: Call) -> Iterator[dict[str, Any]]:
        """Yield the operations that earlier runs started with this same request, except those that failed.

        A request ID is used only after those before it, so the first one without an operation ends the search, unless
        it is among the first, whose operations may have failed.
        """
        for number, request_id in enumerate(self._insert(call).derived_request_ids):
            operation = self.fleet.operations.requested(call, self._scope, request_id)
            if operation is not None:
                yield operation
            elif number >= MOST_FAILURES - 1:
                return

    def _insert(self, call: Call) -> IdempotentInsert:
        return IdempotentInsert(
            request_ids=self._request_ids(call),
            send=lambda request_id: self._earlier_operation(call, request_id) or self._send(call, request_id),
            wait=lambda operation: self._outcome(call, operation),
            fate=lambda outcome: self._fate(call, outcome),
            was_known=lambda operation: (
                operation.get("operationGroupId") in {call.last.get("operationGroupId", ""), *call.shown}
            ),
        )

    def _outcome(self, call: Call, operation: dict[str, Any]) -> Outcome:
        is_new, created = operation.get("status") != "DONE" and not self.begun, None
        try:
            outcome = self.fleet.operations.outcome(call, operation, Wait("bulk insert", TIMEOUT, describe_progress))
            created = created_instances(outcome.per_location) if is_new else None
        finally:
            self.fleet.membership.add_creation(operation, created)
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
        return self.fleet.operations.requested(call, self._scope, request_id) if self.begun else None

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
        operation = self.fleet.operations.requested_if_known(call, self._scope, request_id) if call.autonamed else None
        if operation is None:
            raise error
        return operation

    def created_by(self, outcome: Outcome) -> int:
        """Count the instances that an operation of this request has created and not rolled back."""
        if outcome.per_location:
            return created_instances(outcome.per_location).total()
        return int(self.body["count"]) if outcome.error is None else 0

    def _fate(self, call: Call, outcome: Outcome) -> Fate:
        """Tell what has become of the instances of an operation: they may be members of a fleet with another ID.

        A fleet that another resource has, or that the engine is about to replace, is not to be used.
        """
        if self.created_by(outcome) == 0:
            return Fate.FOUND if self.was_followed(call) else Fate.GONE
        if len(self.fleet.members(call)) > len(self.existing) + self.created:
            return Fate.FOUND
        earlier = earlier_fleet(call, self.fleet, BulkCreationGroup.of_outcome(outcome)) if call.autonamed else None
        if earlier is not None:
            is_used = call.is_anothers(earlier.resource_id) or {earlier.id, earlier.resource_id} & call.shown
            return Fate.GONE if is_used else Fate.FOUND
        return Fate.GONE if CreatedMembers.of(call, self.fleet, outcome).are_gone else Fate.UNSEEN

    @property
    def _scope(self) -> str:
        return f"regions/{self.fleet.region}"


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
    return f"{created_instances(locations).total():,}/{target:,} instances, {', '.join(zones)}"
