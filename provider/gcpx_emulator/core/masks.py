"""Field masks: the fields of a response that a request asks for."""

from __future__ import annotations

import re
from typing import Any, Final

import attrs

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json

_TOKEN: Final = re.compile(r"[\w*-]+|\S", re.ASCII)
_NAME: Final = re.compile(r"[\w*-]+", re.ASCII)
_DEEPEST: Final = 50
Mask = Json
"""The fields to keep, each with the mask of its own fields. An empty mask keeps everything."""


def apply_mask(body: Any, mask: Mask) -> Any:
    """Keep the fields of a response that a mask names; an object that has none of its fields left is left out."""
    if isinstance(body, list):
        return [apply_mask(item, mask) for item in body]
    if not isinstance(body, dict) or not mask:
        return body
    kept = {key: apply_mask(item, _below(mask, key)) for key, item in body.items() if key in mask or "*" in mask}
    return {key: item for key, item in kept.items() if item != {} or body[key] == {}}


def _below(mask: Mask, key: str) -> Mask:
    inner = [mask[name] for name in (key, "*") if name in mask]
    return inner[0] if len(inner) == 1 else _union(*inner)


def _union(left: Mask, right: Mask) -> Mask:
    """Return the union of two masks."""
    if not left or not right:
        return {}
    both = {key: _union(left[key], right[key]) for key in left.keys() & right.keys()}
    return left | right | both


def parse_mask(fields: str) -> Mask:
    """Read a mask, such as `items(name,disks/source),nextPageToken`; an empty string keeps everything."""
    reader = _Reader(fields, _TOKEN.findall(fields)[::-1])
    if not reader.left:
        return {}
    mask = reader.fields(0)
    if reader.left:
        raise reader.error()
    return mask


def check_mask(mask: Mask, spec: Json, schemas: Json) -> None:
    """Refuse a mask with a field that the response cannot have; `spec` describes the response."""
    spec = schemas[spec["$ref"]] if "$ref" in spec else spec
    if spec.get("type") == "array":
        check_mask(mask, spec["items"], schemas)
    elif spec.get("type") != "any":
        known = spec.get("properties", {})
        others = [spec["additionalProperties"]] if "additionalProperties" in spec else []
        for name, inner in mask.items():
            candidates = [*known.values(), *others] if name == "*" else [known[name]] if name in known else others
            _check_one(name, inner, candidates, schemas)


def _check_one(name: str, inner: Mask, candidates: list[Json], schemas: Json) -> None:
    """Refuse a name, or the mask below it, if none of the candidates for its field has these fields."""
    refusal = _unknown_field(name)
    for candidate in candidates:
        try:
            check_mask(inner, candidate, schemas)
        except ApiError as error:
            refusal = error
        else:
            return
    raise refusal


def _unknown_field(name: str) -> ApiError:
    return ApiError(400, f"Invalid field selection {name[:200]}", "invalidParameter")


@attrs.define
class _Reader:
    """Reads a mask token by token.

    Attributes:
        left: the tokens that have not been read, the next one last.
    """

    text: str
    left: list[str]

    def error(self) -> ApiError:
        return _unknown_field(self.text)

    def fields(self, depth: int) -> Mask:
        """Read fields that are separated by commas."""
        mask = self._field(depth)
        while self._take(","):
            mask = _union(mask, self._field(depth))
        return mask

    def _field(self, depth: int) -> Mask:
        """Read one field with its own fields."""
        if depth > _DEEPEST or not self.left or not _NAME.fullmatch(self.left[-1]):
            raise self.error()
        name = self.left.pop()
        if self._take("/") or self._take("."):
            return {name: self._field(depth + 1)}
        if not self._take("("):
            return {name: {}}
        inner = self.fields(depth + 1)
        if not self._take(")"):
            raise self.error()
        return {name: inner}

    def _take(self, token: str) -> bool:
        """Skip the next token if it equals this one; return whether it did."""
        is_next = bool(self.left) and self.left[-1] == token
        if is_next:
            self.left.pop()
        return is_next
