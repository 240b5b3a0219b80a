"""Which messages are kept, and for how long: by subscriptions, topics and snapshots.

Each has a collection of messages in the store, in the order of their publication; a subscription has a second one, of
acknowledged messages.
"""

from __future__ import annotations

from collections.abc import Iterator

from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.store import Store
from gcpx_emulator.pubsub.filters import message_filter
from gcpx_emulator.pubsub.topics_and_subscriptions import all_of, delete_messages, policy_path, seconds_of


def dequeue(store: Store, subscription: Json, path: str) -> None:
    """Take the message at a path out of a subscription's backlog, if it is still there."""
    entry = store.get(path)
    with store.transaction():
        store.delete(path)
        if entry is not None and subscription.get("retainAckedMessages"):
            message = entry["message"]
            store.put(f"{subscription['name']}/acknowledged/{message['messageId']}", {"message": message})


def enqueue(store: Store, subscription: Json, message: Json, until: str = "") -> None:
    """Put a message into a subscription's backlog, unless it is there or the subscription's filter excludes it.

    It stays there at least until this time, even if the subscription's retention is shorter.
    """
    path = f"{subscription['name']}/messages/{message['messageId']}"
    if store.get(path) is None and message_filter(subscription.get("filter") or "")(message.get("attributes", {})):
        store.delete(f"{subscription['name']}/acknowledged/{message['messageId']}")
        store.put(path, {"message": message, "due": 0.0, "attempt": 0, "ackId": "", "until": until})


def keep(store: Store, topic: str, message: Json) -> None:
    """Keep a new message for the topic, if it keeps any, and for its snapshots."""
    holders = [item["name"] for item in all_of(store, "snapshots") if item["topic"] == topic]
    if _retention(store.get(topic)):
        holders.append(topic)
    for holder in holders:
        store.put(f"{holder}/messages/{message['messageId']}", {"message": message})


def kept(store: Store, subscription: Json) -> Iterator[Json]:
    """Yield the messages that a subscription can deliver again, oldest first for each place where they are kept."""
    if subscription.get("retainAckedMessages"):
        yield from messages_in(store, f"{subscription['name']}/acknowledged")
    if _retention(store.get(subscription["topic"])):
        yield from messages_in(store, f"{subscription['topic']}/messages")


def messages_in(store: Store, collection: str) -> Iterator[Json]:
    """Yield the messages of a collection, oldest first."""
    return (entry["message"] for _, entry in store.scan([collection]))


def oldest(store: Store, holder: str) -> str | None:
    """Return when the oldest message of a subscription's backlog, or of a snapshot, was published; None without any."""
    first = store.first(f"{holder}/messages")
    return first[1]["message"]["publishTime"] if first else None


def drop_expired(store: Store, now: float) -> None:
    """Delete the messages whose retention is over, and the snapshots that have expired."""
    by_topic = {topic["name"]: _retention(topic) for topic in all_of(store, "topics")}
    for name, seconds in by_topic.items():
        _drop(store, f"{name}/messages", now, seconds)
    for item in all_of(store, "subscriptions"):
        seconds = max(_retention(item), by_topic.get(item["topic"], 0))
        _drop(store, f"{item['name']}/messages", now, seconds)
        _drop(store, f"{item['name']}/acknowledged", now, seconds if item.get("retainAckedMessages") else 0)
    for snapshot in all_of(store, "snapshots"):
        if snapshot["expireTime"] <= timestamp(now):
            delete_snapshot(store, snapshot["name"])


def _retention(resource: Json | None) -> float:
    """Return the seconds for which a topic or subscription keeps messages."""
    return seconds_of((resource or {}).get("messageRetentionDuration")) or 0


def _drop(store: Store, collection: str, now: float, seconds: float) -> None:
    """Delete the messages of a collection that are older than so many seconds."""
    begin, last = timestamp(max(0.0, now - seconds)), ""
    while (found := store.first(collection, last)) and found[1]["message"]["publishTime"] < begin:
        last = found[0]
        if found[1].get("until", "") <= timestamp(now):
            store.delete(last)


def delete_snapshot(store: Store, name: str) -> None:
    """Delete a snapshot and its messages."""
    delete_messages(store, name)
    store.delete(policy_path(name))
    store.delete(name)
