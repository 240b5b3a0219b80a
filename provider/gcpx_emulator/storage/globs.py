"""Patterns of object names, for the parameter `matchGlob` of lists."""

from __future__ import annotations

import re
from typing import Final

import re2

from gcpx_emulator.core.errors import invalid

_TOKEN: Final = re.compile(r"\*\*|\*|\?|\[[!^]?[^\]]+\]|[{},]|\\.|.", re.DOTALL)
_PLAIN: Final = {"**": ".*", "*": "[^/]*", "?": "[^/]"}


def matches_glob(pattern: str, name: str) -> bool:
    """Return whether a name matches a pattern as a whole; an empty pattern matches every name.

    `*` and `?` match no slash, `**` matches any characters, `[abc]` one of these, and `{a,b}` either alternative.

    Source: https://cloud.google.com/storage/docs/json_api/v1/objects/list#list-objects-and-prefixes-using-glob
    """
    if not pattern:
        return True
    try:
        return re2.fullmatch(f"(?s){_expression(pattern)}", name) is not None
    except re2.error:
        raise invalid("matchGlob", pattern, "The pattern is malformed.") from None


def _expression(pattern: str) -> str:
    depth, written = 0, []
    for part in _TOKEN.findall(pattern):
        if part == "{":
            depth += 1
            written.append("(?:")
        elif part == "}" and depth:
            depth -= 1
            written.append(")")
        elif part == "," and depth:
            written.append("|")
        elif part.startswith("[") and len(part) > 1:
            written.append("[^" + part[2:] if part[1] == "!" else part)
        else:
            written.append(_PLAIN.get(part) or re.escape(part.removeprefix("\\") or part))
    return "".join(written)
