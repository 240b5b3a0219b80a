"""The emulator's log of requests, which tells an observer of each one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import attrs
from emulated import Emulated

from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.request_log import RequestLog


@attrs.define
class ObservedLog(RequestLog):
    """A log that calls an observer at each request, before the request has any effect."""

    observer: Callable[[], None] = lambda: None

    def add(self, http_method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str]) -> Json:
        entry = super().add(http_method, path, query, headers)
        self.observer()
        return entry


@contextmanager
def observed_requests(cloud: Emulated, observer: Callable[[], None]) -> Iterator[None]:
    """Call an observer at each request of the block, in the emulator's thread."""
    emulator = cloud.emulator
    before, emulator.requests = emulator.requests, ObservedLog(observer=observer)
    try:
        yield
    finally:
        emulator.requests = before
