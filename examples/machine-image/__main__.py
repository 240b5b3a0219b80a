"""An image of an instance: its properties and the contents of its disks."""

import pulumi
import pulumi_gcpx as gcpx

golden = gcpx.compute.MachineImage(
    "golden",
    source_instance="zones/us-east1-b/instances/example-vm",
    description="The web server as it was released",
    storage_locations=["us"],
    labels={"release": "2026-11"},
)

pulumi.export("image", golden.self_link)
