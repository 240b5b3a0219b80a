"""How an operation of Compute Engine ended, and where a bulk creation has created instances."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Self

import attrs

from gcpx.compute.bulk_insert_status import LocationStatus
from gcpx.errors import MalformedResponse
from gcpx.gcp.errors import ApiError, from_operation
from gcpx.model import codec
from gcpx.model.fields import object_type
from gcpx.model.links import name_of


@attrs.frozen
class Outcome:
    """How an operation ended.

    Attributes:
        operation: the operation (REST JSON) with status `DONE`.
        error: why it failed; None if it succeeded.
        per_location: the status of each location that a bulk creation used, as engine values of `LocationStatus`, by
            name such as `zones/us-east1-b`.
    """

    operation: dict[str, Any]
    error: ApiError | None
    per_location: dict[str, dict[str, Any]]

    @classmethod
    def of(cls, what: str, operation: dict[str, Any]) -> Self:
        """Read an operation that is done; raise MalformedResponse if what it says about instances is not valid."""
        error = from_operation(what, operation) if operation.get("error") else None
        return cls(operation, error, _per_location(operation))

    def result(self) -> dict[str, Any]:
        """Return the operation if it succeeded; raise its error if it failed."""
        if self.error is not None:
            raise self.error
        return self.operation


def created_instances(per_location: Mapping[str, Mapping[str, Any]]) -> Counter[str]:
    """Return how many instances a bulk creation has created and not deleted again, by the names of their zones.

    Args:
        per_location: the status of each location, by name such as `zones/us-east1-b`.
    """
    return Counter({
        name_of(name): status.get("createdVmCount", 0) - status.get("deletedVmCount", 0)
        for name, status in per_location.items()
    })  # fmt: skip


def _per_location(operation: dict[str, Any]) -> dict[str, dict[str, Any]]:
    metadata = operation.get("instancesBulkInsertOperationMetadata") or {}
    found = (metadata.get("perLocationStatus") or {}) if isinstance(metadata, dict) else None
    has_group = isinstance(operation.get("operationGroupId") or "", str)
    if not has_group or not isinstance(found, dict) or not all(isinstance(item, dict) for item in found.values()):
        raise MalformedResponse("Google's response does not say correctly where instances were created")
    return {name: codec.from_body(object_type(LocationStatus), status) for name, status in found.items()}
