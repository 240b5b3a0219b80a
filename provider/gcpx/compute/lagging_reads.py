"""When to look for what Google has just created: for some seconds, its answers may not show it yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gcpx.model.call import Call

_PATIENCE: Final = 20.0
"""Seconds in which answers may lag."""
_FIRST_PAUSE: Final = 0.5


def looks(call: Call) -> Iterator[None]:
    """Yield each time to look: at once, and then after growing pauses, for 20 seconds.

    Ends earlier if the user cancels, or if the time of the call is over.
    """
    end, pause = call.clock() + min(_PATIENCE, call.seconds_left()), _FIRST_PAUSE
    yield
    while call.clock() < end and not call.cancelled.wait(min(pause, max(0.0, end - call.clock()))):
        yield
        pause *= 2
