from __future__ import annotations

from emulated import Emulated
from hypothesis import strategies as st
from programs import DEBIAN, FLEET, PROJECT, ZONE, fleet
from sample import ApiObject, Edit, Life, Sample, inputs_with
from valid import labels, metadata, names

_MEMBER = f"projects/{PROJECT}/zones/{ZONE}/instances/web-003"
_INSTANCE = inputs_with(
    {
        "machineType": st.sampled_from(["e2-micro", "e2-small", "n2-standard-2"]),
        "disks": st.just([{"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": DEBIAN}}]),
        "networkInterfaces": st.sampled_from([[{}], [{"network": "default", "accessConfigs": [{}]}]]),
    },
    {
        "labels": labels,
        "metadata": metadata,
        "canIpForward": st.booleans(),
        "tags": st.lists(names, max_size=3, unique=True).map(lambda items: {"items": items}),
    },
)


def _lose(cloud: Emulated, path: str) -> None:
    """Delete a member and its disk."""
    cloud.emulator.store.delete(path)
    cloud.emulator.store.delete(path.replace("/instances/", "/disks/"))


def _lose_all(cloud: Emulated) -> None:
    for number in (1, 2, 3):
        _lose(cloud, f"projects/{PROJECT}/zones/{ZONE}/instances/web-00{number}")


SAMPLE = Sample(
    token=FLEET,
    inputs=fleet(2),
    any_inputs=inputs_with(
        {"region": st.just("us-east1"), "count": st.integers(1, 3), "namePattern": names.map(lambda name: f"{name}-####"), "instanceProperties": _INSTANCE},
        {"minCount": st.just(1), "onStopped": st.sampled_from(["START", "REPLACE", "KEEP"]), "locationPolicy": st.sampled_from([{"targetShape": "BALANCED"}, {"locations": {"zones/us-east1-b": {"preference": "ALLOW"}}}])},
    ),
    api=ApiObject.compute("BulkInsertInstanceResource"),
    own={"createdCount", "fallbacks", "fleetId", "generation", "lostMembers", "members", "onStopped", "operationGroupId", "perLocationStatus", "placement", "project", "region", "removedKeys", "runningCount", "shortfalls", "updatePolicy"},
    read_method="compute.instances.list",
    later_calls=("compute.regionOperations.wait", "compute.instances.list"),
    lives={
        "fleet": Life(
            inputs=fleet(fleetId="workers", labels={"role": "worker"}),
            path=_MEMBER,
            drift=(lambda cloud: _lose(cloud, _MEMBER), "count"),
            edits=[
                Edit({"count": 5}, "update", {"count"}),
                Edit({"count": 2}, "update", {"count"}),
                Edit(fleet(count=2, labels={"role": "boss"}), "update", {"instanceProperties.labels.role"}),
                Edit(fleet(count=2, labels={"role": "boss"}, machineType="e2-medium"), "replace", {"instanceProperties.machineType"}),
            ],
            imports=[f"projects/{PROJECT}/regions/us-east1/bulkInstances/workers"],
            remove=_lose_all,
        )
    },
)  # fmt: skip
