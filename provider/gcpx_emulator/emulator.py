"""One emulator: the simulated cloud, the injected faults, and the logs of requests and deliveries."""

from __future__ import annotations

import functools
import time
from typing import Any, Final

import attrs

from gcpx_emulator.compute.interruptions import do_what_is_due
from gcpx_emulator.compute.work import shown_operation
from gcpx_emulator.core.call import Cloud
from gcpx_emulator.core.clock import LATEST, Clock
from gcpx_emulator.core.controls import is_duration
from gcpx_emulator.core.faults import Faults
from gcpx_emulator.core.operations import Operations
from gcpx_emulator.core.rates import Rates
from gcpx_emulator.core.request_log import RequestLog
from gcpx_emulator.core.signing import Signer
from gcpx_emulator.core.store import StateError, Store
from gcpx_emulator.core.uploads import Uploads
from gcpx_emulator.pubsub.delivery import Pusher
from gcpx_emulator.pubsub.messages import TopicPublisher
from gcpx_emulator.pubsub.streaming import Changes

_CLOCK: Final = "clock/all"
"""The path of the clock's advance in the store."""


@attrs.define
class Emulator:
    """The state of one emulator.

    Attributes:
        strict: whether unknown names in bodies are refused by the APIs that ignore them at Google, too.
        clock: the clock of everything but operations and rates, which share one of their own; at first both clocks are
            the same.
    """

    store: Store = attrs.Factory(Store)
    strict: bool = attrs.field(default=False, kw_only=True)
    clock: Clock = attrs.Factory(Clock)
    faults: Faults = attrs.Factory(Faults)
    requests: RequestLog = attrs.Factory(RequestLog)
    uploads: Uploads = attrs.Factory(Uploads)
    changes: Changes = attrs.Factory(Changes)
    operations: Operations = attrs.field(init=False)
    rates: Rates = attrs.field(init=False)
    signer: Signer = attrs.field(init=False)
    pusher: Pusher = attrs.field(init=False)
    cloud: Cloud = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.operations = Operations(self.store, shown_operation, self.clock)
        self.rates = Rates(self.operations)
        self.signer = Signer(self.now)
        self.pusher = Pusher(self.store, self.signer, self.now)
        self.cloud = Cloud(
            store=self.store,
            operations=self.operations,
            signer=self.signer,
            publisher=TopicPublisher(self.store, self.now, self.deliver_due),
            now=self.now,
        )
        self._restore_clock()
        self.operations.timers.append(functools.partial(do_what_is_due, self.cloud))

    def now(self) -> float:
        """Return the time in seconds since 1970."""
        return self.clock.now()

    def deliver_due(self) -> None:
        """Push the messages that are due, and send them to the streams of subscribers."""
        self.pusher.wake()
        self.changes.tell()

    def advance(self, seconds: float) -> None:
        """Advance the clock, and do what is due by then: run limits, redelivery of pushes, expiry."""
        self.clock.advance(seconds)
        with self.store.transaction():
            self.store.put(_CLOCK, {"ahead": self.clock.ahead})
            self.operations.settle()
        self.deliver_due()

    def load(self, state: bytes) -> None:
        """Replace the resources, operations and settings, and the advance of the clock, by those of a saved state.

        Raises:
            StateError: if `state` is something else; nothing is then changed.
        """
        with self.store.transaction():
            self.store.load(state)
            self._restore_clock()
        self.pusher.reset()
        self.pusher.wake()

    def _restore_clock(self) -> None:
        saved: Any = self.store.get(_CLOCK) or {"ahead": 0.0}
        ahead: Any = saved.get("ahead") if isinstance(saved, dict) else None
        if not is_duration(ahead) or time.time() + ahead > LATEST:
            raise StateError("its clock shows no date")
        self.clock.ahead = ahead

    def reset(self) -> None:
        """Delete everything but the signing keys, and show the machine's time again."""
        self.clock.reset()
        self.store.reset()
        self.faults.queue.clear()
        self.rates.set(b"")
        self.requests.clear()
        self.pusher.reset()
        self.changes.tell()
