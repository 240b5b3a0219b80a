"""Two releases side by side: each has a template and a fleet of its own, and one of them is live."""

import pulumi
import pulumi_gcpx as gcpx

config = pulumi.Config()
live = config.get("live", "blue")


def release(color: str, count: int) -> gcpx.compute.BulkInstances:
    """Declare the template and the fleet of one color."""
    template = gcpx.compute.InstanceTemplate(
        color,
        properties={
            "machine_type": "e2-small",
            "disks": [
                {
                    "boot": True,
                    "auto_delete": True,
                    "initialize_params": {"source_image": config.get(f"{color}Image", "family/debian-12")},
                }
            ],
            "network_interfaces": [{"network": "global/networks/default"}],
        },
    )
    return gcpx.compute.BulkInstances(
        color,
        region="us-east1",
        name_pattern=f"web-{color}-###",
        count=count,
        source_instance_template=template.self_link_unique,
        instance_properties={"labels": {"app": "web", "live": "yes" if color == live else "no"}},
    )


blue = release("blue", config.get_int("blueCount", 3))
green = release("green", config.get_int("greenCount", 0))

pulumi.export("live", live)
pulumi.export("liveMembers", {"blue": blue, "green": green}[live].member_count)
