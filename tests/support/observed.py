"""What happens at each request to an emulator: tests look at its state in between, or interfere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import attrs
from emulated import Emulated

from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.request_log import RequestLog


@attrs.define
class _ObservedLog(RequestLog):
    """A log that calls an observer at each request, before the request has any effect."""

    observer: Callable[[], None] = lambda: None

    def add(self, http_method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str]) -> Json:
        entry = super().add(http_method, path, query, headers)
        self.observer()
        return entry


@contextmanager
def observing(cloud: Emulated, observer: Callable[[], None]) -> Iterator[None]:
    """Call an observer at each request during the block, in the emulator's thread."""
    before = cloud.emulator.requests
    cloud.emulator.requests = _ObservedLog(observer=observer)
    try:
        yield
    finally:
        cloud.emulator.requests = before
