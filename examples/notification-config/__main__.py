"""Events of new objects in a bucket, published to a topic."""

import pulumi
import pulumi_gcpx as gcpx

uploads = gcpx.storage.NotificationConfig(
    "uploads",
    bucket="example-uploads",
    topic="projects/example-project/topics/uploads",
    event_types=["OBJECT_FINALIZE"],
    object_name_prefix="incoming/",
    custom_attributes={"source": "uploads"},
)

pulumi.export("notification", uploads.notification_id)
