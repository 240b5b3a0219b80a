"""Events of objects: published to the topics of a bucket's notification configurations."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.storage.notification_configs import configs_path


def publish_event(call: Call, event: str, metadata: Json, attributes: Json) -> None:
    """Publish an event about an object, with these attributes besides those that every event has."""
    for config in _configs_for(call, event, metadata):
        payload = json.dumps(metadata).encode() if config["payload_format"] == "JSON_API_V1" else b""
        message = {
            "data": base64.b64encode(payload).decode(),
            "attributes": {**_attributes(event, metadata, config), **attributes, **config.get("custom_attributes", {})},
        }
        call.cloud.publisher.publish(config["topic"].removeprefix("//pubsub.googleapis.com/"), [message])


def _attributes(event: str, metadata: Json, config: Json) -> Json:
    bucket = metadata["bucket"]
    return {
        "notificationConfig": f"projects/_/buckets/{bucket}/notificationConfigs/{config['id']}",
        "eventType": event,
        "payloadFormat": config["payload_format"],
        "bucketId": bucket,
        "objectId": metadata["name"],
        "objectGeneration": metadata["generation"],
        "eventTime": timestamp(),
    }


def _configs_for(call: Call, event: str, metadata: Json) -> Iterator[Json]:
    """Yield the configurations that ask for an event about an object."""
    for config in call.store.list(configs_path(metadata["bucket"])):
        prefix = config.get("object_name_prefix", "")
        if event in config.get("event_types", [event]) and metadata["name"].startswith(prefix):
            yield config
