"""Parses filters into trees, and reports malformed ones.

Source: Compute API, the `filter` and `orderBy` parameters of list methods; AIP-160 for precedence.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from importlib import resources
from typing import Any as Anything
from typing import Final

import attrs
from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedInput, UnexpectedToken, v_args

OPERATORS: Final = ("=", "!=", ">", "<", "<=", ">=", ":")
MATCHES: Final = ("eq", "ne")
ORDERS: Final = ("name", "creationTimestamp desc")
_DEEPEST: Final = 50
_LONGEST: Final = 4096
_EXPECTED: Final = {
    "OPERATOR": f"one of the operators {' '.join((*OPERATORS, *MATCHES))}",
    "MATCH": f"one of the operators {' '.join((*OPERATORS, *MATCHES))}",
    "LITERAL": "a string, a number, true, false or *",
    "REGEX": "a regular expression",
    "NAME": "a field's name",
    "STRING": "a quoted string",
    "LPAR": "(",
    "RPAR": ")",
    "_AND": "AND",
    "_OR": "OR",
    "_NOT": "NOT",
}


class FilterError(ValueError):
    """A filter or an order that no list method accepts.

    Attributes:
        position: the position of the error in characters, from 1.
    """

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(f"at character {position}: {reason}")
        self.position = position


@attrs.frozen
class Comparison:
    """A field compared to a value, in the form of AIP-160."""

    field: tuple[str, ...]
    operator: str
    value: str
    position: int


@attrs.frozen
class Match:
    """A regular expression (RE2) that a field must, or must not, match as a whole."""

    field: tuple[str, ...]
    operator: str
    pattern: str
    position: int


@attrs.frozen
class Not:
    """The negation of an expression."""

    item: Expression
    position: int


@attrs.frozen
class All:
    """All of several expressions.

    Attributes:
        word: `AND`, or empty if they stand side by side.
    """

    items: tuple[Expression, ...]
    word: str


@attrs.frozen
class Any:
    """At least one of several expressions."""

    items: tuple[Expression, ...]
    word: str = "OR"


Expression = Comparison | Match | Not | All | Any


def parse(text: str) -> Expression | None:
    """Read a filter; None for an empty one.

    Raises:
        FilterError: if it is malformed or mixes the two forms.
    """
    if not text.strip():
        return None
    _check_size(text)
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        raise _syntax_error(text, error) from None
    found: Expression = _Reader().transform(tree)
    _check_form(text, found)
    return found


def check_order(text: str) -> None:
    """Refuse an order that list methods do not support."""
    if text.strip() not in {"", *ORDERS}:
        raise FilterError(1, f"{text!r} is not a known order; use {' or '.join(ORDERS)}")


@functools.cache
def _parser() -> Lark:
    text = (resources.files("gcpx_filter") / "grammar.lark").read_text()
    return Lark(text, parser="lalr", maybe_placeholders=False)


class _Reader(Transformer[Token, Anything]):
    """Converts lark's tree into the classes of this module."""

    @v_args(inline=True)
    def start(self, item: Expression) -> Expression:
        return item

    def all(self, items: list[Expression]) -> Expression:
        return All(tuple(items), "AND") if len(items) > 1 else items[0]

    def beside(self, items: list[Expression]) -> Expression:
        return All(tuple(items), "") if len(items) > 1 else items[0]

    def any(self, items: list[Expression]) -> Expression:
        return Any(tuple(items)) if len(items) > 1 else items[0]

    @v_args(inline=True)
    def group(self, item: Expression) -> Expression:
        return item

    @v_args(inline=True)
    def negated(self, item: Expression) -> Expression:
        return Not(item, _first(item).position)

    @v_args(inline=True)
    def comparison(self, member: list[Token], operator: Token, value: str) -> Expression:
        field = tuple(_unquoted(part) for part in member)
        position = (member[0].start_pos or 0) + 1
        kind = Match if operator.type == "MATCH" else Comparison
        return kind(field, str(operator), value, position)

    def member(self, parts: list[Token]) -> list[Token]:
        return parts

    @v_args(inline=True)
    def value(self, token: Token) -> str:
        return _unquoted(token)

    @v_args(inline=True)
    def pattern(self, token: Token) -> str:
        # Within quotes a backslash belongs to the regular expression.
        return str(token)[1:-1] if token.type == "STRING" else str(token)


