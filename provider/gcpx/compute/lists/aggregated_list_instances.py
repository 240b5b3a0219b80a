"""`aggregatedListInstances`: the instances of every zone.

Source: Compute API beta, `instances.aggregatedList` (documentation section 4.2, row 3).
"""

from __future__ import annotations

from gcpx.compute.lists.functions import AggregatedListFunction, ApiWarning, ListResult
from gcpx.compute.lists.instance import Instance
from gcpx.compute.lists.parameters import AggregatedListParameters
from gcpx.model.fields import Record, answer, record


@record
class InstancesScopedList(Record):
    """The instances of one scope."""

    instances: list[Instance] = answer("The instances.", always=True)
    warnings: list[ApiWarning] = answer(
        "Google's warning about the scope, such as that it cannot be reached.", always=True
    )


@record
class AggregatedInstances(ListResult):
    """Instances by scope."""

    items: dict[str, InstancesScopedList] = answer(
        "The instances by scope, such as `zones/europe-west1-b`.", always=True
    )
    unreachables: list[str] = answer("Scopes that could not be reached, with `returnPartialSuccess`.", always=True)


class AggregatedListInstances(AggregatedListFunction):
    """All instances of a project."""

    token = "gcpx:compute:aggregatedListInstances"
    description = "Lists the instances of all zones of a project, by scope."
    example = "lookups"
    arguments = AggregatedListParameters
    result = AggregatedInstances
    version = "beta"
    path = "aggregated/instances"
    collection = "instances"
