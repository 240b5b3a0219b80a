"""The permissions of each verb, as observed by the tests: `python -m records.verb_record` writes the table.

A row is one permission that a verb of a resource or a function needs or can use.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from functools import cache
from typing import Final

import attrs
from workspace import ROOT

TABLE: Final = ROOT / "tools" / "generate" / "verb_permissions.csv"
_ELSEWHERE: Final = frozenset({"the service account", "the project that pays"})
"""Places outside the resource's project in which permissions are granted."""
_OR: Final = "; or "


@attrs.frozen
class Row:
    """A permission that a verb needs.

    Attributes:
        token: the resource or function.
        verb: such as `create`; `validateOnline` is a preview with that setting, and `call` that of a function.
        permission: its name; empty in the only row of a verb that needs none.
        on: the resource that it is needed on, in words.
        when: the condition; empty if the verb always needs it.
        without: the loss without it, in words; empty if the verb fails.
        methods: the IDs of the API methods that need it, with spaces between them.
    """

    token: str
    verb: str
    permission: str = ""
    on: str = ""
    when: str = ""
    without: str = ""
    methods: str = ""

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is granted outside of the resource's project."""
        return self.on in _ELSEWHERE


@cache
def table() -> list[Row]:
    """Read all rows."""
    with TABLE.open(newline="") as file:
        return [Row(**line) for line in csv.DictReader(file)]


def verbs_of(token: str) -> list[str]:
    """List the verbs of a resource, or the one of a function."""
    return list(dict.fromkeys(row.verb for row in table() if row.token == token))


def rows_of(token: str, verb: str) -> list[Row]:
    """List the permissions of a verb: first those that it always needs, then sometimes needed and optional ones."""
    return [row for row in table() if (row.token, row.verb) == (token, verb) and row.permission]


def by_permission(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Group rows by the permission."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.permission, []).append(row)
    return found


def any_of(conditions: Iterable[str]) -> str:
    """Join conditions with "or", without those that imply another one; empty if one always holds."""
    found = dict.fromkeys(one for condition in conditions for one in condition.split(_OR))
    return _OR.join(one for one in found if not any(other != one and other in one for other in found))
