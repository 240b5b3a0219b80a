"""The program of every stack: a fleet in the region that the stack is for."""

# `import pulumi_gcpx` would load this module when it is first used, which programs that run side by side must not do.
import pulumi
from pulumi_gcpx.compute import BulkInstances

REGIONS = (
    *("asia-east1", "asia-northeast1", "asia-south1", "asia-southeast1", "australia-southeast1"),
    *("europe-north1", "europe-southwest1", "europe-west1", "europe-west2", "europe-west3"),
    *("europe-west4", "europe-west9", "northamerica-northeast1", "southamerica-east1", "us-central1"),
    *("us-east1", "us-east4", "us-west1", "us-west2", "us-west4"),
)


def deploy_fleet(region: str, count: int) -> None:
    """Declare the fleet of a region."""
    web = BulkInstances(
        "web",
        region=region,
        count=count,
        name_pattern=f"web-{region}-###",
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
        },
    )
    pulumi.export("count", web.member_count)
