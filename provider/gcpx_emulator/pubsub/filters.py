"""Filters of subscriptions, which choose messages by their attributes.

Source: https://cloud.google.com/pubsub/docs/subscription-message-filter
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping
from typing import Final

import attrs

from gcpx_emulator.core.errors import ApiError

_LONGEST: Final = 256
_TOKEN: Final = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|(!=|[:=().,-])|([A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*))')
_DEEPEST: Final = 50
Accepts = Callable[[Mapping[str, str]], bool]
"""Returns whether a subscription gets a message with these attributes."""


@functools.lru_cache(maxsize=256)
def message_filter(text: str) -> Accepts:
    """Compile a filter; an empty one accepts every message.

    Raises:
        ApiError: 400, if the filter is too long or malformed.
    """
    if len(text.encode()) > _LONGEST:
        raise ApiError(400, f"The filter is too long; it has at most {_LONGEST} bytes.")
    if not text.strip():
        return lambda _attributes: True
    reader = _Reader(text, _tokens(text)[::-1])
    accepts = reader.expression(0)
    if reader.left:
        raise reader.error()
    return accepts


def _tokens(text: str) -> list[str]:
    tokens, position, end = [], 0, len(text.rstrip())
    while position < end:
        found = _TOKEN.match(text, position)
        if found is None:
            raise _malformed(text)
        tokens.append(found[found.lastindex or 0])
        position = found.end()
    return tokens


def _malformed(text: str) -> ApiError:
    return ApiError(400, f"Invalid filter given (filter={text}); see the syntax of filters in the documentation.")


@attrs.define
class _Reader:
    """Reads a filter token by token.

    Attributes:
        left: the tokens that have not been read, the next one last.
    """

    text: str
    left: list[str]

    def error(self) -> ApiError:
        return _malformed(self.text)

    def expression(self, depth: int) -> Accepts:
        """Read terms that are all joined by AND, or all by OR; other mixtures need parentheses."""
        if depth > _DEEPEST:
            raise self.error()
        terms, operator = [self._term(depth)], self._next()
        while operator in {"AND", "OR"} and self._take(operator):
            terms.append(self._term(depth))
        if self._next() in {"AND", "OR"}:
            raise self.error()
        combined = all if operator == "AND" else any
        return lambda attributes: combined(term(attributes) for term in terms)

    def _term(self, depth: int) -> Accepts:
        if self._take("NOT") or self._take("-"):
            inner = self._term(depth + 1) if depth < _DEEPEST else None
            if inner is None:
                raise self.error()
            return lambda attributes: not inner(attributes)
        if self._take("("):
            grouped = self.expression(depth + 1)
            self._expect(")")
            return grouped
        if self._take("hasPrefix"):
            return self._prefix()
        self._expect("attributes")
        if self._take(":"):
            key = self._key()
            return lambda attributes: key in attributes
        self._expect(".")
        key = self._key()
        if self._take("="):
            wanted = self._string()
            return lambda attributes: attributes.get(key) == wanted
        self._expect("!=")
        unwanted = self._string()
        return lambda attributes: attributes.get(key) != unwanted

    def _prefix(self) -> Accepts:
        for token in ("(", "attributes", "."):
            self._expect(token)
        key = self._key()
        self._expect(",")
        prefix = self._string()
        self._expect(")")
        return lambda attributes: attributes.get(key, "").startswith(prefix) and key in attributes

    def _key(self) -> str:
        if self._next().startswith('"'):
            return self._string()
        if not re.fullmatch(r"\w[\w-]*", self._next(), re.ASCII):
            raise self.error()
        return self.left.pop()

    def _string(self) -> str:
        token = self._next()
        if not token.startswith('"'):
            raise self.error()
        self.left.pop()
        try:
            return str(json.loads(token))
        except ValueError:
            raise self.error() from None

    def _next(self) -> str:
        return self.left[-1] if self.left else ""

    def _take(self, token: str) -> bool:
        is_next = self._next() == token
        if is_next:
            self.left.pop()
        return is_next

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise self.error()
