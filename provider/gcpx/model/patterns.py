"""Forms that a text may have, made of named parts, so that a refusal can say which part is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import attrs


@attrs.frozen
class Part:
    """A part of a form: what it matches, and the same in words.

    Attributes:
        place: what may stand in its place, right or wrong, where the rest of the form is looked for.
    """

    regex: str
    words: str
    place: str = "[^/]*?"


class Form(NamedTuple):
    """What a whole text has to match, and its meaning in words.

    Attributes:
        shapes: the ways to write it, with the names of the parts in them: `projects/PROJECT/topics/TOPIC`.
        parts: the parts by name.
    """

    pattern: re.Pattern[str]
    words: str
    shapes: tuple[str, ...] = ()
    parts: Mapping[str, Part] = {}


Pattern = Form | tuple[re.Pattern[str], str]
"""A form; one without parts may be a plain pair."""


def form(*shapes: str, words: str = "", before: str = "", **parts: Part) -> Form:
    """Make a form of its shapes; `before` is what may stand in front of each, as a regular expression."""
    strict = "|".join(_regex(shape, {name: part.regex for name, part in parts.items()}) for shape in shapes)
    made = re.compile(f"(?:{before})?(?:{strict})" if before else strict)
    return Form(made, words or _listed(shapes), shapes, parts)


def wrong_part(pattern: Pattern, text: str) -> str | None:
    """Say which shape a text was to have, and which part of it is not as it has to be; None where no shape fits."""
    if not isinstance(pattern, Form):
        return None
    for shape in pattern.shapes:
        names = re.findall("|".join(pattern.parts), shape)
        places = {name: f"({part.place})" for name, part in pattern.parts.items()}
        found = re.fullmatch(_regex(shape, places, group=False), text)
        for name, given in zip(names, found.groups() if found else (), strict=False):
            part = pattern.parts[name]
            if not re.fullmatch(part.regex, given):
                return f"{shape}, where {name} is {part.words}" if shape != name else part.words
    return None


def _regex(shape: str, holes: Mapping[str, str], *, group: bool = True) -> str:
    pieces = re.split(f"({'|'.join(holes)})", shape) if holes else [shape]
    wrap = "(?:{})" if group else "{}"
    return "".join(wrap.format(holes[piece]) if piece in holes else re.escape(piece) for piece in pieces)


def _listed(shapes: tuple[str, ...]) -> str:
    return " or ".join(filter(None, (", ".join(shapes[:-1]), shapes[-1])))
