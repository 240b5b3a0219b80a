"""The messages that subscriptions have not delivered yet, and publishing, which adds to them.

The store keeps each below its subscription as {"message": PUBSUB_MESSAGE, "due": SECONDS, "attempt": NUMBER, "ackId":
TEXT}: the time of its next delivery, in seconds since 1970, the number of pushes so far, and the ID of its lease.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from typing import Final

import attrs

from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.store import Store
from gcpx_emulator.pubsub.topics_and_subscriptions import subscriptions_of

_FIELDS: Final = ("data", "attributes", "orderingKey")


@attrs.frozen
class TopicPublisher:
    """Publishes to the topics in a store.

    Attributes:
        now: gives the time, in seconds since 1970.
        push_due: starts to push what is due.
    """

    store: Store
    now: Callable[[], float]
    push_due: Callable[[], None]

    def has_topic(self, name: str) -> bool:
        """Return whether a topic exists."""
        return self.store.get(name) is not None

    def publish(self, topic: str, messages: Iterable[Json]) -> list[str]:
        """Put messages in every subscription of a topic; return the messages' IDs."""
        message_ids = [self._add(topic, message) for message in messages]
        self.push_due()
        return message_ids

    def _add(self, topic: str, message: Json) -> str:
        message_id = str(10**16 + self.store.next("messages"))
        kept = {field: message[field] for field in _FIELDS if message.get(field)}
        if "data" in kept:
            kept["data"] = base64.b64encode(decoded_data(message)).decode()
        kept |= {"messageId": message_id, "publishTime": timestamp(self.now())}
        for subscription in subscriptions_of(self.store, topic):
            entry = {"message": kept, "due": 0.0, "attempt": 0, "ackId": ""}
            self.store.put(f"{subscription['name']}/messages/{message_id}", entry)
        return message_id


def decoded_data(message: Json) -> bytes:
    """Decode the data of a message: base64 of either alphabet, with or without padding."""
    data = message.get("data", "").replace("-", "+").replace("_", "/").rstrip("=")
    return base64.b64decode(data + "=" * (-len(data) % 4))


def undelivered(store: Store, subscription: str) -> list[tuple[str, Json]]:
    """Return the messages that a subscription has not delivered, with their paths, oldest first."""
    return list(store.scan([f"{subscription}/messages"]))
