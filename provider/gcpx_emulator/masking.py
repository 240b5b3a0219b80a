"""Partial answers: what `fields` leaves of one."""

from __future__ import annotations

import re
from typing import Any

from gcpx_emulator.errors import ApiError
from gcpx_emulator.store import Json


def masked(body: Any, mask: str) -> Any:
    """Cut an answer down to what `fields` names, such as `items(name,disks/source),nextPageToken`."""
    tree, rest = _parse_mask(mask)
    if rest:
        raise ApiError(400, f"Invalid field selection {mask}")
    return _masked(body, tree)


def _masked(body: Any, tree: Json) -> Any:
    if isinstance(body, list):
        return [_masked(item, tree) for item in body]
    if not isinstance(body, dict) or not tree:
        return body
    known = {key: tree[key if key in tree else "*"] for key in body if key in tree or "*" in tree}
    return {key: _masked(item, known[key]) for key, item in body.items() if key in known}


def _parse_mask(text: str) -> tuple[Json, str]:
    tree: Json = {}
    while text and not text.startswith(")"):
        found = re.match(r"\s*([\w*.-]+)", text)
        if found is None:
            raise ApiError(400, f"Invalid field selection {text}")
        text = text[found.end() :]
        inner: Json = {}
        if text.startswith("/"):
            inner, text = _one(text[1:])
        elif text.startswith("("):
            inner, text = _parse_mask(text[1:])
            text = text.removeprefix(")")
        tree[found[1]] = inner
        text = text.lstrip().removeprefix(",")
    return tree, text


def _one(text: str) -> tuple[Json, str]:
    """Read what follows a slash: one field, with what is below it."""
    found = re.match(r"[\w*.-]+", text)
    if found is None:
        raise ApiError(400, f"Invalid field selection {text}")
    rest = text[found.end() :]
    if rest.startswith("/"):
        inner, rest = _one(rest[1:])
    elif rest.startswith("("):
        inner, rest = _parse_mask(rest[1:])
        rest = rest.removeprefix(")")
    else:
        inner = {}
    return {found[0]: inner}, rest
