"""A regional disk that can be moved to another instance, even if the first one no longer responds."""

import pulumi
import pulumi_gcpx as gcpx

config = pulumi.Config()

data = gcpx.compute.DiskAttachment(
    "data",
    instance=f"zones/us-east1-b/instances/{config.get('instance') or 'example-vm'}",
    disk="regions/us-east1/disks/shared",
    device_name="data",
    force_attach=True,
)

pulumi.export("attachment", data.id)
