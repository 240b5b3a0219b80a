"""What the list functions share: the query, the pages, the scopes, the warnings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from gcpx.gcp.in_project import InProjectFunction
from gcpx.gcp.list_method import ListMethod
from gcpx.model import codec
from gcpx.model.call import Call
from gcpx.model.fields import Record, answer, record
from gcpx.model.numbers import as_integer

_QUERY = ("filter", "orderBy", "returnPartialSuccess", "includeAllScopes", "serviceProjectNumber", "view")
_EMPTY = "NO_RESULTS_ON_PAGE"
_HEAD = ("kind", "id", "selfLink", "nextPageToken", "warning")


@record
class WarningData(Record):
    """One detail of a warning."""

    key: str = answer("The key of the detail, such as `scope`.", always=True)
    value: str = answer("The detail.", always=True)


@record
class ApiWarning(Record):
    """Something that Google says beside its answer."""

    code: str = answer("The warning code, such as `NO_RESULTS_ON_PAGE` or `UNREACHABLE`.", always=True)
    data: list[WarningData] = answer("Details, such as the scope.")
    message: str = answer("The warning message.")


@record
class ListResult(Record):
    """What every list answers."""

    id: str = answer("The ID that Google assigned to the response.", always=True)
    kind: str = answer("The kind of list.", always=True)
    next_page_token: str = answer("The token of the next page, when a single page was requested.")
    self_link: str = answer("The list's URL.", always=True)
    warnings: list[ApiWarning] = answer("Google's warnings about the response, from all pages.", always=True)


class ListFunction(InProjectFunction):
    """A function over a list method.

    Attributes:
        version: of the Compute API.
        path: of the list, below the project.
    """

    version: ClassVar[str]
    path: ClassVar[str]

    def invoke(self, call: Call, arguments: dict[str, Any]) -> dict[str, Any]:
        """Read one page, where a page size is given, or all."""
        size = as_integer(arguments.get("maxResults")) or 0
        query = {name: arguments[name] for name in _QUERY if arguments.get(name) not in (None, "")}
        mask = self.mask(arguments)
        listing = ListMethod(
            google=self._google,
            path=f"{self.version}/projects/{self._project(arguments)}/{self.path}",
            query={**query, "fields": mask} if mask else query,
        )
        token = arguments.get("pageToken") or ""
        pages = [listing.page(call, token, size)] if size else listing.pages(call, token)
        merged = self.merged(pages)
        if merged.get("unreachables"):
            call.warn(f"the result is partial: {', '.join(merged['unreachables'])} cannot be reached")
        return codec.from_body(self.result_type, merged)

    def mask(self, arguments: dict[str, Any]) -> str:
        """Write the field mask, with what holds a list together."""
        fields = wanted(arguments)
        return f"items({fields}),{','.join(_HEAD)}" if fields else ""

    def merged(self, pages: Iterable[dict[str, Any]]) -> dict[str, Any]:
        """Make one answer of pages."""
        made: dict[str, Any] = {"items": [], "warnings": []}
        for page in pages:
            made |= {name: page.get(name) for name in _HEAD}
            made["items"].extend(page.get("items", ()))
            note(made["warnings"], page.get("warning"))
        return made


class AggregatedListFunction(ListFunction):
    """A function over an aggregated list method, whose items are grouped by scope.

    Attributes:
        collection: the name of the list within each scope.
    """

    collection: ClassVar[str]

    def mask(self, arguments: dict[str, Any]) -> str:
        """Write the field mask; each scope's warning stays."""
        fields = wanted(arguments)
        inner = f"{self.collection}({fields}),warning" if fields else ""
        return f"items/*({inner}),unreachables,{','.join(_HEAD)}" if fields else ""

    def merged(self, pages: Iterable[dict[str, Any]]) -> dict[str, Any]:
        """Make one answer of pages: every scope with all of its items."""
        scopes: dict[str, dict[str, Any]] = {}
        made: dict[str, Any] = {"items": scopes, "warnings": [], "unreachables": []}
        for page in pages:
            made |= {name: page.get(name) for name in _HEAD}
            note(made["warnings"], page.get("warning"))
            for name in page.get("unreachables", ()):
                note(made["unreachables"], name)
            for name, group in page.get("items", {}).items():
                scope = scopes.setdefault(name, {self.collection: [], "warnings": []})
                scope[self.collection].extend(group.get(self.collection, ()))
                note(scope["warnings"], group.get("warning"))
        for name, scope in scopes.items():
            if scope[self.collection]:
                # Pages without anything of a scope say so, which is no news when another page has something.
                scope["warnings"] = [warning for warning in scope["warnings"] if warning.get("code") != _EMPTY]
            if any(warning.get("code") == "UNREACHABLE" for warning in scope["warnings"]):
                note(made["unreachables"], name)
        return made


def wanted(arguments: dict[str, Any]) -> str:
    """Name the fields of each item to ask for, where some are named; name and link are always there."""
    fields = arguments.get("itemFields")
    return ",".join(dict.fromkeys(("name", "selfLink", *fields))) if fields else ""


def note(kept: list[Any], said: Any) -> None:
    """Keep what was said, once."""
    if said and said not in kept:
        kept.append(said)
