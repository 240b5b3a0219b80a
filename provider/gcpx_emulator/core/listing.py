"""What every list method does: filter, order, pages."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.filtering import ordering, predicate
from gcpx_emulator.core.store import Json, Store

_DEFAULT_PAGE: Final = 500
_NEWEST_FIRST: Final = "creationTimestamp desc"
_Place = tuple[str, ...]
"""Where a row stands in the order: its key, or its time and its key. A page token names the last one shown."""
Rows = Iterable[tuple[str, Json]]
"""Items by a key that orders them, and that a page token can begin after."""


def page(items: list[Json], query: Mapping[str, str]) -> tuple[list[Json], str | None]:
    """Filter, order and cut what is all at hand; gives the page and the token of the next."""

    def after(key: str) -> Iterator[tuple[str, Json]]:
        rows = sorted(((str(item.get("name", item.get("id", ""))), item) for item in items), key=lambda row: row[0])
        return ((name, item) for name, item in rows if name > key)

    shown, token = cut(after, query)
    return [item for _, item in shown], token


def stored(store: Store, collections: list[str], query: Mapping[str, str]) -> tuple[list[tuple[str, Json]], str | None]:
    """Filter, order and cut collections of the store, reading no more than the page needs; gives items by path."""
    return cut(lambda key: store.scan(collections, key), query)


def cut(after: Callable[[str], Rows], query: Mapping[str, str]) -> tuple[list[tuple[str, Json]], str | None]:
    """Take one page of what follows a key."""
    wanted, order = predicate(query.get("filter", "")), ordering(query.get("orderBy", ""))
    size = int(query.get("maxResults") or _DEFAULT_PAGE) or _DEFAULT_PAGE
    shown: list[tuple[_Place, Json]] = []
    for place, item in _newest_first(after, query) if order == _NEWEST_FIRST else _by_key(after, query):
        if wanted is None or wanted(item):
            if len(shown) == size:
                return _by_last(shown), _token(shown[-1][0], query)
            shown.append((place, item))
    return _by_last(shown), None


def _by_key(after: Callable[[str], Rows], query: Mapping[str, str]) -> Iterator[tuple[_Place, Json]]:
    """Order by name, which is how rows come."""
    begin = _begin(query, 1) or ("",)
    return (((key,), item) for key, item in after(begin[0]))


def _newest_first(after: Callable[[str], Rows], query: Mapping[str, str]) -> Iterator[tuple[_Place, Json]]:
    """Order by time, and what is equally old by name; a row's place is both."""
    begin = _begin(query, 2)
    rows = [((str(item.get("creationTimestamp", item.get("insertTime", ""))), key), item) for key, item in after("")]
    rows.sort(key=lambda row: row[0][0], reverse=True)
    return (
        row for row in rows if not begin or row[0][0] < begin[0] or (row[0][0] == begin[0] and row[0][1] > begin[1])
    )


def _by_last(rows: list[tuple[_Place, Json]]) -> list[tuple[str, Json]]:
    """Give rows by their key, which every place ends with."""
    return [(place[-1], item) for place, item in rows]


def _token(place: _Place, query: Mapping[str, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps([_question(query), *place]).encode()).decode()


def _begin(query: Mapping[str, str], parts: int) -> _Place:
    """Read a page token, which belongs to the filter and the order it was made for."""
    token = query.get("pageToken", "")
    if not token:
        return ()
    try:
        question, *place = json.loads(base64.urlsafe_b64decode(token))
    except (binascii.Error, ValueError, TypeError, RecursionError):
        raise ApiError(400, f"Invalid value for field 'pageToken': '{token}'.") from None
    if question != _question(query) or [type(part) for part in place] != [str] * parts:
        raise ApiError(400, f"Invalid value for field 'pageToken': '{token}'. It was made for another request.")
    return tuple(place)


def _question(query: Mapping[str, str]) -> str:
    return hashlib.sha256(f"{query.get('filter', '')}\n{query.get('orderBy', '').strip()}".encode()).hexdigest()[:12]


def listing(kind: str, path: str, items: list[Json], query: Mapping[str, str], base: str) -> Json:
    """Answer a Compute list method."""
    shown, token = page(items, query)
    return answer(kind, path, base, token) | ({"items": shown} if shown else {})


def answer(kind: str, path: str, base: str, token: str | None) -> Json:
    """Write what every list answer begins with."""
    head: Json = {"kind": kind, "id": path, "selfLink": f"{base}/{path}"}
    return head | ({"nextPageToken": token} if token else {})
