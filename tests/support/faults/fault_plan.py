"""One planned fault: which call has it, on which side of the connection, and how long it lasts."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Final

import attrs
from engines.clock import HOUR
from faults.fault_kinds import FaultKind

from gcpx_emulator.core.faults import Fault, Faults
from gcpx_emulator.core.operations import Operations

_NEVER: Final = 1000 * HOUR
_READS_OF_OPERATIONS: Final = re.compile(r".*Operations\.(get|wait|list)")


@attrs.frozen(order=True)
class ApiCall:
    """A call that a verb makes: the `number`th one of a method, counted from 1."""

    method: str
    number: int
    changes: bool = attrs.field(eq=False)
    """Whether it changes something."""

    def __str__(self) -> str:
        return f"{self.method}.{self.number}"

    @property
    def starts_operation(self) -> bool:
        """Whether Google answers with an operation."""
        return self.changes and self.method.startswith("compute.")


@attrs.define
class FaultPlan(Faults):
    """Takes the place of the emulator's faults, and of the connection's: both ask it at every call.

    Attributes:
        operations: those of the emulator.
        call: the call that has the fault; None injects nothing.
        kind: the kind of the fault.
        lasts: whether later calls have it, too, until the plan is cleared.
        happened: whether the fault was injected.
    """

    operations: Operations | None = None
    call: ApiCall | None = None
    kind: FaultKind | None = None
    lasts: bool = False
    happened: bool = False
    _on_its_way: Counter[str] = attrs.Factory(Counter)
    _at_emulator: Counter[str] = attrs.Factory(Counter)

    def begin(self, call: ApiCall, kind: FaultKind, *, lasts: bool) -> None:
        """Plan a fault; calls are counted from here."""
        self.call, self.kind, self.lasts, self.happened = call, kind, lasts, False
        self._on_its_way.clear()
        self._at_emulator.clear()

    def clear(self) -> None:
        """End the fault; an operation that had not ended until then ends."""
        self.call = None
        assert self.operations is not None
        self.operations.latency = 0.0

    def on_its_way(self, method: str) -> FaultKind | None:
        """Return the fault of the next call of a method, if it happens on the way to the emulator."""
        if self.kind is None or self.kind.on_its_way is None:
            return None
        return self.kind if self._is_hit(self._on_its_way, method) else None

    def take(self, method: str) -> Fault | None:
        """Return the fault of the next call of a method, if the emulator injects it."""
        if self.call is None or self.kind is None or self.kind.on_its_way is not None:
            return None
        hidden = self._operation_read(method)
        if hidden is not None:
            return hidden
        is_hit = self._is_hit(self._at_emulator, method)
        assert self.operations is not None
        self.operations.latency = _NEVER if is_hit and self.kind.operation == "never ends" else 0.0
        return Fault(method=method, **self.kind.response) if is_hit and self.kind.response else None

    def _operation_read(self, method: str) -> Fault | None:
        """Return how an operation that has disappeared is read."""
        assert self.kind is not None
        if self.kind.operation != "disappears" or not self.happened or not _READS_OF_OPERATIONS.fullmatch(method):
            return None
        answer: dict[str, Any] = {"body": "{}"} if method.endswith(".list") else {"status": 404}
        return Fault(method=method, **answer)

    def _is_hit(self, seen: Counter[str], method: str) -> bool:
        call, kind = self.call, self.kind
        if call is None or kind is None:
            return False
        seen[method] += 1
        is_first = not self.happened and (method, seen[method]) == (call.method, call.number)
        is_later = self.happened and self.lasts and (kind.everywhere or method == call.method)
        self.happened |= is_first
        return is_first or is_later
