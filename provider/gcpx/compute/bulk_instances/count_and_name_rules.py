"""Rules about the number of instances and their names."""

from __future__ import annotations

import re
from typing import Any, Final

from gcpx.compute.bulk_instances.names import number_of_names
from gcpx.compute.bulk_instances.size import FleetSize
from gcpx.compute.documentation import NAMES, rest
from gcpx.compute.name_pattern import NAME
from gcpx.model.numbers import as_integer
from gcpx.model.rules import Violation, nested, rule, text

_MAX_DIGITS: Final = 18
_MAX_NAME_LENGTH: Final = 63
_PATTERN: Final = rest("regionInstances.bulkInsert", "namePattern")


@rule("either namePattern with count, or perInstanceProperties, must be set", _PATTERN)
def names_come_from_a_pattern_or_a_list(values: dict[str, Any]) -> list[Violation]:
    """Require one of the two ways to name instances."""
    names, pattern = values.get("perInstanceProperties"), values.get("namePattern")
    if names and pattern:
        return [("namePattern", "conflicts with perInstanceProperties: set only one of them")]
    if not names and not pattern:
        return [("", "needs one of namePattern or perInstanceProperties")]
    return [("count", "is required with namePattern")] if pattern and values.get("count") is None else []


@rule("the keys of perInstanceProperties must be instance names: 1 to 63 characters (RFC 1035)", NAMES)
def instance_names_are_valid(values: dict[str, Any]) -> list[Violation]:
    """Refuse keys that cannot be names."""
    names = nested(values, "perInstanceProperties")
    invalid = (name for name in names if not NAME[0].fullmatch(name))
    return [(("perInstanceProperties", name), f"must be an instance name: {NAME[1]}") for name in invalid]


@rule("count must be the number of perInstanceProperties, 0, or left out", rest("regionInstances.bulkInsert", "count"))
def count_is_the_number_of_names(values: dict[str, Any]) -> list[Violation]:
    """Refuse any other count."""
    names, count = nested(values, "perInstanceProperties"), as_integer(values.get("count"))
    if not names or count in {None, 0, len(names)}:
        return []
    return [("count", f"must be the number of perInstanceProperties, {len(names)}, or 0, or left out")]


@rule("minCount must be at most count", rest("regionInstances.bulkInsert", "minCount"))
def min_count_is_at_most_count(values: dict[str, Any]) -> list[Violation]:
    """Refuse a minimum that the fleet never reaches; a parked fleet, with count 0, may keep its minimum for later."""
    size = FleetSize.of(values)
    if not size.wanted or size.minimum <= size.wanted:
        return []
    return [("minCount", f"must be at most count, {size.wanted}")]


@rule("namePattern must have one run of at most 18 #, and give names of 1 to 63 characters (RFC 1035)", _PATTERN)
def name_pattern_is_valid(values: dict[str, Any]) -> list[Violation]:
    """Refuse a pattern that Google refuses, or whose names are invalid."""
    pattern = values.get("namePattern")
    if not isinstance(pattern, str):
        return []
    runs = re.findall("#+", pattern)
    if len(runs) != 1:
        return [("namePattern", f"must have one run of #, one # for each digit, not {len(runs)} runs")]
    if len(runs[0]) > _MAX_DIGITS:
        return [("namePattern", f"must have at most {_MAX_DIGITS} #, not {len(runs[0])}")]
    if not re.fullmatch(r"[a-z]([-a-z0-9#]*[a-z0-9#])?", pattern) or len(pattern) > _MAX_NAME_LENGTH:
        return [("namePattern", "must give names of 1 to 63 lower-case letters, digits and hyphens (RFC 1035)")]
    return []


@rule("namePattern must have enough # for count", _PATTERN)
def name_pattern_has_enough_digits(values: dict[str, Any]) -> list[Violation]:
    """Refuse a pattern with fewer numbers than the fleet has instances; numbers begin at 1."""
    count, runs = FleetSize.of(values).wanted, re.findall("#+", text(values, "namePattern"))
    most = number_of_names(runs[0]) if len(runs) == 1 else count
    if count <= most:
        return []
    words = f"must have more #: {len(runs[0])} of them give at most {most:,} names, but count is {count:,}"
    return [("namePattern", words)]
