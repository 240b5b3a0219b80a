"""What gets its time from a test's clock: a provider, a client of Google's APIs, and the context of a call."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx
from engines.clock import FakeClock
from servers.direct_connection import DirectConnection

from gcpx.gcp.client import GoogleClient
from gcpx.gcp.connections import Connections
from gcpx.gcp.settings import Settings
from gcpx.model.context import Context
from gcpx.provider import Provider


class ClockedProvider(Provider):
    """A provider whose time is a test's clock, so that retries and waits take no time.

    Attributes:
        time: the clock.
    """

    def __init__(self, time: FakeClock | None = None, connection: httpx.BaseTransport | None = None) -> None:
        """Take a clock, by default one of its own, and what carries requests.

        By default, these are the usual connections, but an emulator of this process is called directly.
        """
        super().__init__()
        self.time = time or FakeClock()
        self.clock = self.time.now
        self._connection = connection

    def configure(self, args: dict[str, Any]) -> None:
        super().configure(args)
        self.cancelled = self.time.cancellation()

    def new_client(self, settings: Settings) -> GoogleClient:
        # The emulator answers at once, even if the clock has advanced meanwhile.
        clock = time.monotonic if self._connection is None else self.clock
        connections = Connections(clock, self._connection or DirectConnection())
        return GoogleClient(settings, clock=self.clock, connections=connections)


def client(clock: FakeClock, settings: Settings) -> GoogleClient:
    """Return a client of Google's APIs whose time is a clock."""
    return GoogleClient(settings, clock=clock.now)


def context(
    clock: FakeClock,
    timeout: float | None = None,
    *,
    say: Callable[[str], None] = lambda _: None,
    cancelled_at_first_pause: bool = False,
) -> Context:
    """Return the context of a call whose time is a clock; `say` takes its messages."""
    cancelled = clock.cancellation(at_first_pause=cancelled_at_first_pause)
    now = clock.now
    return Context(
        urn="", timeout=timeout, started=now(), cancelled=cancelled, progress=say, inform=say, warn=say, clock=now
    )
