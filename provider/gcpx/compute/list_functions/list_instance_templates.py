"""`listInstanceTemplates`: the global templates.

Source: REST reference (beta), `instanceTemplates.list`.
"""

from __future__ import annotations

from gcpx.compute.documentation import rest
from gcpx.compute.list_functions.list_function import ListFunction, ListResult
from gcpx.compute.list_functions.listed_template import ListedInstanceTemplate
from gcpx.compute.list_functions.parameters import ListParameters
from gcpx.model.fields import field, output_field, record


@record
class InstanceTemplateListParameters(ListParameters):
    """Which templates to list, in which order, how many, and how much of each."""

    view: str = field(
        "How much of each template to return: `BASIC` leaves out partner metadata, `FULL` returns everything. Default: `BASIC`.",
        enum=("BASIC", "FULL"),
        closed=True,
        source=rest("instanceTemplates.list", "view"),
    )


@record
class InstanceTemplates(ListResult):
    """The global instance templates of a project."""

    items: list[ListedInstanceTemplate] = output_field("The templates.", always=True)


class ListInstanceTemplates(ListFunction):
    """Lists the global instance templates of a project."""

    token = "gcpx:compute:listInstanceTemplates"
    description = "Lists the global instance templates of a project."
    arguments = InstanceTemplateListParameters
    result = InstanceTemplates
    version = "beta"
    path = "global/instanceTemplates"
