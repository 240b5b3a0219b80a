"""Pub/Sub: topics and subscriptions. Messages are in `messages`."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlsplit

from gcpx_emulator.core.discovery import document
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.handlers import Call, handles
from gcpx_emulator.core.listing import page
from gcpx_emulator.core.store import Json
from gcpx_emulator.pubsub.durations import check_durations

_NAME: Final = re.compile(r"(?!goog)[a-zA-Z][-a-zA-Z0-9_.~+%]{2,254}")
_TOPIC: Final = re.compile(r"projects/[^/]+/topics/[^/]+")
_EMAIL: Final = re.compile(r"[^@\s/]+@[^@\s/]+\.[^@\s/]+")
_DELETED: Final = "_deleted-topic_"
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
_GIVEN: Final[Json] = {
    "ackDeadlineSeconds": 10,
    "messageRetentionDuration": "604800s",
    "pushConfig": {},
    "state": "ACTIVE",
    "expirationPolicy": {"ttl": "2678400s"},
}
"""What a subscription has where a request says nothing else."""
_UNCHANGEABLE: Final = frozenset({"name", "topic", "enableMessageOrdering", "filter"})
_DEADLINES: Final = range(10, 601)
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})


def topic_name(call: Call) -> str:
    """Give the full name of the topic in the path."""
    return f"projects/{call.path['projectsId']}/topics/{call.path['topicsId']}"


def subscription_name(call: Call) -> str:
    """Give the full name of the subscription in the path."""
    return f"projects/{call.path['projectsId']}/subscriptions/{call.path['subscriptionsId']}"


def found(call: Call, name: str) -> Json:
    """Read a topic or subscription that has to be there."""
    body = call.store.get(name)
    if body is None:
        raise ApiError(404, f"Resource not found (resource={name.rpartition('/')[2]}).")
    return body


def _create(call: Call, name: str, body: Json) -> Json:
    if not _NAME.fullmatch(name.rpartition("/")[2]):
        raise ApiError(400, f"Invalid resource name given (name={name}). Names begin with a letter, have 3 to 255 "
                            "characters and do not begin with goog.")  # fmt: skip
    if call.store.get(name) is not None:
        raise ApiError(409, f"Resource already exists in the project (resource={name.rpartition('/')[2]}).")
    call.store.put(name, body)
    return body


@handles("pubsub.projects.topics.create")
def create_topic(call: Call) -> Json:
    """Make a topic."""
    name = topic_name(call)
    check_durations(call.body)
    return _create(call, name, {**call.body, "name": name})


@handles("pubsub.projects.topics.get")
def get_topic(call: Call) -> Json:
    """Read a topic."""
    return found(call, topic_name(call))


@handles("pubsub.projects.topics.list")
def list_topics(call: Call) -> Json:
    """List a project's topics."""
    return _listed(call, "topics", call.store.list(f"projects/{call.path['projectsId']}/topics"))


def _listed(call: Call, key: str, items: list[Any]) -> Json:
    query = {**call.query, "maxResults": call.query.get("pageSize", "")}
    shown, token = page([item if isinstance(item, dict) else {"name": item} for item in items], query)
    values = [item if isinstance(items[0], dict) else item["name"] for item in shown]
    return ({key: values} if values else {}) | ({"nextPageToken": token} if token else {})


@handles("pubsub.projects.topics.delete")
def delete_topic(call: Call) -> Json:
    """Delete a topic; its subscriptions stay, without one."""
    name = found(call, topic_name(call))["name"]
    for item in subscriptions_of(call.store, name):
        call.store.put(item["name"], item | {"topic": _DELETED})
    call.store.delete(name)
    return {}


def subscriptions_of(store: Any, topic: str) -> list[Json]:
    """Find the subscriptions of a topic, in every project."""
    paths = store.collections("projects/", "/subscriptions")
    return [item for path in paths for item in store.list(path) if item["topic"] == topic]


@handles("pubsub.projects.topics.subscriptions.list")
def list_topic_subscriptions(call: Call) -> Json:
    """Name a topic's subscriptions."""
    name = found(call, topic_name(call))["name"]
    return _listed(call, "subscriptions", [item["name"] for item in subscriptions_of(call.store, name)])


@handles("pubsub.projects.topics.patch")
def patch_topic(call: Call) -> Json:
    """Change what the update mask names."""
    wanted = call.body.get("topic") or {}
    check_durations(wanted)
    return _patched(call, "Topic", found(call, topic_name(call)), wanted)


