"""The list methods of the APIs, page by page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from gcpx.errors import MalformedResponse
from gcpx.gcp.apis import COMPUTE, Api
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.request import PATIENCE, Request
from gcpx.model.call import Call
from gcpx.model.links import path_of

PAGE: Final = 500
"""The largest page of Compute's list methods."""
_MOST_PAGES: Final = 10_000
"""The pages of one list after which it is taken for endless: 5,000,000 items; filtered lists have empty pages."""


@attrs.frozen(kw_only=True)
class ListMethod:
    """A call of a list method.

    Attributes:
        path: the path below the API's own, with the version: `v1/projects/p/zones`.
        query: the query parameters, without page size and page token.
        patience: the number of seconds in which the request for a page may be retried.
    """

    google: GoogleClient
    path: str
    query: Mapping[str, Any] = attrs.Factory(dict)
    api: Api = COMPUTE
    patience: float = PATIENCE

    def page(self, call: Call, token: str = "", size: int = PAGE) -> dict[str, Any]:
        """Read the page that a token leads to, with at most `size` results; an empty token gives the first page.

        Returns the response as it is; its `nextPageToken` is missing on the last page.
        """
        query = {**self.query, "maxResults": min(size, PAGE), "pageToken": token or None}
        request = Request(api=self.api, method="GET", path=self.path, query=query, patience=self.patience)
        return self._checked(self.google.send(request, call), token)

    def pages(self, call: Call, token: str = "") -> Iterator[dict[str, Any]]:
        """Read all pages, beginning with the one that a token leads to; raises MalformedResponse if they do not end."""
        seen: set[str] = set()
        while len(seen) < _MOST_PAGES:
            page = self.page(call, token)
            yield page
            token = page.get("nextPageToken", "")
            if not token:
                return
            if token in seen:
                raise MalformedResponse(f"{self.path}: Google's list does not end: a page token came twice")
            seen.add(token)
        raise MalformedResponse(f"{self.path}: Google's list does not end after {_MOST_PAGES:,} pages")

    def _checked(self, page: dict[str, Any], token: str) -> dict[str, Any]:
        """Return a page if it has the form of a list; an empty object does not mean that there is nothing."""
        following = page.get("nextPageToken", "")
        if not isinstance(following, str) or (following and following == token):
            raise MalformedResponse(f"{self.path}: Google's list has a page token that leads nowhere")
        # A page with selected fields does not say that it is a list.
        is_list = "List" in str(page.get("kind")) or bool(page.keys() & {"items", "nextPageToken"})
        if "fields" not in self.query and not is_list:
            raise MalformedResponse(f"{self.path}: Google's response is not a list")
        items = page.get("items", [])
        _objects(list(items.values()) if isinstance(items, dict) else items)
        return page


def items_of(page: Mapping[str, Any], collection: str = "") -> list[dict[str, Any]]:
    """Return the items (REST JSON) on a page of a list or, of an aggregated list, those of a collection in all scopes.

    Raises MalformedResponse for items that are not objects.
    """
    if not collection:
        return _objects(page.get("items", []))
    return [item for items in scopes_of(page, collection).values() for item in items]


def scopes_of(page: Mapping[str, Any], collection: str) -> dict[str, list[dict[str, Any]]]:
    """Return the items of a collection on a page of an aggregated list, by scope, such as `zones/us-east1-b`.

    Raises MalformedResponse for scopes or items that are not objects.
    """
    scopes = page.get("items") or {}
    if not isinstance(scopes, dict):
        raise MalformedResponse("Google's aggregated list has another form than its API promises")
    _objects(list(scopes.values()))
    return {name: _objects(scope.get(collection, [])) for name, scope in scopes.items()}


def is_id(found: Any) -> bool:
    """Return whether a value in a response may be an ID, which Google writes as text; its form is Google's choice."""
    return bool(found) and isinstance(found, str | int) and not isinstance(found, bool)


def link_of(item: Mapping[str, Any]) -> str:
    """Return the path in an item's self link, `projects/...`; raise MalformedResponse if it has none."""
    link = item.get("selfLink")
    path = path_of(link) if isinstance(link, str) else ""
    if not path.startswith("projects/"):
        raise MalformedResponse("an item of Google's response has no valid selfLink")
    return path


def _objects(found: Any) -> list[dict[str, Any]]:
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise MalformedResponse("Google's response has another form than its API promises: items must be objects")
    return found
