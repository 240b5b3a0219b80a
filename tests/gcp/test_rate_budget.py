"""The rate of requests follows the server's quota: few requests are refused, and programs share the whole quota.

Holds reliability.md: "gcpx learns from the responses".
"""

from __future__ import annotations

import heapq
import random
import threading
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

import attrs
import pytest
from engines.clock import FakeClock
from engines.clocked import client, context
from values.programs import PROJECT

from gcpx.gcp.request import COMPUTE, PATIENCE, STORAGE, Request
from gcpx.gcp.retries import RateBudget
from gcpx.gcp.settings import Settings

READ = Request(api=COMPUTE, method="GET", path=f"v1/projects/{PROJECT}")
DELETE = Request(api=COMPUTE, method="DELETE", path=f"v1/projects/{PROJECT}/zones/z/instances/i", idempotent=False)


_THREADS = 32
_LATENCY = 0.1


@attrs.define
class Quota:
    """A server's quota: `rate` requests a second, and `burst` at once after a rest."""

    rate: float
    burst: float
    _left: float = attrs.field(init=False)
    _at: float = attrs.field(default=0.0, init=False)

    def __attrs_post_init__(self) -> None:
        self._left = self.burst

    def accepts(self, now: float) -> bool:
        self._left, self._at = min(self.burst, self._left + (now - self._at) * self.rate), now
        if self._left < 1:
            return False
        self._left -= 1
        return True


@attrs.define
class Simulation:
    """Programs that send requests to one server, each in several threads with a budget of its own.

    Attributes:
        longest: the most seconds between the first and the last attempt of a request.
    """

    quota: Quota
    now: float = 0.0
    longest: float = 0.0
    random: random.Random = attrs.Factory(lambda: random.Random(1))
    _events: list[tuple[float, int, Callable[[], None]]] = attrs.Factory(list)
    _numbers: count[int] = attrs.Factory(count)

    def run(self, *programs: tuple[int, float]) -> list[list[float]]:
        """Run programs, each given by its number of requests and its start; return when their requests succeeded."""
        made = [_Program(self, RateBudget(lambda: self.now), requests) for requests, _ in programs]
        for program, (_, start) in zip(made, programs, strict=True):
            for _ in range(_THREADS):
                self.at(start, program.begin)
        while self._events:
            self.now, _, work = heapq.heappop(self._events)
            work()
        return [program.succeeded for program in made]

    def at(self, moment: float, work: Callable[[], None]) -> None:
        heapq.heappush(self._events, (max(moment, self.now), next(self._numbers), work))


@attrs.define
class _Program:
    world: Simulation
    budget: RateBudget
    left: int
    succeeded: list[float] = attrs.Factory(list)

    def begin(self) -> None:
        if self.left:
            self.left -= 1
            self._reserve(0, None)

    def _reserve(self, attempt: int, first: float | None) -> None:
        sent = self.budget.reserve()
        since = sent if first is None else first
        self.world.longest = max(self.world.longest, sent - since)
        self.world.at(sent, lambda: self._send(sent, attempt, since))

    def _send(self, sent: float, attempt: int, first: float) -> None:
        accepted = self.world.quota.accepts(self.world.now)
        answered = self.world.now + _LATENCY * self.world.random.uniform(0.7, 1.3)
        self.world.at(answered, partial(self._receive, sent, attempt, first, accepted=accepted))

    def _receive(self, sent: float, attempt: int, first: float, *, accepted: bool) -> None:
        if accepted:
            self.budget.accepted(sent)
            self.succeeded.append(self.world.now)
            self.begin()
            return
        self.budget.refused(sent, None)
        longest = min(30.0, 0.5 * 2**attempt)
        pause = max(self.world.random.uniform(longest / 2, longest), self.budget.seconds_until_next())
        self.world.at(self.world.now + pause, lambda: self._reserve(attempt + 1, first))


@pytest.mark.parametrize("second_start", [0.0, 20.0])
def test_two_programs_share_a_quota(second_start):
    world = Simulation(Quota(rate=20, burst=20))
    both = world.run((3000, 0.0), (3000, second_start))
    shares = [sum(70 < moment < 170 for moment in succeeded) for succeeded in both]

    assert [len(succeeded) for succeeded in both] == [3000, 3000]
    assert world.longest < PATIENCE, "no request fails"
    assert sum(shares) >= 0.95 * 20 * 100
    assert min(shares) >= 0.4 * sum(shares)


@contextmanager
def _server(clock, allowed, headers=None):
    """Run a server that allows some requests in each second of the clock; yield its host and a counter."""
    quota, counts = Quota(rate=allowed, burst=allowed), {200: 0, 403: 0}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet, so that no acknowledgement is waited for

        def do_GET(self):
            accepted = "storage" in self.path or quota.accepts(clock.now())
            status, body = (
                (200, b"{}")
                if accepted
                else (403, b'{"error": {"code": 403, "errors": [{"reason": "rateLimitExceeded"}]}}')
            )
            counts[status] += 1
            self.send_response_only(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_DELETE(self):
            self.do_GET()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}", counts
        finally:
            server.shutdown()
            thread.join()


def test_a_client_finishes_a_thousand_changes_in_the_time_that_the_quota_allows():
    clock = FakeClock()
    with _server(clock, allowed=20) as (host, counts):
        google = client(clock, Settings(project=PROJECT, emulator_host=host))
        for _ in range(1000):
            assert google.send(DELETE, context(clock)) == {}
        google.close()

    assert counts[200] == 1000
    assert clock.now() <= 1.2 * 1000 / 20


@pytest.mark.parametrize("asked", ["7", "Wed, 21 Oct 2015 07:28:07 GMT"])
def test_the_pause_that_a_server_asks_for_does_not_depend_on_the_local_clock(asked):
    """The server's clock differs from the local one by years; a date counts from the date of its response."""
    clock = FakeClock()
    with _server(clock, allowed=1, headers={"Date": "Wed, 21 Oct 2015 07:28:00 GMT", "Retry-After": asked}) as (
        host,
        _,
    ):
        google = client(clock, Settings(project=PROJECT, emulator_host=host))
        for _ in range(2):
            google.send(READ, context(clock))
        google.close()

    assert clock.pauses == [7.0]


def test_the_quota_of_one_api_does_not_slow_down_another():
    clock = FakeClock()
    with _server(clock, allowed=1) as (host, counts):
        google = client(clock, Settings(project=PROJECT, emulator_host=host))
        for _ in range(3):
            google.send(READ, context(clock))
        before = clock.now()
        for _ in range(50):
            google.send(Request(api=STORAGE, method="GET", path="v1/b/bucket"), context(clock))
        google.close()

    assert counts[403] > 0
    assert clock.now() == before > 0
