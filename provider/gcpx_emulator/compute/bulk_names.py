"""The names of the instances of a bulk creation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gcpx_emulator.compute.call import Call
from gcpx_emulator.core.errors import already_exists, invalid


def instance_names(call: Call, zones: list[str], count: int) -> Iterator[str]:
    """Return the names that the call lists, or the next ones of its name pattern; none may be in use in these zones."""
    listed = call.body.get("perInstanceProperties")
    return _listed_names(call, zones, listed) if listed else _numbered_names(call, zones, count)


def _listed_names(call: Call, zones: list[str], names: dict[str, object]) -> Iterator[str]:
    for name in names:
        if any(call.store.get(f"{call.project}/zones/{zone}/instances/{name}") is not None for zone in zones):
            raise already_exists(f"instances/{name}")
    yield from names


def _numbered_names(call: Call, zones: list[str], count: int) -> Iterator[str]:
    """Yield names with the numbers that follow the highest one in use."""
    pattern = call.body["namePattern"]
    width = pattern.count("#")
    first = 1 + max((number for zone in zones for number in _numbers(call, zone, pattern)), default=0)
    if len(str(first + count - 1)) > width:
        raise invalid("resource.namePattern", pattern, "Has too few # for the names that are needed.")
    yield from (pattern.replace("#" * width, f"{number:0{width}}") for number in range(first, first + count))


def _numbers(call: Call, zone: str, pattern: str) -> Iterator[int]:
    """Yield the numbers in those names of a zone's instances that fit a name pattern."""
    run = "#" * pattern.count("#")
    form = re.compile(re.escape(pattern).replace(re.escape(run), rf"(\d{{{len(run)}}})"))
    for instance in call.store.list(f"{call.project}/zones/{zone}/instances"):
        match = form.fullmatch(instance["name"])
        if match:
            yield int(match[1])
