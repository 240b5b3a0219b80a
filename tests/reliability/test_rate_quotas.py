"""Stacks that share a rate quota finish in the time that it requires, without a failure, and each gets its share.

The plugins and the emulator share a clock that moves only when all calls pause, so that minutes take no time.

Holds reliability.md: "gcpx learns from the responses"; "Programs that share a quota".
"""

from __future__ import annotations

import threading
from contextlib import ExitStack

import attrs
from engines import driver
from engines.clock import FakeClock
from engines.clocked import ClockedProvider
from engines.driver import Engine
from servers import plain_http
from servers.emulated import Emulated
from values import matrix
from values.programs import PROJECT, TEMPLATE, template

PER_SECOND = 20
NUMBER = 1000 if matrix.FULL else 100
"""How many resources each stack creates."""
AT_ONCE = 8
"""How many resources each stack creates at once."""


@attrs.define
class Stack:
    """A stack that creates templates, with a plugin of its own.

    Attributes:
        made: when its templates were created, in seconds since the beginning.
    """

    engine: Engine
    name: str
    left: int
    clock: FakeClock
    made: list[float] = attrs.Factory(list)
    _begun: float = attrs.field(default=attrs.Factory(lambda stack: stack.clock.now(), takes_self=True))
    _lock: threading.Lock = attrs.Factory(threading.Lock)

    def work(self) -> None:
        """Create templates one after the other, until none is left."""
        with self.clock.call():
            while self._take():
                self._create(f"{self.name}-{self.left}-{threading.get_ident()}")
                self.made.append(self.clock.now() - self._begun)

    def _take(self) -> bool:
        with self._lock:
            self.left -= 1
            return self.left >= 0

    def _create(self, name: str) -> None:
        inputs = driver.struct({"name": name, **template()})
        urn = self.engine.urn(TEMPLATE, name)
        self.engine.stub.Create(driver.rpc.CreateRequest(urn=urn, properties=inputs, name=name, type=TEMPLATE))


def _run(cloud: Emulated, each: int, *names: str) -> list[Stack]:
    """Let stacks create templates side by side."""
    rates = {"perSecond": {"mutations": PER_SECOND}, "burst": PER_SECOND}
    plain_http.post(f"http://{cloud.host}/_emulator/rates", json=rates).raise_for_status()
    with ExitStack() as plugins:
        config = {"project": PROJECT, "emulatorHost": cloud.host}
        engines = [plugins.enter_context(driver.engine(ClockedProvider(cloud.clock), **config)) for _ in names]
        stacks = [Stack(engine, name, each, cloud.clock) for engine, name in zip(engines, names, strict=True)]
        threads = [threading.Thread(target=stack.work) for stack in stacks for _ in range(AT_ONCE)]
        with cloud.clock.call():  # the clock stands still until all have begun
            for thread in threads:
                thread.start()
        for thread in threads:
            thread.join()
    return stacks


def _assert_within_the_quota(cloud: Emulated, stacks: list[Stack], number: int) -> None:
    """Assert that all templates were created, hardly later than the quota requires, and with few refused requests.

    The order in which the machine runs threads has an influence, which is larger in a short run.
    """
    seconds = max(moment for stack in stacks for moment in stack.made)
    ideal = (number - PER_SECOND) / PER_SECOND
    counts = cloud.emulator.rates.show()["groups"]["mutations"]
    print(f"{number} creations: {seconds:.1f} s, ideal {ideal:.1f} s, {counts}")  # noqa: T201 - the figures
    assert sum(len(stack.made) for stack in stacks) == number, "one failed"
    assert cloud.emulator.store.counts()["instanceTemplates"] == number
    assert seconds <= (1.2 if matrix.FULL else 2.0) * ideal
    assert counts["accepted"] == number
    assert counts["refused"] <= number / 4


def test_a_stack_finishes_in_the_time_that_the_quota_requires(cloud):
    stacks = _run(cloud, NUMBER, "one")

    _assert_within_the_quota(cloud, stacks, NUMBER)


def test_two_stacks_share_a_quota(cloud):
    stacks = _run(cloud, NUMBER, "one", "two")
    until = min(max(stack.made) for stack in stacks)
    shares = [sum(moment <= until for moment in stack.made) for stack in stacks]
    print(f"shares until one was done: {shares}")  # noqa: T201 - the figures

    _assert_within_the_quota(cloud, stacks, 2 * NUMBER)
    assert min(shares) >= (0.4 if matrix.FULL else 0.25) * sum(shares)
