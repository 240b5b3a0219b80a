"""Draws the pictures of the console in the guides: one moment of a rolling update, and all of another one."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import animated_webp
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
"""Seconds that the operations of the pictures take."""
_SHORT, _LONG = 600, 2500
"""The milliseconds of most frames, and of those to look at."""
_QUALITY: Final = 60
"""The quality of frames, of 100."""


@contextmanager
def _emulated() -> Iterator[tuple[Emulator, httpx.Client]]:
    """Run an emulator."""
    emulator = Emulator()
    with (
        listen() as listener,
        serving(application(emulator), listener) as host,
        httpx.Client(base_url=f"http://{host}", timeout=60, trust_env=False) as client,
    ):
        yield emulator, client


def draw(browser: chromium.Browser, file: Path) -> None:
    """Write the picture of a moment as a PNG."""
    with _emulated() as (emulator, client):
        _roll(emulator, client)
        browser.show_as(1240, 700)
        _open(browser, client)
        browser.draw(file)


def film(browser: chromium.Browser, file: Path, width: int = 960, height: int = 650) -> None:
    """Write the whole update as an animated WebP; the size is that of the window."""
    frames = []
    with _emulated() as (emulator, client):
        browser.show_as(width, height)
        for milliseconds in _whole_roll(emulator, client):
            _open(browser, client)
            frames.append((browser.webp(_QUALITY), milliseconds))
    file.write_bytes(animated_webp.animated(frames, width, height))


def _open(browser: chromium.Browser, client: httpx.Client) -> None:
    """Show the console as it is now."""
    browser.open(str(client.base_url))
    browser.until("document.getElementById('state').textContent === 'live'")


def _roll(emulator: Emulator, client: httpx.Client) -> None:
    """Bring two fleets into the state that the picture of a moment shows."""
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


def _whole_roll(emulator: Emulator, client: httpx.Client) -> Iterator[int]:
    """Create a fleet, and replace its members batch by batch; yield when to take a frame, and its milliseconds."""
    emulator.operations.latency = _LATENCY
    yield _SHORT
    yield from _batch(emulator, client, range(1, 13), _OLD)
    yield _LONG
    for first in range(1, 13, len(_ZONES)):
        batch = range(first, first + len(_ZONES))
        yield from _batch(emulator, client, [number + 12 for number in batch], _NEW)
        for number in batch:
            client.delete(_path(number)).raise_for_status()
        emulator.clock.advance(0.5 * _LATENCY)
        yield _SHORT
        emulator.clock.advance(0.6 * _LATENCY)
        yield _SHORT
    yield _LONG


def _batch(emulator: Emulator, client: httpx.Client, numbers: Collection[int], generation: str) -> Iterator[int]:
    """Create members of a fleet, and let them become ready."""
    for number in numbers:
        _make(client, f"web-{number:03}", _ZONES[number % 3], "web", generation)
    for share in (0.2, 0.5, 0.4):  # they are provisioned, staged, and run
        emulator.clock.advance(share * _LATENCY)
        yield _SHORT
    for number in numbers:
        ready = {"instance": _path(number).removeprefix("/compute/v1/"), "attributes": {"web/ready": "yes"}}
        _post(client, "/_emulator/guest-attributes", ready)
    yield _SHORT


def _path(number: int) -> str:
    return f"{_PROJECT}/zones/{_ZONES[number % 3]}/instances/web-{number:03}"


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
        film(found, Path(sys.argv[2]))