def _patched(call: Call, kind: str, body: Json, wanted: Json) -> Json:
    fields = [name for name in str(call.body.get("updateMask") or "").split(",") if name]
    if not fields:
        raise ApiError(400, "The update_mask in the request is empty.")
    for field in fields:
        name = re.sub(r"_(\w)", lambda match: match[1].upper(), field.partition(".")[0])
        if name not in document("pubsub.v1").schemas[kind]["properties"]:
            raise ApiError(400, f"Invalid update_mask provided: '{field}' is not a known {kind} field.")
        if name in _UNCHANGEABLE:
            raise ApiError(400, f"Invalid update_mask provided: {field} cannot be changed.")
        body.pop(name, None)
        if name in wanted:
            body[name] = wanted[name]
    call.store.put(body["name"], body)
    return body


@handles("pubsub.projects.subscriptions.create")
def create_subscription(call: Call) -> Json:
    """Make a subscription, pulled or pushed."""
    name, body = subscription_name(call), call.body
    if not _TOPIC.fullmatch(body.get("topic", "")):
        raise ApiError(400, "The subscription's topic is required, as projects/PROJECT/topics/TOPIC.")
    found(call, body["topic"])
    return _create(call, name, {**_GIVEN, **_checked(body), "name": name})


def _checked(body: Json) -> Json:
    for name in _NOT_EMULATED:
        if body.get(name):
            raise ApiError(501, f"subscriptions with {name} are not emulated")
    deadline = int(body.get("ackDeadlineSeconds") or _DEADLINES.start)
    if deadline not in _DEADLINES:
        raise ApiError(400, f"Invalid ack deadline given (ack_deadline_seconds={deadline}); it is 10 to 600 seconds.")
    check_durations(body)
    _check_push(body.get("pushConfig") or {})
    return {**body, "ackDeadlineSeconds": deadline}


def _check_push(config: Json) -> None:
    endpoint = config.get("pushEndpoint", "")
    if endpoint and not _is_endpoint(endpoint):
        raise ApiError(400, f"Invalid push endpoint given (endpoint={endpoint}); it begins with https://.")
    if config.get("noWrapper"):
        raise ApiError(501, "pushes without a wrapper are not emulated")
    token = config.get("oidcToken")
    if token is not None and not _EMAIL.fullmatch(token.get("serviceAccountEmail", "")):
        raise ApiError(400, "The push configuration's service account e-mail is not valid.")


def _is_endpoint(endpoint: str) -> bool:
    """Tell whether this is a URL to push to: with https, or on this machine."""
    try:
        parts = urlsplit(endpoint)
        plain = parts.scheme == "http" and parts.hostname in LOOPBACK
        return bool(parts.hostname and parts.port != 0 and (parts.scheme == "https" or plain))
    except ValueError:
        return False


@handles("pubsub.projects.subscriptions.get")
def get_subscription(call: Call) -> Json:
    """Read a subscription."""
    return found(call, subscription_name(call))


@handles("pubsub.projects.subscriptions.list")
def list_subscriptions(call: Call) -> Json:
    """List a project's subscriptions."""
    return _listed(call, "subscriptions", call.store.list(f"projects/{call.path['projectsId']}/subscriptions"))


@handles("pubsub.projects.subscriptions.patch")
def patch_subscription(call: Call) -> Json:
    """Change what the update mask names, the push settings among it."""
    wanted = call.body.get("subscription") or {}
    return _patched(call, "Subscription", found(call, subscription_name(call)), {**_GIVEN, **_checked(wanted)})


@handles("pubsub.projects.subscriptions.modifyPushConfig")
def modify_push_config(call: Call) -> Json:
    """Set where messages are pushed; nothing means that they are pulled."""
    body, config = found(call, subscription_name(call)), call.body.get("pushConfig") or {}
    _check_push(config)
    call.store.put(body["name"], body | {"pushConfig": config})
    return {}


@handles("pubsub.projects.subscriptions.delete")
def delete_subscription(call: Call) -> Json:
    """Delete a subscription, and what it has not delivered."""
    name = found(call, subscription_name(call))["name"]
    for path, _ in list(call.store.scan([f"{name}/messages"])):
        call.store.delete(path)
    call.store.delete(name)
    return {}
