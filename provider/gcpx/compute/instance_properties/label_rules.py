"""Google's rules for the labels of any resource, checked at preview; messages name the refused character."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final

from gcpx.model.rules import Failure, nested, rule

_MOST: Final = 64
_LONGEST: Final = 63
_USUAL_KEY: Final = re.compile(r"[a-z][-_a-z0-9]{0,62}")
_USUAL_VALUE: Final = re.compile(r"[-_a-z0-9]{0,63}")
"""Most labels are ASCII, and need no look at every letter."""
_LETTERS_AND_DIGITS: Final = ("Ll", "Lo", "Lm", "M", "N")
"""Categories of Unicode: letters without capitals, of every script, with their marks, and digits."""


@rule(
    "labels are at most 64; keys and values have at most 63 characters: lower-case letters and letters of other "
    "scripts, digits, hyphens and underscores; a key begins with a letter",
    "Google Cloud, for every label",
)
def labels_are_plain(values: dict[str, Any]) -> list[Failure]:
    """Refuse labels by their number, length and characters."""
    labels = nested(values, "labels")
    failures: list[Failure] = []
    if len(labels) > _MOST:
        failures.append(("labels", f"must be at most {_MOST} labels; there are {len(labels)}"))
    for key, value in labels.items():
        if _USUAL_KEY.fullmatch(key) and isinstance(value, str) and _USUAL_VALUE.fullmatch(value):
            continue
        reason = (_reason_of_key(key) or _reason(value, "value")) if isinstance(value, str) else ""
        failures += [(("labels", key), reason)] if reason else []
    return failures


def _reason_of_key(key: str) -> str:
    if not key:
        return "must have a key of 1 to 63 characters"
    if _is_plain(key[0]) and unicodedata.category(key[0])[0] not in "NM" and key[0] not in "-_":
        return _reason(key, "key")
    return _reason(key, "key") or f"must have a key that begins with a letter, not with {key[0]!r}"


def _reason(text: str, what: str) -> str:
    wrong = next((letter for letter in text if not _is_plain(letter)), None)
    if wrong is not None:
        return f"must have a {what} of lower-case letters, digits, hyphens and underscores; {wrong!r} is refused"
    return f"must have a {what} of at most {_LONGEST} characters; it has {len(text)}" if len(text) > _LONGEST else ""


def _is_plain(letter: str) -> bool:
    return letter in "-_" or unicodedata.category(letter).startswith(_LETTERS_AND_DIGITS)
