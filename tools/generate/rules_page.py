"""The page of all rules: the text of `RULES.md`, by resource and function, and by object where several share one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

import attrs

from gcpx.model.fields import Traits
from generate.rule_rows import Path, Row, places, rows
from generate.rules_outline import Outline

_TEST: Final = "tests/model/test_rules.py"
_FIELD_SOURCE: Final = attrs.fields(Traits).source.default
"""The source of a limit whose declaration names none."""
_LONG: Final = 20
"""A section with more lines has a separate table for each of its properties with many rules."""
_MANY: Final = 5
"""A property with as many lines has a separate table in a long section."""
_KINDS: Final = ("Resources", "Objects that are used in several places", "Functions")
_UPPER_CASE: Final = {"ip": "IP", "os": "OS"}
_INTRODUCTION: Final = f"""# Rules

A preview checks every input before anything is created. This page lists what it checks: for each property, what must
hold, and what happens otherwise:

- *refused*: the preview fails, and names the property and what is required.
- *warning*: the preview prints a warning and sends the value, because newer machine families, disk types or versions of
  the API may allow it. A *new value* is one that is not listed but has the same form as those that are.

These rules apply everywhere and are not repeated below:

- A value has the type that the schema declares. A number may also be written as a string.
- An unknown property is refused, with a suggestion if its name is close to a known one.
- A property that only Google sets is refused in the inputs.
- A value that is not known yet during the preview is never refused.

In a path, `[]` stands for any element of a list and `*` for any key of a map. A line without a property is about the
resource or object as a whole.

