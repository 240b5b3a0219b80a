"""Lists of regions, templates and instances with filters, and the status of an operation."""

import pulumi
import pulumi_gcpx as gcpx

regions = gcpx.compute.list_regions(omit_quotas=True, filter="status = UP")
pulumi.export("regions", [region.name for region in regions.items])

small = gcpx.compute.list_instance_templates(filter='properties.machineType eq "e2-.*"', view="FULL")
pulumi.export("smallTemplates", [f"{template.name} ({template.creation_timestamp})" for template in small.items])

everywhere = gcpx.compute.aggregated_list_instance_templates(item_fields=["name", "region"])
pulumi.export(
    "templates",
    {scope: len(found.instance_templates) for scope, found in everywhere.items.items() if found.instance_templates},
)

# If a zone cannot be reached, the others are listed, and `unreachables` names it.
running = gcpx.compute.aggregated_list_instances_output(filter="status = RUNNING", return_partial_success=True)
zones = running.items.apply(
    lambda items: {scope: len(found.instances) for scope, found in items.items() if found.instances}
)
pulumi.export("running", zones)
pulumi.export("complete", running.unreachables.apply(lambda missing: "no" if missing else "yes"))

operation = pulumi.Config().get("operation")
if operation:
    pulumi.export("operation", gcpx.compute.get_operation(name=operation).status)
