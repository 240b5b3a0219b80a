"""`aggregatedListInstanceTemplates`: the templates of every scope.

Source: REST reference (v1), `instanceTemplates.aggregatedList`.
"""

from __future__ import annotations

from gcpx.compute.api_warning import ApiWarning
from gcpx.compute.list_functions.list_function import AggregatedListFunction, ListResult
from gcpx.compute.list_functions.listed_template import ListedInstanceTemplate
from gcpx.compute.list_functions.parameters import AggregatedListParameters
from gcpx.model.fields import Record, output_field, record


@record
class InstanceTemplatesScopedList(Record):
    """The instance templates of one scope."""

    instance_templates: list[ListedInstanceTemplate] = output_field("The templates of the scope.", always=True)
    warnings: list[ApiWarning] = output_field(
        "Google's warnings about the scope, such as that it is empty or cannot be reached.", always=True
    )


@record
class AggregatedInstanceTemplates(ListResult):
    """Instance templates by scope."""

    items: dict[str, InstanceTemplatesScopedList] = output_field(
        "The templates by scope, such as `global` or `regions/us-east1`.", always=True
    )
    unreachables: list[str] = output_field(
        "The scopes that could not be reached. Empty unless `returnPartialSuccess` is set.", always=True
    )


class AggregatedListInstanceTemplates(AggregatedListFunction):
    """Lists the instance templates of a project, by scope."""

    token = "gcpx:compute:aggregatedListInstanceTemplates"
    description = "Lists the instance templates of a project, global ones and those of all regions, by scope."
    arguments = AggregatedListParameters
    result = AggregatedInstanceTemplates
    version = "v1"
    path = "aggregated/instanceTemplates"
    collection = "instanceTemplates"
