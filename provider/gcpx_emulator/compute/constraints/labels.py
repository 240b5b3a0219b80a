"""Labels, network tags and resource manager tags in all requests."""

from __future__ import annotations

from typing import Any, Final

import re2

from gcpx_emulator.core.constraints import NAME, NAME_WORDS, Rule, like

_LABELLED: Final = (
    "AttachedDiskInitializeParams",
    "Disk",
    "GlobalSetLabelsRequest",
    "Instance",
    "InstanceProperties",
    "InstancesSetLabelsRequest",
    "MachineImage",
)
_TAGGED: Final = ("AttachedDiskInitializeParams", "DiskParams", "InstanceParams", "InstanceProperties")
_MOST: Final = 64
_LONGEST: Final = 63
_KEY: Final = re2.compile(r"[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]*")
_VALUE: Final = re2.compile(r"[\p{Ll}\p{Lo}\p{N}_-]*")


def _labels(schema: str) -> tuple[Rule, ...]:
    """Write the rules of labels; letters of every script without upper-case are allowed."""
    characters = "lower-case letters, digits, underscores and hyphens"
    return (
        Rule(schema=schema, field="labels", words=f"At most {_MOST} labels are allowed.", holds=_are_few),
        Rule(
            schema=schema,
            field="labels{}",
            words=f"A key is 1 to 63 {characters}, beginning with a letter.",
            holds=_is_key,
        ),
        Rule(schema=schema, field="labels.*", words=f"A value is at most 63 {characters}.", holds=_is_value),
    )


def _are_few(labels: Any) -> bool:
    return len(labels) <= _MOST


def _is_key(key: Any) -> bool:
    return len(key) <= _LONGEST and _KEY.fullmatch(key) is not None


def _is_value(value: Any) -> bool:
    return len(value) <= _LONGEST and _VALUE.fullmatch(value) is not None


def _manager_tags(schema: str) -> tuple[Rule, ...]:
    words = "Must be tagKeys/ID with tagValues/ID, or PARENT/KEY with VALUE."
    key, value = like(r"tagKeys/\d+|[^\s/]+/[^\s/]+"), like(r"tagValues/\d+|[^\s/]+")
    return (
        Rule(schema=schema, field="resourceManagerTags{}", words=words, holds=key),
        Rule(schema=schema, field="resourceManagerTags.*", words=words, holds=value),
    )


RULES: Final = (
    *(rule for schema in _LABELLED for rule in _labels(schema)),
    *(rule for schema in _TAGGED for rule in _manager_tags(schema)),
    Rule(schema="Tags", field="items[]", words=NAME_WORDS, holds=like(NAME)),
)
