"""A simulation of programs that share a rate quota: it has a clock of its own, so that minutes pass at once."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from functools import partial
from itertools import count

import attrs

from gcpx.gcp.retries import RateBudget


@attrs.define
class Bucket:
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
class Window:
    """A server's quota: `size` requests in each window of some seconds."""

    size: int
    seconds: float
    _window: int = attrs.field(default=0, init=False)
    _seen: int = attrs.field(default=0, init=False)

    def accepts(self, now: float) -> bool:
        if now // self.seconds != self._window:
            self._window, self._seen = int(now // self.seconds), 0
        self._seen += 1
        return self._seen <= self.size


@attrs.frozen
class Outage:
    """A server that refuses every request until a time."""

    until: float

    def accepts(self, now: float) -> bool:
        return now >= self.until


@attrs.define
class Simulation:
    """Programs that send requests to one server, each in 32 threads with a budget of its own.

    Attributes:
        latency: seconds of a response; each differs from it by up to 30 percent.
        retry_after: seconds of the Retry-After of rate-limited responses, if they have one.
        refused: the number of rate-limited responses.
        longest: the most seconds between the first and the last attempt of a request.
    """

    quota: Bucket | Window | Outage
    latency: float
    seed: int = 1
    retry_after: float | None = None
    now: float = 0.0
    refused: int = 0
    longest: float = 0.0
    _events: list[tuple[float, int, Callable[[], None]]] = attrs.Factory(list)
    _numbers: count[int] = attrs.Factory(count)
    _random: random.Random = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def run(self, *programs: tuple[int, float]) -> list[list[float]]:
        """Run programs, each given by its number of requests and its start; return when their requests succeeded."""
        made = [_Program(self, RateBudget(lambda: self.now), requests) for requests, _ in programs]
        for program, (_, start) in zip(made, programs, strict=True):
            for _ in range(32):
                self.at(start, program.begin)
        while self._events:
            self.now, _, work = heapq.heappop(self._events)
            work()
        return [program.succeeded for program in made]

    def at(self, moment: float, work: Callable[[], None]) -> None:
        heapq.heappush(self._events, (max(moment, self.now), next(self._numbers), work))

    def uniform(self, least: float, most: float) -> float:
        return self._random.uniform(least, most)


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
        latency = self.world.latency * self.world.uniform(0.7, 1.3)
        self.world.at(self.world.now + latency, partial(self._receive, sent, attempt, first, accepted=accepted))

    def _receive(self, sent: float, attempt: int, first: float, *, accepted: bool) -> None:
        if accepted:
            self.budget.accepted(sent)
            self.succeeded.append(self.world.now)
            self.begin()
            return
        self.world.refused += 1
        self.budget.refused(sent, self.world.retry_after)
        longest = min(30.0, 0.5 * 2**attempt)
        pause = max(self.world.uniform(longest / 2, longest), self.budget.seconds_until_next())
        self.world.at(self.world.now + pause, lambda: self._reserve(attempt + 1, first))
