"""Subscriptions, whose messages are pulled or pushed."""

from __future__ import annotations

import re
from typing import Final

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.handlers import handles
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.pubsub.durations import check_durations
from gcpx_emulator.pubsub.push_config import check_push_config
from gcpx_emulator.pubsub.topics_and_subscriptions import create, list_resources, patch, read

_TOPIC: Final = re.compile(r"projects/[^/]+/topics/[^/]+")
_NOT_EMULATED: Final = (
    "bigqueryConfig",
    "bigtableConfig",
    "cloudStorageConfig",
    "deadLetterPolicy",
    "detached",
    "enableExactlyOnceDelivery",
    "enableMessageOrdering",
    "filter",
    "messageTransforms",
)
_DEFAULTS: Final[Json] = {
    "ackDeadlineSeconds": 10,
    "messageRetentionDuration": "604800s",
    "pushConfig": {},
    "state": "ACTIVE",
    "expirationPolicy": {"ttl": "2678400s"},
}
_ACK_DEADLINES: Final = range(10, 601)


def subscription_name(call: Call) -> str:
    """Return the full name of the subscription that a call names."""
    return f"projects/{call.path['projectsId']}/subscriptions/{call.path['subscriptionsId']}"


def read_subscription(call: Call) -> Json:
    """Read the subscription that a call names, which must exist."""
    return read(call.store, subscription_name(call))


@handles("pubsub.projects.subscriptions.create")
def create_subscription(call: Call) -> Json:
    """Create a subscription."""
    if not _TOPIC.fullmatch(call.body.get("topic", "")):
        raise ApiError(400, "The subscription's topic is required, as projects/PROJECT/topics/TOPIC.")
    read(call.store, call.body["topic"])
    subscription = create(call.store, subscription_name(call), {**_DEFAULTS, **_checked(call.body)})
    call.cloud.publisher.push_due()
    return subscription


def _checked(body: Json) -> Json:
    for name in _NOT_EMULATED:
        if body.get(name):
            raise ApiError(501, f"subscriptions with {name} are not emulated")
    deadline = int(body.get("ackDeadlineSeconds") or _ACK_DEADLINES.start)
    if deadline not in _ACK_DEADLINES:
        raise ApiError(400, f"Invalid ack deadline given (ack_deadline_seconds={deadline}); it is 10 to 600 seconds.")
    check_durations(body)
    check_push_config(body.get("pushConfig") or {})
    return {**body, "ackDeadlineSeconds": deadline}


@handles("pubsub.projects.subscriptions.get")
def get_subscription(call: Call) -> Json:
    """Read a subscription."""
    return read_subscription(call)


@handles("pubsub.projects.subscriptions.list")
def list_subscriptions(call: Call) -> Json:
    """List the subscriptions of a project."""
    return list_resources(call, "subscriptions", call.store.list(f"projects/{call.path['projectsId']}/subscriptions"))


@handles("pubsub.projects.subscriptions.patch")
def patch_subscription(call: Call) -> Json:
    """Change the fields in the update mask; those that the request leaves out get their defaults."""
    change = call.body.get("subscription") or {}
    patched = patch(call, "Subscription", read_subscription(call), {**_DEFAULTS, **_checked(change)})
    call.cloud.publisher.push_due()
    return patched


@handles("pubsub.projects.subscriptions.modifyPushConfig")
def modify_push_config(call: Call) -> Json:
    """Set where messages are pushed; without settings they are pulled."""
    subscription, config = read_subscription(call), call.body.get("pushConfig") or {}
    check_push_config(config)
    call.store.put(subscription["name"], subscription | {"pushConfig": config})
    call.cloud.publisher.push_due()
    return {}


@handles("pubsub.projects.subscriptions.delete")
def delete_subscription(call: Call) -> Json:
    """Delete a subscription and its messages."""
    name = read_subscription(call)["name"]
    for path, _ in list(call.store.scan([f"{name}/messages"])):
        call.store.delete(path)
    call.store.delete(name)
    return {}
