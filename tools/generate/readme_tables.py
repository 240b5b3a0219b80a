"""The tables of README.md that follow from the declarations: resources, functions, import IDs and settings.

Each table stands between two comments, `<!-- table: NAME -->` and `<!-- end of table -->`. Everything else in the file
is written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from workspace import ROOT

from gcpx.config import KIND
from gcpx.model.fields import object_type
from gcpx.model.values import format_path
from gcpx.provider import FUNCTIONS, RESOURCES, function_class, resource_class
from generate.package_schema import example_of

_TABLE: Final = re.compile(r"<!-- table: (\w+) -->\n.*?<!-- end of table -->", re.DOTALL)


def text() -> str:
    """Return the text of `README.md`: the current file with every table regenerated.

    Raises:
        KeyError: if the file names a table that does not exist.
    """
    return _TABLE.sub(lambda found: _between_comments(found[1]), (ROOT / "README.md").read_text())


def _between_comments(name: str) -> str:
    table = "\n".join(_row(row) for row in _TABLES[name]())
    return f"<!-- table: {name} -->\n{table}\n<!-- end of table -->"


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _resources() -> Iterator[tuple[str, ...]]:
    yield ("resource", "what it is", "what changes in place", "example")
    yield ("---", "---", "---", "---")
    for token in RESOURCES:
        resource = resource_class(token)
        description = _first_sentence(object_type(resource.model).description)
        paths = ", ".join(sorted(f"`{format_path(path)}`" for path in resource.in_place))
        yield (f"`{token}`", description, paths or "nothing", _example(example_of(resource)))


def _functions() -> Iterator[tuple[str, ...]]:
    yield ("function", "what it does", "example")
    yield ("---", "---", "---")
    for token in FUNCTIONS:
        function = function_class(token)
        yield (f"`{token}`", _first_sentence(function.description), _example(function.example))


def _ids() -> Iterator[tuple[str, ...]]:
    yield ("resource", "forms of its ID")
    yield ("---", "---")
    for token in RESOURCES:
        forms = resource_class(token).id_forms
        yield (f"`{token}`", "<br>".join(form if " " in form else f"`{form}`" for form in forms))


def _settings() -> Iterator[tuple[str, ...]]:
    yield ("setting", "meaning", "environment variables")
    yield ("---", "---", "---")
    for name, prop in KIND.inputs.items():
        yield (f"`{name}`", prop.traits.description, ", ".join(f"`{name}`" for name in prop.traits.environment))


def _first_sentence(description: str) -> str:
    return re.split(r"(?<=\.)\s", description, maxsplit=1)[0]


def _example(folder: str) -> str:
    return f"[{folder}](examples/{folder}/__main__.py)"


_TABLES: Final[dict[str, Callable[[], Iterator[tuple[str, ...]]]]] = {
    "functions": _functions,
    "ids": _ids,
    "resources": _resources,
    "settings": _settings,
}
