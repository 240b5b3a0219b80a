"""Topics, and subscriptions for pull or push; the store has both under their full names."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from gcpx_emulator.core.call import Call, handles
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json, field_names
from gcpx_emulator.core.listing import in_order, page_of
from gcpx_emulator.core.store import Store
from gcpx_emulator.pubsub.filters import message_filter

_DURATION: Final = re.compile(r"(-?[0-9]{1,12}(?:\.[0-9]{1,9})?)s")
_DAY: Final = 86_400
LEASES: Final = range(601)
"""The deadlines of single messages, in seconds."""


def seconds_of(duration: object) -> float | None:
    """Read a duration such as `1.5s`, in seconds; None if it is malformed."""
    match = _DURATION.fullmatch(str(duration))
    return float(match[1]) if match else None


def check_durations(body: Json) -> None:
    """Refuse a topic or subscription with durations that are too short or too long."""
    retry, expiration = body.get("retryPolicy") or {}, body.get("expirationPolicy") or {}
    for name, duration, least, most in (
        ("retry_policy.minimumBackoff", retry.get("minimumBackoff"), 0, 600),
        ("retry_policy.maximumBackoff", retry.get("maximumBackoff"), 0, 600),
        ("message_retention_duration", body.get("messageRetentionDuration"), 600, 31 * _DAY),
        ("expiration_policy.ttl", expiration.get("ttl"), _DAY, 10**12),
    ):
        seconds = seconds_of(duration)
        if duration is not None and (seconds is None or not least <= seconds <= most):
            bounds = f"it is {least} to {most} seconds, such as '{least}s'."
            raise ApiError(400, f"Invalid {name} given ({duration}); {bounds}")


def check_deadline(seconds: int, allowed: range) -> None:
    """Refuse a deadline that a subscription, or a single message, cannot have."""
    if seconds not in allowed:
        bounds = f"{allowed.start} to {allowed.stop - 1} seconds"
        raise ApiError(400, f"Invalid ack deadline given (ack_deadline_seconds={seconds}); it is {bounds}.")


_EMAIL: Final = re.compile(r"[^@\s/]+@[^@\s/]+\.[^@\s/]+")
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})


def check_push_config(config: Json) -> None:
    """Refuse push settings that Pub/Sub refuses or the emulator does not have."""
    endpoint = config.get("pushEndpoint", "")
    if endpoint and not _is_endpoint(endpoint):
        raise ApiError(400, f"Invalid push endpoint given (endpoint={endpoint}); it begins with https://.")
    if "noWrapper" in config and urlsplit(endpoint).hostname in _LOOPBACK:
        raise ApiError(501, "pushes without a wrapper are not emulated")
    token = config.get("oidcToken")
    if token is not None and not _EMAIL.fullmatch(token.get("serviceAccountEmail", "")):
        raise ApiError(400, "The push configuration's service account e-mail is not valid.")


def _is_endpoint(endpoint: str) -> bool:
    """Return whether this is a URL with https, or one on this machine."""
    try:
        parts = urlsplit(endpoint)
        is_local = parts.scheme == "http" and parts.hostname in _LOOPBACK
        return bool(parts.hostname and parts.port != 0 and (parts.scheme == "https" or is_local))
    except ValueError:
        return False


def local_endpoint(subscription: Json) -> str:
    """Return the URL of a subscription's push endpoint; empty unless it is on this machine."""
    endpoint = str(subscription.get("pushConfig", {}).get("pushEndpoint", ""))
    return endpoint if urlsplit(endpoint).hostname in _LOOPBACK else ""


_NAME: Final = re.compile(r"(?!goog)[a-zA-Z][-a-zA-Z0-9_.~+%]{2,254}")
_IMMUTABLE: Final = frozenset({"name", "topic", "enableMessageOrdering", "filter"})
_NOT_SET: Final = frozenset({"satisfiesPzs", "tags", "detached"})
"""Fields that requests cannot set; responses do not show the first two."""


def _check_name(name: str) -> None:
    """Refuse a name that no topic or subscription can have, in every method.

    Source: `test_optimistic_subscribe` in the samples of google-cloud-pubsub, for a streaming pull.
    """
    if not _NAME.fullmatch(name.rpartition("/")[2]):
        form = "Names begin with a letter, have 3 to 255 characters and do not begin with goog."
        raise ApiError(400, f"Invalid resource name given (name={name}). {form}")


def read(store: Store, name: str) -> Json:
    """Read a topic or subscription, which must exist."""
    _check_name(name)
    resource = store.get(name)
    if resource is None:
        raise ApiError(404, f"Resource not found (resource={name.rpartition('/')[2]}).")
    return resource


