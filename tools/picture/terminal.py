"""A command in a pseudo-terminal of a fixed size, and the content of its screen."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import attrs
import pyte
from pyte.graphics import FG_BG_256
from pyte.screens import Char

from picture.cells import Cell, Line, Style, text_of

COLUMNS: Final = 160
ROWS: Final = 40
_PIECE: Final = 65536
_PATIENCE: Final = 300
"""The longest silence of a command, in seconds."""


class _Screen(pyte.Screen):
    """A screen that answers the questions of commands, such as where the cursor is."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(COLUMNS, ROWS)
        self._descriptor = descriptor

    def write_process_input(self, data: str) -> None:
        """Send the terminal's answers to the command."""
        os.write(self._descriptor, data.encode())


def _cell(shown: Char) -> Cell:
    """Convert a character of pyte to a cell; pyte writes the 16 colors as hexadecimal digits."""
    color = FG_BG_256.index(shown.fg) if shown.fg in FG_BG_256[:16] else None
    return Cell(shown.data, Style(color, bold=shown.bold, underlined=shown.underscore))


@attrs.frozen
class Terminal:
    """A running command.

    Attributes:
        descriptor: the terminal's end of the pseudo-terminal.
        screen: the content of the terminal.
        stream: receives the command's output.
    """

    descriptor: int
    screen: _Screen
    stream: pyte.ByteStream

    @classmethod
    @contextmanager
    def running(cls, command: list[str], folder: Path, variables: Mapping[str, str]) -> Iterator[Terminal]:
        """Run a command in a folder; yields the terminal while it runs."""
        descriptor, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        environment = {**os.environ, **variables, "TERM": "xterm-256color"}
        with subprocess.Popen(command, cwd=folder, env=environment, stdin=other, stdout=other, stderr=other) as process:
            os.close(other)
            try:
                screen = _Screen(descriptor)
                yield cls(descriptor, screen, pyte.ByteStream(screen))
            finally:
                process.terminate()
                os.close(descriptor)

    def lines(self) -> list[Line]:
        """Return the screen's lines, up to the last line with text."""
        shown = [tuple(_cell(self.screen.buffer[row][column]) for column in range(COLUMNS)) for row in range(ROWS)]
        while shown and not text_of(shown[-1]):
            shown.pop()
        return shown

    def wait_for(self, text: str) -> list[Line]:
        """Wait until the screen shows a text; return the screen.

        Raises:
            RuntimeError: if the command ends, or writes nothing for minutes, before it shows the text.
        """
        while not self._shows(text):
            if not self._read():
                raise RuntimeError(f"the command has not shown {text!r}, but:\n" + "\n".join(self.screen.display))
        return self.lines()

    def last_with(self, text: str) -> list[Line]:
        """Wait until a text appears and disappears again; return the last screen that shows it.

        The first screen may be half drawn: a command moves the cursor up, and writes one line after the other.
        """
        lines = self.wait_for(text)
        while self._read() and self._shows(text):
            lines = self.lines()
        return lines

    def _shows(self, text: str) -> bool:
        return any(text in line for line in self.screen.display)

    def _read(self) -> bool:
        """Read the command's next output; return whether there was any."""
        if not select.select([self.descriptor], [], [], _PATIENCE)[0]:
            return False
        try:
            piece = os.read(self.descriptor, _PIECE)
        except OSError:  # Linux reports the end of a pseudo-terminal as an error
            return False
        self.stream.feed(piece)
        return bool(piece)
