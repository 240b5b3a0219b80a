"""The query that every list of Compute takes: lists of resources, for Pulumi's List, and the list functions."""

from __future__ import annotations

from typing import Any, ClassVar

from gcpx.compute.documentation import rest
from gcpx.model.fields import Record, field, record
from gcpx.model.location_patterns import PROJECT
from gcpx.model.rules import Rule, Violation, rule


@rule("filter and orderBy must have a form that list methods accept", rest("instances.list", "filter and orderBy"))
def filter_and_order_can_be_parsed(values: dict[str, Any]) -> list[Violation]:
    """Refuse, with the position of the error, what Google would refuse."""
    from gcpx_filter import FilterError, check_order, parse  # noqa: PLC0415 - loads the grammar with the first list

    failures: list[Violation] = []
    for name, check in (("filter", parse), ("orderBy", check_order)):
        text = values.get(name)
        try:
            if isinstance(text, str):
                check(text)
        except FilterError as error:
            failures.append((name, f"is malformed {error}"))
    return failures


@record
class ListQuery(Record):
    """Which items of a project to list."""

    RULES: ClassVar[tuple[Rule, ...]] = (filter_and_order_can_be_parsed,)

    project: str = field(
        "The ID or number of the project, such as `my-project`. Default: the provider's project.", pattern=PROJECT
    )
    filter: str = field(
        'Which items to list: comparisons such as `(status = RUNNING) (labels.team:*)`, joined by `AND` and `OR`, or one regular expression (RE2) for a whole field, such as `name eq "web-.*"`. Default: all.'
    )
