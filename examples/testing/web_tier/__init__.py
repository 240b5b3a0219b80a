"""A component: equal web servers, and a bucket that publishes its new objects to the topic `uploads`."""

import pulumi
import pulumi_gcpx as gcpx


class WebTier(pulumi.ComponentResource):
    """Servers from one template, in one region.

    Attributes:
        zones: where the servers are.
        notification: the ID of the bucket's notification.
    """

    zones: pulumi.Output[list[str]]
    notification: pulumi.Output[str]

    def __init__(self, name: str, size: int, bucket: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("example:web:WebTier", name, None, opts)
        within = pulumi.ResourceOptions(parent=self)
        template = gcpx.compute.InstanceTemplate(
            name,
            properties={
                "machine_type": "e2-small",
                "disks": [
                    {"boot": True, "auto_delete": True, "initialize_params": {"source_image": "family/debian-12"}}
                ],
                "network_interfaces": [{"network": "global/networks/default"}],
                "labels": {"tier": name},
            },
            opts=within,
        )
        servers = gcpx.compute.BulkInstances(
            name,
            region="us-east1",
            name_pattern=f"{name}-##",
            count=size,
            source_instance_template=template.self_link_unique,
            opts=within,
        )
        uploads = gcpx.storage.NotificationConfig(
            name, bucket=bucket, topic="uploads", event_types=["OBJECT_FINALIZE"], opts=within
        )
        self.zones = servers.members.apply(lambda members: sorted({member.zone for member in members}))
        self.notification = uploads.id
        self.register_outputs({"zones": self.zones, "notification": self.notification})
