"""A provider whose connection to the emulator has the faults of a plan, with a clock that only pauses move."""

from __future__ import annotations

from typing import Any, Final

import httpx
from fault_plan import FaultPlan
from hurried import HurriedProvider, Pauses

from gcpx.gcp.transport import Transport
from gcpx_emulator.core.discovery import route

_LATENESS: Final = 20.0
"""Seconds between the end of the client's patience and the arrival of a late request."""


class FaultyLine(httpx.BaseTransport):
    """The connection to the emulator."""

    def __init__(self, plan: FaultPlan, pauses: Pauses, patience: float) -> None:
        self._plan = plan
        self._pauses = pauses
        self._patience = patience
        self._late: list[tuple[float, httpx.Request]] = []
        self._inner = httpx.HTTPTransport(verify=False)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.deliver(self._pauses.now())
        path = request.url.raw_path.partition(b"?")[0].decode("latin-1")
        kind = self._plan.on_line(route(request.method, path)[0].id)
        if kind is None or kind.on_line is None:
            return self._inner.handle_request(request)
        return kind.on_line(self, request)

    def send(self, request: httpx.Request) -> httpx.Response:
        response = self._inner.handle_request(request)
        response.request = request
        response.read()
        response.close()
        return response

    def wait_for_response(self) -> None:
        self._pauses.wait(self._patience)

    def send_late(self, request: httpx.Request) -> None:
        self._late.append((self._pauses.now() + self._patience + _LATENESS, request))

    def deliver(self, until: float = float("inf")) -> None:
        """Let the late requests arrive that are due by a time of the clock."""
        due = [request for moment, request in self._late if moment <= until]
        self._late = [item for item in self._late if item[0] > until]
        for request in due:
            self.send(request)

    def close(self) -> None:
        self._inner.close()


class FaultyProvider(HurriedProvider):
    """A provider with such a connection.

    Attributes:
        line: the connection, once the provider is configured.
    """

    line: FaultyLine

    def __init__(self, plan: FaultPlan) -> None:
        super().__init__()
        self._plan = plan

    def configure(self, args: dict[str, Any]) -> None:
        super().configure(args)
        assert self._settings is not None
        assert self._client is not None
        assert isinstance(self.cancelled, Pauses)
        self.line = FaultyLine(self._plan, self.cancelled, self._settings.timeout_seconds)
        transport = Transport(self._settings, self.clock)
        pools = transport._connections._pools  # noqa: SLF001 - httpx's own seam is a transport, which no setting chooses
        pools[True, False] = httpx.Client(transport=self.line, trust_env=False)
        self._client._transport = transport  # noqa: SLF001 - as above

    @property
    def waited(self) -> float:
        """Seconds of the clock that have passed."""
        assert isinstance(self.cancelled, Pauses)
        return self.cancelled.now()
