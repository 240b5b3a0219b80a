"""Notification configurations of buckets, and the events that they publish."""

from __future__ import annotations

import base64
import json
import re
from typing import Final

from gcpx_emulator.core.call import Call, handles
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.errors import ApiError, required
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.projects import project_number
from gcpx_emulator.storage.buckets import read_bucket, write_changed

_TOPIC: Final = re.compile(r"(?://pubsub\.googleapis\.com/)?(projects/[^/]+/topics/[a-zA-Z][-\w.~+%]{2,254})")
_EVENTS: Final = frozenset({"OBJECT_FINALIZE", "OBJECT_METADATA_UPDATE", "OBJECT_DELETE", "OBJECT_ARCHIVE"})
_MOST_CONFIGS: Final = 100
_MOST_ATTRIBUTES: Final = 5


def configs_path(bucket: str) -> str:
    """Return the path of a bucket's configurations."""
    return f"b/{bucket}/notificationConfigs"


@handles("storage.notifications.insert")
def insert_config(call: Call) -> Json:
    """Create a configuration; its ID is the bucket's next number. The bucket's metageneration grows, as recorded."""
    bucket = read_bucket(call)
    for field in ("topic", "payload_format"):
        if not call.body.get(field):
            raise required(field)
    topic = _checked_topic(call, call.body["topic"], _service_agent(bucket["projectNumber"]))
    _check_options(call.body)
    path = configs_path(call.path["bucket"])
    if len(call.store.list(path)) >= _MOST_CONFIGS:
        raise ApiError(400, f"A bucket has at most {_MOST_CONFIGS} notification configurations.", "limitExceeded")
    number = str(call.store.next(path))
    given = {name: value for name, value in call.body.items() if value not in (None, [], {}, "")}
    link = f"https://www.googleapis.com/storage/v1/{path}/{number}"
    head = {"kind": "storage#notification", "id": number, "etag": number, "selfLink": link}
    config = given | head | {"topic": topic}
    call.store.put(f"{path}/{number}", config)
    write_changed(call, bucket)
    return config


def _check_options(body: Json) -> None:
    if body["payload_format"] not in {"JSON_API_V1", "NONE"}:
        raise ApiError(400, f"Invalid argument for payload_format: {body['payload_format']}")
    unknown = set(body.get("event_types") or ()) - _EVENTS
    if unknown:
        raise ApiError(400, f"Invalid event type: {', '.join(sorted(unknown))}")
    if len(body.get("custom_attributes") or ()) > _MOST_ATTRIBUTES:
        raise ApiError(400, f"At most {_MOST_ATTRIBUTES} custom attributes are allowed.")


def _service_agent(project: str) -> str:
    """Return the account that publishes the events of a project's buckets; `project` is its ID or its number."""
    return f"service-{project_number(project)}@gs-project-accounts.iam.gserviceaccount.com"


def _checked_topic(call: Call, name: str, agent: str) -> str:
    """Return a topic with its host; Google gives the same answer for a missing topic and for a lack of permission."""
    match = _TOPIC.fullmatch(name)
    if match is None:
        raise ApiError(400, f"Invalid Google Cloud Pub/Sub topic name: {name}")
    topic = f"//pubsub.googleapis.com/{match[1]}"
    if not call.cloud.publisher.may_publish(match[1], agent):
        reason = f"is not allowed to publish to the Cloud Pub/Sub topic '{topic}', or that topic does not exist."
        raise ApiError(403, f"The service account '{agent}' {reason}")
    return topic


@handles("storage.notifications.get")
def get_config(call: Call) -> Json:
    """Read a configuration."""
    read_bucket(call)
    config = call.store.get(_config_path(call))
    if config is None:
        raise ApiError(404, f"notification {call.path['notification']} not found")
    return config


def _config_path(call: Call) -> str:
    return f"{configs_path(call.path['bucket'])}/{call.path['notification']}"


@handles("storage.notifications.list")
def list_configs(call: Call) -> Json:
    """List the configurations of a bucket."""
    read_bucket(call)
    items = call.store.list(configs_path(call.path["bucket"]))
    return {"kind": "storage#notifications"} | ({"items": items} if items else {})


@handles("storage.notifications.delete")
def delete_config(call: Call) -> None:
    """Delete a configuration; the bucket's metageneration grows, as recorded."""
    get_config(call)
    call.store.delete(_config_path(call))
    write_changed(call, read_bucket(call))


@handles("storage.projects.serviceAccount.get")
def get_service_agent(call: Call) -> Json:
    """Name the service agent of a project, which publishes the events of the project's buckets."""
    return {"kind": "storage#serviceAccount", "email_address": _service_agent(call.path["projectId"])}


def publish_event(call: Call, event: str, metadata: Json, attributes: Json) -> None:
    """Publish an event about an object, with additional attributes."""
    bucket, name = metadata["bucket"], metadata["name"]
    for config in call.store.list(configs_path(bucket)):
        is_wanted = event in config.get("event_types", [event])
        if not is_wanted or not name.startswith(config.get("object_name_prefix", "")):
            continue
        payload = json.dumps(metadata).encode() if config["payload_format"] == "JSON_API_V1" else b""
        own = {
            "notificationConfig": f"projects/_/buckets/{bucket}/notificationConfigs/{config['id']}",
            "eventType": event,
            "payloadFormat": config["payload_format"],
            "bucketId": bucket,
            "objectId": name,
            "objectGeneration": metadata["generation"],
            "eventTime": timestamp(),
        }
        message = {
            "data": base64.b64encode(payload).decode(),
            "attributes": {**own, **attributes, **config.get("custom_attributes", {})},
        }
        call.cloud.publisher.publish(config["topic"].removeprefix("//pubsub.googleapis.com/"), [message])
