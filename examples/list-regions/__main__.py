"""The regions that are up."""

import pulumi_gcpx as gcpx

import pulumi

regions = gcpx.compute.list_regions_output(filter="status = UP", omit_quotas=True)

pulumi.export("first", regions.items[0].name)
