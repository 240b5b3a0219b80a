"""`getOperation`: reads an operation of any scope, whatever its status.

Source: REST reference, `globalOperations.get`, `regionOperations.get` and `zoneOperations.get`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, cast

from gcpx.compute.operations import LocationStatus
from gcpx.compute.reference import rest
from gcpx.compute.responses import ApiObject, ApiWarning
from gcpx.gcp.in_project import InProjectFunction
from gcpx.gcp.request import COMPUTE, Request, segment
from gcpx.model import codec
from gcpx.model.context import Context
from gcpx.model.fields import Failure, Record, exclusive, field, output_field, record, requirement
from gcpx.model.links import name_of, path_of
from gcpx.model.patterns import PROJECT, REGION, ZONE

if TYPE_CHECKING:
    from gcpx.compute.value_types import OperationQueryValues

LINK: Final = re.compile(r"projects/([^/]+)/(global|regions/[^/]+|zones/[^/]+)/operations/([^/]+)")
"""The path of an operation: project, scope and name."""


@requirement(
    "name",
    "must be an operation's name, or a link projects/P/(global|regions/R|zones/Z)/operations/O",
    rest("globalOperations.get", "operation"),
)
def name_is_a_name_or_a_link(values: OperationQueryValues) -> bool:
    name = values.get("name")
    return not isinstance(name, str) or "/" not in name or LINK.fullmatch(path_of(name)) is not None


@record
class OperationQuery(Record):
    """Which operation to read. An operation without region and zone is global."""

    RULES = (exclusive("region", "zone"), name_is_a_name_or_a_link)

    name: str = field(
        "The operation's name, such as `operation-123`, or its self link, which includes the project and the region or zone.",
        required=True,
    )
    project: str = field(
        "The ID or number of the project, such as `my-project`. Default: the provider's project.", pattern=PROJECT
    )
    region: str = field(
        "The region of a regional operation, such as `us-east1`. Conflicts with `zone`.", pattern=REGION
    )
    zone: str = field("The zone of a zonal operation, such as `us-east1-b`. Conflicts with `region`.", pattern=ZONE)


@record
class ErrorInfo(Record):
    """The cause of an error, in machine-readable form."""

    domain: str = output_field("The service that defines the reason, such as `compute.googleapis.com`.")
    metadatas: dict[str, str] = output_field("Details of the cause, by key.")
    reason: str = output_field("The reason, such as `RESOURCE_NOT_READY`.")


@record
class HelpLink(Record):
    """A link to a page about an error."""

    description: str = output_field("What the page is about.")
    url: str = output_field("The page's URL.")


@record
class Help(Record):
    """Links to pages about an error."""

    links: list[HelpLink] = output_field("The links.")


@record
class LocalizedMessage(Record):
    """An error message in the user's language."""

    locale: str = output_field("The language, such as `en-US` (BCP 47).")
    message: str = output_field("The message.")


@record
class QuotaExceededInfo(Record):
    """The quota that was exceeded."""

    dimensions: dict[str, str] = output_field("What the quota applies to, such as a region.")
    future_limit: float = output_field("The limit that is being introduced.")
    limit: float = output_field("The limit.")
    limit_name: str = output_field("The limit's name.")
    metric_name: str = output_field("The name of the metric that the quota limits.")
    rollout_status: str = output_field("`IN_PROGRESS` while another limit is being introduced.", enum=("IN_PROGRESS",))


@record
class ErrorDetail(Record):
    """One detail of an error; one of its properties is set."""

    error_info: ErrorInfo = output_field("The cause of the error.")
    help: Help = output_field("Links to pages about the error.")
    localized_message: LocalizedMessage = output_field("The error message in the user's language.")
    quota_info: QuotaExceededInfo = output_field("The quota that was exceeded.")


@record
class OperationError(Record):
    """One error of an operation."""

    code: str = output_field("The error code, such as `QUOTA_EXCEEDED`.", always=True)
    error_details: list[ErrorDetail] = output_field("Details of the error.")
    location: str = output_field("The field of the request that caused the error.")
    message: str = output_field("The error message.")


@record
class OperationErrors(Record):
    """The errors of an operation."""

    errors: list[OperationError] = output_field("The errors.", always=True)


@record
class Status(Record):
    """An error in one location."""

    code: int = output_field("The gRPC status code, such as `7`.")
    details: list[dict[str, Any]] = output_field("Details of the error, each with its `@type`.")
    message: str = output_field("The error message.")


@record
class LocationOperation(Record):
    """The progress in one location of a change to a project's common instance metadata."""

    error: Status = output_field("Why the change failed in the location.")
    state: str = output_field(
        "The state of the change in the location.", enum=("ABANDONED", "DONE", "FAILED", "PROPAGATED", "PROPAGATING")
    )


@record
class CommonMetadataProgress(Record):
    """The progress of a change to a project's common instance metadata."""

    client_operation_id: str = output_field("The request ID of the change.")
    per_location_operations: dict[str, LocationOperation] = output_field(
        "The progress in each location, such as `zones/us-east1-b`."
    )


@record
class BulkInsertProgress(Record):
    """The progress of a bulk creation."""

    per_location_status: dict[str, LocationStatus] = output_field(
        "The progress in each location, such as `zones/us-east1-b`."
    )