def create(store: Store, name: str, body: Json) -> Json:
    """Create a topic or subscription."""
    _check_name(name)
    if store.get(name) is not None:
        raise ApiError(409, f"Resource already exists in the project (resource={name.rpartition('/')[2]}).")
    resource = {field: value for field, value in body.items() if field not in _NOT_SET} | {"name": name}
    store.put(name, resource)
    return resource


DELETED_SCHEMA: Final = "_deleted-schema_"
"""The schema of topics after it was deleted."""
SCHEMA: Final = re.compile(r"projects/[^/]+/schemas/[^/@]+")
_ENCODINGS: Final = frozenset({"JSON", "BINARY"})


def check_schema_settings(store: Store, topic: Json) -> None:
    """Refuse the settings of a topic without an encoding, or without a schema and revisions that exist."""
    settings = topic.get("schemaSettings")
    if settings is None:
        return
    if not SCHEMA.fullmatch(settings.get("schema", "")):
        raise ApiError(400, "The schema of a topic's schema_settings is required, as projects/PROJECT/schemas/SCHEMA.")
    if settings.get("encoding") not in _ENCODINGS:
        raise ApiError(400, "The encoding of a topic's schema_settings is required; it is JSON or BINARY.")
    read(store, settings["schema"])
    for field in ("firstRevisionId", "lastRevisionId"):
        if settings.get(field) and store.get(f"{settings['schema']}/revisions/{settings[field]}") is None:
            raise ApiError(400, f"The schema has no revision {settings[field]}, the {field} of the topic.")
    if not revisions_of(store, settings):
        raise no_revision()


def no_revision() -> ApiError:
    """Say that no revision of a schema can be used."""
    return ApiError(400, "No revision of the schema is within the topic's first and last revision.")


def revisions_of(store: Store, settings: Json) -> list[Json]:
    """Read the revisions of a schema that are within the bounds of settings, oldest first."""
    first, last = settings.get("firstRevisionId"), settings.get("lastRevisionId")
    found: list[Json] = []
    for revision in store.list(f"{settings['schema']}/revisions"):
        if revision["revisionId"] == first:
            found.clear()
        found.append(revision)
        if revision["revisionId"] == last:
            break
    has_first = not first or any(revision["revisionId"] == first for revision in found)
    return [revision for revision in found if not revision.get("deleted")] if has_first else []


def policy_path(name: str) -> str:
    """Return the path of the IAM policy of a topic or subscription."""
    return f"{name}/iamPolicy/current"


def list_resources(call: Call, field: str, items: list[Json]) -> Json:
    """Answer a list method, whose items are in this field."""
    query = {**call.query, "maxResults": call.query.get("pageSize", "")}
    rows, token = page_of(in_order({item["name"]: item for item in items}), query)
    shown = [item for _, item in rows]
    return ({field: shown} if shown else {}) | ({"nextPageToken": token} if token else {})


def patch(call: Call, kind: str, resource: Json, change: Json) -> Json:
    """Replace the fields in the call's update mask by those of a change; `kind` is the schema of both."""
    mask = str(call.body.get("updateMask") or call.query.get("updateMask") or "")
    fields = [field for field in mask.split(",") if field]
    if not fields:
        raise ApiError(400, "The update_mask in the request is empty.")
    for field in fields:
        path = [field_names(part)[0] for part in field.split(".") if part.strip()]
        if not path or path[0] not in call.method.document.schemas[kind]["properties"]:
            raise ApiError(400, f"Invalid update_mask provided: '{field}' is not a known {kind} field.")
        if path[0] in _IMMUTABLE:
            raise ApiError(400, f"Invalid update_mask provided: {field} cannot be changed.")
        if path[0] not in _NOT_SET:
            _replace(resource, path, change)
    call.store.put(resource["name"], resource)
    return resource


def _replace(resource: Json, path: list[str], change: Json) -> None:
    """Replace the field at a path by the one of a change, or remove it if the change lacks it."""
    name, *below = path
    if below:
        inner = dict(resource.get(name) or {})
        _replace(inner, below, change.get(name) or {})
        resource[name] = inner
        return
    resource.pop(name, None)
    if name in change:
        resource[name] = change[name]


def subscriptions_of(store: Store, topic: str) -> list[Json]:
    """Find the subscriptions that are attached to a topic, in all projects."""
    return [item for item in all_of(store, "subscriptions") if item["topic"] == topic and not item.get("detached")]


def all_of(store: Store, kind: str) -> list[Json]:
    """Read the resources of a kind, such as `subscriptions`, in all projects; snapshots of disks are not among them."""
    found = [path for path in store.collections("projects/", f"/{kind}") if _COLLECTION.fullmatch(path)]
    return [item for path in found for item in store.list(path)]


