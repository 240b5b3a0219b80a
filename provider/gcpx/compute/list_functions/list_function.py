"""The base classes of the list functions: they send the query, read the pages, and merge them into one result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Final

from gcpx.compute.api_warning import ApiWarning
from gcpx.gcp.in_project import InProjectFunction
from gcpx.gcp.list_method import ListMethod, any_scope, no_scope, unreached
from gcpx.model import codec
from gcpx.model.call import Call
from gcpx.model.fields import Record, output_field, record
from gcpx.model.numbers import as_integer

_QUERY: Final = ("filter", "orderBy", "returnPartialSuccess", "includeAllScopes", "serviceProjectNumber", "view")
"""Arguments that are query parameters of the same name; paging and field masks are handled here."""
_EMPTY_PAGE: Final = "NO_RESULTS_ON_PAGE"
_LIST_FIELDS: Final = ("kind", "id", "selfLink", "nextPageToken", "warning")
"""Fields of a response beside its items."""


@record
class ListResult(Record):
    """The properties that the results of all lists share."""

    id: str = output_field("The ID that Google assigned to the response.", always=True)
    kind: str = output_field("The kind of list, such as `compute#regionList`.", always=True)
    next_page_token: str = output_field(
        "The `pageToken` of the next page. Set only if `maxResults` is set and more items exist."
    )
    self_link: str = output_field("The list's URL.", always=True)
    warnings: list[ApiWarning] = output_field("Google's warnings about the whole list, from all pages.", always=True)


class ListFunction(InProjectFunction):
    """A function that calls a list method of Compute.

    Attributes:
        version: the API version, `v1` or `beta`.
        path: the list's path below the project, such as `global/instanceTemplates`.
    """

    version: ClassVar[str]
    path: ClassVar[str]

    def invoke(self, call: Call, arguments: dict[str, Any]) -> dict[str, Any]:
        """Read one page if `maxResults` is set, otherwise all pages."""
        size = as_integer(arguments.get("maxResults")) or 0
        token = arguments.get("pageToken") or ""
        method = self._method(arguments)
        merged = self.merged([method.page(call, token, size)] if size else method.pages(call, token))
        if merged.get("unreachables"):
            call.warn(f"the result is partial: {', '.join(merged['unreachables'])} cannot be reached")
        return codec.from_body(self.result_type, merged)

    def _method(self, arguments: dict[str, Any]) -> ListMethod:
        return ListMethod(
            google=self._google,
            path=f"{self.version}/projects/{self._project(arguments)}/{self.path}",
            query={name: arguments[name] for name in _QUERY if arguments.get(name) not in (None, "")},
            fields=self.fields(arguments),
            needs=no_scope if arguments.get("returnPartialSuccess") else any_scope,
        )

    def fields(self, arguments: dict[str, Any]) -> str:
        """Join `itemFields`, with the fields that every item has; empty for all fields."""
        fields = arguments.get("itemFields")
        return ",".join(dict.fromkeys(("name", "selfLink", *fields))) if fields else ""

    def merged(self, pages: Iterable[dict[str, Any]]) -> dict[str, Any]:
        """Merge pages (REST JSON) into one response with `warnings` instead of `warning`, and `unreachables`."""
        result: dict[str, Any] = {"items": [], "warnings": [], "unreachables": []}
        for page in pages:
            result |= {name: page.get(name) for name in _LIST_FIELDS}
            for name in unreached(page):
                _add_once(result["unreachables"], name)
            result["items"].extend(page.get("items", ()))
            _add_once(result["warnings"], page.get("warning"))
        return result


class AggregatedListFunction(ListFunction):
    """A function that calls an aggregated list method, whose items are grouped by scope.

    Attributes:
        collection: the name of the list of items in each scope, such as `instances`.
    """

    collection: ClassVar[str]

    def merged(self, pages: Iterable[dict[str, Any]]) -> dict[str, Any]:
        """Merge pages (REST JSON) into one response: each scope has its items of all pages."""
        scopes: dict[str, dict[str, Any]] = {}
        result: dict[str, Any] = {"items": scopes, "warnings": [], "unreachables": []}
        for page in pages:
            result |= {name: page.get(name) for name in _LIST_FIELDS}
            _add_once(result["warnings"], page.get("warning"))
            for name in unreached(page):
                _add_once(result["unreachables"], name)
            for name, group in page.get("items", {}).items():
                scope = scopes.setdefault(name, {self.collection: [], "warnings": []})
                scope[self.collection].extend(group.get(self.collection, ()))
                _add_once(scope["warnings"], group.get("warning"))
        for scope in scopes.values():
            self._drop_empty_page_warnings(scope)
        return result

    def _drop_empty_page_warnings(self, scope: dict[str, Any]) -> None:
        """Drop warnings that a scope has nothing on one page if it has items on another page."""
        if scope[self.collection]:
            scope["warnings"] = [item for item in scope["warnings"] if item.get("code") != _EMPTY_PAGE]


def _add_once(items: list[Any], item: Any) -> None:
    """Add an item to a list, unless it is empty or already there."""
    if item and item not in items:
        items.append(item)
