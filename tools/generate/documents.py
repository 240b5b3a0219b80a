"""The documents that follow from the declarations: their paths in the repository, and what each must contain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from workspace import ROOT

from generate import package_schema, permissions_page, readme_tables, rules_page

TEXTS: Final[dict[str, Callable[[], str]]] = {
    "README.md": readme_tables.text,
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
