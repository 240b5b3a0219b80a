"""One template for a managed instance group of pulumi-gcp and for a fleet: two settings move workers between them."""

import pulumi
import pulumi_gcp as gcp
import pulumi_gcpx as gcpx

config = pulumi.Config()

template = gcpx.compute.InstanceTemplate(
    "worker",
    properties={
        "machine_type": "e2-small",
        "disks": [
            {
                "boot": True,
                "auto_delete": True,
                "initialize_params": {"source_image": config.get("image", "family/debian-12")},
            }
        ],
        "network_interfaces": [{"network": "global/networks/default"}],
        "labels": {"app": "worker"},
    },
)

group = gcp.compute.RegionInstanceGroupManager(
    "workers",
    region="us-east1",
    base_instance_name="worker",
    target_size=config.get_int("groupSize", 3),
    distribution_policy_target_shape="BALANCED",
    versions=[{"instance_template": template.self_link_unique}],
    update_policy={
        "type": "PROACTIVE",
        "minimal_action": "REPLACE",
        "max_surge_fixed": 3,  # 0, or at least the number of zones
        "max_unavailable_fixed": 0,
    },
    wait_for_instances=True,
)

fleet = gcpx.compute.BulkInstances(
    "workers",
    region="us-east1",
    name_pattern="fleet-worker-###",
    count=config.get_int("fleetSize", 0),  # 0 keeps the fleet in the state, without instances
    location_policy={"target_shape": "BALANCED"},
    source_instance_template=template.self_link_unique,
    update_policy={"max_surge": 3},
)

pulumi.export("template", template.self_link_unique)
pulumi.export("inGroup", group.target_size)
pulumi.export("inFleet", fleet.member_count)
