"""`listRegions`: the regions, with their zones and quotas.

Source: Compute API beta, `regions.list` (documentation sections 2.5 and 4.2, row 4).
"""

from __future__ import annotations

from typing import Any

from gcpx.compute.lists.functions import ApiWarning, ListFunction, ListResult
from gcpx.compute.lists.parameters import ListParameters
from gcpx.model.fields import Record, answer, field, object_type, record
from gcpx.model.rules import exclusive


@record
class RegionListParameters(ListParameters):
    """Which regions to list, and how much of each."""

    RULES = (*ListParameters.RULES, exclusive("itemFields", "omitQuotas"))

    omit_quotas: bool = field("Omit the quotas, which is faster. Conflicts with `itemFields`. Default: false.")


@record
class Quota(Record):
    """One quota of a region."""

    limit: float = answer("The limit.", always=True)
    metric: str = answer("The metric that the quota limits, such as `CPUS`.", always=True)
    owner: str = answer("The owner of the quota.")
    usage: float = answer("The current usage.", always=True)


@record
class RolloutPolicy(Record):
    """When a deprecation comes into force, where that depends on the place."""

    default_rollout_time: str = answer("Everywhere else (RFC 3339).")
    location_rollout_policies: dict[str, str] = answer("By zone, such as `zones/europe-west1-b` (RFC 3339).")


@record
class DeprecationStatus(Record):
    """What is to become of something, and when."""

    deleted: str = answer("When it is to be deleted (RFC 3339).")
    deprecated: str = answer("When it is to be deprecated (RFC 3339).")
    obsolete: str = answer("When it is to be obsolete (RFC 3339).")
    replacement: str = answer("The suggested replacement, as a URL.")
    state: str = answer(
        "`DEPRECATED` warns; `OBSOLETE` and `DELETED` are refused.",
        enum=("ACTIVE", "DELETED", "DEPRECATED", "OBSOLETE"),
    )
    state_override: RolloutPolicy = answer("When the state takes effect.")


@record
class Region(Record):
    """A region."""

    creation_timestamp: str = answer("When the region was created (RFC 3339).")
    deprecated: DeprecationStatus = answer("The deprecation state.")
    description: str = answer("A text about it.")
    id: str = answer("The numeric ID that Google assigned.")
    kind: str = answer("Always `compute#region`.")
    name: str = answer("The name.", always=True)
    quota_status_warning: ApiWarning = answer("Why the quotas are missing, if Google could not read them.")
    quotas: list[Quota] = answer("The project's quotas in the region.")
    self_link: str = answer("The region's URL.", always=True)
    status: str = answer("`UP` or `DOWN`.", enum=("DOWN", "UP"))
    supports_pzs: bool = answer("Reserved by Google.")
    zones: list[str] = answer("The region's zones, as URLs.")


@record
class Regions(ListResult):
    """Regions."""

    items: list[Region] = answer("The regions.", always=True)


class ListRegions(ListFunction):
    """All regions that a project sees."""

    token = "gcpx:compute:listRegions"
    description = "Lists the regions that a project can use, with their zones and the project's quotas in them."
    example = "lookups"
    arguments = RegionListParameters
    result = Regions
    version = "beta"
    path = "regions"

    def mask(self, arguments: dict[str, Any]) -> str:
        """Name every field but the quotas, where they are to be left out."""
        if arguments.get("omitQuotas"):
            kept = [prop.wire for prop in object_type(Region).properties.values() if prop.wire != "quotas"]
            return super().mask({"itemFields": kept})
        return super().mask(arguments)