The source is where the rule is documented: a page of Google's documentation by its title, a file of gcpx, or a resource
or method of a REST reference, with the field after the comma. *REST reference* alone is that of
[Compute Engine](https://cloud.google.com/compute/docs/reference/rest/v1); the others are those of
[Cloud Storage](https://cloud.google.com/storage/docs/json_api/v1) and
[OS Login](https://cloud.google.com/compute/docs/oslogin/rest). A line without a source follows the description of the
same field in the REST reference or, for a property that gcpx adds, the property's own description.

`make schema` writes this page from the declarations in the code. Every rule has a case in
[`{_TEST}`]({_TEST}): a value that the rule accepts and one that it does not, both
tried through the running plugin. A rule without a case fails the tests. To run the cases of one property:
`.venv/bin/python -m pytest {_TEST} -k machineType`.
"""


def text() -> str:
    """Return the text of `RULES.md`."""
    outline = Outline.of(places())
    found = list(rows())
    names = sorted(outline.usages, key=lambda name: _kind(outline, name))
    own = {name: [row for row in found if outline.section(row.object) == name] for name in names}
    sections = [Section(name, own[name], outline) for name in names if own[name]]
    return "\n".join([_INTRODUCTION, _contents(sections), *(section.text() for section in sections)])


def _contents(sections: list[Section]) -> str:
    lines = ["## Contents\n"]
    for kind, heading in enumerate(_KINDS):
        links = [section.link for section in sections if _kind(section.outline, section.name) == kind]
        lines.append(f"- {heading}: {', '.join(links)}")
    return "\n".join(lines) + "\n"


def _kind(outline: Outline, name: str) -> int:
    """Tell the three kinds of sections apart, by their place in `_KINDS`; a function's name begins in lower case."""
    if name not in outline.tokens:
        return 1
    return 2 if outline.tokens[name][0].rpartition(":")[2][0].islower() else 0


@attrs.frozen
class Line:
    """A line of a table: one rule, or the limits of one property.

    Attributes:
        path: the object within its section.
        limits: the rule, or all limits of one property that have the same source.
    """

    path: Path
    limits: list[Row]

    @property
    def head(self) -> str:
        """The property of the section that holds the object; empty if the object is the section's own."""
        return self.path[0] if self.path else ""

    def __str__(self) -> str:
        paths = [(*self.path, name) for name in self.limits[0].properties] or [self.path]
        where = ", ".join(f"`{_format(path)}`" for path in paths if path)
        words = "; ".join(row.words for row in self.limits if row.kind != "new values")
        source = self.limits[0].source
        cells = (where, in_code(words), self._otherwise, "" if source == _FIELD_SOURCE else source)
        return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"

    @property
    def _otherwise(self) -> str:
        if all(row.warns for row in self.limits):
            return "warning"
        return "refused; new value: warning" if any(row.warns for row in self.limits) else "refused"


def in_code(words: str) -> str:
    """Mark names of properties as code, as far as camel case tells them from English words."""
    return re.sub(r"(?<![\w/])[a-z][a-z0-9]+[A-Z]\w*(?:\.\w+)*(?![\w/])", r"`\g<0>`", words)


@attrs.frozen
class Section:
    """The rules of a resource, of a function, or of an object that is used in several places.

    Attributes:
        name: the object whose section it is.
        rows: the rules of that object and of those that only it uses.
        outline: all objects.
    """

    name: str
    rows: list[Row]
    outline: Outline

    def text(self) -> str:
        """Write the section in Markdown."""
        lines = list(self._lines())
        heads = [line.head for line in lines if line.head]
        separate = {head: None for head in heads if len(lines) > _LONG and heads.count(head) >= _MANY}
        parts = [f"## {self.title}\n", self._summary(), _table(line for line in lines if line.head not in separate)]
        for head in separate:
            parts += [f"### {self.title}: `{head}`\n", _table(line for line in lines if line.head == head)]
        return "\n".join([*parts, self._origin()])

    @property
    def title(self) -> str:
        """The heading: the names of its resources or functions, or the object's name in words."""
        return _title(self.outline, self.name)

    @property
    def link(self) -> str:
        """A link to the section."""
        return _link(self.title)

    def _lines(self) -> Iterator[Line]:
        """Yield the lines of the tables: the limits of a property together, each rule and deprecation alone."""
        groups: dict[tuple[str, ...], list[Row]] = {}
        for row in self.rows:
            alone = row.kind if not row.property or row.kind == "deprecated" else ""
            groups.setdefault((row.object, row.property, row.source, alone), []).append(row)
        for (name, *_), limits in groups.items():
            yield Line(self.outline.path(name), limits)

    def _summary(self) -> str:
        """Say where the section's object is used, and where the rules of further properties are."""
        tokens = ", ".join(f"`{token}`" for token in self.outline.tokens.get(self.name, ()))
        users = [f"{paths} of {link}" for link, paths in self._references(self.outline.users(self.name))]
        uses = [f"{link} for {paths}" for link, paths in self._references(self.outline.uses(self.name))]
        about = tokens or f"Used at {', '.join(users)}"
        return f"{about}. See also {'; '.join(uses)}.\n" if uses else f"{about}.\n"

    def _references(self, paths: dict[str, list[Path]]) -> Iterator[tuple[str, str]]:
        for name, found in paths.items():
            yield _link(_title(self.outline, name)), ", ".join(f"`{_format(path)}`" for path in found)

    def _origin(self) -> str:
        """Name the modules that declare the rules, and the tests' cases."""
        paths = sorted({f"provider/{row.module.replace('.', '/')}.py" for row in self.rows})
        code = ", ".join(f"[{path.removeprefix('provider/gcpx/')}]({path})" for path in paths)
        cases = ", ".join(f"`{name}`" for name in dict.fromkeys(row.object for row in self.rows))
        return f"Declared in {code}. Names of test cases begin with {cases}.\n"


def _title(outline: Outline, name: str) -> str:
    tokens = outline.tokens.get(name)
    if tokens:
        return ", ".join(token.rpartition(":")[2] for token in tokens)
    words = re.sub(r"(?<!^)(?=[A-Z])", " ", name).lower().split()
    text = " ".join(_UPPER_CASE.get(word, word) for word in words)
    return text[0].upper() + text[1:]


def _link(title: str) -> str:
    """Link to a heading by the name that Markdown viewers give it."""
    return f"[{title}](#{re.sub('[^a-z0-9-]', '', title.lower().replace(' ', '-'))})"


def _format(path: Path) -> str:
    """Write a path as users do: `properties.disks[].diskSizeGb`."""
    return ".".join(path).replace(".[]", "[]")


def _table(lines: Iterable[Line]) -> str:
    head = "| property | what must hold | otherwise | source |\n| --- | --- | --- | --- |"
    return "\n".join([head, *map(str, lines)]) + "\n"
