"""`listRegions`: the regions, with their zones and quotas.

Source: REST reference (beta), `regions.list`.
"""

from __future__ import annotations

from typing import Any

from gcpx.compute.api_warning import ApiWarning
from gcpx.compute.list_functions.list_function import ListFunction, ListResult
from gcpx.compute.list_functions.parameters import ListParameters
from gcpx.model.fields import Record, field, object_type, output_field, record
from gcpx.model.rules import exclusive


@record
class RegionListParameters(ListParameters):
    """Which regions to list, in which order, how many, and whether to read their quotas."""

    RULES = (*ListParameters.RULES, exclusive("itemFields", "omitQuotas"))

    omit_quotas: bool = field(
        "Leave out the quotas, which takes less time. Default: false. Conflicts with `itemFields`."
    )


@record
class Quota(Record):
    """One quota of a region."""

    limit: float = output_field("The limit.", always=True)
    metric: str = output_field("What the quota limits, such as `CPUS`.", always=True)
    owner: str = output_field("The resource that the quota applies to.")
    usage: float = output_field("The current usage.", always=True)


@record
class RolloutPolicy(Record):
    """When a deprecation takes effect in each zone."""

    default_rollout_time: str = output_field("When it takes effect in all other zones (RFC 3339).")
    location_rollout_policies: dict[str, str] = output_field(
        "When it takes effect, by zone such as `zones/europe-west1-b` (RFC 3339)."
    )


@record
class DeprecationStatus(Record):
    """Whether a resource is deprecated, and what is planned for it."""

    deleted: str = output_field("When the state is planned to become `DELETED` (RFC 3339).")
    deprecated: str = output_field("When the state is planned to become `DEPRECATED` (RFC 3339).")
    obsolete: str = output_field("When the state is planned to become `OBSOLETE` (RFC 3339).")
    replacement: str = output_field("The URL of the suggested replacement.")
    state: str = output_field(
        "The state. Using a `DEPRECATED` resource causes a warning; using an `OBSOLETE` or `DELETED` one is an error.",
        enum=("ACTIVE", "DELETED", "DEPRECATED", "OBSOLETE"),
    )
    state_override: RolloutPolicy = output_field("When the state takes effect in each zone.")


@record
class Region(Record):
    """A region."""

    creation_timestamp: str = output_field("When the region was created (RFC 3339).")
    deprecated: DeprecationStatus = output_field("The deprecation state.")
    description: str = output_field("A description of the region.")
    id: str = output_field("The numeric ID that Google assigned to the region.")
    kind: str = output_field("Always `compute#region`.")
    name: str = output_field("The region's name, such as `us-east1`.", always=True)
    quota_status_warning: ApiWarning = output_field("Why `quotas` is missing, if Google could not read the quotas.")
    quotas: list[Quota] = output_field("The project's quotas in the region.")
    self_link: str = output_field("The region's URL.", always=True)
    status: str = output_field("`UP` or `DOWN`.", enum=("DOWN", "UP"))
    supports_pzs: bool = output_field("Reserved by Google.")
    zones: list[str] = output_field("The URLs of the region's zones.")


@record
class Regions(ListResult):
    """The regions that a project can use."""

    items: list[Region] = output_field("The regions.", always=True)


class ListRegions(ListFunction):
    """Lists the regions that a project can use."""

    token = "gcpx:compute:listRegions"
    description = "Lists the regions that a project can use, with their zones and the project's quotas in them."
    arguments = RegionListParameters
    result = Regions
    version = "beta"
    path = "regions"

    def fields(self, arguments: dict[str, Any]) -> str:
        """Join the fields of each item; with `omitQuotas`, every field except the quotas."""
        if arguments.get("omitQuotas"):
            kept = [prop.wire for prop in object_type(Region).properties.values() if prop.wire != "quotas"]
            return super().fields({"itemFields": kept})
        return super().fields(arguments)
