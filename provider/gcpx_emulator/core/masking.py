"""Partial answers: what `fields` leaves of one."""

from __future__ import annotations

import re
from typing import Any, Final

import attrs

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.store import Json

_TOKEN: Final = re.compile(r"[\w*.-]+|\S", re.ASCII)
_NAME: Final = re.compile(r"[\w*.-]+", re.ASCII)
_DEEPEST: Final = 50
Mask = Json
"""The fields that stay, each with the mask of what is below it; an empty mask leaves everything."""


def cut(body: Any, mask: Mask) -> Any:
    """Leave of an answer what a mask names."""
    if isinstance(body, list):
        return [cut(item, mask) for item in body]
    if not isinstance(body, dict) or not mask:
        return body
    return {key: cut(item, _below(mask, key)) for key, item in body.items() if key in mask or "*" in mask}


def _below(mask: Mask, key: str) -> Mask:
    inner = [mask[name] for name in (key, "*") if name in mask]
    return inner[0] if len(inner) == 1 else _union(*inner)


def _union(left: Mask, right: Mask) -> Mask:
    """Leave what either of two masks leaves."""
    if not left or not right:
        return {}
    both = {key: _union(left[key], right[key]) for key in left.keys() & right.keys()}
    return left | right | both


def parse(fields: str) -> Mask:
    """Read a mask, such as `items(name,disks/source),nextPageToken`; an empty text leaves everything."""
    reader = _Reader(fields, _TOKEN.findall(fields)[::-1])
    if not reader.left:
        return {}
    mask = reader.fields(0)
    if reader.left:
        raise reader.refused()
    return mask


@attrs.define
class _Reader:
    """One reading of a mask, token by token.

    Attributes:
        left: the tokens that are still to be read, the next one last.
    """

    text: str
    left: list[str]

    def refused(self) -> ApiError:
        return ApiError(400, f"Invalid field selection {self.text[:200]}", "invalidParameter")

    def fields(self, depth: int) -> Mask:
        """Read fields between commas."""
        mask = self._field(depth)
        while self._take(","):
            mask = _union(mask, self._field(depth))
        return mask

    def _field(self, depth: int) -> Mask:
        """Read one field with what is below it."""
        if depth > _DEEPEST or not self.left or not _NAME.fullmatch(self.left[-1]):
            raise self.refused()
        name = self.left.pop()
        if self._take("/"):
            return {name: self._field(depth + 1)}
        if not self._take("("):
            return {name: {}}
        inner = self.fields(depth + 1)
        if not self._take(")"):
            raise self.refused()
        return {name: inner}

    def _take(self, token: str) -> bool:
        found = bool(self.left) and self.left[-1] == token
        if found:
            self.left.pop()
        return found
