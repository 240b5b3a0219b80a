"""A data disk that is attached to an instance, and stays when the instance is deleted."""

import pulumi
import pulumi_gcpx as gcpx

data = gcpx.compute.DiskAttachment(
    "data", instance="zones/us-east1-b/instances/example-vm", disk="example-data", device_name="data", auto_delete=False
)

pulumi.export("device", data.device_name)
