"""What every list of Compute can be asked for.

Source: Compute API, list parameters (documentation section 4.1).
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from gcpx.model.fields import Record, field, record
from gcpx.model.places import PROJECT
from gcpx.model.rules import Failure, Rule, rule


@rule("filter and orderBy have a form that list methods accept", "compute 4.1")
def well_formed(values: dict[str, Any]) -> list[Failure]:
    """Refuse a filter or an order that Google would, before the call and with the position."""
    from gcpx_filter import FilterError, check_order, parse  # noqa: PLC0415 - a grammar is loaded where one is needed

    failures: list[Failure] = []
    for name, check in (("filter", parse), ("orderBy", check_order)):
        text = values.get(name)
        try:
            if isinstance(text, str):
                check(text)
        except FilterError as error:
            failures.append((name, f"is malformed {error}"))
    return failures


@record
class Filtered(Record):
    """Which of a project's things to list."""

    RULES: ClassVar[tuple[Rule, ...]] = (well_formed,)

    project: str = field("The project. Default: the provider's.", pattern=PROJECT)
    filter: str = field(
        'What to list: comparisons such as `(status = RUNNING) (labels.team:*)`, joined by `AND` and `OR`; or one regular expression (RE2) for a whole field, such as `name eq "web-.*"`. Default: all.'
    )


@record
class ListParameters(Filtered):
    """What to list, in which order, and how much of it."""

    item_fields: list[str] = field(
        "The fields of each item to get, such as `name` or `disks/source`; getting fewer takes less time. `name` and `selfLink` always come along. Default: all.",
        pattern=(re.compile(r"[\w*/.-]+(\([\w*/.,()-]+\))?"), "a field's name, with / before a nested one"),
    )
    max_results: int = field(
        "The size of one page, 1 to 500: only that page is read, and `nextPageToken` leads to the next. Default (also 0): all pages are read.",
        minimum=0,
        maximum=500,
        source="compute 4.1, 8",
    )
    order_by: str = field("`name` (default) or `creationTimestamp desc`.")
    page_token: str = field("The `nextPageToken` of an earlier call, to continue from there.")
    return_partial_success: bool = field(
        "Return a partial result when a scope cannot be reached, with a warning and the scope in `unreachables`. Default: false, so the call fails."
    )


@record
class AggregatedListParameters(ListParameters):
    """What to list of all regions and zones."""

    include_all_scopes: bool = field(
        "List every scope of the project, including scopes of a kind that never contains such resources. Default: false."
    )
    service_project_number: str = field(
        "The number of a service project of a shared VPC, to list its resources.",
        pattern=(re.compile(r"\d{1,19}"), "a project's number"),
        source="compute 4.1",
    )
