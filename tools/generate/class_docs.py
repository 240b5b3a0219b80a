"""Docstrings for the SDK's classes: Pulumi's generator writes the descriptions only where `help()` does not look."""

from __future__ import annotations

import ast
import inspect
import textwrap
from pathlib import Path


def add_docstrings(folder: Path) -> None:
    """Add a docstring to every class below a folder that has none, from what the generator wrote elsewhere."""
    for path in sorted(folder.rglob("*.py")):
        source = path.read_text()
        documented = _documented(source)
        if documented != source:
            path.write_text(documented)


def _documented(source: str) -> str:
    classes = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}
    lines = source.split("\n")
    # From the last class to the first, so that insertions do not move the lines that are still to be found.
    for node in sorted(classes.values(), key=lambda node: -node.lineno):
        description = "" if ast.get_docstring(node) else _description(node, classes)
        if description:
            first = node.body[0]
            start = min([first.lineno, *(item.lineno for item in getattr(first, "decorator_list", ()))])
            lines[start - 1 : start - 1] = _docstring(description)
    return "\n".join(lines)


def _description(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> str:
    """Take the docstring of the class's TypedDict twin, or of its `__init__` without the parameters."""
    twin = classes.get(f"{node.name}Dict")
    inits = (item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__")
    docstrings = [ast.get_docstring(item) or "" for item in ([twin] if twin else inits)]
    return inspect.cleandoc(docstrings[0].partition(":param ")[0]).strip() if docstrings else ""


def _docstring(description: str) -> list[str]:
    escaped = description.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return [*textwrap.indent(f'"""\n{escaped}\n"""', "    ").split("\n")]
