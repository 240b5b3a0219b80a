"""Messages: published, queued for subscriptions, pulled and acknowledged."""

from __future__ import annotations

import base64
import itertools
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final

import attrs

from gcpx_emulator.core.call import Call, Cloud, handles
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.errors import FAILED_PRECONDITION, ApiError
from gcpx_emulator.core.iam import has_role
from gcpx_emulator.core.json_data import Json, bytes_of
from gcpx_emulator.core.permissions import is_granted
from gcpx_emulator.core.store import Store
from gcpx_emulator.pubsub.permissions import PUBLISH, PUBLISHERS
from gcpx_emulator.pubsub.retention import dequeue, drop_expired, enqueue, keep
from gcpx_emulator.pubsub.schemas import matching
from gcpx_emulator.pubsub.topics_and_subscriptions import (
    LEASES,
    all_of,
    check_deadline,
    policy_path,
    read,
    read_subscription,
    read_topic,
    subscription_name,
    subscriptions_of,
)

_FIELDS: Final = ("data", "attributes", "orderingKey")


@attrs.frozen
class TopicPublisher:
    """Publishes to the topics in a store.

    Attributes:
        now: gives the time, in seconds since 1970.
        deliver_due: starts to deliver the messages that are due.
    """

    store: Store
    now: Callable[[], float]
    deliver_due: Callable[[], None]

    def may_publish(self, topic: str, account: str) -> bool:
        """Return whether a topic exists and the service account with this e-mail address may publish to it.

        Every account may, unless the emulator's permissions or the topic's IAM policy restrict it.
        """
        if self.store.get(topic) is None:
            return False
        granted, policy = is_granted(self.store, PUBLISH, topic, account), self.store.get(policy_path(topic))
        if policy is None:
            return granted is not False
        return bool(granted) or has_role(policy, PUBLISHERS, account)

    def publish(self, topic: str, messages: Iterable[Json]) -> list[str]:
        """Put messages in every subscription of a topic; return the messages' IDs."""
        message_ids = [self._add(topic, message) for message in messages]
        self.deliver_due()
        return message_ids

    def _add(self, topic: str, message: Json) -> str:
        message_id = str(10**16 + self.store.next("messages"))
        kept = {field: message[field] for field in _FIELDS if message.get(field)}
        if "data" in kept:
            kept["data"] = base64.b64encode(decoded_data(message)).decode()
        kept |= {"messageId": message_id, "publishTime": timestamp(self.now())}
        for subscription in subscriptions_of(self.store, topic):
            enqueue(self.store, subscription, kept)
        keep(self.store, topic, kept)
        return message_id

    def settle(self) -> None:
        """Delete what has expired, and publish messages that were delivered too often to dead letter topics.

        A leased message stays until its lease ends, and all stay if the dead letter topic was deleted.
        """
        with self.store.transaction():
            drop_expired(self.store, self.now())
        for subscription in all_of(self.store, "subscriptions"):
            most = most_deliveries(self.store, subscription)
            for path, entry in undelivered(self.store, subscription["name"]) if most else ():
                if entry["attempt"] >= most and entry["due"] <= self.now():
                    with self.store.transaction():
                        dequeue(self.store, subscription, path)
                        topic = subscription["deadLetterPolicy"]["deadLetterTopic"]
                        self.publish(topic, [_dead_letter(subscription, entry)])


def most_deliveries(store: Store, subscription: Json) -> int:
    """Return the number of deliveries after which a message goes to the dead letter topic; 0 without such a topic."""
    policy = subscription.get("deadLetterPolicy") or {}
    return int(policy["maxDeliveryAttempts"]) if policy and store.get(policy["deadLetterTopic"]) is not None else 0


def _dead_letter(subscription: Json, entry: Json) -> Json:
    """Write the message for a dead letter topic, with attributes that name its origin.

    Source: https://cloud.google.com/pubsub/docs/handling-failures
    """
    _, project, _, name = subscription["name"].split("/")
    origin = {
        "CloudPubSubDeadLetterSourceDeliveryCount": str(entry["attempt"]),
        "CloudPubSubDeadLetterSourceSubscription": name,
        "CloudPubSubDeadLetterSourceSubscriptionProject": project,
        "CloudPubSubDeadLetterSourceTopicPublishTime": entry["message"]["publishTime"],
    }
    return {**entry["message"], "attributes": {**entry["message"].get("attributes", {}), **origin}}


