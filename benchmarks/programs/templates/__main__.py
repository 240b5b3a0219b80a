"""Templates with the SDK of gcpx; the provider that does nothing runs the same program."""

import pulumi
import pulumi_gcpx as gcpx

for number in range(pulumi.Config().require_int("count")):
    gcpx.compute.InstanceTemplate(
        f"template-{number}",
        name=f"template-{number}",
        properties={
            "machine_type": "e2-small",
            "disks": [{"boot": True, "initialize_params": {"source_image": "family/debian-12"}}],
            "network_interfaces": [{"network": "default"}],
            "labels": {"number": str(number)},
        },
    )
