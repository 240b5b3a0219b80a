"""What belongs to one call of the engine: cancellation, time limit, and messages to the user."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final, Protocol, TypeVar

import attrs

from gcpx.errors import CancelledError, OutOfTimeError
from gcpx.model.values import Path

Item = TypeVar("Item")
Result = TypeVar("Result")
PARALLEL: Final = 32
"""How many requests a call has under way at most; one connection carries more at the same time."""
NOTICED_WITHIN: Final = 0.2
"""The most seconds until a wait that nothing else ends notices a cancellation or the end of the time."""
READING_TIME: Final = 1.0
"""Seconds after the custom timeout in which what exists may still be read, so that the state is complete."""

URN_PARTS: Final = 4
"""Parts of a URN: `urn:pulumi:STACK`, the project, the qualified type, and the name, which may contain `::` itself."""


class Lock(Protocol):
    """What only some calls may hold at the same time."""

    def acquire(self, *, timeout: float) -> bool:
        """Take it if it becomes free within some seconds; return whether it did."""

    def release(self) -> None:
        """Give it back."""


@attrs.frozen(kw_only=True)
class Call:
    """One call of the engine.

    A custom timeout is one limit for the whole call: it counts from the beginning of the call, and includes all
    requests, retries, pauses and waits. Nothing that changes something is sent after it.

    Attributes:
        urn: the resource's URN.
        timeout: the user's custom timeout in seconds; None without one.
        cancelled: set when the user asks to stop; every wait watches it.
        progress: shows a line in the engine's Info column; the next line replaces it.
        inform: prints a line with the resource's name, which stays in the output.
        warn: prints a warning with the resource's name.
        last: the outputs in state before this call, with secrets revealed.
        changed: in an update, the paths of the inputs that differ.
        autonamed: whether the resource's name was generated.
        provider_id: the ID of the provider's resource in the stack, which no other stack has; empty if there is none.
        provider_urn: the URN of the provider's resource; empty if the engine does not tell.
        shown: what the engine has shown of this resource's state since Configure: IDs, numeric IDs, IDs of bulk
            creations, generated names.
        urn_of: gives the URN of the resource that has an ID, of all resources that the engine has shown or that were
            created since Configure; None if none has.
        clock: gives the time in seconds, from any starting point.
        parallel: how many requests the call may have under way at the same time.
        begun: when the call began, in the time of the clock.
    """

    urn: str
    timeout: float | None
    cancelled: threading.Event
    progress: Callable[[str], None]
    inform: Callable[[str], None]
    warn: Callable[[str], None]
    last: dict[str, Any] = attrs.Factory(dict)
    changed: tuple[Path, ...] = ()
    autonamed: bool = False
    provider_id: str = ""
    provider_urn: str = ""
    shown: frozenset[str] = frozenset()
    urn_of: Callable[[str], str | None] = lambda _: None
    clock: Callable[[], float] = time.monotonic
    parallel: int = PARALLEL
    begun: float = attrs.field(default=attrs.Factory(lambda call: call.clock(), takes_self=True))

    def end(self, default: float) -> float:
        """Return when work has to end that may take `default` seconds if the user sets no custom timeout."""
        return self.begun + self.timeout if self.timeout else self.clock() + default

    def seconds_left(self, *, reading: bool = False) -> float:
        """Return the seconds until nothing more may be sent; with `reading`, for requests that only read.

        It is infinite without a custom timeout, and negative after the limit.
        """
        if not self.timeout:
            return math.inf
        return self.begun + self.timeout + (READING_TIME if reading else 0.0) - self.clock()

    def side_by_side(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Do work on each item, on some of them at the same time; yield the results in the order of the items.

        Raises what the work raises, when everything that was begun has ended.
        """
        with ThreadPoolExecutor(self.parallel) as pool:
            yield from pool.map(work, items)

    @contextmanager
    def holding(self, lock: Lock, what: str, *, reading: bool = False) -> Iterator[None]:
        """Hold a lock during the block, once it is free; `what` is what waits for it, in messages.

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

    def is_anothers(self, resource_id: str) -> bool:
        """Return whether the engine has shown that another resource of the stack has an ID."""
        return self.urn_of(resource_id) not in {None, self.urn}

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
