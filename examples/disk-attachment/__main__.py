"""A data disk on an instance, kept when the instance goes."""

import pulumi_gcpx as gcpx

import pulumi

attachment = gcpx.compute.DiskAttachment(
    "data", instance="zones/us-east1-b/instances/example-vm", disk="example-data", device_name="data", auto_delete=False
)

pulumi.export("device", attachment.device_name)
