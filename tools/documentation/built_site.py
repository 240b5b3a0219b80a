"""Checks a built site: every link has a target, and nothing is loaded from another host."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote

_LOADED: Final = {
    "data": ("object",),
    "href": ("link", "use"),
    "src": ("audio", "embed", "iframe", "img", "input", "script", "source", "video"),
    "srcset": ("img", "source"),
}
"""The attributes by which a page loads resources, and their elements."""
_FOREIGN: Final = re.compile(r"(?:[a-z]+:)?//", re.IGNORECASE)
_IN_STYLE: Final = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""", re.IGNORECASE)


class _Page(HTMLParser):
    """A page: the IDs of its elements, the targets of its links, and the resources that it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids = {""}
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value}
        self.ids |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        self.loaded += [values[name] for name, tags in _LOADED.items() if tag in tags and name in values]


def problems(site: Path) -> list[str]:
    """Return the broken links of a site, and the resources that it would load from other hosts."""
    read = functools.cache(lambda path: _Page(path.read_text()))
    found: dict[str, None] = {}
    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site)
        page = read(path)
        found |= {f"{name} loads {url} from another host": None for url in page.loaded if _FOREIGN.match(url)}
        for link in (*page.links, *page.loaded):
            reason = "" if _is_elsewhere(link) else _missing(path, link, read)
            found |= {f"{name}: the link {link} leads to {reason}": None} if reason else {}
    return [*found, *_styles(site)]


def _is_elsewhere(link: str) -> bool:
    return bool(re.match(r"[a-z]+:|//", link, re.IGNORECASE))


def _missing(path: Path, link: str, read: functools._lru_cache_wrapper[_Page]) -> str:
    """Return the missing target of a link; empty if it exists."""
    place, _, anchor = link.partition("#")
    target = path.parent / unquote(place.partition("?")[0]) if place else path
    target = target / "index.html" if target.is_dir() else target
    if not target.exists():
        return "a file that does not exist"
    if target.suffix == ".html" and unquote(anchor) not in read(target).ids:
        return "a place that the page does not have"
    return ""


def _styles(site: Path) -> Iterator[str]:
    """Return the resources that the styles load from other hosts."""
    for path in sorted(site.rglob("*.css")):
        for url in _IN_STYLE.findall(path.read_text()):
            yield f"{path.relative_to(site)} loads {url} from another host"
