"""All six resources. `make demo` runs this program on the emulator, with an instance and a disk that already exist.

In a project of your own, `pulumi config set gcpx:validateOnline true` lets the preview ask Google whether the bucket,
the topic, the instance and the disk exist, and whether the quotas suffice.
"""

import pulumi
import pulumi_gcpx as gcpx

config = pulumi.Config()
VM = "zones/us-east1-b/instances/example-vm"

template = gcpx.compute.InstanceTemplate(
    "web",
    properties={
        "machine_type": config.get("machineType") or "e2-small",
        "disks": [
            {
                "boot": True,
                "auto_delete": True,
                "initialize_params": {
                    "source_image": "projects/debian-cloud/global/images/family/debian-12",
                    "disk_size_gb": 20,
                },
            }
        ],
        "network_interfaces": [{"network": "global/networks/default"}],
        "labels": {"app": "web"},
    },
)

fleet = gcpx.compute.BulkInstances(
    "workers",
    region="us-east1",
    count=config.get_int("workers") or 20,
    name_pattern="worker-####",
    location_policy={"target_shape": "BALANCED"},
    instance_properties={
        "machine_type": "e2-micro",
        "disks": [{"boot": True, "auto_delete": True, "initialize_params": {"source_image": "family/debian-12"}}],
        "network_interfaces": [{"network": "global/networks/default"}],
    },
)

image = gcpx.compute.MachineImage("golden", source_instance=VM, storage_locations=["us"])

data = gcpx.compute.DiskAttachment(
    "data", instance=VM, disk="example-data", device_name="data", opts=pulumi.ResourceOptions(depends_on=[image])
)

uploads = gcpx.storage.NotificationConfig(
    "uploads", bucket="demo-uploads", topic="uploads", event_types=["OBJECT_FINALIZE"]
)

laptop = gcpx.oslogin.SshKey(
    "laptop",
    user="operator@example.com",
    key="ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0gF6TLPrDwxF8fNKq2bwUKcGqxnzqRMxcbNKS1wR3g laptop",
    expiration_time_usec=config.get("keyExpiry"),
)

pulumi.export("template", template.name)
pulumi.export("workers", fleet.member_count)
pulumi.export("image", image.status)
pulumi.export("device", data.device_name)
pulumi.export("notification", uploads.notification_id)
pulumi.export("fingerprint", laptop.fingerprint)
