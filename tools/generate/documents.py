"""The documents that follow from the declarations: their paths in the repository, and what each must contain."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from workspace import ROOT

from generate import document_tables, package_schema, permissions_page, registry_pages, rules_page

TEXTS: Final[dict[str, Callable[[], str]]] = {
    **{path: partial(document_tables.text, path) for path in document_tables.TABLES},
    **{path: partial(registry_pages.text, path) for path in (registry_pages.INDEX, registry_pages.INSTALLATION)},
    "RULES.md": rules_page.text,
    "docs/permissions.md": permissions_page.text,
    "schema.json": package_schema.text,
}


def write() -> None:
    """Write every document."""
    for path, text in TEXTS.items():
        (ROOT / path).write_text(text())


def outdated() -> list[str]:
    """Name the documents that differ from what the declarations give."""
    return [path for path, text in TEXTS.items() if (ROOT / path).read_text() != text()]
