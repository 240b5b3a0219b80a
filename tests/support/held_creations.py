"""Creations that Google has accepted and does not end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from counted_requests import counted_requests
from emulated import Emulated
from steered import HANGS


@contextmanager
def held_creations(cloud: Emulated, count: int) -> Iterator[Callable[[], bool]]:
    """Let no operation end; gives a function that waits until so many operations are waited for."""
    begun, waited = threading.Event(), set()

    def observe(_: int, request: str) -> None:
        if request.endswith("/wait"):
            waited.add(request)
            if len(waited) >= count:
                begun.set()

    cloud.hold_operations()
    with counted_requests(cloud, observe):
        yield lambda: begun.wait(HANGS)
