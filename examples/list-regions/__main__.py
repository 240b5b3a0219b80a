"""The regions that are up."""

import pulumi
import pulumi_gcpx as gcpx

regions = gcpx.compute.list_regions_output(filter="status = UP", omit_quotas=True)

pulumi.export("first", regions.items[0].name)
