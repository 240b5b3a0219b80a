"""Filters and orders of list methods, applied to resources."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, Final

import re2

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.filter_comparison import pair, text
from gcpx_emulator.core.json_data import Json
from gcpx_filter import All, Comparison, Expression, FilterError, Match, Not, check_order, parse
from gcpx_filter import Any as AnyOf

Predicate = Callable[[Json], bool]
_ORDERINGS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    ">": lambda left, right: left > right,
    "<": lambda left, right: left < right,
    ">=": lambda left, right: left >= right,
    "<=": lambda left, right: left <= right,
}


@functools.lru_cache(maxsize=64)
def predicate(filter_: str) -> Predicate | None:
    """Compile a filter, which may be empty; None accepts every resource."""
    try:
        expression = parse(filter_)
        return None if expression is None else _compiled(expression)
    except FilterError as error:
        raise ApiError(
            400, f"Invalid value for field 'filter': '{filter_}'. Invalid list filter expression, {error}."
        ) from None


def ordering(order: str) -> str:
    """Check the value of `orderBy`; return it without spaces around it."""
    try:
        check_order(order)
    except FilterError as error:
        raise ApiError(400, f"Invalid value for field 'orderBy': '{order}'. {error}.") from None
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
    field, operator, wanted = expression.field, expression.operator, expression.value
    if operator == ":":
        return lambda item: _has(item, field, wanted)
    if operator == "!=":
        return lambda item: not any(_same(value, wanted) for value in _values(item, field))
    if operator == "=":
        return lambda item: any(_same(value, wanted) for value in _values(item, field))
    holds = _ORDERINGS[operator]
    return lambda item: any(_ordered(value, wanted, holds) for value in _values(item, field))


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
    """Apply `:`: the field has any value (`*`), a key, an equal element, or a string that contains the wanted one."""
    values = list(_values(item, field))
    if wanted == "*":
        return bool(values)
    return any(
        wanted in value if isinstance(value, dict) else _same(value, wanted) or wanted in text(value)
        for value in values
    )


def _same(value: Any, wanted: str) -> bool:
    left, right = pair(value, wanted)
    return left == right


def _ordered(value: Any, wanted: str, holds: Callable[[Any, Any], bool]) -> bool:
    return holds(*pair(value, wanted))