def _unquoted(token: Token) -> str:
    if token.type != "STRING":
        return str(token)
    letters = iter(str(token)[1:-1])
    return "".join(next(letters) if letter == "\\" else letter for letter in letters)


def _check_size(text: str) -> None:
    """Refuse filters so large that only an attack would send them, before parsing costs time."""
    if len(text) > _LONGEST:
        raise FilterError(_LONGEST, f"it is {len(text):,} characters long; at most {_LONGEST:,} are allowed")
    depth = 0
    for position, letter in enumerate(text, 1):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth > _DEEPEST:
            raise FilterError(position, f"parentheses are nested deeper than {_DEEPEST}")


def leaves(expression: Expression) -> Iterator[Comparison | Match]:
    """Yield every single comparison, from left to right."""
    if isinstance(expression, Comparison | Match):
        yield expression
    elif isinstance(expression, Not):
        yield from leaves(expression.item)
    else:
        for item in expression.items:
            yield from leaves(item)


def _first(expression: Expression) -> Comparison | Match:
    return next(leaves(expression))


def _check_form(text: str, expression: Expression) -> None:
    """Refuse a filter that mixes the two forms."""
    found = list(leaves(expression))
    matches = [leaf for leaf in found if isinstance(leaf, Match)]
    if not matches:
        return
    other = next((leaf for leaf in found if isinstance(leaf, Comparison)), None)
    if other is not None:
        raise FilterError(
            max(other.position, matches[0].position),
            f"{matches[0].operator} (regular expressions) and {other.operator} (comparisons) cannot be mixed",
        )
    _check_joined(text, expression)
    strange = next((leaf for leaf in matches if leaf.field != matches[0].field), None)
    if strange is not None:
        raise FilterError(
            strange.position,
            f"regular expressions cannot apply to several fields ({'.'.join(matches[0].field)} and "
            f"{'.'.join(strange.field)}); compare with = instead",
        )


def _check_joined(text: str, expression: Expression) -> None:
    """Allow one regular expression, or several side by side, each in parentheses."""
    if isinstance(expression, Match):
        return
    if not isinstance(expression, All) or expression.word:
        word = getattr(expression, "word", "NOT")
        raise FilterError(
            _first(expression).position, f"regular expressions cannot be joined by {word}; use | within one"
        )
    for item in expression.items:
        _check_joined(text, item)
        start = _first(item).position - 1
        if not text[:start].rstrip().endswith("("):
            raise FilterError(start + 1, "put each of several regular expressions in parentheses")


def _syntax_error(text: str, error: UnexpectedInput) -> FilterError:
    position = (error.pos_in_stream or 0) + 1
    tokens = _expected(error)
    if "LITERAL" in tokens:
        tokens -= {"STRING"}  # a literal may be a string
    words = list(dict.fromkeys(_EXPECTED[name] for name in sorted(tokens) if name in _EXPECTED))
    ended = position > len(text.rstrip()) or (isinstance(error, UnexpectedToken) and error.token.type == "$END")
    if ended:
        return FilterError(len(text.rstrip()) + 1, f"it ends too early: {_either(words)} is missing")
    found = text[position - 1 :].split(maxsplit=1)[0][:20]
    return FilterError(position, f"{found!r} is unexpected here: {_either(words)} is expected")


def _expected(error: UnexpectedInput) -> set[str]:
    if isinstance(error, UnexpectedToken):
        return set(error.accepts or error.expected)
    return set(error.allowed or ()) if isinstance(error, UnexpectedCharacters) else set()


def _either(words: list[str]) -> str:
    return " or ".join(words) or "the end"
