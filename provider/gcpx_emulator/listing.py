"""What every list method does: filter, order, pages, partial answers."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from gcpx_emulator.errors import ApiError
from gcpx_emulator.store import Json

_COMPARISON: Final = re.compile(
    r"""\s*\(?\s*(?P<field>[\w.-]+)\s*(?P<operator>!=|=|\beq\b|\bne\b)\s*(?P<value>"[^"]*"|'[^']*'|[^\s()]+)\s*\)?\s*"""
)
_DEFAULT_PAGE: Final = 500


def page(items: list[Json], query: Mapping[str, str]) -> tuple[list[Json], str | None]:
    """Filter, order and cut; returns the page and the token of the next."""
    matching = [item for item in items if _matches(item, query.get("filter", ""))]
    ordered = _ordered(matching, query.get("orderBy", ""))
    begin = _offset(query.get("pageToken", ""))
    size = int(query.get("maxResults") or _DEFAULT_PAGE) or _DEFAULT_PAGE
    more = begin + size < len(ordered)
    return ordered[begin : begin + size], _token(begin + size) if more else None


def listing(kind: str, path: str, items: list[Json], query: Mapping[str, str], base: str) -> Json:
    """Answer a Compute list method."""
    shown, token = page(items, query)
    answer: Json = {"kind": kind, "id": path, "selfLink": f"{base}/{path}"}
    if shown:
        answer["items"] = shown
    return answer | ({"nextPageToken": token} if token else {})


def _ordered(items: list[Json], order: str) -> list[Json]:
    if order == "creationTimestamp desc":
        return sorted(
            items, key=lambda item: str(item.get("creationTimestamp", item.get("insertTime", ""))), reverse=True
        )
    if order not in {"", "name"}:
        raise ApiError(400, f"Invalid value for field 'orderBy': '{order}'. Only name and creationTimestamp desc are.")
    return sorted(items, key=lambda item: str(item.get("name", item.get("id", ""))))


def _token(offset: int) -> str:
    return base64.urlsafe_b64encode(json.dumps({"offset": offset}).encode()).decode()


def _offset(token: str) -> int:
    if not token:
        return 0
    try:
        return int(json.loads(base64.urlsafe_b64decode(token))["offset"])
    except (binascii.Error, ValueError, KeyError, TypeError):
        raise ApiError(400, f"Invalid value for field 'pageToken': '{token}'.") from None


def _matches(item: Json, text: str) -> bool:
    """Compare by single expressions joined by AND; other forms are refused, never guessed."""
    if not text.strip():
        return True
    results = []
    for part in re.split(r"\s+AND\s+|(?<=\))\s+(?=\()", text.strip()):
        found = _COMPARISON.fullmatch(part)
        if found is None:
            raise ApiError(501, f"The filter '{text}' is of a form that this emulator does not know yet.")
        results.append(_compare(_at(item, found["field"]), found["operator"], found["value"].strip("\"'")))
    return all(results)


def _at(item: Any, path: str) -> Any:
    for part in path.split("."):
        item = item.get(part) if isinstance(item, dict) else None
    return item


def _compare(value: Any, operator: str, wanted: str) -> bool:
    text = str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
    if operator in {"eq", "ne"}:
        return (re.fullmatch(wanted, text) is not None) == (operator == "eq")
    return (text == wanted) == (operator == "=")


def masked(body: Any, mask: str) -> Any:
    """Cut an answer down to what `fields` names, such as `items(name,disks/source),nextPageToken`."""
    tree, rest = _parse_mask(mask)
    if rest:
        raise ApiError(400, f"Invalid field selection {mask}")
    return _masked(body, tree)


def _masked(body: Any, tree: Json) -> Any:
    if isinstance(body, list):
        return [_masked(item, tree) for item in body]
    if not isinstance(body, dict) or not tree or "*" in tree:
        return body
    return {key: _masked(item, tree[key]) for key, item in body.items() if key in tree}


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
