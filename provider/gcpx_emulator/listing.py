"""What every list method does: filter, order, pages."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from gcpx_emulator.errors import ApiError
from gcpx_emulator.filtering import ordering, predicate
from gcpx_emulator.store import Json, Store

_DEFAULT_PAGE: Final = 500
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
    begin = _key(query)
    size = int(query.get("maxResults") or _DEFAULT_PAGE) or _DEFAULT_PAGE
    rows = _newest_first(after(""), begin) if order == "creationTimestamp desc" else iter(after(begin))
    shown: list[tuple[str, Json]] = []
    for key, item in rows:
        if wanted is None or wanted(item):
            if len(shown) == size:
                return shown, _token(shown[-1][0], query)
            shown.append((key, item))
    return shown, None


def _newest_first(rows: Rows, begin: str) -> Iterator[tuple[str, Json]]:
    """Order by time; the key of each row then says how many come before it."""
    made = sorted(
        rows, key=lambda row: str(row[1].get("creationTimestamp", row[1].get("insertTime", ""))), reverse=True
    )
    return ((f"{number:09}\n{key}", item) for number, (key, item) in enumerate(made) if f"{number:09}\n{key}" > begin)


def keyed(rows: list[tuple[str, Json]]) -> list[tuple[str, Json]]:
    """Give rows by their path alone, whatever order they came in."""
    return [(key.rpartition("\n")[2], item) for key, item in rows]


def _token(key: str, query: Mapping[str, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps([_question(query), key]).encode()).decode()


def _key(query: Mapping[str, str]) -> str:
    """Read a page token, which belongs to the filter and the order it was made for."""
    token = query.get("pageToken", "")
    if not token:
        return ""
    try:
        question, key = json.loads(base64.urlsafe_b64decode(token))
    except (binascii.Error, ValueError, TypeError):
        raise ApiError(400, f"Invalid value for field 'pageToken': '{token}'.") from None
    if question != _question(query):
        raise ApiError(400, f"Invalid value for field 'pageToken': '{token}'. It was made for another request.")
    return str(key)


def _question(query: Mapping[str, str]) -> str:
    return hashlib.sha256(f"{query.get('filter', '')}\n{query.get('orderBy', '')}".encode()).hexdigest()[:12]


def listing(kind: str, path: str, items: list[Json], query: Mapping[str, str], base: str) -> Json:
    """Answer a Compute list method."""
    shown, token = page(items, query)
    return answer(kind, path, base, token) | ({"items": shown} if shown else {})


def answer(kind: str, path: str, base: str, token: str | None) -> Json:
    """Write what every list answer begins with."""
    head: Json = {"kind": kind, "id": path, "selfLink": f"{base}/{path}"}
    return head | ({"nextPageToken": token} if token else {})
