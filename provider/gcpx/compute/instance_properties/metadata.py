"""Metadata of instances: its declaration, and the rules of its size and keys."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final

from gcpx.compute.documentation import rest
from gcpx.model.fields import Record, field, output_field, record
from gcpx.model.rules import Violation, elements, rule, text

_LONGEST_VALUE: Final = 262_144
_MOST_METADATA: Final = 512 * 1024


@rule(
    "metadata must have less than 512 KB of keys and values in UTF-8, with at most 262,144 bytes in each value",
    rest("instances", "metadata.items"),
)
def metadata_size_is_limited(values: dict[str, Any]) -> list[Violation]:
    """Refuse values, and metadata as a whole, that are too large in bytes."""
    failures: list[Violation] = []
    total = 0
    for index, item in elements(values, "items"):
        size = _size(text(item, "value"))
        total += size + _size(text(item, "key"))
        if size > _LONGEST_VALUE:
            failures.append((("items", index, "value"), f"must have at most {_LONGEST_VALUE:,} bytes, not {size:,}"))
    if total >= _MOST_METADATA:
        failures.append(("items", f"must have fewer than {_MOST_METADATA:,} bytes of keys and values, not {total:,}"))
    return failures


def _size(given: str) -> int:
    return len(given.encode("utf-8", "surrogatepass"))


@rule("each metadata key must appear only once", rest("instances", "metadata.items[].key"))
def metadata_keys_are_unique(values: dict[str, Any]) -> list[Violation]:
    """Refuse keys that appear again."""
    seen: set[str] = set()
    failures: list[Violation] = []
    for index, item in elements(values, "items"):
        key = text(item, "key")
        if key and key in seen:
            failures.append(
                (("items", index, "key"), "must appear only once: remove or rename the other entries with this key")
            )
        seen.add(key)
    return failures


@record
class MetadataItem(Record):
    """One metadata entry."""

    key: str = field(
        "The key, such as `startup-script`: 1 to 128 letters, digits, hyphens and underscores. Each key must appear only once.",
        required=True,
        pattern=(re.compile(r"[a-zA-Z0-9-_]{1,128}"), "1 to 128 letters, digits, hyphens and underscores"),
    )
    value: str = field("The value, such as the text of a script: at most 262,144 bytes in UTF-8.")


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
