"""The permissions of each verb: what the methods that it calls need, in one row for each permission."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import attrs

from gcpx.gcp.permissions import METHODS
from generate.verb_calls import CALLS, EXHAUSTIVE

_ELSEWHERE: Final = frozenset({"the service account", "the project that pays"})
"""Where a permission is granted outside of the project that the resource is in."""


@attrs.frozen
class Row:
    """A permission that a verb needs.

    Attributes:
        permission: its name.
        on: what it is needed on, in words.
        when: the condition; empty if the verb always needs it.
        without: what is missing without it; empty if the verb fails.
        case: the condition under which the verb calls the method that needs it; empty once rows are merged.
    """

    permission: str
    on: str
    when: str
    without: str
    case: str = ""

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is granted outside of the resource's project."""
        return self.on in _ELSEWHERE


def rows_of(token: str, verb: str) -> list[Row]:
    """List the permissions of a verb: those that it needs first, then those that only help."""
    return [_merged(rows) for rows in by_permission(_every_row(token, verb)).values()]


def by_permission(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Group rows by the permission."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.permission, []).append(row)
    return found


def _every_row(token: str, verb: str) -> Iterator[Row]:
    calls = CALLS[token][verb]
    for method, case in calls.always.items():
        for need in METHODS[method].needs:
            yield Row(need.permission, need.on, need.when, "", case)
    for method, without in calls.helpful.items():
        for need in METHODS[method].needs:
            yield Row(need.permission, need.on, need.when, without)


def _merged(rows: list[Row]) -> Row:
    """Merge the rows of one permission; the conditions of the methods that fail without it count."""
    needed = [row for row in rows if not row.without] or rows
    cases = {row.case for row in needed}
    covered: set[str] = set().union(*(group for group in EXHAUSTIVE if group <= cases))
    whens = [_joined("" if row.case in covered else row.case, row.when) for row in needed]
    return attrs.evolve(needed[0], when=any_of(whens), case="")


def any_of(conditions: list[str]) -> str:
    """Join conditions any of which may hold, without those that imply another one; empty if one always holds."""
    found = dict.fromkeys(conditions)
    return "; or ".join(one for one in found if not any(other != one and other in one for other in found))


def _joined(*conditions: str) -> str:
    """Join conditions that must all hold, without those that always do."""
    return ", and ".join(when for when in conditions if when and not when.startswith("always"))
