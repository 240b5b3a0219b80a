"""Delivery of messages to push endpoints: signed, acknowledged by status, tried again with growing pauses.

Only loopback endpoints are called: nothing that runs here reaches out of the machine.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from typing import Any, Final
from urllib.parse import urlsplit

import attrs
import httpx

from gcpx_emulator.messages import waiting
from gcpx_emulator.pubsub import LOOPBACK
from gcpx_emulator.store import Json, Store
from gcpx_emulator.tokens import Signer

_RECEIVED: Final = frozenset({102, *range(200, 300)})
_REMEMBERED: Final = 1000
_SIDE_BY_SIDE: Final = 16
_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 60.0


@attrs.define
class Pusher:
    """What is on its way to push endpoints.

    Attributes:
        deliveries: the latest attempts, for tests and the page.
    """

    store: Store
    signer: Signer
    deliveries: deque[Json] = attrs.Factory(lambda: deque(maxlen=_REMEMBERED))
    _task: asyncio.Task[None] | None = None
    _news: asyncio.Event = attrs.Factory(asyncio.Event)

    def wake(self) -> None:
        """Look for something to deliver."""
        self._news.set()
        if self._entries() and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        """Deliver what is due and wait for what is due later, until nothing is left."""
        async with httpx.AsyncClient(trust_env=False) as client:
            while (pause := await self._round(client)) is not None:
                self._news.clear()
                try:
                    await asyncio.wait_for(self._news.wait(), pause)
                except TimeoutError:
                    continue

    async def _round(self, client: httpx.AsyncClient) -> float | None:
        """Deliver what is due; gives the seconds until the next, or None when nothing is left."""
        entries = self._entries()
        due = [item for item in entries if item[2]["due"] <= time.time()][:_SIDE_BY_SIDE]
        await asyncio.gather(*(self._deliver(client, *item) for item in due))
        left = [entry["due"] for _, _, entry in self._entries()]
        return max(0.0, min(left) - time.time()) if left else None

    def _entries(self) -> list[tuple[Json, str, Json]]:
        paths = self.store.collections("projects/", "/subscriptions")
        pushed = [item for path in paths for item in self.store.list(path) if _endpoint(item)]
        return [(item, path, entry) for item in pushed for path, entry in waiting(self.store, item["name"])]

    async def _deliver(self, client: httpx.AsyncClient, subscription: Json, path: str, entry: Json) -> None:
        status, error = await self._post(client, subscription, entry)
        attempt = entry["attempt"] + 1
        record = {"subscription": subscription["name"], "endpoint": _endpoint(subscription), "status": status}
        record |= {"messageId": entry["message"]["messageId"], "attempt": attempt, "error": error, "time": time.time()}
        self.deliveries.append(record)
        if status in _RECEIVED:
            self.store.delete(path)
        elif self.store.get(path) is not None:
            self.store.put(path, entry | {"attempt": attempt, "due": time.time() + _pause(subscription, attempt)})

    async def _post(self, client: httpx.AsyncClient, subscription: Json, entry: Json) -> tuple[int | None, str | None]:
        endpoint = _endpoint(subscription)
        try:
            response = await client.post(
                endpoint,
                json=_body(subscription, entry["message"]),
                headers=self._headers(subscription["pushConfig"], endpoint),
                timeout=subscription["ackDeadlineSeconds"],
            )
        except httpx.HTTPError as error:
            return None, type(error).__name__
        return response.status_code, None

    def _headers(self, config: Json, endpoint: str) -> dict[str, str]:
        headers = {"User-Agent": "gcpx-emulator"}
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
