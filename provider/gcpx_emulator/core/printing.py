"""Text of others in a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """Write line breaks and the commands of terminals as what they are."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