_COLLECTION: Final = re.compile(r"projects/[^/]+/[^/]+")
DELETED_TOPIC: Final = "_deleted-topic_"
"""The topic of subscriptions and snapshots after it was deleted."""


def topic_name(call: Call) -> str:
    """Return the full name of the topic that a call names."""
    return f"projects/{call.path['projectsId']}/topics/{call.path['topicsId']}"


@handles("pubsub.projects.topics.get")
def read_topic(call: Call) -> Json:
    """Read the topic that a call names, which must exist."""
    return read(call.store, topic_name(call))


@handles("pubsub.projects.topics.create")
def create_topic(call: Call) -> Json:
    """Create a topic."""
    check_durations(call.body)
    _refuse_transforms(call.body)
    check_schema_settings(call.store, call.body)
    return create(call.store, topic_name(call), call.body)


def _refuse_transforms(topic: Json) -> None:
    if topic.get("messageTransforms"):
        raise ApiError(501, "topics with messageTransforms are not emulated")


@handles("pubsub.projects.topics.list", "pubsub.projects.subscriptions.list")
def list_project(call: Call) -> Json:
    """List the topics or the subscriptions of a project."""
    kind = call.method.id.split(".")[2]
    items = call.store.list(f"projects/{call.path['projectsId']}/{kind}")
    return list_resources(call, kind, items if kind == "topics" else [_shown(call.store, item) for item in items])


@handles("pubsub.projects.topics.patch")
def patch_topic(call: Call) -> Json:
    """Change the fields in the update mask."""
    change = call.body.get("topic") or {}
    check_durations(change)
    _refuse_transforms(change)
    topic = read_topic(call)
    settings, patched = topic.get("schemaSettings"), patch(call, "Topic", topic, change)
    if patched.get("schemaSettings") != settings:
        check_schema_settings(call.store, patched)
    return patched


@handles("pubsub.projects.topics.delete")
def delete_topic(call: Call) -> Json:
    """Delete a topic; its subscriptions and snapshots stay."""
    name = read_topic(call)["name"]
    for item in (*all_of(call.store, "subscriptions"), *all_of(call.store, "snapshots")):
        if item["topic"] == name:
            call.store.put(item["name"], item | {"topic": DELETED_TOPIC})
    delete_messages(call.store, name)
    call.store.delete(policy_path(name))
    call.store.delete(name)
    return {}


@handles("pubsub.projects.topics.subscriptions.list")
def list_subscriptions_of_topic(call: Call) -> Json:
    """List the names of a topic's subscriptions."""
    subscriptions = subscriptions_of(call.store, read_topic(call)["name"])
    answer = list_resources(call, "subscriptions", [{"name": item["name"]} for item in subscriptions])
    names = [item["name"] for item in answer.get("subscriptions", ())]
    return answer | ({"subscriptions": names} if names else {})


_TOPIC: Final = re.compile(r"projects/[^/]+/topics/[^/]+")
SUBSCRIPTION: Final = re.compile(r"projects/[^/]+/subscriptions/[^/]+")
_NOT_EMULATED: Final = ("bigqueryConfig", "bigtableConfig", "cloudStorageConfig", "detached", "messageTransforms")
_DEFAULTS: Final[Json] = {
    "ackDeadlineSeconds": 10,
    "messageRetentionDuration": "604800s",
    "pushConfig": {},
    "state": "ACTIVE",
    "expirationPolicy": {"ttl": "2678400s"},
}
ACK_DEADLINES: Final = range(10, 601)
"""The deadlines of subscriptions and streams, in seconds."""
_DELIVERIES: Final = range(5, 101)
"""The bounds of a dead letter policy's number of deliveries; the first is the default."""


def subscription_name(call: Call) -> str:
    """Return the full name of the subscription that a call names."""
    return f"projects/{call.path['projectsId']}/subscriptions/{call.path['subscriptionsId']}"


def read_subscription(call: Call) -> Json:
    """Read the subscription that a call names, which must exist."""
    return read(call.store, subscription_name(call))


@handles("pubsub.projects.subscriptions.get")
def get_subscription(call: Call) -> Json:
    """Answer with the subscription that a call names."""
    return _shown(call.store, read_subscription(call))


def _shown(store: Store, subscription: Json) -> Json:
    """Write what reads and lists show: without a wrapper, pushes have no attributes, as recorded in 2025."""
    config = subscription["pushConfig"]
    if "noWrapper" in config:
        config = {name: value for name, value in config.items() if name != "attributes"}
    return _with_retention(store, subscription | {"pushConfig": config})


