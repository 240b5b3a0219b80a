"""The log that a person reads in a terminal: one line for each request."""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from typing import Any, Final, TextIO

import attrs

from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.printing import printable
from gcpx_emulator.core.secrets import MASK, secrets_of

_API: Final = re.compile(r"/(?:(?:upload/)?(?:compute|storage)/\w+/|v1\w*/)?(?:projects/)?")
"""The beginning of a path, which the method's ID tells, too."""
_LONGEST_PATH: Final = 90
_LONGEST_MESSAGE: Final = 500
_TOKEN: Final = re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]*")
_ERROR: Final = 400
_SERVER_ERROR: Final = 500
_PLAIN, _GREEN, _YELLOW, _RED = "\033[0m", "\033[32m", "\033[33m", "\033[31m"
_SHORTEST_SECRET: Final = 6
"""A shorter value is a word that every message may have."""


@attrs.frozen
class TerminalLog:
    """Writes a line for each request.

    Attributes:
        stream: where it writes; colours are only for a terminal.
    """

    stream: TextIO

    def __call__(self, entry: Json, message: str) -> None:
        """Write the line of a request that was answered; `message` is that of its error."""
        with suppress(OSError, ValueError):  # nobody reads the terminal any longer
            self.stream.write(f"{line(entry, message, is_coloured=self._is_coloured)}\n")
            self.stream.flush()

    @property
    def _is_coloured(self) -> bool:
        return self.stream.isatty() and not os.environ.get("NO_COLOR")


def line(entry: Json, message: str = "", *, is_coloured: bool = False) -> str:
    """Write a logged request in one line: time, status, duration, method, path, and the message of its error."""
    status = f"{entry['status']}"
    if is_coloured:
        status = f"{_colour(entry['status'])}{status}{_PLAIN}"
    moment = time.strftime("%H:%M:%S", time.localtime(entry["time"]))
    name = entry["method"] or entry["httpMethod"]
    words = [moment, status, f"{entry['seconds'] * 1000:5.0f} ms", f"{name} {_shortened(entry['path'])}"]
    if message:
        words.append(printable(_without_secrets(message, entry["body"]))[:_LONGEST_MESSAGE])
    return "  ".join(words)


def _colour(status: int) -> str:
    return _GREEN if status < _ERROR else _YELLOW if status < _SERVER_ERROR else _RED


def _shortened(path: str) -> str:
    """Leave out the API, its version and, of a long path, the middle."""
    shown = printable(_API.sub("", path, count=1))
    half = (_LONGEST_PATH - 1) // 2
    return shown if len(shown) <= _LONGEST_PATH else f"{shown[:half]}…{shown[-half:]}"


def _without_secrets(message: str, body: Any) -> str:
    """Mask tokens, and what a message repeats of the secrets in a request's body, in which keys are masked already."""
    for secret in secrets_of(body):
        message = message.replace(secret, MASK) if len(secret) >= _SHORTEST_SECRET else message
    return _TOKEN.sub(MASK, message)
