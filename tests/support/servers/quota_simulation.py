"""A simulation of programs that share a rate quota: it has a clock of its own, so that minutes pass at once."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from functools import partial
from itertools import count

import attrs

from gcpx.gcp.retries import RateBudget

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