def ordering_key(subscription: Json, entry: Json) -> str:
    """Return the ordering key of a message in a subscription; empty if the subscription has no message ordering."""
    return str(entry["message"].get("orderingKey", "")) if subscription.get("enableMessageOrdering") else ""


def decoded_data(message: Json) -> bytes:
    """Decode the data of a message."""
    return bytes_of(message.get("data", ""))


def undelivered(store: Store, subscription: str) -> Iterator[tuple[str, Json]]:
    """Yield a subscription's undelivered messages with their paths, oldest first; they may be changed meanwhile."""
    return store.scan([f"{subscription}/messages"])


_LARGEST: Final = 10_000_000
_MOST: Final = 1000


@handles("pubsub.projects.topics.publish")
def publish(call: Call) -> Json:
    """Publish messages."""
    topic, messages = read_topic(call), call.body.get("messages") or []
    if not 0 < len(messages) <= _MOST:
        raise ApiError(400, f"A publish request has 1 to {_MOST:,} messages.")
    for message in messages:
        if not message.get("data") and not message.get("attributes"):
            raise ApiError(400, "A message must have a non-empty data field or at least one attribute.")
        if len(decoded_data(message)) > _LARGEST:
            raise ApiError(400, "The message is too large; at most 10 MB are allowed.")
    if len({message.get("orderingKey", "") for message in messages}) > 1:
        raise ApiError(400, "In a single publish request, all messages must have the same ordering key.")
    if settings := topic.get("schemaSettings"):
        messages = [matching(call.store, settings, message, decoded_data(message)) for message in messages]
    return {"messageIds": call.cloud.publisher.publish(topic["name"], messages)}


@handles("pubsub.projects.subscriptions.pull")
def pull(call: Call) -> Json:
    """Lease messages until the subscription's acknowledgement deadline."""
    subscription, most = read_pulled(call.store, subscription_name(call)), int(call.body.get("maxMessages") or 0)
    if most < 1:
        raise ApiError(400, "max_messages must be at least 1.")
    call.cloud.publisher.settle()
    due = due_messages(subscription, undelivered(call.store, subscription["name"]), call.cloud.now())
    received = leased(call.cloud, subscription, itertools.islice(due, most), subscription["ackDeadlineSeconds"])
    return {"receivedMessages": received} if received else {}


def read_pulled(store: Store, name: str) -> Json:
    """Read a subscription, which must exist, be attached to its topic and have no push endpoint."""
    subscription = read(store, name)
    if subscription.get("detached"):
        raise ApiError(400, "The subscription is detached from its topic.", FAILED_PRECONDITION)
    if subscription["pushConfig"].get("pushEndpoint"):
        raise ApiError(400, "This method is not supported for this subscription type.", FAILED_PRECONDITION)
    return subscription


def due_messages(subscription: Json, queued: Iterable[tuple[str, Json]], now: float) -> Iterator[tuple[str, Json]]:
    """Yield the queued messages that can be leased; a message waits for earlier ones of its ordering key."""
    waiting = set()
    for path, entry in queued:
        key = ordering_key(subscription, entry)
        if entry["due"] > now or key in waiting:
            waiting.update([key] if key else [])
        else:
            yield path, entry


def leased(cloud: Cloud, subscription: Json, messages: Iterable[tuple[str, Json]], seconds: int) -> list[Json]:
    """Lease messages for some seconds; return them as a subscriber receives them."""
    received = []
    for path, entry in messages:
        lease = {"due": cloud.now() + seconds, "ackId": f"{entry['message']['messageId']}-{uuid.uuid4().hex}"}
        kept = entry | lease | {"attempt": entry["attempt"] + 1}
        cloud.store.put(path, kept)
        attempt = {"deliveryAttempt": kept["attempt"]} if subscription.get("deadLetterPolicy") else {}
        received.append({"ackId": kept["ackId"], "message": kept["message"], **attempt})
    return received


