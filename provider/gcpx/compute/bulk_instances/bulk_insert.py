"""The call that creates instances: `regionInstances.bulkInsert`, with its request body, request IDs and progress."""

from __future__ import annotations

import hashlib
import uuid
from typing import Any, Final

import attrs

from gcpx.compute.bulk_instances.declaration import BulkInstancesModel
from gcpx.compute.bulk_instances.fleet import TIMEOUT, Fleet, Instance
from gcpx.compute.bulk_instances.fleet_id import RESERVED_LABELS
from gcpx.compute.bulk_instances.scaling import Scaling
from gcpx.compute.bulk_instances.size import FleetSize
from gcpx.compute.idempotent_insert import IdempotentInsert
from gcpx.compute.operations import Operations, Outcome, Wait, percentage
from gcpx.gcp.apis import COMPUTE
from gcpx.gcp.request import Request
from gcpx.model import codec
from gcpx.model.call import Call
from gcpx.model.fields import object_type
from gcpx.model.links import name_of

_NAMESPACE: Final = uuid.UUID("0b9d4f5a-58f7-5a4d-8e67-5a1a9d0d7c11")
_DIRECTIONS: Final = {"CREATING": "rolling forward", "ROLLING_BACK": "rolling back", "DONE": "done"}


@attrs.frozen
class BulkInsert:
    """One call of `bulkInsert`, which creates the missing instances of a fleet.

    Attributes:
        fleet: the fleet that the instances join.
        body: the request body (REST JSON).
        existing: the members that the fleet has already. The request ID is derived from them too, so that creating as
            many instances later is a different request.
    """

    fleet: Fleet
    body: dict[str, Any]
    existing: list[Instance]

    @classmethod
    def of(cls, fleet: Fleet, inputs: dict[str, Any], scaling: Scaling) -> BulkInsert:
        """Prepare the call that creates what is missing; `inputs` are the fleet's, without secrets and unknowns."""
        return cls(fleet, request_body(fleet, inputs, scaling), scaling.kept)

    def run(self, call: Call) -> Outcome:
        """Create the instances, and return how the operation ended, whether it succeeded or failed.

        Raises:
            ApiError: Google refused the request, and nothing was created.
            Unfinished: Google accepted the request, and its result is not known.
        """
        return self._insert(call).run()

    def was_requested(self, call: Call) -> bool:
        """Return whether an earlier run sent this same request and it did not fail; raises `ApiError`."""
        scope, request_ids = f"regions/{self.fleet.region}", self._insert(call).derived_request_ids
        return any(self._operations.requested(call, scope, request_id) is not None for request_id in request_ids)

    def _insert(self, call: Call) -> IdempotentInsert:
        fleet, ids = self.fleet, sorted(str(member["id"]) for member in self.existing)
        existing = hashlib.sha256(",".join(ids).encode()).hexdigest()
        return IdempotentInsert(
            namespace=_NAMESPACE,
            content=[call.urn, fleet.project, fleet.region, fleet.id, self.body, existing],
            send=lambda request_id: self._send(call, request_id),
            wait=lambda operation: self._operations.outcome(
                call, operation, Wait("bulk insert", TIMEOUT, describe_progress)
            ),
            exists=lambda outcome: _created_any(outcome) and len(fleet.members(call)) > len(self.existing),
        )

    def _send(self, call: Call, request_id: str) -> dict[str, Any]:
        request = Request(
            api=COMPUTE,
            method="POST",
            path=f"beta/projects/{self.fleet.project}/regions/{self.fleet.region}/instances/bulkInsert",
            query={"requestId": request_id},
            body=self.body,
            patience=call.timeout or TIMEOUT,
        )
        return self.fleet.google.send(request, call)

    @property
    def _operations(self) -> Operations:
        return Operations(google=self.fleet.google, version="beta", project=self.fleet.project)


def request_body(fleet: Fleet, inputs: dict[str, Any], scaling: Scaling) -> dict[str, Any]:
    """Write the body of the request (REST JSON) that creates what is missing of a fleet with these inputs."""
    body = codec.to_body(object_type(BulkInstancesModel), inputs)
    minimum = FleetSize.of(inputs).request_minimum(scaling.missing, len(scaling.kept))
    body |= {"count": str(scaling.missing), "minCount": str(minimum)}
    properties = _with_fleet_labels(fleet, body)
    if properties:
        body["instanceProperties"] = properties
    if scaling.missing_names:
        own = body.get("perInstanceProperties", {})
        body["perInstanceProperties"] = {name: own.get(name, {}) for name in scaling.missing_names}
        body.pop("namePattern", None)
    return body


def _with_fleet_labels(fleet: Fleet, body: dict[str, Any]) -> dict[str, Any]:
    """Return the instance properties of a body, with the labels that make the instances members of this fleet only."""
    properties = dict(body.get("instanceProperties", {}))
    # A label of another fleet in the template would make the instances members of both.
    removed = dict.fromkeys(sorted(RESERVED_LABELS)) if "sourceInstanceTemplate" in body else {}
    if (fleet.labels or removed) and properties.get("labels", {}) is not None:
        properties["labels"] = {**removed, **properties.get("labels", {}), **fleet.labels}
    return properties


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


def _created_any(outcome: Outcome) -> bool:
    return _created(outcome.per_location) > 0 if outcome.per_location else outcome.error is None


def _created(locations: dict[str, Any]) -> int:
    """Count the instances that a bulk creation has created and not rolled back."""
    return sum(status.get("createdVmCount", 0) - status.get("deletedVmCount", 0) for status in locations.values())
