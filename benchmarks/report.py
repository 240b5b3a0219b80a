"""The tables of docs/benchmarks.md, and its charts, from the results of the last measurements."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import charts
from sizes import DOCS, RESULTS
from workspace import ROOT

_PAGE: Final = "benchmarks.md"
_TABLE: Final = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end of measured -->)", re.DOTALL)


def keep(part: str, results: dict[str, Any]) -> None:
    """Keep the rows and the data of a part until it is measured again."""
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({**_kept(), part: results}, indent=1))


def write(parts: Iterable[str]) -> None:
    """Write what is kept of these parts into the documentation, in their order, if all of them have been measured."""
    kept = _kept()
    if missing := [part for part in parts if part not in kept]:
        print(f"the documentation stays as it is, because these parts were not measured: {', '.join(missing)}")
        return
    rows = [row for part in parts for row in kept[part]["rows"]]
    tables = {"rows": _rows(rows), "fleets": _fleets(kept["fleets"]["data"])}
    text = (ROOT / "docs" / _PAGE).read_text()
    (DOCS / _PAGE).write_text(_TABLE.sub(lambda found: found[1] + "\n".join(tables[found[2]]) + "\n" + found[3], text))
    charts.draw({part: results["data"] for part, results in kept.items()})


def _kept() -> dict[str, Any]:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}  # type: ignore[no-any-return]


def _rows(rows: list[dict[str, Any]]) -> Iterator[str]:
    yield from ("| what | gcpx | compared with | ratio | goal |", "| --- | ---: | --- | ---: | --- |")
    for row in rows:
        unit, other = row["unit"], f"{row['other']:,.1f} {row['unit']}, {row['beside']}"
        goal = ""
        if row["goal"] is not None:
            goal = (
                f"{'at least' if row['least'] else 'at most'} {row['goal']:g}: {'met' if row['met'] else '**missed**'}"
            )
        yield f"| {row['name']} | {row['ours']:,.1f} {unit} | {other} | {row['ratio']:.2f} | {goal} |"


def _fleets(changes: list[dict[str, Any]]) -> Iterator[str]:
    sizes = sorted({change["size"] for change in changes})
    names = list(dict.fromkeys(change["name"] for change in changes))
    found = {(change["name"], change["size"]): change for change in changes}
    yield "| change | " + " | ".join(f"{size:,} members" for size in sizes) + " |"
    yield "| --- |" + " --- |" * len(sizes)
    for name in names:
        cells = [_fleet_cell(found[name, size]) if (name, size) in found else "" for size in sizes]
        yield f"| {name} | {' | '.join(cells)} |"


def _fleet_cell(change: dict[str, Any]) -> str:
    calls, megabytes = f"{change['calls']:,} calls", f"{(change['sent'] + change['received']) / 1e6:,.1f} MB"
    return f"{calls}, {megabytes}, {change['cpu']:.1f} s of CPU, {change['memory']:.0f} MiB"
