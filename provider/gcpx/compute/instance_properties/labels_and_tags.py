"""Labels, network tags and Resource Manager tags: the declaration of network tags, and the rules of all three."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, ClassVar, Final

from gcpx.compute.documentation import LABELS, rest
from gcpx.compute.name_pattern import NAME
from gcpx.model.fields import Record, field, output_field, record
from gcpx.model.rules import Violation, nested, rule

_MOST: Final = 64
_LONGEST: Final = 63
_ASCII_KEY: Final = re.compile(r"[a-z][-_a-z0-9]{0,62}")
_ASCII_VALUE: Final = re.compile(r"[-_a-z0-9]{0,63}")
"""Most labels are ASCII; those that match need no check of each character."""
_LETTERS_AND_DIGITS: Final = ("Ll", "Lo", "Lm", "M", "N")
"""Unicode categories: lower-case letters, letters of scripts without case, their marks, and digits."""


@rule(
    "there must be at most 64 labels, with keys and values of at most 63 lower-case letters (of any script), digits, "
    "hyphens and underscores; keys must begin with a letter",
    LABELS,
)
def labels_are_valid(values: dict[str, Any]) -> list[Violation]:
    """Refuse too many labels, and keys and values that are too long or hold a character that Google refuses."""
    labels = nested(values, "labels")
    failures: list[Violation] = []
    if len(labels) > _MOST:
        failures.append(("labels", f"must be at most {_MOST} labels; there are {len(labels)}"))
    for key, value in labels.items():
        if not isinstance(value, str) or (_ASCII_KEY.fullmatch(key) and _ASCII_VALUE.fullmatch(value)):
            continue
        reason = _reason_of_key(key) or _reason(value, "value")
        failures += [(("labels", key), reason)] if reason else []
    return failures


def _reason_of_key(key: str) -> str:
    if not key:
        return f"must have a key of 1 to {_LONGEST} characters"
    if _is_allowed(key[0]) and unicodedata.category(key[0])[0] not in "NM" and key[0] not in "-_":
        return _reason(key, "key")
    return _reason(key, "key") or f"must have a key that begins with a letter, not with {key[0]!r}"


def _reason(text: str, what: str) -> str:
    refused = next((letter for letter in text if not _is_allowed(letter)), None)
    if refused is not None:
        return f"must have a {what} of lower-case letters, digits, hyphens and underscores; {refused!r} is refused"
    return f"must have a {what} of at most {_LONGEST} characters; it has {len(text)}" if len(text) > _LONGEST else ""


def _is_allowed(letter: str) -> bool:
    return letter in "-_" or unicodedata.category(letter).startswith(_LETTERS_AND_DIGITS)


@record
class Tags(Record):
    """Network tags, by which firewall rules select instances."""

    HINTS: ClassVar = {"": "must be written `{items: [TAG, ...]}`"}

    fingerprint: str = output_field("A hash of the tags, in base64.")
    items: list[str] = field(
        "The tags in any order, such as `[web, ssh]`: 1 to 63 lower-case letters, digits and hyphens each (RFC 1035).",
        identity="set",
        pattern=NAME,
        source=rest("instances", "tags.items"),
    )


_TAG_KEY: Final = re.compile(r"tagKeys/\d+|[^\s/]+/[^\s/]+")
_TAG_VALUE: Final = re.compile(r"tagValues/\d+|[^\s/]+")


@rule(
    "resourceManagerTags should be written tagKeys/ID: tagValues/ID, or PARENT/KEY: VALUE",
    rest("instanceTemplates", "properties.resourceManagerTags"),
    warns=True,
)
def resource_manager_tags_have_a_known_form(values: dict[str, Any]) -> list[Violation]:
    """Warn about tags that have neither of the two forms."""
    unusual = (
        key
        for key, value in nested(values, "resourceManagerTags").items()
        if not _TAG_KEY.fullmatch(key) or (isinstance(value, str) and not _TAG_VALUE.fullmatch(value))
    )
    reason = "should be written tagKeys/ID: tagValues/ID, or PARENT/KEY: VALUE; it is sent unchanged"
    return [(("resourceManagerTags", key), reason) for key in unusual]
