"""Lists of Compute resources: their common query, and the items that Pulumi's List finds with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import attrs

from gcpx.compute.reference import rest
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.list_method import ListMethod, any_scope, items_of
from gcpx.model.context import Context
from gcpx.model.fields import Failure, Record, Rule, field, record, rule
from gcpx.model.patterns import PROJECT


@attrs.frozen(kw_only=True)
class ImportableResources:
    """The items of one collection, in one scope or in all scopes of a project.

    Attributes:
        version: the API version, `v1` or `beta`.
        collection: the collection's name, such as `instanceTemplates`.
        fields: the fields of each item to read, as a field mask such as `selfLink,name`.
        scope: `global`, `regions/R` or `zones/Z`; empty for all scopes.
        filter: a filter expression; None or empty for all items.
        needs: the scopes that the list must include, as in `ListMethod`.
    """

    google: GoogleClient
    project: str
    version: str
    collection: str
    fields: str
    scope: str = ""
    filter: str | None = None
    needs: Callable[[str], bool] = any_scope

    def read_page(self, context: Context, token: str, size: int) -> tuple[list[dict[str, Any]], str]:
        """Read one page: its items (REST JSON), and the token of the next page, which is empty at the end.

        `token` is empty for the first page; `size` is the maximum number of items on the page.
        """
        page = self._method.page(context, token, size)
        return self._items(page), page.get("nextPageToken", "")

    def read_all(self, context: Context) -> Iterator[dict[str, Any]]:
        """Read the items of all pages."""
        for page in self._method.pages(context):
            yield from self._items(page)

    @property
    def _method(self) -> ListMethod:
        """The list method of the scope, or the aggregated one for all scopes."""
        path = f"{self.version}/projects/{self.project}/{self.scope or 'aggregated'}/{self.collection}"
        query = {"filter": self.filter or None}
        return ListMethod(google=self.google, path=path, query=query, fields=self.fields, needs=self.needs)

    def _items(self, page: dict[str, Any]) -> list[dict[str, Any]]:
        return items_of(page, "" if self.scope else self.collection)


@rule("", "filter and orderBy must have a form that list methods accept", rest("instances.list", "filter and orderBy"))
def filter_and_order_can_be_parsed(values: dict[str, Any]) -> list[Failure]:
    from gcpx_filter import FilterError, check_order, parse  # noqa: PLC0415 - loads the grammar with the first list

    failures: list[Failure] = []
    for name, check in (("filter", parse), ("orderBy", check_order)):
        text = values.get(name)
        try:
            if isinstance(text, str):
                check(text)
        except FilterError as error:
            failures.append(Failure(name, f"is malformed {error}"))
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
