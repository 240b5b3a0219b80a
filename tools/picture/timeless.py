"""Removes the parts of a screen that vary between runs: durations, and the moving dots of resources in progress."""

from __future__ import annotations

import re
from typing import Final

from picture.cells import Line, line_of, text_of

_VARIES: Final = re.compile(r"(?<=\w)( \(\d[\dm.]*s\))?\.*$")
_GAP: Final = line_of("  ")


def without_times(lines: list[Line]) -> list[Line]:
    """Return the lines without times in the column `Status`, and with its width adapted to the remaining text.

    The line with the duration of the update, and empty lines at the end, are left out, too.
    """
    result: list[Line] = []
    table: list[Line] = []
    for line in [*(line for line in lines if not text_of(line).startswith("Duration: ")), ()]:
        if table and not text_of(line):
            result += _table(table)
            table = []
        if table or re.search(r" Type +Name +(Plan|Status)", text_of(line)):
            table.append(line)
        else:
            result.append(line)
    while result and not text_of(result[-1]):
        result.pop()
    return result


def _table(rows: list[Line]) -> list[Line]:
    """Return the rows of a table, the heading first, without times."""
    heading = text_of(rows[0])
    start = re.search("Plan|Status", heading)
    end = re.search("Info", heading)
    assert start, "a table has a column Plan or Status"
    status = slice(start.start(), end.start() if end else None)
    statuses = [_without_time(row[status]) for row in rows]
    width = max(map(len, statuses))
    return [
        (*row[: status.start], *cell, *line_of(" " * (width - len(cell))), *_GAP, *(row[status.stop :] if end else ()))
        for row, cell in zip(rows, statuses, strict=True)
    ]


def _without_time(cells: Line) -> Line:
    """Return a status without its time and dots, and without the spaces after it."""
    text = text_of(cells)
    return cells[: len(_VARIES.sub("", text))]
