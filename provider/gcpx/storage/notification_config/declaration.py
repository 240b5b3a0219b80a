"""The properties of a NotificationConfig, and what their values must be."""

from __future__ import annotations

import re
from typing import Any, Final

from gcpx.model.fields import Record, field, output_field, record
from gcpx.model.location_patterns import LINK_PARTS, PROJECT
from gcpx.model.patterns import Part, form
from gcpx.model.rules import Violation, exclusive, rule

_BUCKET = (
    re.compile(r"[a-z0-9][-_.a-z0-9]{1,220}[a-z0-9]"),
    "the name of a bucket: 3 to 222 lower-case letters, digits, hyphens, underscores and dots",
)
_TOPIC = form(
    "TOPIC",
    "projects/PROJECT/topics/TOPIC",
    "//pubsub.googleapis.com/projects/PROJECT/topics/TOPIC",
    PROJECT=LINK_PARTS["PROJECT"],
    TOPIC=Part(
        r"[a-zA-Z][-a-zA-Z0-9_.~+%]{2,254}", "3 to 255 letters, digits and any of -_.~+%, beginning with a letter"
    ),
)
_MOST_ATTRIBUTES: Final = 5
_REFERENCE: Final = "Cloud Storage REST reference: notifications, {}"


@rule(f"customAttributes must have at most {_MOST_ATTRIBUTES} entries", _REFERENCE.format("custom_attributes"))
def _custom_attributes_are_at_most_5(values: dict[str, Any]) -> list[Violation]:
    given = values.get("customAttributes")
    if isinstance(given, dict) and len(given) > _MOST_ATTRIBUTES:
        return [("customAttributes", f"must have at most {_MOST_ATTRIBUTES} entries, not {len(given)}")]
    return []


@record
class NotificationConfigModel(Record):
    """A notification configuration of a bucket, which publishes events about its objects to a Pub/Sub topic.

    The project's Cloud Storage service agent needs the role `roles/pubsub.publisher` on the topic. Google Cloud does
    not allow changes to a configuration, so every change replaces it.
    """

    RULES = (_custom_attributes_are_at_most_5,)

    bucket: str = field(
        "The bucket's name, such as `my-uploads`.",
        required=True,
        in_url=True,
        pattern=_BUCKET,
        source=_REFERENCE.format("bucket"),
    )
    custom_attributes: dict[str, str] = field(
        "Attributes that are added to every message, such as `{team: web}`: at most 5. Default: none.",
        wire="custom_attributes",
    )
    etag: str = output_field("The configuration's entity tag.", always=True)
    event_types: list[str] = field(
        "The types of events to publish, such as `[OBJECT_FINALIZE]`. Default: all types.",
        wire="event_types",
        identity="set",
        enum=("OBJECT_ARCHIVE", "OBJECT_DELETE", "OBJECT_FINALIZE", "OBJECT_METADATA_UPDATE"),
        source=_REFERENCE.format("event_types"),
    )
    kind: str = output_field("Always `storage#notification`.", always=True)
    notification_id: str = output_field(
        "The ID that Google assigns to the configuration, such as `7`.", wire="id", always=True
    )
    object_name_prefix: str = field(
        "Publish only events about objects whose names begin with this prefix, such as `images/`: at most 1,024 characters. Default: all objects.",
        wire="object_name_prefix",
        max_length=1024,
        source=_REFERENCE.format("object_name_prefix"),
    )
    payload_format: str = field(
        "What a message contains: `JSON_API_V1` for the object's metadata as JSON, `NONE` for attributes only. Default: `JSON_API_V1`.",
        wire="payload_format",
        enum=("JSON_API_V1", "NONE"),
        closed=True,
        default="JSON_API_V1",
        source=_REFERENCE.format("payload_format"),
    )
    self_link: str = output_field("The configuration's URL.", always=True)
    topic: str = field(
        "The Pub/Sub topic to publish to: `TOPIC` in the provider's project, `projects/PROJECT/topics/TOPIC`, or `//pubsub.googleapis.com/projects/PROJECT/topics/TOPIC`.",
        required=True,
        url="topics",
        pattern=_TOPIC,
        source=_REFERENCE.format("topic"),
    )
    user_project: str = field(
        "The ID of the project to bill for the calls, such as `my-project`. Default: none. Required for a bucket with Requester Pays.",
        in_url=True,
    )


@record
class NotificationConfigQuery(Record):
    """The buckets whose notification configurations are listed."""

    RULES = (exclusive("bucket", "project"),)

    bucket: str = field(
        "The bucket whose configurations are listed, such as `my-uploads`. Conflicts with `project`.", pattern=_BUCKET
    )
    project: str = field(
        "The project whose buckets' configurations are listed, such as `my-project`. Default: the provider's project. Conflicts with `bucket`.",
        pattern=PROJECT,
    )
    user_project: str = field(
        "The ID of the project to bill for the calls, such as `my-project`. Default: none. Required for buckets with Requester Pays."
    )
