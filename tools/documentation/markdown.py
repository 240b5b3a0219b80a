"""The links of Markdown pages, and the anchors of headings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

_FENCE: Final = r"^[ \t>]*(?P<fence>`{3,}|~{3,}).*?^[ \t>]*(?P=fence)[ \t]*$"
_INLINE_CODE: Final = r"(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)"
_COMMENT: Final = r"<!--.*?-->"
_NO_TEXT: Final = re.compile(rf"{_FENCE}|{_COMMENT}|{_INLINE_CODE}", re.DOTALL | re.MULTILINE)
"""Code and comments, which contain no links."""
_LINK: Final = re.compile(
    r"""(?<=\]\()[^()\s]+(?=\)|\s+["'])"""  # [text](target "title"), ![text](target)
    r"""|(?<=\bsrc=")[^"]+(?=")|(?<=\bsrcset=")[^"\s]+(?=")"""  # <img src="target">, <source srcset="target">
    r"""|(?<=\bhref=")[^"]+(?=")"""  # <a href="target">
    r"""|(?<=<)https?:[^>\s]+(?=>)""",  # <https://target>
    re.MULTILINE,
)
_REFERENCE: Final = re.compile(r"^[ ]{0,3}\[[^\]^]+\]:", re.MULTILINE)
_HEADING: Final = re.compile(r"^#{1,6} +(.*?)[ #]*$", re.MULTILINE)
_FENCED: Final = re.compile(_FENCE, re.DOTALL | re.MULTILINE)
_ID: Final = re.compile(r"""\b(?:id|name)="([^"]+)\"""")


def links(text: str) -> list[str]:
    """Return the targets of all links and images of a page, in order.

    Raises:
        ValueError: if the page has reference links, which are not supported.
    """
    prose = _NO_TEXT.sub("", text)
    reference = _REFERENCE.search(prose)
    if reference is not None:
        raise ValueError(f"write the target of the link {reference[0]} beside its text: [text](target)")
    return [found[0] for found in _LINK.finditer(prose)]


def with_links(text: str, change: Callable[[str], str]) -> str:
    """Apply a function to the target of every link of a page."""
    return "".join(
        part if is_code else _LINK.sub(lambda found: change(found[0]), part) for part, is_code in _parts(text)
    )


def anchors(text: str) -> set[str]:
    """Return the anchors of a page: GitHub's names of headings, and IDs in HTML."""
    prose = _FENCED.sub("", text)
    found: dict[str, int] = {}
    for heading in _HEADING.findall(prose):
        words = re.sub(r"\]\([^)]*\)", "", heading)
        name = re.sub(r"[^\w -]", "", words).strip().lower().replace(" ", "-")
        found[name] = found.get(name, -1) + 1
    repeated = {f"{name}-{number}" for name, count in found.items() for number in range(1, count + 1)}
    return {*found, *repeated, *_ID.findall(_NO_TEXT.sub("", text))}


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a page in order, and whether each is code or a comment."""
    end = 0
    for found in _NO_TEXT.finditer(text):
        yield text[end : found.start()], False
        yield found[0], True
        end = found.end()
    yield text[end:], False
