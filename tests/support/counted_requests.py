"""The emulator's log of requests, which counts them and tells an observer of each one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import attrs
from emulated import Emulated

from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.request_log import RequestLog


@attrs.define
class _CountingLog(RequestLog):
    """A log that counts requests.

    Attributes:
        observer: called at each request, before it has any effect, with its number, and its HTTP method and path.
    """

    observer: Callable[[int, str], None] = lambda _number, _request: None
    count: int = 0

    def add(self, http_method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str]) -> Json:
        self.count += 1
        self.observer(self.count, f"{http_method} {path}")
        return super().add(http_method, path, query, headers)


@contextmanager
def counted_requests(cloud: Emulated, observer: Callable[[int, str], None]) -> Iterator[_CountingLog]:
    """Observe the requests during the block."""
    emulator = cloud.emulator
    kept, log = emulator.requests, _CountingLog(observer=observer)
    emulator.requests = log
    try:
        yield log
    finally:
        emulator.requests = kept
