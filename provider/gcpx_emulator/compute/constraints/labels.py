"""Constraints of labels, network tags and resource manager tags."""

from __future__ import annotations

from typing import Any, Final

import re2

from gcpx_emulator.compute.names import NAME, NAME_MESSAGE
from gcpx_emulator.core.constraints import Constraint, matches

_WITH_LABELS: Final = (
    "AttachedDiskInitializeParams",
    "Disk",
    "GlobalSetLabelsRequest",
    "Instance",
    "InstanceProperties",
    "InstancesSetLabelsRequest",
    "MachineImage",
)
_WITH_MANAGER_TAGS: Final = ("AttachedDiskInitializeParams", "DiskParams", "InstanceParams", "InstanceProperties")
_MOST_LABELS: Final = 64
_LONGEST: Final = 63
_KEY: Final = re2.compile(r"[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]*")
_VALUE: Final = re2.compile(r"[\p{Ll}\p{Lo}\p{N}_-]*")
_CHARACTERS: Final = "lower-case letters, digits, underscores and hyphens"
"""Letters of scripts without upper case are allowed too."""


def _labels(schema: str) -> tuple[Constraint, ...]:
    return (
        Constraint(schema, "labels", f"At most {_MOST_LABELS} labels are allowed.", _are_few),
        Constraint(schema, "labels{}", f"A key is 1 to 63 {_CHARACTERS}, beginning with a letter.", _is_key),
        Constraint(schema, "labels.*", f"A value is at most 63 {_CHARACTERS}.", _is_value),
    )


def _are_few(labels: Any) -> bool:
    return len(labels) <= _MOST_LABELS


def _is_key(key: Any) -> bool:
    return len(key) <= _LONGEST and _KEY.fullmatch(key) is not None


def _is_value(value: Any) -> bool:
    return len(value) <= _LONGEST and _VALUE.fullmatch(value) is not None


def _manager_tags(schema: str) -> tuple[Constraint, ...]:
    message = "Must be tagKeys/ID with tagValues/ID, or PARENT/KEY with VALUE."
    return (
        Constraint(schema, "resourceManagerTags{}", message, matches(r"tagKeys/\d+|[^\s/]+/[^\s/]+")),
        Constraint(schema, "resourceManagerTags.*", message, matches(r"tagValues/\d+|[^\s/]+")),
    )


CONSTRAINTS: Final = (
    *(constraint for schema in _WITH_LABELS for constraint in _labels(schema)),
    *(constraint for schema in _WITH_MANAGER_TAGS for constraint in _manager_tags(schema)),
    Constraint("Tags", "items[]", NAME_MESSAGE, matches(NAME)),
)
