"""`aggregatedListInstanceTemplates`: the templates of every scope.

Source: Compute API v1, `instanceTemplates.aggregatedList` (documentation section 4.2, row 1).
"""

from __future__ import annotations

from gcpx.compute.lists.functions import AggregatedListFunction, ApiWarning, ListResult
from gcpx.compute.lists.listed_template import ListedInstanceTemplate
from gcpx.compute.lists.parameters import AggregatedListParameters
from gcpx.model.fields import Record, answer, record


@record
class InstanceTemplatesScopedList(Record):
    """The instance templates of one scope."""

    instance_templates: list[ListedInstanceTemplate] = answer("The templates.", always=True)
    warnings: list[ApiWarning] = answer(
        "Google's warning about the scope, such as that it cannot be reached.", always=True
    )


@record
class AggregatedInstanceTemplates(ListResult):
    """Instance templates by scope."""

    items: dict[str, InstanceTemplatesScopedList] = answer(
        "The templates by scope: `global`, or `regions/REGION`.", always=True
    )
    unreachables: list[str] = answer("Scopes that could not be reached, with `returnPartialSuccess`.", always=True)


class AggregatedListInstanceTemplates(AggregatedListFunction):
    """All templates of a project."""

    token = "gcpx:compute:aggregatedListInstanceTemplates"
    description = "Lists the instance templates of a project, global ones and those of all regions, by scope."
    example = "lookups"
    arguments = AggregatedListParameters
    result = AggregatedInstanceTemplates
    version = "v1"
    path = "aggregated/instanceTemplates"
    collection = "instanceTemplates"
