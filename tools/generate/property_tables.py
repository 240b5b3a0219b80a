"""Properties as Markdown tables: description, type, limits, and the effect of a change."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import attrs

from gcpx.model.fields import ListOf, MapOf, ObjectType, Property, Type, object_of
from gcpx.model.values import Path, format_path
from generate.rule_rows import Row, object_name, rows
from generate.schema_types import description_of

_SENTENCE_END: Final = re.compile(r"(?<=\.) (?=Default: )")
_NO_LIMITS: Final = ("required", "deprecated", "values", "new values")
"""Kinds of limits that other parts of a property's row show."""


@attrs.frozen
class Table:
    """A table of properties.

    Attributes:
        kind: the object that has the properties.
        in_place: the paths that change in place; None if no change replaces anything by itself.
        elsewhere: the pages that describe types, by type name; the same page describes other types.
    """

    kind: ObjectType
    in_place: frozenset[Path] | None = None
    elsewhere: Mapping[str, str] = attrs.Factory(dict)

    def text(self, properties: Iterable[Property]) -> str:
        """Return the table of some of the object's properties, the required ones first."""
        shown = (prop for prop in properties if not prop.traits.hidden)
        ordered = sorted(shown, key=lambda prop: (prop.traits.output, not prop.traits.required))
        return "\n".join(
            ["| property | what it is |", "| --- | --- |", *(self._row(prop, ordered) for prop in ordered), ""]
        )

    def rules(self) -> str:
        """List the rules across the object's properties; empty without any."""
        lines = [
            f"- {_in_code(row.words)}{' (warning)' if row.warns else ''}{f' ({row.source})' if row.source else ''}"
            for row in _rows().get(object_name(self.kind), ())
            if not row.property
        ]
        return "\n".join(["gcpx also checks these rules:", "", *lines, ""]) if lines else ""

    def _row(self, prop: Property, beside: list[Property]) -> str:
        self_evident = ("output",) if all(other.traits.output for other in beside) else ()
        flags = ", ".join(flag for flag in self._flags(prop) if flag not in self_evident)
        name = [f"**`{prop.name}`**", self._type_words(prop.type), *([f"*{flags}*"] if flags else [])]
        cells = ("<br>".join(name), "<br>".join(self._lines(prop)))
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

    def _flags(self, prop: Property) -> Iterator[str]:
        traits = prop.traits
        names = {"required": traits.required, "secret": traits.secret, "beta": traits.beta, "output": traits.output}
        yield from (name for name, holds in names.items() if holds)
        if traits.deprecated:
            yield "deprecated"
        if self.in_place is not None and not traits.output and (prop.name,) not in self.in_place:
            yield "replaces"

    def _lines(self, prop: Property) -> Iterator[str]:
        yield from _SENTENCE_END.split(description_of(prop), maxsplit=1)
        if prop.traits.deprecated:
            yield f"Deprecated: {prop.traits.deprecated}"
        for label, limits in self._limits(prop).items():
            yield f"{label}: {_in_code('; '.join(limits))}."
        if prop.traits.enum and prop.traits.closed:
            yield "Any other value is refused."
        below = sorted(path for path in self.in_place or () if path[0] == prop.name and len(path) > 1)
        if below:
            yield f"Changes in place: {', '.join(f'`{format_path(path)}`' for path in below)}."
        source = next((row.source for row in self._rows_of(prop) if row.source), "")
        if source:
            yield f"Source: {source}."

    def _rows_of(self, prop: Property) -> list[Row]:
        return [row for row in _rows().get(object_name(self.kind), ()) if row.property == prop.name]

    def _limits(self, prop: Property) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for row in self._rows_of(prop):
            if row.kind not in _NO_LIMITS:
                found.setdefault("Form" if row.kind == "form" else "Limits", []).append(row.words)
        return found

    def _type_words(self, kind: Type) -> str:
        """Describe a type in words; an object links to its section."""
        if isinstance(kind, ListOf):
            return f"list of {self._type_words(kind.item)}"
        if isinstance(kind, MapOf):
            return f"map of {self._type_words(kind.item)}"
        if isinstance(kind, ObjectType):
            return f"[{kind.name}]({self.elsewhere.get(kind.name, '')}#{kind.name.lower()})"
        return kind.name


def _in_code(words: str) -> str:
    """Mark names of properties as code, as far as camel case distinguishes them from English words."""
    return re.sub(r"(?<![\w/])(?:[a-z]\w*\.)*[a-z][a-z0-9]+[A-Z]\w*(?:\.\w+)*(?![\w/])", r"`\g<0>`", words)


def nested_types(*properties: Property) -> list[ObjectType]:
    """List the objects in properties at any depth, each once, in the order of their first use."""
    found: dict[str, ObjectType] = {}
    waiting = list(properties)
    while waiting:
        prop = waiting.pop(0)
        kind = object_of(prop.type)
        if kind is not None and kind.name not in found and not prop.traits.hidden:
            found[kind.name] = kind
            waiting += kind.properties.values()
    return list(found.values())


@functools.cache
def _rows() -> dict[str, list[Row]]:
    """Return all limits and rules by the name of their object."""
    found: dict[str, list[Row]] = {}
    for row in rows():
        found.setdefault(row.object, []).append(row)
    return found
