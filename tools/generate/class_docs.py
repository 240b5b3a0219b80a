"""Adds docstrings to the SDK's classes: Pulumi's generator writes descriptions in places that `help()` ignores."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_PARAMETER: Final = re.compile(r"^ *:param .*$", re.MULTILINE)
"""A parameter in a docstring; its type names built-in types as the generated code does, such as `_builtins.str`."""


def add_docstrings(folder: Path) -> None:
    """Add a docstring to every class and constructor below a folder that lacks one, from the generated descriptions."""
    for path in sorted(folder.rglob("*.py")):
        source = path.read_text()
        documented = _documented(_PARAMETER.sub(lambda found: found[0].replace("_builtins.", ""), source))
        if documented != source:
            path.write_text(documented)


def _documented(source: str) -> str:
    classes = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}
    missing = [found for node in classes.values() for found in _missing(node, classes)]
    lines = source.split("\n")
    # From the last one to the first, so that insertions do not move the remaining lines.
    for node, description in sorted(missing, key=lambda found: -found[0].lineno):
        first = node.body[0]
        start = min([first.lineno, *(item.lineno for item in getattr(first, "decorator_list", ()))])
        lines[start - 1 : start - 1] = _docstring(description, first.col_offset)
    return "\n".join(lines)


def _missing(
    node: ast.ClassDef, classes: dict[str, ast.ClassDef]
) -> Iterator[tuple[ast.ClassDef | ast.FunctionDef, str]]:
    """Yield a class without a docstring, or its last constructor, which is the one that runs; and the text."""
    inits = [item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"]
    twin = classes.get(f"{node.name}Dict")
    # A class's own documentation is that of its TypedDict twin, or that of its first constructor.
    documentation = next((ast.get_docstring(item) or "" for item in ([twin] if twin else inits)), "")
    description, param, parameters = documentation.partition(":param ")
    if description.strip() and not ast.get_docstring(node):
        yield node, inspect.cleandoc(description).strip()
    if parameters and not ast.get_docstring(inits[-1]):
        yield inits[-1], f"{param}{parameters}"


def _docstring(description: str, indent: int) -> list[str]:
    escaped = description.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return textwrap.indent(f'"""\n{escaped}\n"""', " " * indent).split("\n")
