"""The status page: resources, latest requests and pushes, and the methods that are emulated."""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from gcpx_emulator.core.call import HANDLERS
from gcpx_emulator.core.controls import SETTINGS
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.emulator import Emulator

_SHOWN: Final = 25
"""The number of requests and of pushes that are shown."""
_NAMES: Final = {"b": "buckets", "o": "objects"}
"""Longer names of collections, for those that are abbreviated in paths."""
_STYLE: Final = """
:root { color-scheme: light dark; --line: #8884; --soft: #888; --good: #1a7f37; --bad: #cf222e }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2.5rem auto; padding: 0 1.25rem }
h1 { font-size: 1.6rem; margin: 0 } h2 { font-size: 1rem; margin: 2.2rem 0 .5rem; font-weight: 600 }
p { color: var(--soft); margin: .2rem 0 0 } code { font: 13px ui-monospace, monospace }
table { border-collapse: collapse; width: 100% } td, th { padding: .3rem .8rem .3rem 0; text-align: left;
border-bottom: 1px solid var(--line); vertical-align: top } th { color: var(--soft); font-weight: 500 }
.counts { display: flex; flex-wrap: wrap; gap: .6rem; padding: 0; list-style: none }
.counts li { border: 1px solid var(--line); border-radius: .5rem; padding: .4rem .9rem }
.counts b { font-size: 1.25rem; display: block } .ok { color: var(--good) } .no { color: var(--bad) }
"""


def render(emulator: Emulator) -> str:
    """Write the page of an emulator, in HTML."""
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>gcpx emulator</title><style>{_STYLE}</style>"
        "<h1>gcpx emulator</h1><p>Google Cloud's REST APIs on this machine. No data leaves it.</p>"
        f"<h2>Resources</h2>{_counts(emulator.store.counts())}"
        f"<h2>Latest requests</h2>{_requests(list(emulator.requests.kept))}"
        f"{_pushes(list(emulator.pusher.deliveries))}"
        f"<h2>Emulated methods</h2>{_methods(list(HANDLERS))}"
    )


def _pushes(pushes: list[Json]) -> str:
    """Write the latest pushes, if there are any."""
    rows = [
        (
            _status(entry["status"], 300, entry["error"]),
            *(entry["subscription"].rpartition("/")[2], entry["endpoint"], str(entry["attempt"])),
        )
        for entry in reversed(pushes[-_SHOWN:])
    ]
    return f"<h2>Latest pushes</h2>{_table(rows, 'Answer', 'Subscription', 'Endpoint', 'Attempt')}" if rows else ""


def _counts(counts: dict[str, int]) -> str:
    settings = {setting.name for setting in SETTINGS}
    counts = {kind: number for kind, number in counts.items() if kind not in settings}
    if not counts:
        return "<p>None yet. Run <code>pulumi up</code> with <code>gcpx:emulatorHost</code> set to this address.</p>"
    tiles = "".join(f"<li><b>{number}</b>{html.escape(_NAMES.get(kind, kind))}</li>" for kind, number in counts.items())
    return f"<ul class=counts>{tiles}</ul>"


def _requests(requests: list[Json]) -> str:
    rows = [
        (_status(entry["status"], 400), entry["method"] or "—", f"{entry['httpMethod']} {entry['path']}")
        for entry in reversed(requests[-_SHOWN:])
    ]
    return _table(rows, "Status", "Method", "Request") if rows else "<p>None yet.</p>"


def _methods(methods: list[str]) -> str:
    groups: dict[str, list[str]] = defaultdict(list)
    for method in sorted(methods):
        owner, _, verb = method.rpartition(".")
        groups[owner].append(verb)
    return _table([(f"<td><code>{owner}</code></td>", ", ".join(verbs)) for owner, verbs in groups.items()])


def _status(status: int | None, bad: int, otherwise: str | None = "…") -> str:
    """Write the cell of a status; one from `bad` on, or none, is a failure."""
    return f"<td class={'ok' if (status or 500) < bad else 'no'}>{status or otherwise}</td>"


def _table(rows: Sequence[tuple[str, ...]], *heads: str) -> str:
    """Write a table; the first cell of each row is in HTML, the others are code."""
    head = f"<tr>{''.join(f'<th>{name}</th>' for name in heads)}</tr>" if heads else ""
    codes = ["".join(f"<td><code>{html.escape(cell)}</code></td>" for cell in cells) for _, *cells in rows]
    lines = "".join(f"<tr>{first}{code}</tr>" for (first, *_), code in zip(rows, codes, strict=True))
    return f"<table>{head}{lines}</table>"
