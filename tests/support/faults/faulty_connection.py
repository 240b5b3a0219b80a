"""A plugin's connection to the emulator, which has the faults of a plan."""

from __future__ import annotations

from typing import Final

import httpx
from engines.clock import FakeClock
from faults.fault_plan import FaultPlan
from servers.direct_connection import DirectConnection

from gcpx_emulator.core.discovery import route

_LATENESS: Final = 20.0
"""Seconds between the end of the client's patience and the arrival of a late request."""


class FaultyConnection(httpx.BaseTransport):
    """The connection of one plugin.

    Attributes:
        clock: the plugin's clock.
    """

    def __init__(self, plan: FaultPlan, clock: FakeClock) -> None:
        self._plan = plan
        self.clock = clock
        self._late: list[tuple[float, httpx.Request]] = []
        self._inner = DirectConnection()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.deliver(self.clock.now())
        path = request.url.raw_path.partition(b"?")[0].decode("latin-1")
        kind = self._plan.on_its_way(route(request.method, path)[0].id)
        if kind is None or kind.on_its_way is None:
            return self._inner.handle_request(request)
        return kind.on_its_way(self, request)

    def send(self, request: httpx.Request) -> httpx.Response:
        response = self._inner.handle_request(request)
        response.request = request
        response.read()
        response.close()
        return response

    def wait_for_response(self, request: httpx.Request) -> None:
        self.clock.pause(_patience(request))

    def send_late(self, request: httpx.Request) -> None:
        self._late.append((self.clock.now() + _patience(request) + _LATENESS, request))

    def deliver(self, until: float = float("inf")) -> None:
        """Let the late requests arrive that are due by a time of the clock."""
        due = [request for moment, request in self._late if moment <= until]
        self._late = [item for item in self._late if item[0] > until]
        for request in due:
            self.send(request)

    def close(self) -> None:
        self._inner.close()


def _patience(request: httpx.Request) -> float:
    """Return the seconds after which the client gives up waiting for a response."""
    return float(request.extensions["timeout"]["read"])
