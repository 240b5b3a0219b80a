"""A template, and a fleet created from it in one call. `scale.py` scales it from 20 to 50 and down to 10."""

import pulumi_gcpx as gcpx

import pulumi

config = pulumi.Config()

template = gcpx.compute.InstanceTemplate(
    "worker",
    properties={
        "machine_type": "e2-small",
        "disks": [
            {
                "boot": True,
                "auto_delete": True,
                "initialize_params": {"source_image": "projects/debian-cloud/global/images/family/debian-12"},
            }
        ],
        "network_interfaces": [{"network": "global/networks/default"}],
    },
)

workers = gcpx.compute.BulkInstances(
    "workers",
    region="us-east1",
    count=config.get_int("count") or 20,
    min_count=5,
    name_pattern="worker-####",
    source_instance_template=template.self_link_unique,
    instance_properties={"labels": {"release": config.get("release") or "one"}},
    location_policy={"target_shape": "BALANCED"},
)

pulumi.export("created", workers.created_count)
pulumi.export("zones", workers.per_location_status.apply(sorted))
