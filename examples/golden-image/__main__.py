"""An image of an instance that was configured by hand, stored in the US, to create more such instances from."""

import pulumi
import pulumi_gcpx as gcpx

config = pulumi.Config()

image = gcpx.compute.MachineImage(
    "golden",
    source_instance=config.get("source") or "zones/us-east1-b/instances/example-vm",
    description="As it was released",
    guest_flush=True,
    storage_locations=["us"],
    labels={"release": config.get("release") or "one"},
    opts=pulumi.ResourceOptions(custom_timeouts=pulumi.CustomTimeouts(create="40m")),
)

pulumi.export("image", image.self_link)
pulumi.export("gigabytes", image.total_storage_bytes.apply(lambda size: round(size / 2**30, 1)))
