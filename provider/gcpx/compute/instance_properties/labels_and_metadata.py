"""Labels, tags and metadata of instances: declarations and rules."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Final

from gcpx.compute.reference import LABELS, NAME, rest
from gcpx.model.fields import (
    Failure,
    Record,
    elements,
    field,
    nested,
    output_field,
    record,
    requirement_of_each,
    rule,
    text,
)
from gcpx.model.patterns import Form
from gcpx.model.values import Path

if TYPE_CHECKING:
    from gcpx.compute.value_types import InstancePropertiesValues, MetadataValues

_MOST_LABELS: Final = 64
_LONGEST: Final = 63
_ASCII_KEY: Final = re.compile(r"[a-z][-_a-z0-9]{0,62}")
_ASCII_VALUE: Final = re.compile(r"[-_a-z0-9]{0,63}")
"""Most labels are ASCII; a label that matches needs no check of each character."""
_LETTERS_AND_DIGITS: Final = ("Ll", "Lo", "Lm", "M", "N")
"""Unicode categories: lower-case letters, letters of scripts without case, their marks, and digits."""


@rule(
    "",
    "there must be at most 64 labels, with keys and values of at most 63 lower-case letters (of any script), digits, "
    "hyphens and underscores; keys must begin with a letter",
    LABELS,
    about="labels",
)
def labels_are_valid(values: dict[str, Any]) -> list[Failure]:
    labels = nested(values, "labels")
    failures: list[Failure] = []
    if len(labels) > _MOST_LABELS:
        failures.append(Failure("labels", f"must be at most {_MOST_LABELS} labels; there are {len(labels)}"))
    for key, value in labels.items():
        if not isinstance(value, str) or (_ASCII_KEY.fullmatch(key) and _ASCII_VALUE.fullmatch(value)):
            continue
        reason = _reason_of_key(key) or _reason(value, "value")
        failures += [Failure(("labels", key), reason)] if reason else []
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

    HINTS: ClassVar = {"": 'must be written `tags: {items: ["http"]}`'}

    fingerprint: str = output_field("A hash of the tags, in base64.")
    items: list[str] = field(
        "The tags in any order, such as `[web, ssh]`: 1 to 63 lower-case letters, digits and hyphens each (RFC 1035).",
        identity="set",
        pattern=NAME,
        source=rest("instances", "tags.items"),
    )


_TAG_KEY: Final = re.compile(r"tagKeys/\d+|[^\s/]+/[^\s/]+")
_TAG_VALUE: Final = re.compile(r"tagValues/\d+|[^\s/]+")


@requirement_of_each(
    "resourceManagerTags",
    "should be written tagKeys/ID: tagValues/ID, or PARENT/KEY: VALUE; they are sent unchanged",
    rest("instanceTemplates", "properties.resourceManagerTags"),
    about="resourceManagerTags",
    warns=True,
)
def resource_manager_tags_have_a_known_form(values: InstancePropertiesValues) -> Iterator[Path]:
    for key, value in nested(values, "resourceManagerTags").items():
        if not _TAG_KEY.fullmatch(key) or (isinstance(value, str) and not _TAG_VALUE.fullmatch(value)):
            yield ("resourceManagerTags", key)


_LONGEST_VALUE: Final = 262_144
_MOST_METADATA: Final = 512 * 1024


@rule(
    "metadata",
    "must have less than 512 KB of keys and values in UTF-8, with at most 262,144 bytes in each value",
    rest("instances", "metadata.items"),
)
def metadata_size_is_limited(values: MetadataValues) -> list[Failure]:
    failures: list[Failure] = []
    total = 0
    for index, item in elements(values, "items"):
        size = _size(text(item, "value"))
        total += size + _size(text(item, "key"))
        if size > _LONGEST_VALUE:
            failures.append(
                Failure(("items", index, "value"), f"must have at most {_LONGEST_VALUE:,} bytes, not {size:,}")
            )
    if total >= _MOST_METADATA:
        failures.append(
            Failure("items", f"must have fewer than {_MOST_METADATA:,} bytes of keys and values, not {total:,}")
        )
    return failures


def _size(given: str) -> int:
    return len(given.encode("utf-8", "surrogatepass"))


@requirement_of_each(
    "items[].key",
    "must appear only once: remove or rename the other entries with this key",
    rest("instances", "metadata.items[].key"),
)
def metadata_keys_are_unique(values: MetadataValues) -> Iterator[Path]:
    seen: set[str] = set()
    for index, item in elements(values, "items"):
        key = text(item, "key")
        if key and key in seen:
            yield ("items", index, "key")
        seen.add(key)


@record
class MetadataItem(Record):
    """One metadata entry."""

    key: str = field(
        "The key, such as `startup-script`: 1 to 128 letters, digits, hyphens and underscores. Each key must appear only once.",
        required=True,
        pattern=Form(r"[a-zA-Z0-9-_]{1,128}", "1 to 128 letters, digits, hyphens and underscores"),
    )
    value: str = field("The value, such as the text of a script: at most 262,144 bytes in UTF-8.", keeps_empty=True)


@record
class Metadata(Record):
    """Metadata that the guest can read. All keys and values together must have less than 512 KB."""

    RULES = (metadata_size_is_limited, metadata_keys_are_unique)
    HINTS: ClassVar = {
        "": "must be written `{items: [{key: KEY, value: VALUE}]}`",
        "*": "must be written as an element of items here: `metadata: {items: [{key: KEY, value: VALUE}]}`",
    }

    fingerprint: str = output_field("A hash of the metadata, in base64.")
    items: list[MetadataItem] = field(
        "The entries in any order, such as `[{key: team, value: web}]`.", identity=("key",)
    )
    kind: str = output_field("Always `compute#metadata`.")


@record
class StructuredEntries(Record):
    """Partner metadata of one subdomain."""

    entries: dict[str, Any] = field("The entries by key, such as `{mode: fast}`; values are any JSON.", beta=True)
