"""Draw a terminal's screen as SVG, for light and dark pages, with no font, script or image from elsewhere."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Final
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

import attrs

from picture.cells import Line, Style, text_of

_WIDTH: Final = 8.4
"""The width of a character of 14 pixels, in the fonts below."""
_HEIGHT: Final = 20
_MARGIN: Final = 20
_BAR: Final = 36
_FONTS: Final = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
_COLORS: Final = {
    "text": ("#1f2328", "#e6edf3"),
    "back": ("#f6f8fa", "#0d1117"),
    "edge": ("#d1d9e0", "#3d444d"),
    "1": ("#b3261e", "#ff7b72"),
    "2": ("#116329", "#56d364"),
    "3": ("#7d4e00", "#e3b341"),
    "5": ("#8250df", "#d2a8ff"),
    "8": ("#59636e", "#9198a1"),
    "9": ("#b3261e", "#ff7b72"),
    "10": ("#116329", "#56d364"),
    "12": ("#0550ae", "#79c0ff"),
    "13": ("#8250df", "#d2a8ff"),
}
"""The colors in light and dark; numbers are those of terminals."""
_SELECTORS: Final = {"text": "text", "back": ".back"}

_SVG: Final = "{http://www.w3.org/2000/svg}"
_WORDS: Final = re.compile(r"\S+(?: \S+)*")


@attrs.frozen
class Picture:
    """A screen with a text for people who cannot see it."""

    title: str
    description: str
    lines: tuple[Line, ...]


def draw(picture: Picture) -> str:
    """Return the picture as an SVG document; each line of the screen is one element `text`."""
    columns = max(len(text_of(line)) for line in picture.lines)
    width = round(columns * _WIDTH) + 2 * _MARGIN
    height = _BAR + len(picture.lines) * _HEIGHT + _MARGIN
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title description">',
        f'<title id="title">{escape(picture.title)}</title>',
        f'<desc id="description">{escape(picture.description)}</desc>',
        f"<style>{_styles()}</style>",
        f'<rect class="back" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>',
        *(f'<circle class="dot" cx="{x}" cy="18" r="5"/>' for x in (22, 40, 58)),
        *(_text(line, _BAR + 14 + row * _HEIGHT) for row, line in enumerate(picture.lines) if text_of(line)),
    ]
    return "\n".join((*parts, "</svg>", ""))


def text_lines(document: str) -> list[str]:
    """Return the non-empty lines of text of a drawn screen."""
    return [_text_of(line) for line in ET.fromstring(document).iter(f"{_SVG}text")]


def _text_of(line: ET.Element) -> str:
    """Return the text of a drawn line, with the spaces between its runs."""
    text = ""
    for run in line:
        text = text.ljust(round((float(run.attrib["x"]) - _MARGIN) / _WIDTH)) + (run.text or "")
    return text


def _styles() -> str:
    """Return the style sheet: the light colors, and the dark ones for those who prefer them."""
    light, dark = ("".join(_rule(name, colors[index]) for name, colors in _COLORS.items()) for index in (0, 1))
    fixed = f"text{{font:14px {_FONTS}}}.bold{{font-weight:700}}.line{{text-decoration:underline}}"
    return f"{fixed}{light}@media (prefers-color-scheme:dark){{{dark}}}"


def _rule(name: str, color: str) -> str:
    if name == "edge":
        return f".dot{{fill:{color}}}.back{{stroke:{color}}}"
    return f"{_SELECTORS.get(name, f'.c{name}')}{{fill:{color}}}"


def _text(line: Line, y: int) -> str:
    """Return a line as an element; each run has its own position, so that columns stay aligned in any font."""
    runs, column = [], 0
    for style, group in groupby(line, key=lambda cell: cell.style):
        text = "".join(cell.text for cell in group)
        runs += [_run(found[0], style, column + found.start()) for found in _WORDS.finditer(text)]
        column += len(text)
    return f'<text y="{y}">{"".join(runs)}</text>'


def _run(text: str, style: Style, column: int) -> str:
    """Return words of one style, with their position and length."""
    classes = [f"c{style.color}"] if str(style.color) in _COLORS else []
    classes += [name for name, wanted in (("bold", style.bold), ("line", style.underlined)) if wanted]
    named = f' class="{" ".join(classes)}"' if classes else ""
    x, length = _MARGIN + column * _WIDTH, len(text) * _WIDTH
    return f'<tspan{named} x="{x:.1f}" textLength="{length:.1f}">{escape(text)}</tspan>'
