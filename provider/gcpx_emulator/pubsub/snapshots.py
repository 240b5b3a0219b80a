"""Snapshots, and seeks: a subscription goes back, or ahead, to a time or to a snapshot."""

from __future__ import annotations

import re
from typing import Final

from gcpx_emulator.core.call import Call, handles
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.errors import FAILED_PRECONDITION, ApiError
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.listing import time_of
from gcpx_emulator.pubsub.retention import delete_snapshot, dequeue, enqueue, kept, messages_in, oldest
from gcpx_emulator.pubsub.topics_and_subscriptions import (
    DELETED_TOPIC,
    SUBSCRIPTION,
    all_of,
    create,
    list_resources,
    patch,
    read,
    read_subscription,
    read_topic,
)

_SNAPSHOT: Final = re.compile(r"projects/[^/]+/snapshots/[^/]+")
_LONGEST_LIFE: Final = 7 * 86_400
_SHORTEST_LIFE: Final = 3600
"""The bounds of a snapshot's life in seconds; the first one includes the age of its oldest message.

Source: `expireTime` in the description of the API.
"""


def _name(call: Call) -> str:
    return f"projects/{call.path['projectsId']}/snapshots/{call.path['snapshotsId']}"


@handles("pubsub.projects.snapshots.get")
def read_snapshot(call: Call) -> Json:
    """Read the snapshot that a call names, which must exist."""
    call.cloud.publisher.settle()
    return read(call.store, _name(call))


@handles("pubsub.projects.snapshots.create")
def create_snapshot(call: Call) -> Json:
    """Create a snapshot of a subscription's backlog."""
    source = str(call.body.get("subscription", ""))
    if not SUBSCRIPTION.fullmatch(source):
        raise ApiError(400, "The snapshot's subscription is required, as projects/PROJECT/subscriptions/NAME.")
    call.cloud.publisher.settle()
    subscription, store = read(call.store, source), call.store
    _refuse_detached(subscription)
    expires = _latest_end(call, source)
    if expires < call.cloud.now() + _SHORTEST_LIFE:
        why = "The subscription's backlog is too old: the snapshot would expire in less than an hour."
        raise ApiError(400, why, FAILED_PRECONDITION)
    own = {name: value for name, value in call.body.items() if name != "subscription"}
    snapshot = create(store, _name(call), own | {"topic": subscription["topic"], "expireTime": timestamp(expires)})
    for message in messages_in(store, f"{source}/messages"):
        store.put(f"{snapshot['name']}/messages/{message['messageId']}", {"message": message})
    return snapshot


def _latest_end(call: Call, holder: str) -> float:
    """Return when a snapshot with the messages of a subscription or snapshot ends at the latest."""
    begin = oldest(call.store, holder)
    return (_seconds("publishTime", begin) if begin else call.cloud.now()) + _LONGEST_LIFE


def _seconds(field: str, time: object) -> float:
    """Read a time of RFC 3339, in seconds since 1970."""
    read_time = time_of(time)
    if read_time is None:
        raise ApiError(400, f"Invalid {field} given ({time}); it is a time such as 2026-01-31T12:00:00Z.")
    return read_time.timestamp()


@handles("pubsub.projects.snapshots.list")
def list_snapshots(call: Call) -> Json:
    """List the snapshots of a project."""
    call.cloud.publisher.settle()
    return list_resources(call, "snapshots", call.store.list(f"projects/{call.path['projectsId']}/snapshots"))


@handles("pubsub.projects.topics.snapshots.list")
def list_snapshots_of_topic(call: Call) -> Json:
    """List the names of a topic's snapshots."""
    call.cloud.publisher.settle()
    topic = read_topic(call)["name"]
    found = [item for item in all_of(call.store, "snapshots") if item["topic"] == topic]
    answer = list_resources(call, "snapshots", found)
    names = [item["name"] for item in answer.get("snapshots", ())]
    return answer | ({"snapshots": names} if names else {})


@handles("pubsub.projects.snapshots.patch")
def patch_snapshot(call: Call) -> Json:
    """Change the labels, or the time at which a snapshot expires."""
    snapshot = read_snapshot(call)
    before, change = snapshot["expireTime"], call.body.get("snapshot") or {}
    patched = patch(call, "Snapshot", snapshot, change)
    if patched.get("expireTime") == before:
        return patched
    end, latest = _seconds("expire_time", patched.get("expireTime")), _latest_end(call, snapshot["name"])
    if not call.cloud.now() < end <= latest:
        bounds = f"{timestamp(call.cloud.now())} to {timestamp(latest)}"
        raise ApiError(400, f"Invalid expire_time given ({patched['expireTime']}); it is {bounds}.")
    patched["expireTime"] = timestamp(end)
    call.store.put(snapshot["name"], patched)
    return patched


@handles("pubsub.projects.snapshots.delete")
def remove_snapshot(call: Call) -> Json:
    """Delete a snapshot."""
    delete_snapshot(call.store, read_snapshot(call)["name"])
    return {}


@handles("pubsub.projects.subscriptions.seek")
def seek(call: Call) -> Json:
    """Make a subscription's backlog what it was in a snapshot, or what was published since a time."""
    subscription, store = read_subscription(call), call.store
    _refuse_detached(subscription)
    if ("time" in call.body) == ("snapshot" in call.body):
        raise ApiError(400, "A seek must have either a time or a snapshot.")
    call.cloud.publisher.settle()
    backlog, until = f"{subscription['name']}/messages", ""
    if "time" in call.body:
        begin = _seconds("time", call.body["time"])
        found = (*messages_in(store, backlog), *kept(store, subscription))
        wanted = [message for message in found if _seconds("publishTime", message["publishTime"]) >= begin]
    else:
        snapshot = read(store, _checked(call.body["snapshot"]))
        if snapshot["topic"] != subscription["topic"] or snapshot["topic"] == DELETED_TOPIC:
            raise ApiError(400, "The subscription and the snapshot must have the same topic.")
        wanted, until = list(messages_in(store, f"{snapshot['name']}/messages")), snapshot["expireTime"]
    unread = {message["messageId"] for message in wanted}
    for path, entry in list(store.scan([backlog])):
        if entry["message"]["messageId"] not in unread:
            dequeue(store, subscription, path)
    for message in wanted:
        enqueue(store, subscription, message, until)
    call.cloud.publisher.deliver_due()
    return {}


def _checked(name: str) -> str:
    if not _SNAPSHOT.fullmatch(name):
        raise ApiError(400, f"Invalid resource name given (name={name}); it is projects/PROJECT/snapshots/NAME.")
    return name


def _refuse_detached(subscription: Json) -> None:
    """Refuse a detached subscription, which has no messages."""
    if subscription.get("detached"):
        raise ApiError(400, "The subscription is detached from its topic.", FAILED_PRECONDITION)
