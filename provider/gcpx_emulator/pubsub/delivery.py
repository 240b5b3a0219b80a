"""Delivery of messages to push endpoints: pushed until they are acknowledged, with growing pauses."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

import attrs

from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.signing import Signer
from gcpx_emulator.core.store import Store
from gcpx_emulator.pubsub.messages import TopicPublisher, most_deliveries, ordering_key, undelivered
from gcpx_emulator.pubsub.retention import dequeue
from gcpx_emulator.pubsub.topics_and_subscriptions import all_of, local_endpoint, seconds_of

_FINAL: Final = frozenset({102})
"""Informational statuses that Pub/Sub accepts as the response."""
_ACKNOWLEDGED: Final = _FINAL | frozenset(range(200, 300))
_KEPT_ATTEMPTS: Final = 1000
_MOST_AT_ONCE: Final = 16
"""The largest number of concurrent attempts of one subscription."""
_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 60.0
"""The bounds of pauses between attempts, in seconds, if the subscription has no retry policy."""


@attrs.frozen
class _Push:
    """A message to push to a subscription's endpoint.

    Attributes:
        path: the path of the queued message in the store.
        entry: the queued message in the store.
    """

    subscription: Json
    path: str
    entry: Json

    @property
    def endpoint(self) -> str:
        return local_endpoint(self.subscription)

    def body(self) -> bytes:
        message = self.entry["message"]
        older_names = {"message_id": message["messageId"], "publish_time": message["publishTime"]}
        attempt = {"deliveryAttempt": self.entry["attempt"] + 1} if self.subscription.get("deadLetterPolicy") else {}
        wrapped = {**attempt, "message": {**message, **older_names}, "subscription": self.subscription["name"]}
        return json.dumps(wrapped).encode()

    def headers(self, signer: Signer) -> dict[str, str]:
        headers = {"User-Agent": "gcpx-emulator", "Content-Type": "application/json"}
        token = self.subscription["pushConfig"].get("oidcToken")
        if token:
            id_token = signer.id_token(token["serviceAccountEmail"], token.get("audience") or self.endpoint)
            headers["Authorization"] = f"Bearer {id_token}"
        return headers

    def pause(self) -> float:
        """Return the seconds until the next attempt after this one."""
        policy = self.subscription.get("retryPolicy") or {}
        first = seconds_of(policy.get("minimumBackoff"))
        longest = seconds_of(policy.get("maximumBackoff"))
        growth = float(2 ** min(self.entry["attempt"], 20))
        return min(_LONGEST_PAUSE if longest is None else longest, (_FIRST_PAUSE if first is None else first) * growth)


def _claims(headers: Mapping[str, str]) -> Json:
    """Return the claims of the token in the headers of a push; none without a token."""
    token = headers.get("Authorization", "").removeprefix("Bearer ")
    if not token:
        return {}
    from gcpx_emulator.core.keys import claims_of  # noqa: PLC0415 - the signer has loaded it

    return claims_of(token)


@attrs.define
class Pusher:
    """Pushes the undelivered messages of subscriptions with a push endpoint.

    Attributes:
        clock: gives the time in seconds since 1970.
        deliveries: the latest attempts and their results, oldest first.
    """

    store: Store
    signer: Signer
    clock: Callable[[], float] = time.time
    deliveries: deque[Json] = attrs.Factory(lambda: deque(maxlen=_KEPT_ATTEMPTS))
    _task: asyncio.Task[None] | None = None
    _changed: asyncio.Event = attrs.Factory(asyncio.Event)
    _attempted: asyncio.Condition = attrs.Factory(asyncio.Condition)
    _under_way: set[tuple[int, str]] = attrs.Factory(set)
    _resets: int = 0

    def wake(self) -> None:
        """Start to push due messages, after messages or subscriptions have changed."""
        self._changed.set()
        if (self._task is None or self._task.done()) and self._queued():
            self._task = asyncio.get_running_loop().create_task(self._run())

    def reset(self) -> None:
        """Delete the attempts; one that is under way is not recorded when it ends."""
        self._resets += 1
        self.deliveries.clear()

    async def attempts(self, at_least: int) -> list[Json]:
        """Wait for this number of attempts; return the latest ones."""
        async with self._attempted:
            await self._attempted.wait_for(lambda: len(self.deliveries) >= at_least)
        return list(self.deliveries)

    async def _run(self) -> None:
        """Push due messages, then wait for a change or for the next due time, as long as the emulator runs.

        The event is cleared before the search, so that a change during the search leads to another round.
        """
        async with asyncio.TaskGroup() as group:
            while True:
                self._changed.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), self._start(group))

    def _start(self, group: asyncio.TaskGroup) -> float | None:
        """Start to push due messages; return the seconds until the next is due, None if only a change makes one due.

        Of the messages of one ordering key, only the earliest is pushed.
        """
        TopicPublisher(self.store, self.clock, self.wake).settle()
        now, waits, begun = self.clock(), [], set()
        under_way = Counter(path.rpartition("/messages/")[0] for _, path in self._under_way)
        for push in self._queued():
            key, name = (self._resets, push.path), push.subscription["name"]
            order = ordering_key(push.subscription, push.entry)
            if key in self._under_way or (order and (name, order) in begun):
                begun.add((name, order))
                continue
            begun.add((name, order))
            if push.entry["due"] > now:
                waits.append(push.entry["due"] - now)
            elif under_way[name] < _MOST_AT_ONCE:
                under_way[name] += 1
                self._under_way.add(key)
                group.create_task(self._deliver(key, push))
        return min(waits, default=None)

    def _queued(self) -> list[_Push]:
        pushed = [item for item in all_of(self.store, "subscriptions") if local_endpoint(item)]
        return [
            _Push(subscription, path, entry)
            for subscription in pushed
            for path, entry in undelivered(self.store, subscription["name"])
        ]

    async def _deliver(self, key: tuple[int, str], push: _Push) -> None:
        """Push a message once; the key is the number of resets so far and the message's path."""
        try:
            headers = push.headers(self.signer)
            status, error = await self._post(push, headers)
            if key[0] == self._resets:
                self._settle(push, is_acknowledged=status in _ACKNOWLEDGED)
                await self._record(push, status, error, _claims(headers))
        finally:
            self._under_way.discard(key)
            self._changed.set()

    async def _post(self, push: _Push, headers: Mapping[str, str]) -> tuple[int | None, str | None]:
        """Return the status of the response, or the name of the error."""
        from gcpx_emulator.pubsub.posting import post  # noqa: PLC0415 - most emulators push nothing

        try:
            async with asyncio.timeout(push.subscription["ackDeadlineSeconds"]):
                return await post(push.endpoint, headers, push.body(), _FINAL), None
        except Exception as error:  # noqa: BLE001 - an error of one endpoint must not stop pushes to others
            return None, type(error).__name__

    def _settle(self, push: _Push, *, is_acknowledged: bool) -> None:
        """Delete an acknowledged message; schedule the next attempt of any other, if it still exists."""
        if is_acknowledged:
            dequeue(self.store, push.subscription, push.path)
        elif self.store.get(push.path) is not None:
            again = {"attempt": push.entry["attempt"] + 1, "due": self.clock() + push.pause()}
            if again["attempt"] >= (most_deliveries(self.store, push.subscription) or math.inf):
                again["due"] = self.clock()
            self.store.put(push.path, push.entry | again)

    async def _record(self, push: _Push, status: int | None, error: str | None, claims: Json) -> None:
        async with self._attempted:
            self.deliveries.append(
                {
                    "subscription": push.subscription["name"],
                    "endpoint": push.endpoint,
                    "status": status,
                    "messageId": push.entry["message"]["messageId"],
                    "attempt": push.entry["attempt"] + 1,
                    "error": error,
                    "claims": claims,
                    "time": self.clock(),
                }
            )
            self._attempted.notify_all()
