"""Operations: work that is accepted at once and takes effect later."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import attrs

from gcpx_emulator.core.clock import Clock
from gcpx_emulator.core.errors import not_found
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.store import Store

Effect = Json
_KINDS: Final = frozenset({"put", "change", "delete", "relink"})
"""The keys of effects that hold the path of the changed resource."""


def put(path: str, body: Json) -> Effect:
    """Create or replace a resource."""
    return {"put": path, "body": body}


def change(path: str, fields: Json) -> Effect:
    """Set fields of a resource; None removes a field."""
    return {"change": path, "fields": fields}


def delete(path: str) -> Effect:
    """Delete a resource."""
    return {"delete": path}


def relink(path: str, field: str, target: str, link: str | None, **fields: Any) -> Effect:
    """Set the link to the resource at `target` in a list of links; None removes it. Also set other fields."""
    return {"relink": path, "field": field, "target": target, "link": link, "fields": fields}


def apply(effect: Effect, store: Store) -> None:
    """Change the store; a resource that no longer exists is neither changed nor relinked."""
    match effect:
        case {"put": path, "body": body}:
            store.put(path, body)
        case {"delete": path}:
            store.delete(path)
        case {"change": path, "fields": fields}:
            _set_fields(store, path, fields)
        case {"relink": path, "field": field, "target": target, "link": link, "fields": fields}:
            current = (store.get(path) or {}).get(field, [])
            links = [one for one in current if not one.endswith(f"/{target}")] + ([link] if link else [])
            _set_fields(store, path, {**fields, field: links or None})


def _set_fields(store: Store, path: str, fields: Json) -> None:
    resource = store.get(path)
    if resource is not None:
        changed = resource | fields
        store.put(path, {name: value for name, value in changed.items() if value is not None})


_LONGEST_WAIT: Final = 120.0
"""Seconds that one call waits for an operation."""
_CHUNK: Final = 500
"""The number of operations that a list reads at once."""


@attrs.frozen
class Progress:
    """The start and end of an operation, and the current time, in seconds since 1970."""

    begins: float
    ends: float
    now: float

    @property
    def share(self) -> float:
        """The part of the operation's time that has passed, from 0 to 1."""
        return 1.0 if self.now >= self.ends else (self.now - self.begins) / (self.ends - self.begins)


Show = Callable[[Json, Progress], Json]
"""Returns an operation as its API shows it, from the operation's body, which it does not change."""


@attrs.frozen(kw_only=True)
class Operation:
    """An operation that is about to start.

    Attributes:
        scope: its scope in the project, such as `zones/us-east1-b`.
        request_id: the ID that the client gave its request, if any.
        body: its stored fields.
        begins: its start, in seconds since 1970.
        effects: its changes of the store, made when it ends.
        ends: its end, in seconds since 1970; None for an end after `Operations.latency`.
    """

    name: str
    project: str
    scope: str
    begins: float
    ends: float | None = None
    body: Json = attrs.Factory(dict)
    effects: list[Effect] = attrs.Factory(list)
    request_id: str | None = None


