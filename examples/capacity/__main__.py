"""Four fleets that get capacity in different ways: Spot with fallbacks, flex start, a reservation, compact placement.

The reservation `training` in us-east1-b and the compact placement policies `rack-1` and `rack-2` have to exist.
"""

from typing import Any

import pulumi
import pulumi_gcpx as gcpx


def fleet(
    name: str, count: int, properties: gcpx.compute.InstancePropertiesArgsDict, **options: Any
) -> gcpx.compute.BulkInstances:
    """Create a fleet; `properties` are added to those that all fleets share."""
    image = "projects/debian-cloud/global/images/family/debian-12"
    shared: gcpx.compute.InstancePropertiesArgsDict = {
        "disks": [{"boot": True, "auto_delete": True, "initialize_params": {"source_image": image}}],
        "network_interfaces": [{"network": "global/networks/default"}],
    }
    return gcpx.compute.BulkInstances(
        name,
        region="us-east1",
        count=count,
        name_pattern=f"{name}-###",
        instance_properties={"machine_type": "n2-standard-4", **shared, **properties},
        **options,
    )


# Google chooses a machine type. What it cannot create as Spot instances anywhere is created at the full price.
batch = fleet(
    "batch",
    6,
    {"scheduling": {"provisioning_model": "SPOT", "instance_termination_action": "DELETE"}},
    min_count=3,
    instance_flexibility_policy={
        "instance_selections": {
            "best": {"machine_types": ["n2-standard-4"], "rank": 1},
            "good": {"machine_types": ["e2-standard-4", "c3-standard-4"], "rank": 2},
        }
    },
    location_policy={"target_shape": "ANY"},
    fallbacks=[{"provisioning_model": "STANDARD"}],
)

# Flex start waits for capacity; the instances run for a day at most.
tuning = fleet(
    "tuning",
    2,
    {
        "scheduling": {
            "provisioning_model": "FLEX_START",
            "max_run_duration": {"seconds": 86400},
            "instance_termination_action": "DELETE",
            "on_host_maintenance": "TERMINATE",
        },
        "reservation_affinity": {"consume_reservation_type": "NO_RESERVATION"},
    },
)

# The reserved instances are used first; what is missing is created without the reservation.
training = fleet(
    "training",
    3,
    {
        "reservation_affinity": {
            "consume_reservation_type": "SPECIFIC_RESERVATION",
            "key": "compute.googleapis.com/reservation-name",
            "values": ["training"],
        }
    },
    min_count=1,
    location_policy={"zones": [{"zone": "zones/us-east1-b"}]},
    fallbacks=[{"reservation_affinity": {"consume_reservation_type": "NO_RESERVATION"}}],
)

# Two groups of at most 4 instances, each close together.
simulation = fleet("simulation", 6, {}, placement={"policies": ["rack-1", "rack-2"], "members_per_policy": 4})

pulumi.export("batch", batch.member_count)
pulumi.export("tuning", tuning.member_count)
pulumi.export("training", training.member_count)
pulumi.export("simulation", simulation.member_count)
