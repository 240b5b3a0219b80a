"""The generated tables in documents: resources, functions, import IDs and settings.

Each table stands between two comments, `<!-- table: NAME -->` and `<!-- end of table -->`. Everything else in these
files is written by hand.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from workspace import ROOT

from gcpx.config import KIND
from gcpx.model.fields import object_type
from gcpx.model.state import absent_output
from gcpx.provider import FUNCTIONS, RESOURCES, function_class, resource_class
from generate.examples import FILES, example_of
from generate.reference_pages import path_of, paths_in_place

TABLES: Final = {
    "README.md": ("resources",),
    "docs/importing.md": ("ids",),
    "docs/resources.md": ("in-place", "unknown", "functions"),
    "docs/settings.md": ("settings",),
}
"""The documents with generated tables, and the names of their tables in order."""
_LINK: Final = re.compile(r"\]\(((?:docs|examples)/[^)]*)\)")
"""A link in a row, from the root."""
_TABLE: Final = re.compile(r"<!-- table: ([\w-]+) -->\n.*?<!-- end of table -->", re.DOTALL)


def text(path: str) -> str:
    """Return the text of a document: the current file with every table regenerated.

    Args:
        path: the document's path from the root, one of `TABLES`.

    Raises:
        KeyError: if the file names a table that does not exist.
    """
    document = ROOT / path
    return _TABLE.sub(lambda found: _between_comments(found[1], document.parent), document.read_text())


def _between_comments(name: str, folder: Path) -> str:
    """Return a table with its comments; links are relative to the folder of the document."""
    table = "\n".join(_row(row) for row in _ROWS[name]())
    table = _LINK.sub(lambda link: f"]({os.path.relpath(ROOT / link[1], folder)})", table)
    return f"<!-- table: {name} -->\n{table}\n<!-- end of table -->"


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _resources() -> Iterator[tuple[str, ...]]:
    yield ("resource", "what it is", "example")
    yield ("---", "---", "---")
    for token in RESOURCES:
        resource = resource_class(token)
        description = _first_sentence(object_type(resource.model).description)
        yield (_page(token), description, _example(token))


def _in_place() -> Iterator[tuple[str, ...]]:
    yield ("resource", "what changes in place")
    yield ("---", "---")
    for token in RESOURCES:
        yield (_page(token), paths_in_place(resource_class(token)))


def unknown_outputs(token: str) -> list[str]:
    """Return the outputs of a resource that a preview does not know while the resource lacks them."""
    return sorted(
        name
        for name, prop in object_type(resource_class(token).model).properties.items()
        if absent_output(prop) is None and not (prop.traits.always or prop.traits.required or prop.traits.hidden)
    )


def _unknown_outputs() -> Iterator[tuple[str, ...]]:
    yield ("resource", "outputs that stay unknown")
    yield ("---", "---")
    for token in RESOURCES:
        yield (_page(token), ", ".join(f"`{name}`" for name in unknown_outputs(token)) or "none")


def _functions() -> Iterator[tuple[str, ...]]:
    yield ("function", "what it does", "example")
    yield ("---", "---", "---")
    for token in FUNCTIONS:
        function = function_class(token)
        yield (_page(token), _first_sentence(function.description), _example(token))


def _ids() -> Iterator[tuple[str, ...]]:
    yield ("resource", "forms of its ID")
    yield ("---", "---")
    for token in RESOURCES:
        forms = resource_class(token).id_forms
        yield (_page(token), "<br>".join(form if " " in form else f"`{form}`" for form in forms))


def _settings() -> Iterator[tuple[str, ...]]:
    yield ("setting", "meaning", "environment variables")
    yield ("---", "---", "---")
    for name, prop in KIND.inputs.items():
        yield (f"`{name}`", prop.traits.description, ", ".join(f"`{name}`" for name in prop.traits.environment))


def _page(token: str) -> str:
    return f"[`{token}`]({path_of(token)})"


def _first_sentence(description: str) -> str:
    return re.split(r"(?<=\.)\s", description, maxsplit=1)[0]


def _example(token: str) -> str:
    folder = example_of(token)
    return f"[{folder}](examples/{folder}/{FILES['python']})"


_ROWS: Final[dict[str, Callable[[], Iterator[tuple[str, ...]]]]] = {
    "functions": _functions,
    "ids": _ids,
    "in-place": _in_place,
    "resources": _resources,
    "settings": _settings,
    "unknown": _unknown_outputs,
}
