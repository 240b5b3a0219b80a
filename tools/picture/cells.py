"""Lines of a terminal: characters with their colors."""

from __future__ import annotations

import attrs


@attrs.frozen
class Style:
    """The style of a character. The color is a number of the 16 colors of terminals, or None for the default."""

    color: int | None = None
    bold: bool = False
    underlined: bool = False


PLAIN = Style()


@attrs.frozen
class Cell:
    """A character on the screen."""

    text: str
    style: Style = PLAIN


Line = tuple[Cell, ...]


def text_of(line: Line) -> str:
    """Return the text of a line, without spaces at its end."""
    return "".join(cell.text for cell in line).rstrip()


def line_of(text: str, style: Style = PLAIN) -> Line:
    """Return a line of cells with one style."""
    return tuple(Cell(character, style) for character in text)
