"""Delivery of messages to push endpoints: signed, acknowledged by status, tried again with growing pauses.

Only loopback endpoints are called: nothing that runs here reaches out of the machine.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit

import attrs

from gcpx_emulator.core.store import Json, Store
from gcpx_emulator.oauth2.tokens import Signer
from gcpx_emulator.pubsub.messages import waiting
from gcpx_emulator.pubsub.posting import ANSWERS, post
from gcpx_emulator.pubsub.subscriptions import LOOPBACK

_RECEIVED: Final = ANSWERS | frozenset(range(200, 300))
_REMEMBERED: Final = 1000
_SIDE_BY_SIDE: Final = 16
"""Attempts of one subscription at a time."""
_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 60.0
_Key = tuple[int, str]
"""A message on its way: how often everything was forgotten before, and the path."""


@attrs.define
class Pusher:
    """What is on its way to push endpoints.

    Attributes:
        deliveries: the latest attempts, for tests and the page.
        clock: gives the time.
    """

    store: Store
    signer: Signer
    clock: Callable[[], float] = time.time
    deliveries: deque[Json] = attrs.Factory(lambda: deque(maxlen=_REMEMBERED))
    _task: asyncio.Task[None] | None = None
    _news: asyncio.Event = attrs.Factory(asyncio.Event)
    _attempted: asyncio.Condition = attrs.Factory(asyncio.Condition)
    _under_way: set[_Key] = attrs.Factory(set)
    _resets: int = 0

    def wake(self) -> None:
        """Look for something to deliver."""
        self._news.set()
        if (self._task is None or self._task.done()) and self._entries():
            self._task = asyncio.get_running_loop().create_task(self._run())

    def reset(self) -> None:
        """Forget what was delivered; an attempt that is under way is not recorded when it ends."""
        self._resets += 1
        self.deliveries.clear()

    async def attempts(self, at_least: int) -> list[Json]:
        """Give the latest attempts once there are this many."""
        async with self._attempted:
            await self._attempted.wait_for(lambda: len(self.deliveries) >= at_least)
        return list(self.deliveries)

    async def _run(self) -> None:
        """Deliver what is due, and wait for news or for what is due next, as long as the emulator runs.

        News are taken note of before looking, so that what is published while looking is seen in the next round.
        """
        async with asyncio.TaskGroup() as group:
            while True:
                self._news.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), self._start(group))

    def _start(self, group: asyncio.TaskGroup) -> float | None:
        """Begin what is due; gives the seconds until more is due, or None when only news can change something."""
        now, resets, waits = self.clock(), self._resets, []
        begun = Counter(path.rpartition("/messages/")[0] for _, path in self._under_way)
        for subscription, path, entry in self._entries():
            key, name = (resets, path), subscription["name"]
            if key in self._under_way:
                continue
            if entry["due"] > now:
                waits.append(entry["due"] - now)
            elif begun[name] < _SIDE_BY_SIDE:
                begun[name] += 1
                self._under_way.add(key)
                group.create_task(self._deliver(key, subscription, entry))
        return min(waits, default=None)

    def _entries(self) -> list[tuple[Json, str, Json]]:
        paths = self.store.collections("projects/", "/subscriptions")
        pushed = [item for path in paths for item in self.store.list(path) if _endpoint(item)]
        return [(item, path, entry) for item in pushed for path, entry in waiting(self.store, item["name"])]

    async def _deliver(self, key: _Key, subscription: Json, entry: Json) -> None:
        try:
            status, error = await self._post(subscription, entry)
            if key[0] == self._resets:
                await self._record(key[1], subscription, entry, status, error)
        finally:
            self._under_way.discard(key)
            self._news.set()

    async def _record(self, path: str, subscription: Json, entry: Json, status: int | None, error: str | None) -> None:
        attempt = entry["attempt"] + 1
        record = {"subscription": subscription["name"], "endpoint": _endpoint(subscription), "status": status}
        record |= {"messageId": entry["message"]["messageId"], "attempt": attempt, "error": error, "time": self.clock()}
        self._settle(path, subscription, entry | {"attempt": attempt}, received=status in _RECEIVED)
        async with self._attempted:
            self.deliveries.append(record)
            self._attempted.notify_all()

    def _settle(self, path: str, subscription: Json, entry: Json, *, received: bool) -> None:
        """Forget what was received; keep the rest for another attempt, unless it is gone by now."""
        if received:
            self.store.delete(path)
        elif self.store.get(path) is not None:
            self.store.put(path, entry | {"due": self.clock() + _pause(subscription, entry["attempt"])})

    async def _post(self, subscription: Json, entry: Json) -> tuple[int | None, str | None]:
        endpoint = _endpoint(subscription)
        headers = self._headers(subscription["pushConfig"], endpoint)
        body = json.dumps(_body(subscription, entry["message"])).encode()
        try:
            async with asyncio.timeout(subscription["ackDeadlineSeconds"]):
                return await post(endpoint, headers, body), None
        except Exception as error:  # noqa: BLE001 - an error of one endpoint must not stop pushes to others
            return None, type(error).__name__

    def _headers(self, config: Json, endpoint: str) -> dict[str, str]:
        headers = {"User-Agent": "gcpx-emulator", "Content-Type": "application/json"}
        token = config.get("oidcToken")
        if token:
            signed = self.signer.identity(token["serviceAccountEmail"], token.get("audience") or endpoint)
            headers["Authorization"] = f"Bearer {signed}"
        return headers


def _endpoint(subscription: Json) -> str:
    """Give where to push to, if that is on this machine."""
    endpoint = str(subscription.get("pushConfig", {}).get("pushEndpoint", ""))
    return endpoint if urlsplit(endpoint).hostname in LOOPBACK else ""


def _body(subscription: Json, message: Json) -> Any:
    twice = {"message_id": message["messageId"], "publish_time": message["publishTime"]}
    return {"message": {**message, **twice}, "subscription": subscription["name"]}


def _pause(subscription: Json, attempt: int) -> float:
    policy = subscription.get("retryPolicy") or {}
    first, most = (_seconds(policy.get(name), default) for name, default in
                   (("minimumBackoff", _FIRST_PAUSE), ("maximumBackoff", _LONGEST_PAUSE)))  # fmt: skip
    return min(most, first * float(2 ** min(attempt - 1, 20)))


def _seconds(text: Any, default: float) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)s", str(text))
    return float(found[1]) if found else default
