"""The status page: resources, latest requests and pushes, and the methods that are emulated."""

from __future__ import annotations

import html
from collections import defaultdict
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
    rows = "".join(
        f"<tr><td class={'ok' if (entry['status'] or 500) < 300 else 'no'}>{entry['status'] or entry['error']}</td>"  # noqa: PLR2004
        f"<td><code>{html.escape(entry['subscription'].rpartition('/')[2])}</code></td>"
        f"<td><code>{html.escape(entry['endpoint'])}</code></td><td>{entry['attempt']}</td></tr>"
        for entry in reversed(pushes[-_SHOWN:])
    )
    head = "<tr><th>Answer</th><th>Subscription</th><th>Endpoint</th><th>Attempt</th></tr>"
    return f"<h2>Latest pushes</h2><table>{head}{rows}</table>" if rows else ""


def _counts(counts: dict[str, int]) -> str:
    settings = {setting.name for setting in SETTINGS}
    counts = {kind: number for kind, number in counts.items() if kind not in settings}
    if not counts:
        return "<p>None yet. Run <code>pulumi up</code> with <code>gcpx:emulatorHost</code> set to this address.</p>"
    tiles = "".join(f"<li><b>{number}</b>{html.escape(_NAMES.get(kind, kind))}</li>" for kind, number in counts.items())
    return f"<ul class=counts>{tiles}</ul>"


def _requests(requests: list[Json]) -> str:
    rows = "".join(
        f"<tr><td class={'ok' if (entry['status'] or 500) < 400 else 'no'}>{entry['status'] or '…'}</td>"  # noqa: PLR2004
        f"<td><code>{html.escape(entry['method'] or '—')}</code></td>"
        f"<td><code>{html.escape(entry['httpMethod'])} {html.escape(entry['path'])}</code></td></tr>"
        for entry in reversed(requests[-_SHOWN:])
    )
    head = "<tr><th>Status</th><th>Method</th><th>Request</th></tr>"
    return f"<table>{head}{rows}</table>" if rows else "<p>None yet.</p>"


def _methods(methods: list[str]) -> str:
    groups: dict[str, list[str]] = defaultdict(list)
    for method in sorted(methods):
        owner, _, verb = method.rpartition(".")
        groups[owner].append(verb)
    rows = "".join(
        f"<tr><td><code>{owner}</code></td><td><code>{', '.join(verbs)}</code></td></tr>"
        for owner, verbs in groups.items()
    )
    return f"<table>{rows}</table>"
