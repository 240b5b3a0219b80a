"""Writes HTML: all text is escaped, and characters that could disguise it are shown by their numbers."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode

_DISGUISES: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
"""Control characters, characters without a width, those that change the direction of text, and halves of pairs."""


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(value: object) -> Html:
    """Escape a value, unless it is HTML already."""
    if isinstance(value, Html):
        return value
    return Html(html.escape(_DISGUISES.sub(lambda found: f"[U+{ord(found[0]):04X}]", str(value))))


def joined(*parts: object) -> Html:
    """Write values one after the other."""
    return Html("".join(map(text, parts)))


def tag(name: str, /, *content: object, **attributes: object) -> Html:
    """Write an element with its content.

    A `_` at the end of an attribute's name is left out, any other is a `-`. The value True writes the name alone; False
    and None leave the attribute out.
    """
    return Html(f"{_open(name, attributes)}{joined(*content)}</{name}>")


def void(name: str, /, **attributes: object) -> Html:
    """Write an element that cannot have content."""
    return Html(_open(name, attributes))


def _open(name: str, attributes: dict[str, object]) -> str:
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{text(value)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return f"<{name}{written}>"


def address(path: str, /, **query: str) -> str:
    """Return the address of a page; empty values of the query are left out."""
    given = {key: value.encode(errors="backslashreplace").decode() for key, value in query.items() if value}
    return f"{path}?{urlencode(given)}" if given else path


def link(words: object, path: str, /, **query: str) -> Html:
    """Write a link to a page."""
    return tag("a", words, href=address(path, **query))


def table(heads: tuple[str, ...], rows: Sequence[tuple[object, ...]], caption: str) -> Html:
    """Write a table; a narrow window shows each cell below the other. `caption` is for screen readers."""
    head = tag("tr", *(tag("th", name, scope="col") for name in heads))
    lines = [
        tag("tr", *(tag("td", cell, data_head=head) for head, cell in zip(heads, row, strict=True))) for row in rows
    ]
    whole = tag("table", tag("caption", caption, class_="unseen"), tag("thead", head), tag("tbody", *lines))
    return tag("div", whole, class_="scroll", tabindex=0, role="region", aria_label=caption)
