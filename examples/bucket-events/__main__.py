"""Bucket -> topic: the events of new objects. Topic and push subscription come from `subscribe.py`."""

import pulumi_gcpx as gcpx

import pulumi

config = pulumi.Config()

uploads = gcpx.storage.NotificationConfig(
    "uploads",
    bucket=config.get("bucket") or "demo-uploads",
    topic=config.get("topic") or "uploads",
    event_types=["OBJECT_FINALIZE"],
    object_name_prefix="in/",
    custom_attributes={"pipeline": "thumbnails"},
)

pulumi.export("notification", uploads.id)
