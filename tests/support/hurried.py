"""A provider whose pauses end at once, so that retries and waits take no time in tests with many faults."""

from __future__ import annotations

import threading
from typing import Any

from gcpx.gcp.client import GoogleClient
from gcpx.gcp.in_project import Lookups
from gcpx.provider import Provider


class Pauses(threading.Event):
    """The event that cancels calls; waiting for it ends at once, and moves its clock."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._moving = threading.Lock()

    def wait(self, timeout: float | None = None) -> bool:
        with self._moving:
            self._now += timeout or 0.0
        return self.is_set()

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        """Let time pass without a pause, as during a request."""
        with self._moving:
            self._now += seconds


class HurriedProvider(Provider):
    """A provider with a clock of its own, which only its pauses move."""

    def configure(self, args: dict[str, Any]) -> None:
        super().configure(args)
        assert self._settings is not None
        if self._client is not None:  # the configuration is the same, but the clock is another one
            self._retired.append(self._client)
        pauses = Pauses()
        self.cancelled, self.clock = pauses, pauses.now
        self._client = GoogleClient(self._settings, clock=self.clock, grace=0.0)
        self._lookups = Lookups(self._client)

    def let_pass(self, seconds: float) -> None:
        """Let time pass on the provider's clock."""
        assert isinstance(self.cancelled, Pauses)
        self.cancelled.advance(seconds)
