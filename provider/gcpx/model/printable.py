"""Texts of others in messages: without characters that a terminal obeys, and not longer than a reader can use."""

from __future__ import annotations

import unicodedata
from typing import Final

_LONGEST: Final = 4000
_KEPT: Final = frozenset("\n\t")
_OBEYED: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode's categories of characters that are not shown: control and format characters, halves of pairs, and unassigned
ones. Among them are the escape of terminals, and the marks that reverse the direction of a text."""


def printable(text: str) -> str:
    r"""Write characters that a terminal may obey as escapes such as `\x1b`; line ends and tabs are kept."""
    if text.isprintable():
        return text
    return "".join(letter if _is_shown(letter) else _escaped(letter) for letter in text)


def shortened(text: str, longest: int = _LONGEST) -> str:
    """Cut a text that is longer than a reader can use, and say how long it was."""
    return text if len(text) <= longest else f"{text[:longest]}... ({len(text):,} characters)"


def _is_shown(letter: str) -> bool:
    return letter in _KEPT or unicodedata.category(letter) not in _OBEYED


def _escaped(letter: str) -> str:
    return "?" if unicodedata.category(letter) == "Cs" else letter.encode("unicode_escape").decode()
