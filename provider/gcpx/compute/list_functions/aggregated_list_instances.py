"""`aggregatedListInstances`: the instances of every zone.

Source: REST reference (beta), `instances.aggregatedList`.
"""

from __future__ import annotations

from gcpx.compute.api_warning import ApiWarning
from gcpx.compute.list_functions.list_function import AggregatedListFunction, ListResult
from gcpx.compute.list_functions.listed_instance import Instance
from gcpx.compute.list_functions.parameters import AggregatedListParameters
from gcpx.model.fields import Record, output_field, record


@record
class InstancesScopedList(Record):
    """The instances of one scope."""

    instances: list[Instance] = output_field("The instances of the scope.", always=True)
    warnings: list[ApiWarning] = output_field(
        "Google's warnings about the scope, such as that it is empty or cannot be reached.", always=True
    )


@record
class AggregatedInstances(ListResult):
    """Instances by scope."""

    items: dict[str, InstancesScopedList] = output_field(
        "The instances by scope, such as `zones/europe-west1-b`.", always=True
    )
    unreachables: list[str] = output_field(
        "The scopes that could not be reached. Empty unless `returnPartialSuccess` is set.", always=True
    )


class AggregatedListInstances(AggregatedListFunction):
    """Lists the instances of a project, by scope."""

    token = "gcpx:compute:aggregatedListInstances"
    description = "Lists the instances of all zones of a project, by scope."
    arguments = AggregatedListParameters
    result = AggregatedInstances
    version = "beta"
    path = "aggregated/instances"
    collection = "instances"
