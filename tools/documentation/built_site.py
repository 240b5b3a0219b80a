"""Checks that a built site loads nothing from another host. Sphinx and `sources` check its links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_ELEMENT: Final = re.compile(r"<(?!a\b)[a-z]+\b[^>]*>", re.IGNORECASE)
"""An element that is no link."""
_IN_ELEMENT: Final = re.compile(r"""\b(?:data|href|src|srcset)=["']((?:https?:)?//[^"'\s]+)""", re.IGNORECASE)
_IN_STYLE: Final = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""", re.IGNORECASE)


def problems(site: Path) -> Iterator[str]:
    """Return what the pages and the styles of a site would load from other hosts."""
    for path in sorted(site.rglob("*.html")):
        elements = " ".join(_ELEMENT.findall(path.read_text()))
        yield from (f"{path.relative_to(site)} loads {url} from another host" for url in _IN_ELEMENT.findall(elements))
    for path in sorted(site.rglob("*.css")):
        urls = _IN_STYLE.findall(path.read_text())
        yield from (f"{path.relative_to(site)} loads {url} from another host" for url in urls)
