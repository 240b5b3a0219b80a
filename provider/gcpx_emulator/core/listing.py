"""Filters, orders and pages of Google's list methods."""

from __future__ import annotations

import base64
import binascii
import functools
import hashlib
import json
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

import re2

from gcpx_emulator.core.discovery import Method
from gcpx_emulator.core.errors import ApiError, invalid
from gcpx_emulator.core.json_data import Json
from gcpx_filter import All, Comparison, Expression, FilterError, Match, Not, check_order, leaves, parse
from gcpx_filter import Any as AnyOf

_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)")
"""An int64 as Google writes it in JSON: a string without a plus sign or leading zeros. Other digits are just text."""
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,400}(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,4})?")
_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
Comparable = Decimal | datetime | str


def pair(value: Any, wanted: str) -> tuple[Comparable, Comparable]:
    """Convert a stored value and a filter's value into comparable values."""
    for left, right in ((_stored_number(value), _number(wanted)), (time_of(value), time_of(wanted) or _date(wanted))):
        if left is not None and right is not None:
            return left, right
    return text(value), wanted.lower() if isinstance(value, bool) else wanted


def text(value: Any) -> str:
    """Write a value as a string."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _stored_number(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and not _INTEGER.fullmatch(value):
        return None
    return _number(str(value))


def _number(value: str) -> Decimal | None:
    """Read a number exactly; IDs have 64 bits, which a float cannot hold."""
    return Decimal(value) if _NUMBER.fullmatch(value) else None


def time_of(value: Any) -> datetime | None:
    """Read a time of RFC 3339; None if it is something else."""
    return _parsed(value.upper()) if isinstance(value, str) and _TIME.fullmatch(value) else None


def _date(value: str) -> datetime | None:
    """Read a date as its first moment in UTC."""
    return _parsed(f"{value}T00:00:00Z") if _DATE.fullmatch(value) else None


def _parsed(value: str) -> datetime | None:
    try:
        return datetime.fromisoformat(value).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


Predicate = Callable[[Json], bool]
_ORDERINGS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
}


@functools.lru_cache(maxsize=64)
def predicate(filter_: str) -> Predicate | None:
    """Compile a filter, which may be empty; None accepts every resource."""
    try:
        expression = parse(filter_)
        return None if expression is None else _compiled(expression)
    except FilterError as error:
        raise _malformed(filter_, error) from None


def check_filter(method: Method, filter_: str) -> None:
    """Refuse a filter of a list by fields that its items do not have, or by values that a field cannot have.

    Only Compute has filters of this language. Source: AIP-160, which asks for an error in both cases.
    """
    if method.api != "compute":
        return
    schemas = method.document.schemas
    item = _item_of(schemas, method.response or "")
    try:
        expression = parse(filter_)
        for leaf in leaves(expression) if expression and item else ():
            _check_leaf(leaf, item, schemas)
    except FilterError as error:
        raise _malformed(filter_, error) from None


def _item_of(schemas: Json, response: str) -> Json:
    """Describe the items of a list's response; empty if it has none."""
    items: Json = schemas.get(response, {}).get("properties", {}).get("items", {})
    if "additionalProperties" not in items:
        return items
    scope = schemas[items["additionalProperties"]["$ref"]]["properties"]
    return next((field for field in scope.values() if field.get("type") == "array"), {})


def _check_leaf(leaf: Comparison | Match, item: Json, schemas: Json) -> None:
    """Refuse a comparison that no item described by `item` can satisfy."""
    spec = _resolved(item, schemas)
    for depth, name in enumerate(leaf.field, 1):
        if spec.get("type") == "any":
            return
        known = spec.get("properties", {}).get(name) or spec.get("additionalProperties")
        if known is None:
            raise FilterError(leaf.position, f"'{'.'.join(leaf.field[:depth])}' is not a field of these resources")
        spec = _resolved(known, schemas)
    field, kind = ".".join(leaf.field), spec.get("type")
    if kind == "object" and leaf.operator != ":":
        raise FilterError(leaf.position, f"'{field}' has fields of its own; it can be compared only with :")
    if isinstance(leaf, Match) or leaf.operator == ":":
        return
    if kind == "boolean" and leaf.operator in _ORDERINGS:
        raise FilterError(leaf.position, f"'{field}' is true or false; it can be compared only with = and !=")
    if kind == "boolean" and leaf.value.lower() not in {"true", "false"}:
        raise FilterError(leaf.position, f"the value of '{field}' must be true or false")
    is_number = kind in {"integer", "number"} or spec.get("format") in {"int64", "uint64"}
    if is_number and _number(leaf.value) is None:
        raise FilterError(leaf.position, f"the value of '{field}' must be a number")