@record
class HealthInfo(Record):
    """The health of a resource."""

    availability_slo_status: str = output_field(
        "Whether the availability objective is met.",
        enum=(
            "AVAILABILITY_SLO_STATUS_IN_SLO",
            "AVAILABILITY_SLO_STATUS_OUT_OF_SLO",
            "AVAILABILITY_SLO_STATUS_SLO_UNKNOWN",
        ),
    )
    health_status: str = output_field(
        "Whether the resource is healthy.", enum=("HEALTH_STATUS_HEALTHY", "HEALTH_STATUS_UNHEALTHY")
    )
    repair_category: str = output_field(
        "Why the resource is being repaired.",
        enum=(
            "REPAIR_CATEGORY_CRITICAL_FAILURE",
            "REPAIR_CATEGORY_EMERGENT_MAINTENANCE",
            "REPAIR_CATEGORY_PLANNED_MAINTENANCE",
            "REPAIR_CATEGORY_USER_REPORTED_FAULT",
        ),
    )
    unhealthy_reason: str = output_field(
        "Why the resource is not healthy.",
        enum=("UNHEALTHY_REASON_PENDING_USER_APPROVAL", "UNHEALTHY_REASON_REPAIRING", "UNHEALTHY_REASON_UNSCHEDULABLE"),
    )
    update_time: str = output_field("When the health was last updated (RFC 3339).")


@record
class HealthProgress(Record):
    """The result of an operation that reads the health of a resource."""

    health_info: HealthInfo = output_field("The health.")


@record
class SbomInfo(Record):
    """The versions of a resource's components."""

    current_component_versions: dict[str, str] = output_field("The current version of each component.")
    target_component_versions: dict[str, str] = output_field("The planned version of each component.")


@record
class VersionProgress(Record):
    """The result of an operation that reads the versions of a resource's components."""

    inline_sbom_info: SbomInfo = output_field("The versions.")


@record
class Operation(ApiObject):
    """An operation: Google's record of a long-running request."""

    ALWAYS = frozenset({"id", "kind"})

    client_operation_id: str = output_field("The request ID of the request that started the operation, if it had one.")
    creation_timestamp: str = output_field("Deprecated by Google: use `insertTime`.")
    end_time: str = output_field("When the operation ended (RFC 3339).")
    error: OperationErrors = output_field("Why the operation failed.")
    get_health_operation_metadata: HealthProgress = output_field("The result of an operation that reads health.")
    get_version_operation_metadata: VersionProgress = output_field("The result of an operation that reads versions.")
    http_error_message: str = output_field("The HTTP error message of a failed operation, such as `FORBIDDEN`.")
    http_error_status_code: int = output_field("The HTTP status code of a failed operation, such as `403`.")
    insert_time: str = output_field("When the operation was requested (RFC 3339).", always=True)
    instances_bulk_insert_operation_metadata: BulkInsertProgress = output_field("The progress of a bulk creation.")
    operation_group_id: str = output_field(
        "The ID of a group of operations, such as the operations of one bulk creation."
    )
    operation_type: str = output_field(
        "The type of operation, such as `insert` or `compute.instanceTemplates.insert`.", always=True
    )
    progress: int = output_field("The progress, from 0 to 100. It does not indicate how much time is left.")
    region: str = output_field("The URL of the region of a regional operation.")
    set_common_instance_metadata_operation_metadata: CommonMetadataProgress = output_field(
        "The progress of a change to a project's common instance metadata."
    )
    start_time: str = output_field("When Google started the operation (RFC 3339).")
    status: str = output_field("The operation's status.", enum=("DONE", "PENDING", "RUNNING"), always=True)
    status_message: str = output_field("A description of the status.")
    target_id: str = output_field("The numeric ID of the resource that the operation changes.")
    target_link: str = output_field("The URL of the resource that the operation changes.")
    user: str = output_field("Who requested the operation, such as `user@example.com`.")
    warnings: list[ApiWarning] = output_field("Google's warnings about the operation.")
    zone: str = output_field("The URL of the zone of a zonal operation.")


class GetOperation(InProjectFunction):
    """Reads one operation, by name and scope or by link."""

    token = "gcpx:compute:getOperation"
    description = "Reads a global, regional or zonal operation."
    arguments = OperationQuery
    result = Operation

    def failures(self, arguments: dict[str, Any]) -> list[Failure]:
        """Require a project, unless `name` is a link, which includes one."""
        given = cast("OperationQueryValues", arguments)
        return [] if "/" in str(given.get("name", "")) else super().failures(arguments)

    def invoke(self, context: Context, arguments: dict[str, Any]) -> dict[str, Any]:
        """Read the operation once, without waiting until it is done."""
        given = cast("OperationQueryValues", arguments)
        link = LINK.fullmatch(path_of(given["name"]))
        scope = f"regions/{name_of(given['region'])}" if given.get("region") else "global"
        scope = f"zones/{name_of(given['zone'])}" if given.get("zone") else scope
        project, scope, name = link.groups() if link else (self._project(arguments), scope, given["name"])
        path = f"beta/projects/{project}/{scope}/operations/{segment(name)}"
        return codec.from_body(
            self.result_type, self._google.send(Request(api=COMPUTE, method="GET", path=path), context)
        )
