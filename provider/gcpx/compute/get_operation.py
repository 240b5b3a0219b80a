"""`getOperation`: work under way, or done.

Source: Compute API, `globalOperations.get`, `regionOperations.get`, `zoneOperations.get` (documentation section 2.7).
"""

from __future__ import annotations

import re
from typing import Any

from gcpx.compute.bulk_instances.declaration import LocationStatus
from gcpx.compute.lists.functions import ApiWarning
from gcpx.gcp.apis import COMPUTE
from gcpx.gcp.in_project import InProjectFunction
from gcpx.gcp.request import Request
from gcpx.model import codec
from gcpx.model.call import Call
from gcpx.model.fields import Record, answer, field, record
from gcpx.model.links import name_of, path_of
from gcpx.model.places import PROJECT, REGION, ZONE
from gcpx.model.rules import Failure, exclusive, rule

_LINK = re.compile(r"projects/([^/]+)/(global|regions/[^/]+|zones/[^/]+)/operations/([^/]+)")


@rule("name is an operation name, or a link projects/P/(global|regions/R|zones/Z)/operations/O", "compute 2.7")
def _link_or_name(values: dict[str, Any]) -> list[Failure]:
    """Read the place from a link, where the name is one."""
    name = values.get("name")
    if isinstance(name, str) and "/" in name and not _LINK.fullmatch(path_of(name)):
        return [("name", "must be an operation name or a link projects/P/(global|regions/R|zones/Z)/operations/O")]
    return []


@record
class OperationQuery(Record):
    """Which operation to read."""

    RULES = (exclusive("region", "zone"), _link_or_name)

    name: str = field("The operation's name, or its self link, which also says where it is.", required=True)
    project: str = field("The project. Default: the provider's.", pattern=PROJECT)
    region: str = field(
        "The region of a regional operation. Default: none, so the operation is global.", pattern=REGION
    )
    zone: str = field("The zone of a zonal operation.", pattern=ZONE)


@record
class ErrorInfo(Record):
    """The cause of an error, for programs."""

    domain: str = answer("The service that the reason belongs to, such as `googleapis.com`.")
    metadatas: dict[str, str] = answer("Details by key.")
    reason: str = answer("The reason, in upper case with underscores, at most 63 characters.")


@record
class HelpLink(Record):
    """A page that helps."""

    description: str = answer("What the page is about.")
    url: str = answer("The page.")


@record
class Help(Record):
    """Pages that help."""

    links: list[HelpLink] = answer("The pages.")


@record
class LocalizedMessage(Record):
    """An error's message in a language."""

    locale: str = answer("The language (BCP 47).")
    message: str = answer("The message.")


@record
class QuotaExceededInfo(Record):
    """The quota that is used up."""

    dimensions: dict[str, str] = answer("What the quota applies to, such as the region.")
    future_limit: float = answer("The limit that is being rolled out.")
    limit: float = answer("The limit.")
    limit_name: str = answer("The limit's name.")
    metric_name: str = answer("The metric that the quota limits.")
    rollout_status: str = answer("Whether another limit is being rolled out.", enum=("IN_PROGRESS",))


@record
class ErrorDetail(Record):
    """One detail of an error; one of its properties is there."""

    error_info: ErrorInfo = answer("The cause.")
    help: Help = answer("Pages that help.")
    localized_message: LocalizedMessage = answer("The message in a language.")
    quota_info: QuotaExceededInfo = answer("The quota that is used up.")


@record
class OperationError(Record):
    """One thing that went wrong."""

    code: str = answer("The error code, such as `QUOTA_EXCEEDED`.", always=True)
    error_details: list[ErrorDetail] = answer("Details.")
    location: str = answer("The field of the request that caused it.")
    message: str = answer("The error message.")


@record
class OperationErrors(Record):
    """The errors."""

    errors: list[OperationError] = answer("The errors.", always=True)


@record
class Status(Record):
    """An error of another service."""

    code: int = answer("The number of the gRPC code.")
    details: list[dict[str, Any]] = answer("Details, each with its `@type`.")
    message: str = answer("The error message.")


@record
class LocationOperation(Record):
    """How far a change of the common metadata is in one location."""

    error: Status = answer("The error at that location.")
    state: str = answer("The status.", enum=("ABANDONED", "DONE", "FAILED", "PROPAGATED", "PROPAGATING"))


@record
class CommonMetadataProgress(Record):
    """How far a change of the project's common metadata is."""

    client_operation_id: str = answer("The request ID.")
    per_location_operations: dict[str, LocationOperation] = answer("By location.")


@record
class BulkInsertProgress(Record):
    """The status of a bulk creation."""

    per_location_status: dict[str, LocationStatus] = answer("By location.")


