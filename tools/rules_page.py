"""Every rule that a preview holds inputs to, from the declarations: `make schema` writes `RULES.md`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import attrs

from gcpx.model.fields import ListOf, MapOf, ObjectType, Property, Traits, object_of, object_type
from gcpx.provider import FUNCTIONS, RESOURCES, function_class, resource_class

_ROOT = Path(__file__).parents[1]
_TEST = "tests/model/test_rules.py"
_HEAD = f"""# Rules

What a preview refuses, and what it only warns about, by object and property. Written by `make schema` from the
declarations; `test_both_sides` of `{_TEST}` holds each row to both of its sides, through the
plugin, in the case that the row names, and the file fails for a row that it has no case for. Beside these: every value
has its type, unknown properties are refused with a suggestion, what only Google sets is no input, and what a preview
cannot know yet is never wrong.

A source such as *compute 2.2* is a section of the Compute API's documentation. *warns* means that newer machine
families, disks and values may go further than the documentation, so the value is sent all the same.

"""


@attrs.frozen
class Row:
    """One rule.

    Attributes:
        key: tells it apart, and is its case's name in the tests.
        token, path: a place where it holds, `[]` standing for an element and `*` for a key.
        kind: what is bounded, or the rule's name.
    """

    key: str
    token: str
    path: tuple[str, ...]
    object: str
    property: str
    kind: str
    words: str
    warns: bool
    source: str
    module: str


def rows() -> Iterator[Row]:
    """Give every rule once, at the place of its object that is the shortest to write."""
    kinds = [(token, object_type(resource_class(token).model)) for token in RESOURCES]
    kinds += [(token, object_type(function_class(token).arguments)) for token in FUNCTIONS]
    places: dict[str, tuple[str, tuple[str, ...], ObjectType]] = {}
    for token, kind in sorted(kinds, key=lambda item: item[0] != "gcpx:compute:InstanceTemplate"):
        for path, found in _objects(kind, ()):
            if found.name not in places or len(path) < len(places[found.name][1]):
                places[found.name] = (token, path, found)
    for token, path, found in places.values():
        yield from _rows(token, path, found)


def _objects(kind: ObjectType, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], ObjectType]]:
    yield path, kind
    for name, prop in kind.inputs.items():
        inner = object_of(prop.type)
        if inner is not None:
            yield from _objects(inner, (*path, name, *_marks(prop)))


def object_name(kind: ObjectType) -> str:
    """Name an object as users know it: a resource by its own name."""
    return kind.name.removesuffix("Model")


def _marks(prop: Property) -> Iterator[str]:
    kind = prop.type
    while isinstance(kind, ListOf | MapOf):
        yield "[]" if isinstance(kind, ListOf) else "*"
        kind = kind.item


def _rows(token: str, path: tuple[str, ...], kind: ObjectType) -> Iterator[Row]:
    for name, prop in kind.inputs.items():
        for bound, words, warns in _bounds(prop):
            key = f"{object_name(kind)}.{name} {bound}"
            yield Row(key, token, path, object_name(kind), name, bound, words, warns, prop.traits.source, kind.module)
    for rule in kind.rules:
        key, module = f"{object_name(kind)}: {rule.name}", getattr(rule.find, "__module__", kind.module)
        where = kind.module if module == "gcpx.model.rules" else module
        yield Row(key, token, path, object_name(kind), "", rule.name, rule.words, rule.warns, rule.source, where)


def _bounds(prop: Property) -> Iterator[tuple[str, str, bool]]:
    traits = prop.traits
    if traits.required:
        yield "required", "is required", False
    if traits.deprecated:
        yield "deprecated", f"is deprecated: {traits.deprecated}", True
    if traits.enum:
        yield "values", f"one of {', '.join(f'`{value}`' for value in traits.enum)}", False
    if traits.enum and not traits.closed:
        yield "new values", "another value that is written like these is new, and sent", True
    if traits.pattern:
        yield "form", traits.pattern[1], False
    yield from _sizes(traits)


def _sizes(traits: Traits) -> Iterator[tuple[str, str, bool]]:
    if traits.minimum is not None:
        yield "least", f"at least {traits.minimum:,}", False
    if traits.maximum is not None:
        yield "most", f"at most {traits.maximum:,}", False
    if traits.multiple_of:
        yield "step", f"a multiple of {traits.multiple_of}", False
    if traits.max_length is not None:
        yield "length", f"at most {traits.max_length:,} characters", False
    if traits.max_items is not None:
        count = f"exactly {traits.max_items}" if traits.min_items == traits.max_items else f"at most {traits.max_items}"
        yield "elements", f"{count} element{'s' if traits.max_items > 1 else ''}", False


def text() -> str:
    """Write the table, grouped by object."""
    lines, last = [], ""
    for row in rows():
        if row.object != last:
            last, place = row.object, ".".join(row.path).replace(".[]", "[]")
            lines.append(f"\n## {row.object}\n\n`{row.token}`{f' at `{place}`' if place else ''}\n")
            lines.append("| property | rule | | source | code | test |\n| --- | --- | --- | --- | --- | --- |")
        code = f"provider/{row.module.replace('.', '/')}.py"
        name = f"`{row.property}`" if row.property else "*across*"
        lines.append(
            f"| {name} | {row.words} | {'warns' if row.warns else ''} | {row.source} | `{code}` | `{row.key}` |"
        )
    return _HEAD + "\n".join(lines).strip() + "\n"


def main() -> None:
    """Write the file."""
    (_ROOT / "RULES.md").write_text(text())


if __name__ == "__main__":
    main()
