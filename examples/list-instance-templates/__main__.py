"""The global templates of small machines, the newest first."""

import pulumi
import pulumi_gcpx as gcpx

small = gcpx.compute.list_instance_templates_output(
    filter='properties.machineType eq "e2-.*"', order_by="creationTimestamp desc"
)

pulumi.export("newest", small.items[0].name)
