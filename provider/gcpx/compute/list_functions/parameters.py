"""The arguments of the list functions.

Source: REST reference, the query parameters of `instances.list` and `instances.aggregatedList`.
"""

from __future__ import annotations

import re

from gcpx.compute.documentation import rest
from gcpx.compute.list_query import ListQuery
from gcpx.model.fields import field, record


@record
class ListParameters(ListQuery):
    """Which items to list, in which order, and how many."""

    item_fields: list[str] = field(
        "The fields of each item to read, such as `[status, disks/source]`; fewer fields take less time. `name` and `selfLink` are always read. Default: all fields.",
        pattern=(re.compile(r"[\w*/.-]+(\([\w*/.,()-]+\))?"), "a field's name, with / before a nested one"),
    )
    max_results: int = field(
        "Read a single page of at most this many items, such as `100`: 1 to 500. `nextPageToken` then leads to the next page. Default: `0`, which reads all pages.",
        minimum=0,
        maximum=500,
        source=rest("instances.list", "maxResults"),
    )
    order_by: str = field("The order: `name`, or `creationTimestamp desc` for the newest first. Default: `name`.")
    page_token: str = field("The `nextPageToken` of an earlier call, to continue after it. Default: the first page.")
    return_partial_success: bool = field(
        "If a scope cannot be reached, return the rest, with a warning and the scope in `unreachables`. Default: false, so that the call fails."
    )


@record
class AggregatedListParameters(ListParameters):
    """Which items of all scopes to list, in which order, and how many."""

    include_all_scopes: bool = field(
        "Return every scope of the project, including kinds of scope that never contain such items. Default: false."
    )
    service_project_number: str = field(
        "The number of the service project whose items to list, such as `123456789012`, if `project` is a Shared VPC host project.",
        pattern=(re.compile(r"\d{1,19}"), "a project's number"),
        source=rest("instances.aggregatedList", "serviceProjectNumber"),
    )