def _resolved(spec: Json, schemas: Json) -> Json:
    """Follow references, and lists to their elements."""
    while "$ref" in spec or "items" in spec:
        spec = schemas[spec["$ref"]] if "$ref" in spec else spec["items"]
    return spec


def _malformed(filter_: str, error: FilterError) -> ApiError:
    return invalid("filter", filter_, f"Invalid list filter expression, {error}.")


def ordering(order: str) -> str:
    """Check the value of `orderBy`; return it without spaces around it."""
    try:
        check_order(order)
    except FilterError as error:
        raise invalid("orderBy", order, f"{error}.") from None
    return order.strip()


def _compiled(expression: Expression) -> Predicate:
    if isinstance(expression, All | AnyOf):
        predicates = [_compiled(item) for item in expression.items]
        combined = all if isinstance(expression, All) else any
        return lambda item: combined(accepts(item) for accepts in predicates)
    if isinstance(expression, Not):
        inner = _compiled(expression.item)
        return lambda item: not inner(item)
    return _match(expression) if isinstance(expression, Match) else _comparison(expression)


def _match(expression: Match) -> Predicate:
    try:
        pattern = re2.compile(expression.pattern)
    except re2.error as error:
        raise FilterError(expression.position, f"{expression.pattern!r} is not an RE2 expression: {error}") from None
    wanted = expression.operator == "eq"
    return lambda item: (pattern.fullmatch(text(next(_values(item, expression.field), None))) is not None) == wanted


def _comparison(expression: Comparison) -> Predicate:
    field, comparator, wanted = expression.field, expression.operator, expression.value
    if "*" in wanted and comparator in {"=", "!=", ":"}:
        return _wildcard(expression)
    if comparator == ":":
        return lambda item: _has(item, field, wanted)
    if comparator == "!=":
        return lambda item: not any(_same(value, wanted) for value in _values(item, field))
    if comparator == "=":
        return lambda item: any(_same(value, wanted) for value in _values(item, field))
    holds = _ORDERINGS[comparator]
    return lambda item: any(holds(*pair(value, wanted)) for value in _values(item, field))


def _wildcard(expression: Comparison) -> Predicate:
    """Match a value with `*`, which stands for any text, with the whole of a text or, after `:`, a key of a map."""
    parts = (re.escape(part) for part in expression.value.split("*"))
    matches = re2.compile(f"(?s){'.*'.join(parts)}").fullmatch
    field, is_wanted = expression.field, expression.operator != "!="

    def accepts(item: Json) -> bool:
        if expression.value == "*":
            return any(True for _ in _values(item, field))
        return any(
            any(matches(key) for key in value) if isinstance(value, dict) else matches(text(value))
            for value in _values(item, field)
        )

    return lambda item: accepts(item) == is_wanted


def _values(item: Any, field: tuple[str, ...]) -> Iterator[Any]:
    """Yield the values of a field; within a list, those of each element."""
    if isinstance(item, list):
        for element in item:
            yield from _values(element, field)
    elif not field:
        if item is not None:
            yield item
    elif isinstance(item, dict):
        yield from _values(item.get(field[0]), field[1:])


def _has(item: Json, field: tuple[str, ...], wanted: str) -> bool:
    """Apply `:`: the field has a key, an equal element, or a string that contains the wanted one."""
    return any(
        wanted in value if isinstance(value, dict) else _same(value, wanted) or wanted in text(value)
        for value in _values(item, field)
    )


