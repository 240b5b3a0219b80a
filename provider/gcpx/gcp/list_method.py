"""The list methods of the APIs, page by page.

Google may answer 200 although it did not reach all places of a list. The content of these places is unknown, so such a
page is an error, unless the caller does not need them (`ListMethod.needs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar

import attrs

from gcpx.errors import MalformedResponse
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.errors import Unreached
from gcpx.gcp.request import COMPUTE, PATIENCE, STORAGE, Api, Request, Room
from gcpx.model.context import Context
from gcpx.model.links import name_of, path_of
from gcpx.model.words import names_in_words

Item = TypeVar("Item")
PAGE: Final = 500
"""The largest page of Compute's list methods."""
_MOST_PAGES: Final = 10_000
"""The number of pages after which a list counts as endless: 5,000,000 items; filtered lists have empty pages."""
_MOST_BYTES: Final = 512 << 20
"""The largest size of all pages of a list together, in bytes: callers may keep all of them."""
_UNREACHED: Final = frozenset({"LIST_OVERHEAD_QUOTA_EXCEED", "PARTIAL_SUCCESS", "UNREACHABLE"})
"""The codes of warnings that items are missing."""
_LIST_FIELDS: Final = "kind,id,selfLink,nextPageToken,warning"
"""The fields that the responses of all list methods of Compute have in addition to their items."""


def any_scope(scope: str) -> bool:  # noqa: ARG001 - it takes what `ListMethod.needs` takes
    """Need all scopes."""
    return True


def no_scope(scope: str) -> bool:  # noqa: ARG001 - it takes what `ListMethod.needs` takes
    """Need no scope: the caller reports what is missing."""
    return False


def scopes_in(region: str) -> Callable[[str], bool]:
    """Return a function that needs a region and its zones, and also unreached scopes that Google does not name."""
    return lambda scope: not scope or name_of(scope) == region or name_of(scope).startswith(f"{region}-")


@attrs.frozen(kw_only=True)
class ListMethod:
    """A call of a list method.

    Attributes:
        path: the path below the API's own, with the version: `v1/projects/p/zones`.
        query: the query parameters, without page size, page token and field mask.
        fields: the fields of each item to read, as a field mask such as `selfLink,name`; empty for all.
        patience: the number of seconds in which the request for a page may be retried.
        needs: returns whether the list is an error if it lacks a scope, such as `zones/us-east1-b`.
    """

    google: GoogleClient
    path: str
    query: Mapping[str, Any] = attrs.Factory(dict)
    fields: str = ""
    api: Api = COMPUTE
    patience: float = PATIENCE
    needs: Callable[[str], bool] = any_scope

    def page(self, context: Context, token: str = "", size: int = PAGE) -> dict[str, Any]:
        """Read the page with a token, with at most `size` results; an empty token is the first page.

        Returns the response as it is; its `nextPageToken` is missing on the last page. Raises the errors of
        all calls, and Unreached if Google did not reach a scope that the caller needs.
        """
        return self._page(context, token, size, None)

    def _page(self, context: Context, token: str, size: int, room: Room | None) -> dict[str, Any]:
        query = {**self.query, "fields": self._mask, "maxResults": min(size, PAGE), "pageToken": token or None}
        request = Request(api=self.api, method="GET", path=self.path, query=query, patience=self.patience, room=room)
        return self._checked(self.google.send(request, context), token)

    def pages(self, context: Context, token: str = "") -> Iterator[dict[str, Any]]:
        """Read all pages, beginning with the page of a token.

        Raises the same as `page`, and MalformedResponse if the pages do not end, or are too large together.
        """
        seen: set[str] = set()
        room = Room(_MOST_BYTES)
        while len(seen) < _MOST_PAGES:
            page = self._page(context, token, PAGE, room)
            if room.left < 0:
                raise MalformedResponse(
                    f"{self.path}: Google's list is larger than {_MOST_BYTES:,} bytes; a filter, where the list takes "
                    "one, makes it smaller"
                )
            yield page
            token = page.get("nextPageToken", "")
            if not token:
                return
            if token in seen:
                raise MalformedResponse(f"{self.path}: Google's list does not end: a page token came twice")
            seen.add(token)
        raise MalformedResponse(f"{self.path}: Google's list does not end after {_MOST_PAGES:,} pages")

    def _checked(self, page: dict[str, Any], token: str) -> dict[str, Any]:
        """Return a page if it has the form of a list; an empty object is no empty list."""
        following = page.get("nextPageToken", "")
        if not isinstance(following, str) or (following and following == token):
            raise MalformedResponse(f"{self.path}: Google's list has a page token that leads nowhere")
        # A page with selected fields may be empty.
        is_list = "List" in str(page.get("kind")) or bool(page.keys() & {"items", "nextPageToken"})
        if not self.fields and not is_list:
            raise MalformedResponse(f"{self.path}: Google's response is not a list")
        items = page.get("items", [])
        _list_of(dict, list(items.values()) if isinstance(items, dict) else items)
        missing = [scope for scope in unreached(page) if self.needs(scope)]
        if missing:
            named = [*filter(None, missing)]
            names = names_in_words(named, len(missing) - len(named)) if named else "some places"
            raise Unreached(
                f"Google's list {self.path} is not complete: it does not cover {names}, so gcpx does not know what "
                "exists there"
            )
        return page

    @property
    def _mask(self) -> str | None:
        """The parameter `fields`, which always includes the fields of partial pages; None selects everything.

        Google refuses a mask with a field that the response cannot have.
        """
        if not self.fields:
            return None
        if self.api is STORAGE:
            return f"items({self.fields}),nextPageToken,unreachable"
        parent, _, collection = self.path.rpartition("/")
        if not parent.endswith("/aggregated"):
            return f"items({self.fields}),{_LIST_FIELDS}"
        scopes = f"items/*({collection}({self.fields}),warning),{_LIST_FIELDS}"
        return scopes if collection == "instanceTemplates" else f"{scopes},unreachables"


