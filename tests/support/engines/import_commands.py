"""The `pulumi import` commands in messages, as a shell would run them."""

from __future__ import annotations

import re
import shlex

import attrs

LINES, WIDTH = 3, 200
"""The size of a message about what exists already, without its commands, which have names and URNs of any length."""


@attrs.frozen
class ImportCommand:
    """A command in backquotes.

    Attributes:
        options: the words after the ID.
    """

    token: str
    name: str
    id: str
    options: list[str]


def import_commands(message: str) -> list[ImportCommand]:
    """Find the commands in a message, in order."""
    found = map(shlex.split, re.findall(r"`(pulumi import [^`]+)`", message))
    return [ImportCommand(words[2], words[3], words[4], words[5:]) for words in found]


def fits(message: str) -> bool:
    """Return whether a message about what exists already has the size that it may have."""
    lines = re.sub(r"`[^`]*`", "``", message).split("\n")
    return len(lines) <= LINES and all(len(line) <= WIDTH for line in lines)
