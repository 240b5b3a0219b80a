"""The record of the emulator's coverage: the fields of requests, and the clients that it has answered."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import attrs

KEPT: Final = "kept"
NOT_SHOWN: Final = "not shown"
REFUSED: Final = "refused"
TAKEN: Final = "taken"
FIELDS: Final = Path(__file__).parent / "emulator_fields.csv"
CLIENTS: Final = Path(__file__).parent / "emulator_clients.csv"


@attrs.frozen(order=True)
class Row:
    """The handling of a field.

    Attributes:
        method: the ID of the method with the field in its request.
        field: its path in the request.
        outcome: `kept` if a read shows it, `not shown` if Google does not show it either, `taken` if a request with it
            is accepted and no read shows it, and `refused`.
        checked: whether a meaningless value of the right type is refused.
    """

    method: str
    field: str
    outcome: str
    checked: bool


def read_fields() -> list[Row]:
    """Read the record of fields."""
    with FIELDS.open(newline="") as file:
        return [
            Row(row["method"], row["field"], row["outcome"], row["checked"] == "yes") for row in csv.DictReader(file)
        ]


def write_fields(rows: Iterable[Row]) -> None:
    """Write the record of fields, sorted."""
    lines = [[row.method, row.field, row.outcome, "yes" if row.checked else "no"] for row in sorted(rows)]
    _write(FIELDS, ["method", "field", "outcome", "checked"], lines)


def read_clients() -> dict[str, set[str]]:
    """Read the clients that the emulator has answered, by method ID."""
    with CLIENTS.open(newline="") as file:
        return {row["method"]: set(row["clients"].split(", ")) for row in csv.DictReader(file)}


def write_clients(clients: dict[str, set[str]]) -> None:
    """Write the clients that the emulator has answered."""
    _write(
        CLIENTS,
        ["method", "clients"],
        [[method, ", ".join(sorted(found))] for method, found in sorted(clients.items())],
    )


def _write(path: Path, head: list[str], lines: list[list[str]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(lines)
