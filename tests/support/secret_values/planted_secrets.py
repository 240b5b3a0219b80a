"""Secrets that tests plant in inputs, how others may spell them, and whether a text shows one."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final
from urllib.parse import quote, quote_plus, unquote_plus

from engines.driver import SIGNATURE

SHAPES: Final = {
    "plain": "mQ7xV9tZ3Lp0Wd2K",
    "regex": "mQ7x.*V9tZ3[Lp0]+(Wd2K|H5nB4)?cY6$",
    "quotes": "mQ7x\"V9tZ3'Lp0W\\d2K&H5nB4<cY6>%/=é",
    "lines": "mQ7xV9tZ3\nLp0Wd2K8r\r\n\tH5nB4cY6j\n",
    "spaces": "  mQ7xV9tZ3 Lp0Wd2K ",
    "link": "https://example.com/mQ7xV9tZ3/Lp0Wd2K8r",
}
"""Planted secrets, by what is special about them."""
_RUN: Final = 5
"""So many characters of a secret in a row are a leak; nothing else in a message looks like them."""
SPELLINGS: Final[dict[str, Callable[[str], str]]] = {
    "as it is": lambda text: text,
    "repr": repr,
    "JSON": json.dumps,
    "JSON in UTF-8": lambda text: json.dumps(text, ensure_ascii=False),
    "JSON in JSON": lambda text: json.dumps(json.dumps({"value": text})),
    "URL path": quote,
    "URL query": quote_plus,
    "HTML": html.escape,
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 for URLs": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "one line": lambda text: max(text.splitlines(), key=len),
    "twice": lambda text: f"{text}{text}",
    "cut": lambda text: f"{text.strip()[: len(text.strip()) * 2 // 3]}...",
    "cut with one character": lambda text: f"'{text.strip()[:10]}…",
}
"""How an error of Google's may quote a value."""
_BASE64: Final = re.compile(r"[\w+/-]{8,}")
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t"}


def shown(said: str, marker: str) -> str:
    """Return a part of a planted secret that a text shows in any encoding; empty if it shows none."""
    runs = [run for line in marker.splitlines() for run in _runs(line)]
    views = list(_views(said))
    return next((run for run in runs for view in views if run in view), "")


def _runs(line: str) -> Iterator[str]:
    """Yield the parts of a line that are as long as a leak, and look like nothing else."""
    for start in range(len(line) - _RUN + 1):
        run = line[start : start + _RUN]
        if any(character.isdecimal() for character in run) and any(character.isupper() for character in run):
            yield run


def _views(said: str) -> Iterator[str]:
    """Yield a text, and what it says after each decoding."""
    yield from (said, unquote_plus(said), html.unescape(said), _unescaped(said), _unescaped(_unescaped(said)))
    for word in _BASE64.findall(said):
        for start in range(4):
            yield _decoded(word[start:].replace("-", "+").replace("_", "/"))


def _decoded(word: str) -> str:
    whole = word[: len(word) // 4 * 4]
    try:
        return base64.b64decode(whole).decode("latin-1")
    except ValueError:  # also of letters outside ASCII, which no encoding in base64 has
        return ""


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _character(found[1]), text)


def _character(escape: str) -> str:
    return chr(int(escape[1:], 16)) if len(escape) > 1 else _ESCAPED.get(escape, escape)


def without_secrets(value: Any) -> Any:
    """Return a property value in the engine's form without what is marked as secret."""
    if isinstance(value, dict):
        if SIGNATURE in value:
            return "[secret]"
        return {key: without_secrets(item) for key, item in value.items()}
    return [without_secrets(item) for item in value] if isinstance(value, list) else value
