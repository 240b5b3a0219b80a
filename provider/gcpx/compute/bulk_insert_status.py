"""The status of a bulk creation, which both the fleet that it creates and its operation show."""

from __future__ import annotations

from gcpx.model.fields import Record, output_field, record


@record
class LocationStatus(Record):
    """The status of a bulk creation in one location."""

    created_vm_count: int = output_field("The number of instances that were created.")
    deleted_vm_count: int = output_field(
        "The number of instances that were deleted again when the creation was rolled back."
    )
    failed_to_create_vm_count: int = output_field("The number of instances that could not be created.")
    status: str = output_field("The state of the creation: `CREATING`, `ROLLING_BACK` or `DONE`.")
    target_vm_count: int = output_field("The number of instances that were to be created.")
