"""An instance template for a small web server."""

import pulumi
import pulumi_gcpx as gcpx

web = gcpx.compute.InstanceTemplate(
    "web",
    description="Small web servers",
    properties={
        "machine_type": "e2-small",
        "disks": [
            {
                "boot": True,
                "auto_delete": True,
                "initialize_params": {
                    "source_image": "projects/debian-cloud/global/images/family/debian-12",
                    "disk_size_gb": 20,
                    "disk_type": "pd-balanced",
                },
            }
        ],
        "network_interfaces": [{"network": "global/networks/default", "access_configs": [{"network_tier": "PREMIUM"}]}],
        "labels": {"app": "web"},
        "metadata": {"items": [{"key": "enable-oslogin", "value": "TRUE"}]},
    },
)

pulumi.export("template", web.self_link_unique)
