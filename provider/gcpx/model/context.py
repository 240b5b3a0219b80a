"""One call of the engine: what a verb may know of it, its time and its cancellation."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final, Protocol, TypeVar

import attrs

from gcpx.errors import CancelledError, OutOfTimeError
from gcpx.model.values import Path

Item = TypeVar("Item")
Result = TypeVar("Result")
PARALLEL: Final = 32
"""The maximum number of concurrent requests of a call."""
NOTICED_WITHIN: Final = 0.2
"""The longest time in which a wait notices a cancellation or the end of its time, in seconds."""
READING_TIME: Final = 1.0
"""Seconds after the custom timeout in which a call may still read, so that the state is complete."""

URN_PARTS: Final = 4
"""Parts of a URN: `urn:pulumi:STACK`, the project, the qualified type, and the name, which may contain `::` itself."""


class Lock(Protocol):
    """A lock or semaphore."""

    def acquire(self, *, timeout: float) -> bool:
        """Take the lock if it becomes free within `timeout` seconds; return whether it did."""

    def release(self) -> None:
        """Release the lock."""


@attrs.frozen
class Replaced:
    """The facts about a resource in the state that the engine has shown before it replaces the resource.

    Attributes:
        known: IDs, numeric IDs (of a fleet's members, too), IDs of bulk creations, generated names.
        inputs: the last inputs, with secrets revealed; empty if the engine has deleted the resource, has not shown
            them, or has called Diff after it showed them.
        is_in_state: whether the state still has an entry of the resource; false if a refresh of this run removed it.
    """

    known: frozenset[str] = frozenset()
    inputs: Mapping[str, Any] = attrs.Factory(dict)
    is_in_state: bool = True


@attrs.define
class Sharing:
    """Permission to answer a read from a request that it shares with other reads.

    Attributes:
        used: whether it got such an answer: from a list, or some seconds old.
    """

    used: bool = False


@attrs.frozen(kw_only=True)
class Context:
    """One call of the engine.

    A custom timeout limits the whole call: it counts from the beginning of the call, and includes all requests,
    retries, pauses and waits. After it, no request that changes something is sent.

    Attributes:
        urn: the resource's URN.
        timeout: the user's custom timeout in seconds; None without one.
        started: the time at which the call began, by `clock`.
        cancelled: set when the user asks to stop; every wait watches it.
        progress: shows a line in the engine's Info column; the next line replaces it.
        inform: prints a line with the resource's name, which stays in the output.
        warn: prints a warning with the resource's name.
        prior: the outputs in state before this call, with secrets revealed.
        changed: in an update, the paths of the inputs that differ.
        ignored: in an update, the paths whose changes the user ignores (`ignoreChanges`).
        autonamed: whether the resource's name was generated.
        provider_urn: the URN of the provider's resource; empty if the engine does not send it.
        requester: identifies the sender of the resource's creating requests; see `gcpx.model.naming.requester`.
        replaces: in a creation, the resource in the state that it replaces; None for a first creation.
        is_blocked: whether the replaced resource still exists, although both cannot exist at the same time.
        urn_of: returns the URN of the resource with an ID, among all resources that the engine has shown or that were
            created since Configure; None if there is none.
        claim: makes the resource's ID known to `urn_of` of other calls before this call ends.
        clock: gives the time in seconds, from any starting point.
        parallel: the maximum number of concurrent requests of the call.
        sent: set when a request that changes something was carried out.
        sharing: in a refresh or an import, the permission to answer reads together with those of other calls; with
            None, each read sends its own request.
    """

    urn: str
    timeout: float | None
    started: float
    cancelled: threading.Event
    progress: Callable[[str], None]
    inform: Callable[[str], None]
    warn: Callable[[str], None]
    prior: dict[str, Any] = attrs.Factory(dict)
    changed: tuple[Path, ...] = ()
    ignored: tuple[Path, ...] = ()
    autonamed: bool = False
    provider_urn: str = ""
    requester: str = ""
    replaces: Replaced | None = None
    is_blocked: bool = False
    urn_of: Callable[[str], str | None] = lambda _: None
    claim: Callable[[str], None] = lambda _: None
    clock: Callable[[], float] = time.monotonic
    parallel: int = PARALLEL
    sent: threading.Event = attrs.Factory(threading.Event)
    sharing: Sharing | None = None

    def end(self, default: float) -> float:
        """Return the deadline of work that may take `default` seconds if there is no custom timeout."""
        return self.started + self.timeout if self.timeout else self.clock() + default

    def seconds_left(self, *, reading: bool = False) -> float:
        """Return the seconds in which requests may still be sent; with `reading`, requests that only read.

        It is infinite without a custom timeout, and negative after the limit.
        """
        if not self.timeout:
            return math.inf
        return self.started + self.timeout + (READING_TIME if reading else 0.0) - self.clock()

    @property
    def is_over(self) -> bool:
        """Whether the user has cancelled, or the call's time is over, so that a wait may have ended too early."""
        return self.cancelled.is_set() or self.seconds_left() <= 0

    def tries(self, seconds: float, *, pause: float = 0.5, longest: float = math.inf) -> Iterator[None]:
        """Yield whenever it is time to try, or to look: at once, and then after growing pauses.

        Every wait for Google is such a sequence. It ends early if the user cancels, or if the call's time is over.

        Args:
            seconds: the length of the sequence.
            pause: the seconds from the start of the first try to the start of the second; then they double.
            longest: the most seconds between the starts of two tries.
        """
        started = self.clock()
        end = started + min(seconds, self.seconds_left())
        while True:
            yield
            now = self.clock()
            rest = min(started + pause, end) - now
            if now >= end or self.cancelled.is_set() or (rest > 0 and self.cancelled.wait(rest)):
                return
            pause = min(pause * 2, longest)
            started = self.clock()

    def side_by_side(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Do work on the items, `parallel` of them at a time; yield the results in the order of the items.

        Raises the exceptions of the work, once all started work has ended.
        """
        with ThreadPoolExecutor(self.parallel) as pool:
            yield from pool.map(work, items)

    @contextmanager
    def holding(self, lock: Lock, what: str, *, reading: bool = False) -> Iterator[None]:
        """Hold a lock during the block, once it is free; `what` names the waiting work in messages.

        Raises CancelledError if the user cancels before that, and OutOfTimeError if the call's time ends before that.
        """
        while not lock.acquire(timeout=NOTICED_WITHIN):
            if self.cancelled.is_set():
                raise CancelledError.before(what)
            if self.seconds_left(reading=reading) <= 0:
                raise OutOfTimeError(what, self.timeout)
        try:
            yield
        finally:
            lock.release()

    def is_replaced(self, *known: object) -> bool:
        """Return whether the replaced resource has one of these IDs or names."""
        return self.replaces is not None and not self.replaces.known.isdisjoint(known)

    def is_anothers(self, resource_id: str) -> bool:
        """Return whether another resource of the stack has an ID, as far as the engine has shown."""
        return self.urn_of(resource_id) not in {None, self.urn}

    @property
    def request_mark(self) -> str:
        """The beginning of the request IDs of the resource's creating requests; empty without a provider's ID."""
        digits = self.requester
        return f"{digits[:8]}-{digits[8:12]}-5{digits[12:15]}" if digits else ""

    @property
    def token(self) -> str:
        """The resource's type token."""
        return self.urn.split("::")[2].rpartition("$")[2]

    @property
    def name(self) -> str:
        """The resource's name in the program."""
        return name_in_urn(self.urn)


def name_in_urn(urn: str) -> str:
    """Return the name of a resource in the program."""
    return urn.split("::", URN_PARTS - 1)[-1]