def unreached(page: Mapping[str, Any]) -> list[str]:
    """Return the scopes, or the names of buckets, that Google did not reach for a page; "" for one without a name.

    Raises MalformedResponse if the fields of partial pages have another form than documented.
    """
    found = [*_list_of(str, page.get("unreachables", [])), *_list_of(str, page.get("unreachable", []))]
    items = page.get("items")
    for name, group in [("", page), *(items.items() if isinstance(items, dict) else ())]:
        warning = group.get("warning", {})
        if not isinstance(warning, dict):
            raise MalformedResponse("Google's list has a warning that is not an object")
        if warning.get("code") in _UNREACHED:
            data = _list_of(dict, warning.get("data", []))
            scopes = _list_of(str, [item.get("value") for item in data if item.get("key") == "scope"]) or [""]
            found += [name] if name else scopes  # a scope in an aggregated list is named by its key
    return list(dict.fromkeys(found))


def items_of(page: Mapping[str, Any], collection: str = "") -> list[dict[str, Any]]:
    """Return the items (REST JSON) on a page of a list; of an aggregated list, one collection's items in all scopes.

    Raises MalformedResponse for items that are not objects.
    """
    if not collection:
        return _list_of(dict, page.get("items", []))
    return [item for items in scopes_of(page, collection).values() for item in items]


def scopes_of(page: Mapping[str, Any], collection: str) -> dict[str, list[dict[str, Any]]]:
    """Return the items of a collection on a page of an aggregated list, by scope, such as `zones/us-east1-b`.

    Raises MalformedResponse for scopes or items that are not objects.
    """
    scopes = page.get("items") or {}
    if not isinstance(scopes, dict):
        raise MalformedResponse("Google's aggregated list has a different form than its API promises")
    _list_of(dict, list(scopes.values()))
    return {name: _list_of(dict, scope.get(collection, [])) for name, scope in scopes.items()}


def is_id(found: Any) -> bool:
    """Return whether a value in a response may be an ID: a string whose form is Google's choice."""
    return bool(found) and isinstance(found, str | int) and not isinstance(found, bool)


def link_of(item: Mapping[str, Any]) -> str:
    """Return the path in an item's self link, `projects/...`; raise MalformedResponse if it has none."""
    link = item.get("selfLink")
    path = path_of(link) if isinstance(link, str) else ""
    if not path.startswith("projects/"):
        raise MalformedResponse("an item of Google's response has no valid selfLink")
    return path


def _list_of(kind: type[Item], found: Any) -> list[Item]:
    """Return a list from a response; raise MalformedResponse if it is not one of objects, or of texts."""
    if not isinstance(found, list) or not all(isinstance(item, kind) for item in found):
        raise MalformedResponse(
            "Google's response has a different form than its API promises: items must be objects"
            if kind is dict
            else "Google's list gives the places that it did not reach in a form that differs from its API"
        )
    return found
