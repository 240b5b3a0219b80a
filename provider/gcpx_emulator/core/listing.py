"""Pages of lists: the items that a query's filter accepts, in the query's order."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.filtering import ordering, predicate
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.store import Store

_DEFAULT_SIZE: Final = 500
_NEWEST_FIRST: Final = "creationTimestamp desc"
Query = Mapping[str, str]
_Rows = Iterable[tuple[str, Json]]
"""Items with their keys, in order of the keys."""
RowsAfter = Callable[[str], _Rows]
"""Returns the rows whose keys come after a given one; they are read as they are needed."""
_Position = tuple[str, ...]
"""Where a row stands in the order: its key, or its time and its key. A page token names the last position shown."""


def page_of(items: list[Json], query: Query) -> tuple[list[Json], str | None]:
    """Return the requested page of a list, and the token of the next page if there is one."""

    def rows_after(key: str) -> Iterator[tuple[str, Json]]:
        rows = sorted(((str(item.get("name", item.get("id", ""))), item) for item in items), key=lambda row: row[0])
        return ((name, item) for name, item in rows if name > key)

    return page_of_rows(rows_after, query)


def page_of_rows(rows_after: RowsAfter, query: Query) -> tuple[list[Json], str | None]:
    """Return the requested page of rows, without their keys, and the token of the next page if there is one."""
    rows, token = _page(rows_after, query)
    return [item for _, item in rows], token


def page_of_store(store: Store, collections: list[str], query: Query) -> tuple[list[tuple[str, Json]], str | None]:
    """Return the requested page of collections in the store, as paths and resources; only the page is read."""
    return _page(lambda path: store.scan(collections, path), query)


def _page(rows_after: RowsAfter, query: Query) -> tuple[list[tuple[str, Json]], str | None]:
    accepts, order = predicate(query.get("filter", "")), ordering(query.get("orderBy", ""))
    size = int(query.get("maxResults") or _DEFAULT_SIZE) or _DEFAULT_SIZE
    ordered = _newest_first if order == _NEWEST_FIRST else _by_key
    shown: list[tuple[_Position, Json]] = []
    for position, item in ordered(rows_after, query):
        if accepts is None or accepts(item):
            if len(shown) == size:
                return _with_keys(shown), _token(shown[-1][0], query)
            shown.append((position, item))
    return _with_keys(shown), None


def _by_key(rows_after: RowsAfter, query: Query) -> Iterator[tuple[_Position, Json]]:
    last = _last_position(query, 1) or ("",)
    return (((key,), item) for key, item in rows_after(last[0]))


def _newest_first(rows_after: RowsAfter, query: Query) -> Iterator[tuple[_Position, Json]]:
    """Order rows by time, newest first, and rows of the same time by key."""
    last = _last_position(query, 2)
    rows = [((_creation_time(item), key), item) for key, item in rows_after("")]
    rows.sort(key=lambda row: row[0][0], reverse=True)
    return (row for row in rows if not last or row[0][0] < last[0] or (row[0][0] == last[0] and row[0][1] > last[1]))


def _creation_time(item: Json) -> str:
    return str(item.get("creationTimestamp", item.get("insertTime", "")))


def _with_keys(rows: list[tuple[_Position, Json]]) -> list[tuple[str, Json]]:
    """Replace positions by keys, which are their last parts."""
    return [(position[-1], item) for position, item in rows]


def _token(position: _Position, query: Query) -> str:
    return base64.urlsafe_b64encode(json.dumps([_list_id(query), *position]).encode()).decode()


def _last_position(query: Query, parts: int) -> _Position:
    """Read the page token: where the page before ended, or nothing on the first page.

    A token is only valid with the filter and the order that it was made for.
    """
    token = query.get("pageToken", "")
    if not token:
        return ()
    try:
        list_id, *position = json.loads(base64.urlsafe_b64decode(token))
    except (binascii.Error, ValueError, TypeError, RecursionError):
        raise ApiError(400, f"Invalid value for field 'pageToken': '{token}'.") from None
    if list_id != _list_id(query) or [type(part) for part in position] != [str] * parts:
        raise ApiError(400, f"Invalid value for field 'pageToken': '{token}'. It was made for another request.")
    return tuple(position)


def _list_id(query: Query) -> str:
    """Return a hash of the filter and the order."""
    return hashlib.sha256(f"{query.get('filter', '')}\n{query.get('orderBy', '').strip()}".encode()).hexdigest()[:12]
