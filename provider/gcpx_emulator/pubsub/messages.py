"""Messages: published, queued for subscriptions, pulled and acknowledged."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable, Iterable
from typing import Final

import attrs

from gcpx_emulator.core.call import Call, handles
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.store import Store
from gcpx_emulator.pubsub.topics_and_subscriptions import check_lease, read_subscription, read_topic, subscriptions_of

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


_LARGEST: Final = 10_000_000
_MOST: Final = 1000


@handles("pubsub.projects.topics.publish")
def publish(call: Call) -> Json:
    """Publish messages."""
    topic, messages = read_topic(call)["name"], call.body.get("messages") or []
    if not 0 < len(messages) <= _MOST:
        raise ApiError(400, f"A publish request has 1 to {_MOST:,} messages.")
    for message in messages:
        _check(message)
    if len({message.get("orderingKey", "") for message in messages}) > 1:
        raise ApiError(400, "In a single publish request, all messages must have the same ordering key.")
    return {"messageIds": call.cloud.publisher.publish(topic, messages)}


def _check(message: Json) -> None:
    if not message.get("data") and not message.get("attributes"):
        raise ApiError(400, "A message must have a non-empty data field or at least one attribute.")
    if len(decoded_data(message)) > _LARGEST:
        raise ApiError(400, "The message is too large; at most 10 MB are allowed.")


@handles("pubsub.projects.subscriptions.pull")
def pull(call: Call) -> Json:
    """Lease messages until the subscription's acknowledgement deadline."""
    subscription, most = read_subscription(call), int(call.body.get("maxMessages") or 0)
    if subscription["pushConfig"].get("pushEndpoint"):
        raise ApiError(400, "This method is not supported for this subscription type.", "failedPrecondition")
    if most < 1:
        raise ApiError(400, "max_messages must be at least 1.")
    now = call.cloud.now()
    due = [(path, entry) for path, entry in undelivered(call.store, subscription["name"]) if entry["due"] <= now]
    received = []
    for path, entry in due[:most]:
        leased = entry | {"due": now + subscription["ackDeadlineSeconds"], "ackId": uuid.uuid4().hex}
        call.store.put(path, leased)
        received.append({"ackId": leased["ackId"], "message": leased["message"]})
    return {"receivedMessages": received} if received else {}


def _leased(call: Call) -> list[tuple[str, Json]]:
    """Find the messages whose leases a call names, with their paths."""
    subscription, ack_ids = read_subscription(call), set(call.body.get("ackIds") or ())
    if not ack_ids:
        raise ApiError(400, "No ack ids specified.")
    return [item for item in undelivered(call.store, subscription["name"]) if item[1]["ackId"] in ack_ids]


@handles("pubsub.projects.subscriptions.acknowledge")
def acknowledge(call: Call) -> Json:
    """Delete messages that were handled; unknown IDs are ignored."""
    for path, _ in _leased(call):
        call.store.delete(path)
    return {}


@handles("pubsub.projects.subscriptions.modifyAckDeadline")
def modify_ack_deadline(call: Call) -> Json:
    """Extend leases; 0 seconds ends them."""
    seconds = int(call.body.get("ackDeadlineSeconds") or 0)
    check_lease(seconds)
    for path, entry in _leased(call):
        call.store.put(path, entry | {"due": call.cloud.now() + seconds})
    call.cloud.publisher.push_due()
    return {}
