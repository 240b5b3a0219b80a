"""The operations of a bulk creation: one for the whole creation, and one for each instance, with a common group ID.

The errors of a creation that Google rolls back are those in log filters of slurm-gcp, which were made from entries of a
production project, and in googleapis/google-cloud-go#5168 (2021).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Final

import attrs

from gcpx_emulator.compute.bulk_placement import Placement
from gcpx_emulator.compute.call import Call
from gcpx_emulator.compute.operation_resource import Work
from gcpx_emulator.compute.shortages import failure_with
from gcpx_emulator.core.effects import Effect, put
from gcpx_emulator.core.json_data import Json

_CANCELED: Final = {"code": "OPERATION_CANCELED_BY_USER", "message": "Operation was canceled by user ''."}
"""The error of an instance that would have been created, if the whole creation fails."""


@attrs.frozen
class NewInstance:
    """An instance that a bulk creation creates, with the effects of its creation on disks."""

    path: str
    resource: Json
    disk_effects: list[Effect]


@attrs.frozen
class BulkCreation:
    """A bulk creation whose outcome is known.

    Attributes:
        failed: the paths of the instances that are not created, by zone; `placement` has their errors.
        failure: the result of the whole creation, if it fails; then the instances that were created are deleted again.
        details: more fields of the operation, such as warnings.
    """

    placement: Placement
    instances: list[NewInstance]
    failed: dict[str, list[str]]
    failure: Json | None
    details: Json

    def start(self, call: Call) -> Json:
        """Start the operations; return the one of the whole creation."""
        group = {"operationGroupId": str(uuid.uuid4())}
        metadata = {"instancesBulkInsertOperationMetadata": {"perLocationStatus": self._status_by_zone()}}
        whole = Work(
            kind="bulkInsert",
            target=call.parent,
            target_id="0",
            effects=[] if self.failure else list(self._effects()),
            failure=self.failure,
            details=self.details | group | metadata,
        )
        return call.start(whole, [*self._created(group), *self._not_created(call, group)])

    def _effects(self) -> Iterator[Effect]:
        for instance in self.instances:
            yield from (put(instance.path, instance.resource), *instance.disk_effects)

    def _created(self, group: Json) -> Iterator[Work]:
        canceled = failure_with(_CANCELED) if self.failure else None
        for instance in self.instances:
            target_id = instance.resource["id"]
            yield Work(kind="insert", target=instance.path, target_id=target_id, failure=canceled, details=group)

    def _not_created(self, call: Call, group: Json) -> Iterator[Work]:
        failed = [
            (path, error)
            for zone, paths in self.failed.items()
            for path, error in zip(paths, self.placement.errors[zone], strict=True)
        ]
        for (path, error), target_id in zip(failed, call.group_ids(len(failed)), strict=True):
            yield Work(kind="insert", target=path, target_id=target_id, failure=failure_with(error), details=group)

    def _status_by_zone(self) -> Json:
        """Write how many instances are created in each zone."""
        return {
            f"zones/{zone}": {
                "status": "ROLLING_BACK" if self.failure else "DONE",
                "targetVmCount": wanted,
                "createdVmCount": len(self.placement.placed[zone]),
                "failedToCreateVmCount": len(self.placement.errors[zone]),
                "deletedVmCount": len(self.placement.placed[zone]) if self.failure else 0,
            }
            for zone, wanted in self.placement.wanted.items()
        }
