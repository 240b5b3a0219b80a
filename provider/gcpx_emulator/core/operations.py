"""Operations: work that is accepted at once and takes effect later.

They are kept in the store. Each API decides what it shows of an operation (`Show`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import attrs

from gcpx_emulator.core.clock import Clock
from gcpx_emulator.core.effects import Effect, apply, changed_path
from gcpx_emulator.core.errors import not_found
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.store import Store

_LONGEST_WAIT: Final = 120.0
"""Seconds that one call waits for an operation."""


@attrs.frozen
class Progress:
    """When an operation begins and ends, and what time it is: in seconds since 1970."""

    begins: float
    ends: float
    now: float

    @property
    def share(self) -> float:
        """The part of the operation's time that has passed, from 0 to 1."""
        return 1.0 if self.now >= self.ends else (self.now - self.begins) / (self.ends - self.begins)


Show = Callable[[Json, Progress], Json]
"""Writes an operation as its API shows it; gets the operation's body, which it does not change."""


@attrs.frozen(kw_only=True)
class Operation:
    """An operation that is about to start.

    Attributes:
        scope: where in the project it is, such as `zones/us-east1-b`.
        request_id: the ID that the client gave its request, if any.
        body: what the API keeps of it.
        begins: in seconds since 1970.
        effects: what it does when it ends.
        ends: in seconds since 1970; None for the latency of all operations after its beginning.
    """

    name: str
    project: str
    scope: str
    request_id: str | None
    body: Json
    begins: float
    effects: list[Effect]
    ends: float | None = None


@attrs.define
class Operations:
    """The operations of all projects.

    Attributes:
        latency: the seconds that each operation takes.
        timers: called after operations have been settled, for what happens by itself at a time.
    """

    store: Store
    show: Show
    clock: Clock = attrs.Factory(Clock)
    latency: float = 0.0
    timers: list[Callable[[], None]] = attrs.Factory(list)

    def start(self, operation: Operation) -> Json:
        """Start an operation; return it as it is shown at the start, when it is never done."""
        begins, body, effects = operation.begins, json.dumps(operation.body), json.dumps(operation.effects)
        place = (operation.name, operation.project, operation.scope, operation.request_id)
        self.store.run(
            "insert into operations values (?, ?, ?, ?, ?, ?, ?, ?, 0)",
            (*place, body, begins, begins + self.latency if operation.ends is None else operation.ends, effects),
        )
        return self.show(operation.body, Progress(begins, begins + max(self.latency, 1e-3), begins))

    def of_request(self, project: str, request_id: str) -> Json | None:
        """Find the operation that a request with this ID has started."""
        rows = self.store.run("select * from operations where project = ? and request = ?", (project, request_id))
        return self._shown(rows[0]) if rows else None

    def settle(self) -> None:
        """Apply the effects of all operations that have ended, then call the timers."""
        with self.store.lock:
            ended = self.store.run(
                "select * from operations where settled = 0 and ends <= ? order by ends", (self.clock.now(),)
            )
            for row in ended:
                for effect in json.loads(row["effect"]):
                    apply(effect, self.store)
                self.store.run("update operations set settled = 1 where name = ?", (row["name"],))
            for timer in self.timers:
                timer()

    def is_pending(self, path: str) -> bool:
        """Return whether an operation that has not ended yet will change this resource."""
        rows = self.store.run("select effect from operations where settled = 0")
        return any(path == changed_path(effect) for row in rows for effect in json.loads(row["effect"]))

    async def wait(self, project: str, scope: str, name: str) -> None:
        """Wait until an operation has ended, but not longer than two minutes; then settle."""
        ends = float(self._row(project, scope, name)["ends"])
        await self.clock.until(min(ends, self.clock.now() + _LONGEST_WAIT))
        self.settle()

    def get(self, project: str, scope: str, name: str) -> Json:
        """Read the operation of this name or numeric ID."""
        return self._shown(self._row(project, scope, name))

    def list(self, project: str, scope: str) -> list[Json]:
        """Read the operations of a scope, oldest first."""
        rows = self.store.run(
            "select * from operations where project = ? and scope = ? order by begins", (project, scope)
        )
        return [self._shown(row) for row in rows]

    def _row(self, project: str, scope: str, name: str) -> Any:
        rows = self.store.run(
            "select * from operations where project = ? and scope = ? and ? in (name, json_extract(body, '$.id'))",
            (project, scope, name),
        )
        if not rows:
            raise not_found(f"projects/{project}/{scope}/operations/{name}")
        return rows[0]

    def _shown(self, row: Any) -> Json:
        return self.show(json.loads(row["body"]), Progress(row["begins"], row["ends"], self.clock.now()))
