"""`listInstanceTemplates`: the global templates.

Source: Compute API beta, `instanceTemplates.list` (documentation section 4.2, row 2).
"""

from __future__ import annotations

from gcpx.compute.lists.functions import ListFunction, ListResult
from gcpx.compute.lists.listed_template import ListedInstanceTemplate
from gcpx.compute.lists.parameters import ListParameters
from gcpx.model.fields import answer, field, record


@record
class InstanceTemplateListParameters(ListParameters):
    """Which templates to list, and how much of each."""

    view: str = field(
        "`BASIC` omits partner metadata, `FULL` includes everything. Default: `BASIC`.",
        enum=("BASIC", "FULL"),
        closed=True,
        source="compute 4.2",
    )


@record
class InstanceTemplates(ListResult):
    """Instance templates."""

    items: list[ListedInstanceTemplate] = answer("The templates.", always=True)


class ListInstanceTemplates(ListFunction):
    """The global templates of a project."""

    token = "gcpx:compute:listInstanceTemplates"
    description = "Lists the global instance templates of a project."
    example = "lookups"
    arguments = InstanceTemplateListParameters
    result = InstanceTemplates
    version = "beta"
    path = "global/instanceTemplates"
