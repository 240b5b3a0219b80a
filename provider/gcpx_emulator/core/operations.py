"""Compute operations: work that is taken on at once and takes effect later."""

from __future__ import annotations

import json
import time
import uuid
from datetime import UTC, datetime
from typing import Any, Final

import attrs

from gcpx_emulator.core.clock import Clock
from gcpx_emulator.core.errors import ApiError, not_found
from gcpx_emulator.core.store import Json, Store

_PENDING_SHARE: Final = 0.2
"""The part of an operation's time that it waits for its turn."""
Effect = Json
"""What an operation does when it is done: {"put": PATH, "body": ...}, {"delete": PATH}, or, to a disk that may have
changed meanwhile, {"disk": PATH, "instance": PATH, "link": the instance's link or None when it lets go}."""


def timestamp(moment: float | None = None) -> str:
    """Write a time as Compute does."""
    when = datetime.fromtimestamp(moment if moment is not None else time.time(), UTC)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@attrs.define
class Operations:
    """The operations of all projects.

    Attributes:
        latency: seconds that one takes.
        clock: tells the time.
    """

    store: Store
    latency: float = 0.0
    clock: Clock = attrs.Factory(Clock)

    def start(
        self,
        *,
        project: str,
        scope: str,
        kind: str,
        target: str,
        target_id: str,
        base: str,
        effects: list[Effect],
        request_id: str | None,
        error: Json | None = None,
        extra: Json | None = None,
    ) -> Json:
        """Begin an operation; `error` makes it fail in the end, without effect."""
        now = self.clock.now()
        name = f"operation-{int(now * 1000)}-{uuid.uuid4().hex[:8]}"
        link = f"{base}/projects/{project}/{scope}/operations/{name}"
        body: Json = {
            "kind": "compute#operation",
            "id": str(10**18 + self.store.next()),
            "name": name,
            "operationType": kind,
            "targetLink": f"{base}/{target}",
            "targetId": target_id,
            "user": "operator@example.com",
            "insertTime": timestamp(now),
            "selfLink": link,
            **(extra or {}),
        }
        if request_id:
            body["clientOperationId"] = request_id
        if scope != "global":
            body[scope.partition("/")[0].removesuffix("s")] = f"{base}/projects/{project}/{scope}"
        if error:
            body["_error"] = error
        self.store.run(
            "insert into operations values (?, ?, ?, ?, ?, ?, ?, ?, 0)",
            (name, project, scope, request_id, json.dumps(body), now, now + self.latency,
             json.dumps([] if error else effects)),
        )  # fmt: skip
        # The answer to the request is never the finished operation, however fast the work is.
        return _view(body, now, now + max(self.latency, 1e-3), now)

    def replay(self, project: str, request_id: str | None) -> Json | None:
        """Find the operation that a request ID already started."""
        if not request_id:
            return None
        try:
            if uuid.UUID(request_id).int == 0:
                raise ValueError  # noqa: TRY301 - both are the same refusal
        except ValueError:
            raise ApiError(400, f"Invalid value for field 'requestId': '{request_id}'. Must be a valid UUID.") from None
        rows = self.store.run("select * from operations where project = ? and request = ?", (project, request_id))
        return self._shown(rows[0]) if rows else None

    def settle(self) -> None:
        """Let everything that is due take effect."""
        with self.store.lock:
            due = self.store.run(
                "select * from operations where settled = 0 and ends <= ? order by ends", (self.clock.now(),)
            )
            for row in due:
                for effect in json.loads(row["effect"]):
                    self._apply(effect)
                self.store.run("update operations set settled = 1 where name = ?", (row["name"],))

    def _apply(self, effect: Effect) -> None:
        if "put" in effect:
            self.store.put(effect["put"], effect["body"])
        elif "delete" in effect:
            self.store.delete(effect["delete"])
        else:
            self._note_user(effect)

    def _note_user(self, effect: Effect) -> None:
        """Note that an instance uses a disk, or no longer does."""
        disk = self.store.get(effect["disk"])
        if disk is None:
            return
        others = [user for user in disk.get("users", []) if not user.endswith(f"/{effect['instance']}")]
        self.store.put(effect["disk"], disk | {"users": [*others, effect["link"]] if effect["link"] else others})

    def pending(self, path: str) -> bool:
        """Tell whether an operation that is under way will make, change or delete this resource."""
        rows = self.store.run("select effect from operations where settled = 0")
        effects = (effect for row in rows for effect in json.loads(row["effect"]))
        return any(path in (effect.get("put"), effect.get("delete"), effect.get("disk")) for effect in effects)

    def get(self, project: str, scope: str, name: str) -> Json:
        """Read one."""
        return self._shown(self._row(project, scope, name))

    def ends(self, project: str, scope: str, name: str) -> float:
        """Say when one is done."""
        return float(self._row(project, scope, name)["ends"])

    def list(self, project: str, scope: str) -> list[Json]:
        """Read those of a scope, oldest first."""
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
        return _view(json.loads(row["body"]), row["begins"], row["ends"], self.clock.now())


def _roll(body: Json, now: float, begins: float, ends: float) -> None:
    """Show how far a bulk creation has come, zone by zone."""
    zones = body.get("instancesBulkInsertOperationMetadata", {}).get("perLocationStatus", {})
    if now < ends:
        for zone in zones.values():
            zone |= {"status": "CREATING", "deletedVmCount": 0}
            zone["createdVmCount"] = int(zone["createdVmCount"] * (now - begins) / (ends - begins))


def _view(body: Json, begins: float, ends: float, now: float) -> Json:
    """Show an operation as it stands at a moment."""
    error = body.pop("_error", None)
    _roll(body, now, begins, ends)
    share = 1.0 if now >= ends else (now - begins) / (ends - begins)
    if share < _PENDING_SHARE:
        return {**body, "status": "PENDING", "progress": 0}
    started = {**body, "startTime": timestamp(begins + _PENDING_SHARE * (ends - begins))}
    if share < 1:
        return {**started, "status": "RUNNING", "progress": int(share * 100)}
    done = {**started, "status": "DONE", "progress": 100, "endTime": timestamp(ends)}
    if error is None:
        return done
    status = error.get("httpErrorStatusCode", 400)
    return {
        **done,
        "error": {"errors": error["errors"]},
        "httpErrorStatusCode": status,
        "httpErrorMessage": error.get("httpErrorMessage", "BAD REQUEST"),
    }