@attrs.define
class Operations:
    """The operations of all projects.

    Attributes:
        latency: the seconds that each operation takes.
        timers: called after operations have been settled, for events that are due at a planned time.
        compares_bodies: whether a request ID must not be used again with another body. Google does not document whether
            it accepts that.
        done_at_once: whether operations that take no time are done in the first response, as many of Google's are.
        has_quick: whether operations that Google mostly ends at once are done in the first response, despite `latency`.
    """

    store: Store
    show: Show
    clock: Clock = attrs.Factory(Clock)
    latency: float = 0.0
    timers: list[Callable[[], None]] = attrs.Factory(list)
    compares_bodies: bool = False
    done_at_once: bool = False
    has_quick: bool = True
    _bodies: dict[str, Any] = attrs.Factory(dict)
    """The bodies of requests, by request ID."""

    def start(self, operation: Operation, group: Sequence[Operation] = ()) -> Json:
        """Start an operation and its group, which runs equally long; return it as shown at the start.

        Operations of the group have no request ID and no effects of their own.
        """
        rows = [
            (
                *(one.name, one.project, one.scope, one.request_id, json.dumps(one.body), one.begins),
                one.begins + self.latency if one.ends is None else one.ends,
                json.dumps(one.effects),
                int(not one.effects),  # nothing is left to settle
            )
            for one in (operation, *group)
        ]
        pending = {path for effect in operation.effects for kind, path in effect.items() if kind in _KINDS}
        with self.store.transaction():
            self.store.run_many("insert into operations values (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
            self.store.run_many("insert into pending values (?, ?)", ((path, operation.name) for path in pending))
        begins, shortest = operation.begins, 0.0 if self.done_at_once else 1e-3
        ends = begins + max(self.latency, shortest) if operation.ends is None else operation.ends
        if ends <= begins:
            self.settle()  # an operation that is shown as done has taken effect
        return self.show(operation.body, Progress(begins, ends, begins))

    def of_request(self, project: str, request_id: str) -> Json | None:
        """Find the operation that the request with this ID started."""
        rows = self.store.run("select * from operations where project = ? and request = ?", (project, request_id))
        return self._shown(rows[0]) if rows else None

    def forget_requests(self) -> None:
        """Forget all request IDs, as Google does after some time: repeated requests are then carried out again."""
        self.store.run("update operations set request = null")

    def is_same_request(self, request_id: str, body: Any) -> bool:
        """Return whether a request ID is new or was used with this body, if that matters."""
        return not self.compares_bodies or self._bodies.setdefault(request_id, body) == body

    def settle(self) -> None:
        """Apply the effects of all operations that have ended, then call the timers."""
        with self.store.transaction():
            ended = self.store.run(
                "select name, effect from operations where settled = 0 and ends <= ? order by ends, rowid",
                (self.clock.now(),),
            )
            for row in ended:
                for effect in json.loads(row["effect"]):
                    apply(effect, self.store)
                self.store.run("update operations set settled = 1 where name = ?", (row["name"],))
                self.store.run("delete from pending where operation = ?", (row["name"],))
            for timer in self.timers:
                timer()

    def is_pending(self, path: str) -> bool:
        """Return whether an operation that has not ended yet will change this resource."""
        return bool(self.store.run("select 1 from pending where path = ? limit 1", (path,)))

    def planned(self, collection: str) -> dict[str, Json]:
        """Read the resources of a collection that operations will create or change, by path, as they will then be."""
        rows = self.store.run(
            "select effect from operations where name in (select operation from pending where path > ? and path < ?)",
            (f"{collection}/", f"{collection}0"),  # 0 follows the slash
        )
        found: dict[str, Json] = {}
        for effect in (effect for row in rows for effect in json.loads(row["effect"])):
            match effect:
                case {"put": path, "body": body}:
                    found[path] = body
                case {"change": path, "fields": fields}:
                    found[path] = (self.store.get(path) or {}) | fields
        return {path: item for path, item in found.items() if path.rpartition("/")[0] == collection}

    async def wait(self, project: str, scope: str, name: str) -> None:
        """Wait until an operation has ended, but not longer than two minutes; then settle."""
        ends = float(self._row(project, scope, name)["ends"])
        await self.clock.until(min(ends, self.clock.now() + _LONGEST_WAIT))
        self.settle()

    def get(self, project: str, scope: str, name: str) -> Json:
        """Read the operation of this name or numeric ID."""
        return self._shown(self._row(project, scope, name))

    def list(self, project: str, scope: str, after: str = "") -> Iterator[Json]:
        """Yield the operations of a scope after a name, sorted by name; they are read on demand."""
        rows = self._rows_after(project, scope, after)
        while rows:
            yield from map(self._shown, rows)
            rows = self._rows_after(project, scope, rows[-1]["name"])

    def _rows_after(self, project: str, scope: str, name: str) -> Sequence[Any]:
        return self.store.run(
            "select name, body, begins, ends from operations where project = ? and scope = ? and name > ? "
            "order by name limit ?",
            (project, scope, name, _CHUNK),
        )

    def _row(self, project: str, scope: str, name: str) -> Any:
        rows = self.store.run(
            "select body, begins, ends from operations where project = ? and scope = ? "
            "and (name = ? or json_extract(body, '$.id') = ?)",
            (project, scope, name, name),
        )
        if not rows:
            raise not_found(f"projects/{project}/{scope}/operations/{name}")
        return rows[0]

    def _shown(self, row: Any) -> Json:
        return self.show(json.loads(row["body"]), Progress(row["begins"], row["ends"], self.clock.now()))
