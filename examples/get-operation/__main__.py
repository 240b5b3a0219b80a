"""The status of an operation."""

import pulumi
import pulumi_gcpx as gcpx

config = pulumi.Config()
operation = config.require("operation")
found = gcpx.compute.get_operation_output(name=operation, zone="us-east1-b")

pulumi.export("status", found.status)
