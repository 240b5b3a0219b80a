"""Messages: published, pulled and acknowledged."""

from __future__ import annotations

import uuid
from typing import Final

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.handlers import handles
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.pubsub.durations import check_lease
from gcpx_emulator.pubsub.queues import decoded_data, undelivered
from gcpx_emulator.pubsub.subscriptions import read_subscription
from gcpx_emulator.pubsub.topics import read_topic

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