def _same(value: Any, wanted: str) -> bool:
    left, right = pair(value, wanted)
    return left == right


_DEFAULT_SIZE: Final = 500
_NEWEST_FIRST: Final = "creationTimestamp desc"
Query = Mapping[str, str]
_Rows = Iterable[tuple[str, Json]]
"""Items with their keys."""
RowsAfter = Callable[[str], _Rows]
"""Returns the rows after a given key, sorted by key; they are read on demand."""
NewestAfter = Callable[[int, str], _Rows]
"""Returns the rows after a given age and key, newest first, then by key; they are read on demand."""
Page = tuple[list[tuple[str, Json]], str | None]
"""The rows of a page, and the token of the next page if there is one."""
_Position = tuple[Any, ...]
"""The sort key of a row: its key, or its age and its key. A page token has the last position shown."""
_MOST_AGE: Final = 1 << 62
"""No age is further from 0; SQLite has integers of 64 bits."""
_START: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def in_order(items: Mapping[str, Json]) -> RowsAfter:
    """Make rows of items by key."""
    return lambda last: ((key, items[key]) for key in sorted(items) if key > last)


def page_of(rows_after: RowsAfter, query: Query, newest_after: NewestAfter | None = None) -> Page:
    """Return the requested page of rows, and the token of the next page if there is one.

    Without `newest_after`, all rows are read to find the newest.
    """
    accepts, order = predicate(query.get("filter", "")), ordering(query.get("orderBy", ""))
    size = int(query.get("maxResults") or _DEFAULT_SIZE) or _DEFAULT_SIZE
    positions: Iterable[tuple[_Position, Json]]
    if order == _NEWEST_FIRST:
        newest = newest_after or _sorted(rows_after)
        last = _last_position(query, int, str) or (-_MOST_AGE, "")
        positions = (((age(item), key), item) for key, item in newest(*last))
    else:
        last = _last_position(query, str) or ("",)
        positions = (((key,), item) for key, item in rows_after(*last))
    shown: list[tuple[_Position, Json]] = []
    token = None
    for position, item in positions:
        if accepts is None or accepts(item):
            if len(shown) == size:
                token = _token(shown[-1][0], query)
                break
            shown.append((position, item))
    return [(position[-1], item) for position, item in shown], token


def _sorted(rows_after: RowsAfter) -> NewestAfter:
    def newest_after(last_age: int, last: str) -> _Rows:
        rows = sorted((((age(item), key), item) for key, item in rows_after("")), key=operator.itemgetter(0))
        return ((position[1], item) for position, item in rows if position > (last_age, last))

    return newest_after


def age(item: Json) -> int:
    """Return an item's place from the newest to the oldest: minus the milliseconds from 1970 to its creation."""
    created = time_of(item.get("creationTimestamp", item.get("insertTime")))
    return (_START - created) // _MILLISECOND if created else 0


def _token(position: _Position, query: Query) -> str:
    return base64.urlsafe_b64encode(json.dumps([_list_id(query), *position]).encode()).decode()


def _last_position(query: Query, *parts: type) -> _Position:
    """Read the page token: the last position of the previous page, with parts of these types; empty for the first page.

    A token is valid only with the filter and the order of its list.
    """
    token = query.get("pageToken", "")
    if not token:
        return ()
    try:
        list_id, *position = json.loads(base64.urlsafe_b64decode(token))
    except (binascii.Error, ValueError, TypeError, RecursionError):
        raise ApiError(400, f"Invalid value for field 'pageToken': '{token}'.") from None
    is_ours = list_id == _list_id(query) and [type(part) for part in position] == list(parts)
    if not is_ours or any(isinstance(part, int) and abs(part) > _MOST_AGE for part in position):
        raise invalid("pageToken", token, "It was made for another request.")
    return tuple(position)


def _list_id(query: Query) -> str:
    """Return a hash of the filter and the order."""
    return hashlib.sha256(f"{query.get('filter', '')}\n{query.get('orderBy', '').strip()}".encode()).hexdigest()[:12]
