"""The `pulumi import` commands in messages, as a shell would run them."""

from __future__ import annotations

import re
import shlex

import attrs


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
