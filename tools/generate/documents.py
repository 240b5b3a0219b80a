"""The documents that are generated from the declarations: their paths and contents."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from workspace import ROOT

from generate import (
    api_permissions,
    clients_page,
    document_tables,
    emulator_page,
    package_schema,
    permissions_page,
    reference_pages,
    registry_pages,
    value_types,
)

TEXTS: Final[dict[str, Callable[[], str]]] = {
    **{path: partial(document_tables.text, path) for path in document_tables.TABLES},
    **{path: partial(registry_pages.text, path) for path in (registry_pages.INDEX, registry_pages.INSTALLATION)},
    "docs/emulator-clients.md": clients_page.text,
    "docs/emulator-coverage.md": emulator_page.text,
    "docs/permissions.md": permissions_page.text,
    api_permissions.TABLE: api_permissions.text,
    **reference_pages.pages(),
    **value_types.paths(),
    "schema.json": package_schema.text,
}


def write() -> None:
    """Write every document, and delete the pages of resources and functions that no longer exist."""
    (ROOT / reference_pages.FOLDER).mkdir(exist_ok=True)
    for path, text in TEXTS.items():
        (ROOT / path).write_text(text())
    for path in _superfluous():
        (ROOT / path).unlink()


def outdated() -> list[str]:
    """Return the paths of outdated documents."""
    return [path for path, text in TEXTS.items() if _current(path) != text()] + _superfluous()


def _current(path: str) -> str:
    file = ROOT / path
    return file.read_text() if file.exists() else ""


def _superfluous() -> list[str]:
    """Return the files in the reference's folder that belong to no resource or function."""
    found = sorted(str(path.relative_to(ROOT)) for path in (ROOT / reference_pages.FOLDER).glob("*"))
    return [path for path in found if path not in TEXTS]
