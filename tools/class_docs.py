"""Give the SDK's classes their descriptions, which Pulumi's generator writes only where `help()` does not look."""

from __future__ import annotations

import ast
import inspect
import textwrap
from pathlib import Path


def describe(folder: Path) -> None:
    """Describe every class below a folder that has no description yet."""
    for path in sorted(folder.rglob("*.py")):
        source = path.read_text()
        described = _described(source)
        if described != source:
            path.write_text(described)


def _described(source: str) -> str:
    classes = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}
    lines = source.split("\n")
    for node in sorted(classes.values(), key=lambda node: -node.lineno):
        words = "" if ast.get_docstring(node) else _words(node, classes)
        if words:
            first = node.body[0]
            start = min([first.lineno, *(item.lineno for item in getattr(first, "decorator_list", ()))])
            lines[start - 1 : start - 1] = _docstring(words)
    return "\n".join(lines)


def _words(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> str:
    """Take the description of the class as a dict, or what is said where it is made, without the parameters."""
    twin = classes.get(f"{node.name}Dict")
    made = (item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__")
    said = [ast.get_docstring(item) or "" for item in ([twin] if twin else made)]
    return inspect.cleandoc(said[0].partition(":param ")[0]).strip() if said else ""


def _docstring(words: str) -> list[str]:
    safe = words.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return [*textwrap.indent(f'"""\n{safe}\n"""', "    ").split("\n")]
