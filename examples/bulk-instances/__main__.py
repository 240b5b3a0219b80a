"""A fleet of workers, spread over the zones of a region."""

import pulumi
import pulumi_gcpx as gcpx

workers = gcpx.compute.BulkInstances(
    "workers",
    region="us-east1",
    count=20,
    min_count=10,
    name_pattern="worker-####",
    location_policy={"target_shape": "BALANCED"},
    instance_properties={
        "machine_type": "e2-small",
        "disks": [
            {
                "boot": True,
                "auto_delete": True,
                "initialize_params": {"source_image": "projects/debian-cloud/global/images/family/debian-12"},
            }
        ],
        "network_interfaces": [{"network": "global/networks/default"}],
        "labels": {"role": "worker"},
    },
)

pulumi.export("created", workers.member_count)
pulumi.export("running", workers.running_count)
