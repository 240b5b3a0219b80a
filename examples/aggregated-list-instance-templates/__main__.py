"""The names of all templates, by scope."""

import pulumi
import pulumi_gcpx as gcpx

templates = gcpx.compute.aggregated_list_instance_templates_output(item_fields=["name", "region"])

pulumi.export("byScope", templates.items)
