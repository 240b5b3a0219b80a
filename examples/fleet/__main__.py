"""A fleet of Spot workers: its settings scale it, roll out a release, or park it. `story.py` uses them all."""

import pulumi
import pulumi_gcpx as gcpx

config = pulumi.Config()
STATE = "http://metadata.google.internal/computeMetadata/v1/instance/guest-attributes/worker/state"
METADATA = {
    "release": config.get("release", "one"),
    "enable-guest-attributes": "TRUE",
    "startup-script": f"""#!/bin/sh
# Install and start the release that the metadata `release` names here. Then say that the worker is ready:
curl -X PUT --data ready -H "Metadata-Flavor: Google" {STATE}
""",
    # A guest attribute survives a restart, so the worker takes it back when it stops.
    "shutdown-script": f"""#!/bin/sh
curl -X DELETE -H "Metadata-Flavor: Google" {STATE}
""",
}

workers = gcpx.compute.BulkInstances(
    "workers",
    region="us-east1",
    name_pattern="worker-####",
    count=config.get_int("count", 10),
    min_count=1,  # a fleet that falls short is better than none
    location_policy={"zones": [{"zone": "zones/us-east1-b"}]},
    # What us-east1-b has no room for is created in us-east1-c; what does not fit there either is created without Spot.
    fallbacks=[{"zones": ["us-east1-c"]}, {"zones": ["us-east1-c"], "provisioning_model": "STANDARD"}],
    on_stopped="START",  # a preempted worker is started again
    instance_properties={
        "machine_type": config.get("machineType", "e2-small"),
        "disks": [
            {
                "boot": True,
                "auto_delete": True,
                "initialize_params": {"source_image": f"family/{config.get('image', 'debian-12')}"},
            }
        ],
        "network_interfaces": [{"network": "global/networks/default"}],
        "scheduling": {"provisioning_model": "SPOT", "instance_termination_action": "STOP"},
        "metadata": {"items": [{"key": key, "value": value} for key, value in METADATA.items()]},
    },
    update_policy={
        "max_unavailable": "20%",
        "keep_names": True,
        "minimal_action": "RESTART",  # the startup script has to run again
        "pause_after": config.get_int("pauseAfter"),
        "ready": {"guest_attribute": "worker/state=ready", "within": 300},  # the startup script sets it when it ends
    },
)

pulumi.export("count", workers.member_count)
pulumi.export("running", workers.running_count)
pulumi.export("fleetId", workers.fleet_id)
pulumi.export("generation", workers.generation)
pulumi.export("zones", workers.members.apply(lambda members: sorted({member.zone for member in members})))