@record
class HealthInfo(Record):
    """The health of what was asked about."""

    availability_slo_status: str = answer(
        "Whether the availability objective is met.",
        enum=(
            "AVAILABILITY_SLO_STATUS_IN_SLO",
            "AVAILABILITY_SLO_STATUS_OUT_OF_SLO",
            "AVAILABILITY_SLO_STATUS_SLO_UNKNOWN",
        ),
    )
    health_status: str = answer("The health.", enum=("HEALTH_STATUS_HEALTHY", "HEALTH_STATUS_UNHEALTHY"))
    repair_category: str = answer(
        "Why it is being repaired.",
        enum=(
            "REPAIR_CATEGORY_CRITICAL_FAILURE",
            "REPAIR_CATEGORY_EMERGENT_MAINTENANCE",
            "REPAIR_CATEGORY_PLANNED_MAINTENANCE",
            "REPAIR_CATEGORY_USER_REPORTED_FAULT",
        ),
    )
    unhealthy_reason: str = answer(
        "Why it is not healthy.",
        enum=("UNHEALTHY_REASON_PENDING_USER_APPROVAL", "UNHEALTHY_REASON_REPAIRING", "UNHEALTHY_REASON_UNSCHEDULABLE"),
    )
    update_time: str = answer("When this state was recorded (RFC 3339).")


@record
class HealthProgress(Record):
    """The result of an operation that checks health."""

    health_info: HealthInfo = answer("The health.")


@record
class SbomInfo(Record):
    """Versions of components."""

    current_component_versions: dict[str, str] = answer("The versions now.")
    target_component_versions: dict[str, str] = answer("The versions to come.")


@record
class VersionProgress(Record):
    """The result of an operation that reads versions."""

    inline_sbom_info: SbomInfo = answer("The versions.")


@record
class Operation(Record):
    """Work that Google has taken on."""

    client_operation_id: str = answer("The request ID, where one was given.")
    creation_timestamp: str = answer("When the operation was created; use `insertTime` instead.")
    description: str = answer("A text about it.")
    end_time: str = answer("When it was done (RFC 3339).")
    error: OperationErrors = answer("The errors.")
    get_health_operation_metadata: HealthProgress = answer("The result of an operation that checks health.")
    get_version_operation_metadata: VersionProgress = answer("The result of an operation that reads versions.")
    http_error_message: str = answer("The HTTP error message, such as `FORBIDDEN`.")
    http_error_status_code: int = answer("The HTTP status of the error.")
    id: str = answer("The numeric ID that Google assigned.", always=True)
    insert_time: str = answer("When the operation was requested (RFC 3339).", always=True)
    instances_bulk_insert_operation_metadata: BulkInsertProgress = answer("The status of a bulk creation.")
    kind: str = answer("Always `compute#operation`.", always=True)
    name: str = answer("The name.", always=True)
    operation_group_id: str = answer("The ID of a group of operations, such as those of one bulk creation.")
    operation_type: str = answer("The type of operation, such as `insert`.", always=True)
    progress: int = answer("0 to 100; it never goes back, and says nothing about the time left.")
    region: str = answer("The region of a regional operation, as a URL.")
    self_link: str = answer("The operation's URL.", always=True)
    set_common_instance_metadata_operation_metadata: CommonMetadataProgress = answer(
        "The status of a change of the common instance metadata."
    )
    start_time: str = answer("When the operation started (RFC 3339).")
    status: str = answer("The status.", enum=("DONE", "PENDING", "RUNNING"), always=True)
    status_message: str = answer("A description of the status.")
    target_id: str = answer("The numeric ID of the resource that the operation changes.")
    target_link: str = answer("The URL of the resource that the operation changes.")
    user: str = answer("The user who requested the operation.")
    warnings: list[ApiWarning] = answer("Warnings.")
    zone: str = answer("The zone of a zonal operation, as a URL.")


class GetOperation(InProjectFunction):
    """One operation, wherever it is."""

    token = "gcpx:compute:getOperation"
    description = "Reads a global, regional or zonal operation."
    example = "lookups"
    arguments = OperationQuery
    result = Operation

    def problems(self, arguments: dict[str, Any]) -> list[Failure]:
        """Require a project, unless a link names one."""
        return [] if "/" in str(arguments.get("name", "")) else super().problems(arguments)

    def invoke(self, call: Call, arguments: dict[str, Any]) -> dict[str, Any]:
        """Get it once; nothing is waited for."""
        found = _LINK.fullmatch(path_of(arguments["name"]))
        project, scope, name = (
            found.groups() if found else (self._project(arguments), _scope(arguments), arguments["name"])
        )
        path = f"beta/projects/{project}/{scope}/operations/{name}"
        return codec.from_body(self.result_type, self._google.send(Request(api=COMPUTE, method="GET", path=path), call))


def _scope(arguments: dict[str, Any]) -> str:
    for kind in ("zone", "region"):
        if arguments.get(kind):
            return f"{kind}s/{name_of(arguments[kind])}"
    return "global"
