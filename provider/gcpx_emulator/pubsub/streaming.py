"""Streaming pulls: a subscriber gets messages as they become due, and acknowledges them in the same stream."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence
from typing import Final

import attrs

from gcpx_emulator.core.call import Cloud
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.pubsub.messages import (
    decoded_data,
    due_messages,
    extend,
    finish,
    invalid_ids,
    leased,
    ordering_key,
    read_pulled,
    undelivered,
)
from gcpx_emulator.pubsub.topics_and_subscriptions import ACK_DEADLINES, SUBSCRIPTION, check_deadline

_Queued = tuple[str, Json]
"""A queued message with its path."""
_MOST_AT_ONCE: Final = 1000
_LARGEST: Final = 10_000_000
"""The number of messages of a response, and the bytes after which no further message is added."""


@attrs.define
class Changes:
    """Tells streaming pulls when messages or subscriptions have changed."""

    next: asyncio.Event = attrs.Factory(asyncio.Event)

    def tell(self) -> None:
        """Wake all who wait for the next change."""
        self.next.set()
        self.next = asyncio.Event()


@attrs.define
class StreamingPull:
    """One stream. Its requests and responses are JSON, as in the method `pull`.

    Source: `StreamingPullRequest` in google/pubsub/v1/pubsub.proto.
    """

    cloud: Cloud
    changes: Changes
    _subscription: str = ""
    _deadline: int = 0
    _most: float = math.inf
    _most_bytes: float = math.inf
    _held: dict[str, str] = attrs.Factory(dict)
    """The paths of the messages that the subscriber has, with the IDs of their leases."""
    _confirmed: Json = attrs.Factory(dict)
    """The confirmations of the next response."""

    async def responses(self, requests: AsyncIterator[Json]) -> AsyncGenerator[Json]:
        """Yield responses until the requests end; raises ApiError for a wrong request or a deleted subscription."""
        self._open(await anext(requests, {}))
        reading = asyncio.create_task(self._read(requests))
        try:
            while not reading.done():
                change = self.changes.next
                subscription = read_pulled(self.cloud.store, self._subscription)
                received, pause = self._lease(subscription)
                confirmed, self._confirmed = self._confirmed, {}
                if received or confirmed:
                    properties = {field: bool(subscription.get(own)) for field, own in _PROPERTIES.items()}
                    yield {"receivedMessages": received, **confirmed, "subscriptionProperties": properties}
                else:
                    await _first_of(change, reading, pause)
            reading.result()
        finally:
            reading.cancel()
            await asyncio.wait([reading])

    def _open(self, request: Json) -> None:
        """Begin with the first request, which has the settings of the stream."""
        name = str(request.get("subscription", ""))
        if not SUBSCRIPTION.fullmatch(name):
            raise ApiError(400, "The first request must have a subscription, as projects/PROJECT/subscriptions/NAME.")
        self._subscription = name
        check_deadline(int(request.get("streamAckDeadlineSeconds", 0)), ACK_DEADLINES)
        self._most, self._most_bytes = (_limit(request, name) for name in _LIMITS)
        self._take({field: value for field, value in request.items() if field not in _FIRST})

    async def _read(self, requests: AsyncIterator[Json]) -> None:
        async for request in requests:
            self._take(request)

    def _take(self, request: Json) -> None:
        """Do what a request asks for."""
        for field in _FIRST:
            if request.get(field):
                raise ApiError(400, f"Only the first request of a stream may have {field}.")
        deadline = int(request.get("streamAckDeadlineSeconds", 0))
        if deadline:
            check_deadline(deadline, ACK_DEADLINES)
            self._deadline = deadline
        changed, seconds = request.get("modifyDeadlineAckIds", []), request.get("modifyDeadlineSeconds", [])
        if len(changed) != len(seconds):
            raise ApiError(400, "modify_deadline_ack_ids and modify_deadline_seconds must have the same length.")
        subscription = read_pulled(self.cloud.store, self._subscription)
        if request.get("ackIds"):
            finish(self.cloud, subscription, self._valid(subscription, request["ackIds"], "acknowledgeConfirmation"))
        if changed:
            valid = self._valid(subscription, changed, "modifyAckDeadlineConfirmation")
            deadlines = dict(zip(changed, seconds, strict=True))
            extend(self.cloud, subscription, {ack_id: deadlines[ack_id] for ack_id in valid})

    def _valid(self, subscription: Json, ack_ids: list[str], confirmation: str) -> list[str]:
        """Return the IDs that can be used; with exactly-once delivery, the next response confirms them."""
        invalid = invalid_ids(self.cloud, subscription, ack_ids)
        valid = [ack_id for ack_id in ack_ids if ack_id not in invalid]
        if subscription.get("enableExactlyOnceDelivery"):
            confirmed = self._confirmed.setdefault(confirmation, {"ackIds": [], "invalidAckIds": []})
            confirmed["ackIds"] += valid
            confirmed["invalidAckIds"] += invalid
        return valid

    def _lease(self, subscription: Json) -> tuple[list[Json], float | None]:
        """Lease what is due and within the limits of the stream.

        Also return the seconds until the end of the next lease, None if there is none.
        """
        self.cloud.publisher.settle()
        now, ends = self.cloud.now(), []
        held = [(path, self.cloud.store.get(path), ack_id) for path, ack_id in self._held.items()]
        kept = [
            (path, entry)
            for path, entry, ack_id in held
            if entry is not None and entry["ackId"] == ack_id and entry["due"] > now
        ]

        def queued() -> Iterator[tuple[str, Json]]:
            for path, entry in undelivered(self.cloud.store, subscription["name"]):
                ends.extend([entry["due"]] if entry["due"] > now else [])
                yield path, entry

        chosen = list(self._chosen(subscription, due_messages(subscription, queued(), now), kept))
        received = leased(self.cloud, subscription, chosen, self._deadline)
        self._held = {path: entry["ackId"] for path, entry in kept}
        self._held |= {path: one["ackId"] for (path, _), one in zip(chosen, received, strict=True)}
        ends.extend(entry["due"] for _, entry in kept)
        return received, min(ends) - now if ends else None

    def _chosen(self, subscription: Json, due: Iterable[_Queued], held: Sequence[_Queued]) -> Iterator[_Queued]:
        """Yield due messages, and of each ordering key only one, as long as the subscriber can take more."""
        keys, number, size = set(), 0, 0
        held_bytes = sum(_size(entry) for _, entry in held)
        for path, entry in due:
            is_full = number + len(held) >= self._most or size + held_bytes >= self._most_bytes
            if is_full or number >= _MOST_AT_ONCE or size >= _LARGEST:
                return
            key = ordering_key(subscription, entry)
            if key not in keys:
                keys.update([key] if key else [])
                number, size = number + 1, size + _size(entry)
                yield path, entry


async def _first_of(change: asyncio.Event, reading: asyncio.Task[None], seconds: float | None) -> None:
    """Wait for a change, for the last request, or for some seconds."""
    changed = asyncio.create_task(change.wait())
    try:
        await asyncio.wait([changed, reading], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        changed.cancel()


_PROPERTIES: Final = {
    "exactlyOnceDeliveryEnabled": "enableExactlyOnceDelivery",
    "messageOrderingEnabled": "enableMessageOrdering",
}
"""What a response says of the subscription, with the fields that say it there."""
_LIMITS: Final = ("maxOutstandingMessages", "maxOutstandingBytes")
_FIRST: Final = ("subscription", *_LIMITS)
"""Fields that only the first request may have."""


def _limit(request: Json, field: str) -> float:
    """Return a limit of a stream; there is none if it is not positive."""
    limit = int(request.get(field, 0))
    return limit if limit > 0 else math.inf


def _size(entry: Json) -> int:
    """Return the bytes of a message's data."""
    return len(decoded_data(entry["message"]))
