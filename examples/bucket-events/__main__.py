"""Events of new objects in a bucket, published to a topic. `subscribe.py` creates the topic and its subscription."""

import pulumi
import pulumi_gcpx as gcpx

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
