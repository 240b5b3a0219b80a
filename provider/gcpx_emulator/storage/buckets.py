"""Cloud Storage: buckets and their notification configurations."""

from __future__ import annotations

import re
from typing import Final

from gcpx_emulator.core.errors import ApiError, required
from gcpx_emulator.core.handlers import Call, handles
from gcpx_emulator.core.listing import page
from gcpx_emulator.core.operations import timestamp
from gcpx_emulator.core.store import Json

_BUCKET: Final = re.compile(r"[a-z0-9][-_.a-z0-9]{1,220}[a-z0-9]")
_TOPIC: Final = re.compile(r"(?://pubsub\.googleapis\.com/)?(projects/[^/]+/topics/[a-zA-Z][-\w.~+%]{2,254})")
_AGENT: Final = "service-123456789012@gs-project-accounts.iam.gserviceaccount.com"
"""The service agent, which publishes the events."""
_EVENTS: Final = frozenset({"OBJECT_FINALIZE", "OBJECT_METADATA_UPDATE", "OBJECT_DELETE", "OBJECT_ARCHIVE"})
_MOST: Final = 100
_MOST_ATTRIBUTES: Final = 5


def bucket_of(call: Call) -> Json:
    """Read the bucket in the path, which has to be there."""
    body = call.store.get(f"b/{call.path['bucket']}")
    if body is None:
        raise ApiError(404, "The specified bucket does not exist.")
    return body


@handles("storage.buckets.insert")
def insert_bucket(call: Call) -> Json:
    """Make a bucket."""
    name = call.body.get("name")
    if not name:
        raise required("name")
    if not _BUCKET.fullmatch(name):
        raise ApiError(400, f"Invalid bucket name: '{name}'")
    if call.store.get(f"b/{name}") is not None:
        raise ApiError(
            409, "Your previous request to create the named bucket succeeded and you already own it.", "conflict"
        )
    now = timestamp()
    made = {
        "kind": "storage#bucket",
        "id": name,
        "selfLink": f"https://www.googleapis.com/storage/v1/b/{name}",
        "projectNumber": "123456789012",
        "metageneration": "1",
        "etag": "CAE=",
        "timeCreated": now,
        "updated": now,
        "location": "US",
        "storageClass": "STANDARD",
    }
    body = (
        made | call.body | {"location": str(call.body.get("location", "US")).upper(), "_project": call.query["project"]}
    )
    call.store.put(f"b/{name}", body)
    return _shown(body)


def _shown(body: Json) -> Json:
    return {key: value for key, value in body.items() if not key.startswith("_")}


@handles("storage.buckets.get")
def get_bucket(call: Call) -> Json:
    """Read a bucket."""
    return _shown(bucket_of(call))


@handles("storage.buckets.list")
def list_buckets(call: Call) -> Json:
    """List a project's buckets."""
    owned = [_shown(item) for item in call.store.list("b") if item["_project"] == call.query["project"]]
    found = [item for item in owned if item["name"].startswith(call.query.get("prefix", ""))]
    items, token = page(found, call.query)
    return {"kind": "storage#buckets", "items": items} | ({"nextPageToken": token} if token else {})


@handles("storage.buckets.delete")
def delete_bucket(call: Call) -> None:
    """Delete a bucket, and its notification configurations with it."""
    bucket_of(call)
    path = f"b/{call.path['bucket']}"
    if call.store.list(f"{path}/o"):
        raise ApiError(409, "The bucket you tried to delete is not empty.", "conflict")
    for item in call.store.list(f"{path}/notificationConfigs"):
        call.store.delete(f"{path}/notificationConfigs/{item['id']}")
    call.store.delete(path)


@handles("storage.notifications.insert")
def insert_notification(call: Call) -> Json:
    """Make a notification configuration; its number is the bucket's next."""
    bucket_of(call)
    body = call.body
    for field in ("topic", "payload_format"):
        if not body.get(field):
            raise required(field)
    topic = _existing_topic(call, body["topic"])
    if body["payload_format"] not in {"JSON_API_V1", "NONE"}:
        raise ApiError(400, f"Invalid argument for payload_format: {body['payload_format']}")
    unknown = set(body.get("event_types") or ()) - _EVENTS
    if unknown:
        raise ApiError(400, f"Invalid event type: {', '.join(sorted(unknown))}")
    if len(body.get("custom_attributes") or ()) > _MOST_ATTRIBUTES:
        raise ApiError(400, f"At most {_MOST_ATTRIBUTES} custom attributes are allowed.")
    collection = f"b/{call.path['bucket']}/notificationConfigs"
    if len(call.store.list(collection)) >= _MOST:
        raise ApiError(400, f"A bucket has at most {_MOST} notification configurations.", "limitExceeded")
    number = str(call.store.next(collection))
    made = {
        **{key: value for key, value in body.items() if value not in (None, [], {}, "")},
        "topic": topic,
        "kind": "storage#notification",
        "id": number,
        "etag": number,
        "selfLink": f"https://www.googleapis.com/storage/v1/{collection}/{number}",
    }
    call.store.put(f"{collection}/{number}", made)
    return made


def _existing_topic(call: Call, name: str) -> str:
    """Give a topic with its host; a missing topic is answered like a forbidden one."""
    found = _TOPIC.fullmatch(name)
    if found is None:
        raise ApiError(400, f"Invalid Google Cloud Pub/Sub topic name: {name}")
    topic = f"//pubsub.googleapis.com/{found[1]}"
    if call.store.get(found[1]) is None:
        words = f"The service account '{_AGENT}' is not allowed to publish to the Cloud Pub/Sub topic '{topic}', or"
        raise ApiError(403, f"{words} that topic does not exist.")
    return topic


@handles("storage.notifications.get")
def get_notification(call: Call) -> Json:
    """Read a notification configuration."""
    bucket_of(call)
    return _notification(call)


def _notification(call: Call) -> Json:
    found = call.store.get(f"b/{call.path['bucket']}/notificationConfigs/{call.path['notification']}")
    if found is None:
        raise ApiError(404, f"notification {call.path['notification']} not found")
    return found


@handles("storage.notifications.list")
def list_notifications(call: Call) -> Json:
    """List a bucket's notification configurations."""
    bucket_of(call)
    items = call.store.list(f"b/{call.path['bucket']}/notificationConfigs")
    return {"kind": "storage#notifications"} | ({"items": items} if items else {})


@handles("storage.notifications.delete")
def delete_notification(call: Call) -> None:
    """Delete a notification configuration."""
    bucket_of(call)
    _notification(call)
    call.store.delete(f"b/{call.path['bucket']}/notificationConfigs/{call.path['notification']}")


@handles("storage.projects.serviceAccount.get")
def service_account(_call: Call) -> Json:
    """Name the project's Cloud Storage service agent."""
    return {"kind": "storage#serviceAccount", "email_address": _AGENT}
