"""A call whose pauses end at once, and the clock that they advance."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from gcpx.gcp.client import GoogleClient
from gcpx.gcp.settings import Settings
from gcpx.model.resource import Context


@attrs.define
class Pauses:
    """Stands for the event that cancels a call: it records each pause, and moves the clock by it.

    Attributes:
        cancel: whether the user cancels in the first pause.
        passes: is called with the seconds of each pause, for other clocks to move with this one.
        seconds: the pauses so far.
        lines: the lines of progress so far.
    """

    cancel: bool = False
    passes: Callable[[float], None] = lambda _: None
    now: float = 0.0
    seconds: list[float] = attrs.Factory(list)
    lines: list[str] = attrs.Factory(list)

    def wait(self, seconds: float) -> bool:
        """Take the place of `threading.Event.wait`."""
        self.seconds.append(seconds)
        self.now += 0 if self.cancel else seconds
        self.passes(seconds)
        return self.cancel

    def is_set(self) -> bool:
        """Take the place of `threading.Event.is_set`."""
        return self.cancel and bool(self.seconds)

    def call(self, timeout: float | None = None) -> Context:
        """Return a call that pauses here."""
        say = self.lines.append
        return Context(
            urn="", timeout=timeout, cancelled=self, progress=say, inform=say, warn=say, clock=lambda: self.now
        )

    def google(self, settings: Settings) -> GoogleClient:
        """Return a client that reads the time here."""
        return GoogleClient(settings, clock=lambda: self.now)
