"""A template, a bucket's notification and a login key: `make demo` runs this against the emulator."""

import pulumi_gcpx as gcpx

import pulumi

config = pulumi.Config()

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

uploads = gcpx.storage.NotificationConfig(
    "uploads", bucket="demo-uploads", topic="uploads", event_types=["OBJECT_FINALIZE"]
)

laptop = gcpx.oslogin.SshKey(
    "laptop",
    user="operator@example.com",
    key="ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0gF6TLPrDwxF8fNKq2bwUKcGqxnzqRMxcbNKS1wR3g laptop",
    expiration_time_usec=config.get("keyExpiry"),
)

pulumi.export("template", template.self_link)
pulumi.export("notification", uploads.notification_id)
pulumi.export("fingerprint", laptop.fingerprint)
