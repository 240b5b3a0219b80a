"""The running instances of all zones; a zone that cannot be reached is left out."""

import pulumi
import pulumi_gcpx as gcpx

running = gcpx.compute.aggregated_list_instances_output(filter="status = RUNNING", return_partial_success=True)

pulumi.export("byScope", running.items)