def _with_retention(store: Store, subscription: Json) -> Json:
    """Add how long the topic keeps messages, if it keeps any."""
    retention = (store.get(subscription["topic"]) or {}).get("messageRetentionDuration")
    return subscription | ({"topicMessageRetentionDuration": retention} if retention else {})


@handles("pubsub.projects.subscriptions.create")
def create_subscription(call: Call) -> Json:
    """Create a subscription."""
    if not _TOPIC.fullmatch(call.body.get("topic", "")):
        raise ApiError(400, "The subscription's topic is required, as projects/PROJECT/topics/TOPIC.")
    read(call.store, call.body["topic"])
    message_filter(call.body.get("filter") or "")
    subscription = create(call.store, subscription_name(call), {**_DEFAULTS, **_checked(call, call.body)})
    call.cloud.publisher.deliver_due()
    return _with_retention(call.store, _changed(subscription) if subscription["pushConfig"] else subscription)


def _changed(subscription: Json) -> Json:
    """Write the response to a change, or to the creation with pushes: with their version, as recorded in 2025."""
    config = subscription["pushConfig"]
    given = config.get("attributes", {})
    attributes = given | {"x-goog-version": given.get("x-goog-version", "v1")}
    return subscription | {"pushConfig": config | {"attributes": attributes}}


def _checked(call: Call, body: Json) -> Json:
    for name in _NOT_EMULATED:
        if body.get(name):
            raise ApiError(501, f"subscriptions with {name} are not emulated")
    deadline = int(body.get("ackDeadlineSeconds") or ACK_DEADLINES.start)
    check_deadline(deadline, ACK_DEADLINES)
    check_durations(body)
    config = body.get("pushConfig") or {}
    check_push_config(config)
    if "noWrapper" in config:
        body = body | {"pushConfig": config | {"noWrapper": {key: on for key, on in config["noWrapper"].items() if on}}}
    policy, checked = body.get("deadLetterPolicy"), {**body, "ackDeadlineSeconds": deadline}
    if not policy:
        return checked
    most = int(policy.get("maxDeliveryAttempts") or _DELIVERIES.start)
    if most not in _DELIVERIES:
        why = f"it is {_DELIVERIES.start} to {_DELIVERIES.stop - 1}."
        raise ApiError(400, f"Invalid max_delivery_attempts given ({most}); {why}")
    topic = str(policy.get("deadLetterTopic", ""))
    if not _TOPIC.fullmatch(topic):
        raise ApiError(400, "The topic of a dead letter policy is required, as projects/PROJECT/topics/TOPIC.")
    read(call.store, topic)
    return checked | {"deadLetterPolicy": {"deadLetterTopic": topic, "maxDeliveryAttempts": most}}


@handles("pubsub.projects.subscriptions.patch")
def patch_subscription(call: Call) -> Json:
    """Change the fields in the update mask; omitted ones get their defaults."""
    change = call.body.get("subscription") or {}
    patched = patch(call, "Subscription", read_subscription(call), {**_DEFAULTS, **_checked(call, change)})
    call.cloud.publisher.deliver_due()
    return _with_retention(call.store, _changed(patched))


@handles("pubsub.projects.subscriptions.modifyPushConfig")
def modify_push_config(call: Call) -> Json:
    """Set where messages are pushed; without settings they are pulled."""
    subscription, config = read_subscription(call), call.body.get("pushConfig") or {}
    check_push_config(config)
    call.store.put(subscription["name"], subscription | {"pushConfig": config})
    call.cloud.publisher.deliver_due()
    return {}


@handles("pubsub.projects.subscriptions.delete")
def delete_subscription(call: Call) -> Json:
    """Delete a subscription and its messages."""
    name = read_subscription(call)["name"]
    delete_messages(call.store, name)
    call.store.delete(policy_path(name))
    call.store.delete(name)
    call.cloud.publisher.deliver_due()
    return {}


def delete_messages(store: Store, holder: str) -> None:
    """Delete the messages that a subscription, topic or snapshot holds, acknowledged ones, too."""
    for path, _ in list(store.scan([f"{holder}/acknowledged", f"{holder}/messages"])):
        store.delete(path)


@handles("pubsub.projects.subscriptions.detach")
def detach_subscription(call: Call) -> Json:
    """Drop a subscription's messages; it gets no more.

    Source: `DetachSubscription` in google/pubsub/v1/pubsub.proto.
    """
    subscription = read_subscription(call)
    delete_messages(call.store, subscription["name"])
    call.store.put(subscription["name"], subscription | {"detached": True})
    call.cloud.publisher.deliver_due()
    return {}
