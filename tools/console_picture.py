"""Draws the picture of the emulator's console in its guide: a fleet in the middle of a rolling update."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import chromium
import httpx

from gcpx_emulator.app import application
from gcpx_emulator.emulator import Emulator
from gcpx_emulator.server import listen
from gcpx_emulator.testing.background import serving

_PROJECT: Final = "/compute/v1/projects/demo-project"
_DISK: Final = {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": "family/debian-12"}}
_OLD, _NEW = "0a1b2c3d-0a1b2c3d-0a1b2c3d", "9f8e7d6c-0a1b2c3d-0a1b2c3d"
_ZONES: Final = ("us-east1-b", "us-east1-c", "us-east1-d")
_OUTDATED: Final = range(13, 37)
_LATENCY: Final = 100.0
"""Seconds that the operations of the picture take."""


def draw(browser: chromium.Browser, file: Path) -> None:
    """Write the picture as a PNG."""
    emulator = Emulator()
    with (
        listen() as listener,
        serving(application(emulator), listener) as host,
        httpx.Client(base_url=f"http://{host}", timeout=60, trust_env=False) as client,
    ):
        _roll(emulator, client)
        browser.show_as(1240, 700)
        browser.open(f"http://{host}/")
        browser.until("document.getElementById('state').textContent === 'live'")
        browser.draw(file)


def _roll(emulator: Emulator, client: httpx.Client) -> None:
    """Bring two fleets into the state that the picture shows."""
    for number in range(1, 28):
        _make(client, f"batch-{number:03}", "us-central1-a", "batch", _OLD, {"provisioningModel": "SPOT"})
    for number in range(1, 37):
        _make(client, f"web-{number:03}", _ZONES[number % 3], "web-1a2b3c4", _OLD if number in _OUTDATED else _NEW)
    _post(client, "/_emulator/preempt", {"project": "demo-project", "names": "batch-0*7"})
    attributes = {"onBoot": {"web/ready": "yes"}}
    _post(client, "/_emulator/guest-attributes", attributes)
    for number in (37, 38, 39):
        _make(client, f"web-{number:03}", _ZONES[number % 3], "web-1a2b3c4", _NEW)
    emulator.operations.latency = _LATENCY
    for number in (40, 41):
        _make(client, f"web-{number:03}", _ZONES[number % 3], "web-1a2b3c4", _NEW)
    emulator.clock.advance(0.4 * _LATENCY)
    for number in (13, 14):
        client.delete(f"{_PROJECT}/zones/{_ZONES[number % 3]}/instances/web-{number:03}").raise_for_status()
    _post(client, f"{_PROJECT}/zones/{_ZONES[0]}/instances/web-015/stop", {})
    emulator.clock.advance(0.3 * _LATENCY)


def _make(
    client: httpx.Client, name: str, zone: str, fleet: str, generation: str, scheduling: dict[str, Any] | None = None
) -> None:
    labels = {"gcpx-bulk": fleet, "gcpx-generation": generation}
    body = {"name": name, "machineType": f"zones/{zone}/machineTypes/e2-small", "disks": [_DISK], "labels": labels}
    _post(client, f"{_PROJECT}/zones/{zone}/instances", body | ({"scheduling": scheduling} if scheduling else {}))


def _post(client: httpx.Client, path: str, body: dict[str, Any]) -> None:
    client.post(path, json=body).raise_for_status()


if __name__ == "__main__":
    chromium.debian.require("Chromium", ["chromium", "chromium-driver"], chromium.is_there)
    with chromium.browser() as found:
        draw(found, Path(sys.argv[1]))
