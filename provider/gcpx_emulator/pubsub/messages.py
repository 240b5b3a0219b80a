"""Pub/Sub's messages: published, pulled, acknowledged."""

from __future__ import annotations

import base64
import uuid
from typing import Final

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.handlers import Call, handles
from gcpx_emulator.core.operations import timestamp
from gcpx_emulator.core.store import Json, Store
from gcpx_emulator.pubsub.durations import check_lease
from gcpx_emulator.pubsub.subscriptions import found, subscription_name, subscriptions_of, topic_name

_LARGEST: Final = 10_000_000
_MOST: Final = 1000


@handles("pubsub.projects.topics.publish")
def publish(call: Call) -> Json:
    """Publish messages; those of push subscriptions are on their way at once."""
    topic = found(call, topic_name(call))["name"]
    messages = call.body.get("messages") or []
    if not 0 < len(messages) <= _MOST:
        raise ApiError(400, f"A publish request has 1 to {_MOST:,} messages.")
    for message in messages:
        _check(message)
    if len({message.get("orderingKey", "") for message in messages}) > 1:
        raise ApiError(400, "In a single publish request, all messages must have the same ordering key.")
    return {"messageIds": [deliver(call, topic, message) for message in messages]}


def _check(message: Json) -> None:
    if not message.get("data") and not message.get("attributes"):
        raise ApiError(400, "A message must have a non-empty data field or at least one attribute.")
    if len(_payload(message)) > _LARGEST:
        raise ApiError(400, "The message is too large; at most 10 MB are allowed.")


def _payload(message: Json) -> bytes:
    """Decode the data, which is base64 of either alphabet, with or without its padding."""
    data = message.get("data", "").replace("-", "+").replace("_", "/").rstrip("=")
    return base64.b64decode(data + "=" * (-len(data) % 4))


def deliver(call: Call, topic: str, message: Json) -> str:
    """Put a message into every subscription of a topic; gives its ID."""
    store = call.store
    number = str(10**16 + store.next("messages"))
    kept = {key: message[key] for key in ("data", "attributes", "orderingKey") if message.get(key)}
    if "data" in kept:
        kept["data"] = base64.b64encode(_payload(message)).decode()
    kept |= {"messageId": number, "publishTime": timestamp(call.now())}
    for subscription in subscriptions_of(store, topic):
        body = {"message": kept, "due": 0.0, "attempt": 0, "ackId": ""}
        store.put(f"{subscription['name']}/messages/{number}", body)
    return number


def waiting(store: Store, subscription: str) -> list[tuple[str, Json]]:
    """Give what a subscription has not delivered, oldest first."""
    return list(store.scan([f"{subscription}/messages"]))


@handles("pubsub.projects.subscriptions.pull")
def pull(call: Call) -> Json:
    """Lease messages until the deadline."""
    subscription = found(call, subscription_name(call))
    if subscription["pushConfig"].get("pushEndpoint"):
        raise ApiError(400, "This method is not supported for this subscription type.", "failedPrecondition")
    most = int(call.body.get("maxMessages") or 0)
    if most < 1:
        raise ApiError(400, "max_messages must be at least 1.")
    now = call.now()
    received: list[Json] = []
    for path, entry in waiting(call.store, subscription["name"]):
        if entry["due"] <= now and len(received) < most:
            entry |= {"due": now + subscription["ackDeadlineSeconds"], "ackId": uuid.uuid4().hex}
            call.store.put(path, entry)
            received.append({"ackId": entry["ackId"], "message": entry["message"]})
    return {"receivedMessages": received} if received else {}


def _leased(call: Call) -> list[tuple[str, Json]]:
    subscription, wanted = found(call, subscription_name(call)), set(call.body.get("ackIds") or ())
    if not wanted:
        raise ApiError(400, "No ack ids specified.")
    return [(path, entry) for path, entry in waiting(call.store, subscription["name"]) if entry["ackId"] in wanted]


@handles("pubsub.projects.subscriptions.acknowledge")
def acknowledge(call: Call) -> Json:
    """Forget messages that were handled; unknown IDs are no matter."""
    for path, _ in _leased(call):
        call.store.delete(path)
    return {}


@handles("pubsub.projects.subscriptions.modifyAckDeadline")
def modify_ack_deadline(call: Call) -> Json:
    """Give more time, or with 0 give back."""
    seconds = int(call.body.get("ackDeadlineSeconds") or 0)
    check_lease(seconds)
    for path, entry in _leased(call):
        call.store.put(path, entry | {"due": call.now() + seconds})
    return {}