def messages_of(store: Store, subscription: Json, ack_ids: Iterable[str]) -> list[tuple[str, Json]]:
    """Find the messages that were last leased under these IDs, with their paths."""
    paths = [
        (f"{subscription['name']}/messages/{ack_id.partition('-')[0]}", ack_id) for ack_id in dict.fromkeys(ack_ids)
    ]
    found = [(path, store.get(path), ack_id) for path, ack_id in paths]
    return [(path, entry) for path, entry, ack_id in found if entry is not None and entry["ackId"] == ack_id]


def invalid_ids(cloud: Cloud, subscription: Json, ack_ids: Iterable[str]) -> list[str]:
    """Return the IDs of leases that have ended; with at-least-once delivery, nobody asks, and there are none."""
    if not subscription.get("enableExactlyOnceDelivery"):
        return []
    now, found = cloud.now(), messages_of(cloud.store, subscription, ack_ids)
    held = {entry["ackId"] for _, entry in found if entry["due"] > now}
    return [ack_id for ack_id in ack_ids if ack_id not in held]


def _ack_ids(call: Call, subscription: Json) -> list[str]:
    """Return the IDs of the leases that a call names."""
    ack_ids = list(call.body.get("ackIds") or ())
    if not ack_ids:
        raise ApiError(400, "No ack ids specified.")
    invalid = invalid_ids(call.cloud, subscription, ack_ids)
    if invalid:
        metadata = dict.fromkeys(invalid, _INVALID)
        info = {"@type": _ERROR_INFO, "reason": _INVALID, "domain": "pubsub.googleapis.com", "metadata": metadata}
        raise ApiError(400, "Some ack ids are invalid: their leases have ended.", FAILED_PRECONDITION, [info])
    return ack_ids


_ERROR_INFO: Final = "type.googleapis.com/google.rpc.ErrorInfo"
_INVALID: Final = "PERMANENT_FAILURE_INVALID_ACK_ID"
"""Source: what google-cloud-pubsub reads in `subscriber/_protocol/streaming_pull_manager.py`."""


@handles("pubsub.projects.subscriptions.acknowledge")
def acknowledge(call: Call) -> Json:
    """Mark messages as handled; unknown IDs are ignored, but for exactly-once delivery."""
    subscription = read_subscription(call)
    finish(call.cloud, subscription, _ack_ids(call, subscription))
    return {}


def finish(cloud: Cloud, subscription: Json, ack_ids: Iterable[str]) -> None:
    """Acknowledge the messages that were leased under these IDs."""
    for path, _ in messages_of(cloud.store, subscription, ack_ids):
        dequeue(cloud.store, subscription, path)
    cloud.publisher.deliver_due()  # the next messages of their ordering keys


@handles("pubsub.projects.subscriptions.modifyAckDeadline")
def modify_ack_deadline(call: Call) -> Json:
    """Extend leases; 0 seconds ends them."""
    seconds = int(call.body.get("ackDeadlineSeconds") or 0)
    subscription = read_subscription(call)
    extend(call.cloud, subscription, dict.fromkeys(_ack_ids(call, subscription), seconds))
    return {}


def extend(cloud: Cloud, subscription: Json, seconds: Mapping[str, int]) -> None:
    """Let leases end so many seconds from now, given by their IDs; with 0, the messages are delivered again."""
    for deadline in set(seconds.values()):
        check_deadline(deadline, LEASES)
    found = messages_of(cloud.store, subscription, seconds)
    for path, entry in found:
        cloud.store.put(path, entry | {"due": cloud.now() + seconds[entry["ackId"]]})
    refused = {path for path, entry in found if seconds[entry["ackId"]] == 0}
    if refused:
        _end_later_leases(cloud, subscription, refused)
        cloud.publisher.settle()
    cloud.publisher.deliver_due()


def _end_later_leases(cloud: Cloud, subscription: Json, refused: Collection[str]) -> None:
    """End the leases of messages with an earlier, refused message of their ordering key, to deliver them after it."""
    if not subscription.get("enableMessageOrdering"):
        return
    keys = set()
    for path, entry in undelivered(cloud.store, subscription["name"]):
        key = ordering_key(subscription, entry)
        if key and path in refused:
            keys.add(key)
        elif key in keys:
            cloud.store.put(path, entry | {"due": cloud.now()})
