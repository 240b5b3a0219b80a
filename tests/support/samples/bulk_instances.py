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
_AMOUNT = st.integers(1, 2) | st.sampled_from(["1", "50%", "100%"])
_ACTIONS = st.sampled_from(["REFRESH", "RESTART", "REPLACE"])
_ROLLING = {
    "strategy": st.just("ROLLING"),
    "maxUnavailable": _AMOUNT,
    "onFailure": st.sampled_from(["STOP", "ROLL_BACK"]),
    "pauseAfter": _AMOUNT,
    "ready": inputs_with({}, {"status": st.just("RUNNING"), "within": st.integers(1, 600), "guestAttribute": st.sampled_from(["app/state", "app/state=ready"])}),
}  # fmt: skip
_UPDATE_POLICY = (
    st.just({"strategy": "REPLACE_ALL"})
    | inputs_with(_ROLLING, {"maxSurge": _AMOUNT, "minimalAction": _ACTIONS})
    | inputs_with(_ROLLING, {"keepNames": st.booleans(), "mostDisruptiveAction": _ACTIONS})
)
_FALLBACKS = st.lists(
    st.sampled_from([
        {"zones": ["us-east1-c", "zones/us-east1-d"]},
        {"machineType": "n2-standard-4"},
        {"minCpuPlatform": "Intel Ice Lake"},
        {"provisioningModel": "SPOT"},
        {"reservationAffinity": {"consumeReservationType": "NO_RESERVATION"}},
        {"instanceFlexibilityPolicy": {"instanceSelections": {"small": {"machineTypes": ["e2-small", "e2-medium"]}}}},
    ]),
    max_size=2,
    unique_by=str,
)  # fmt: skip


def _lose(cloud: Emulated, path: str) -> None:
    """Delete a member and its disk."""
    cloud.delete(path)
    cloud.delete(path.replace("/instances/", "/disks/"))


def _lose_all(cloud: Emulated) -> None:
    for number in (1, 2, 3):
        _lose(cloud, f"projects/{PROJECT}/zones/{ZONE}/instances/web-00{number}")


SAMPLE = Sample(
    token=FLEET,
    inputs=fleet(2),
    any_inputs=inputs_with(
        {"region": st.just("us-east1"), "count": st.integers(0, 3), "namePattern": names.map(lambda name: f"{name}-####"), "instanceProperties": _INSTANCE},
        {"fallbacks": _FALLBACKS, "placement": st.sampled_from([{"policies": ["rack"], "size": 3}, {"policies": ["rack", "shelf"]}]), "updatePolicy": _UPDATE_POLICY,
         "minCount": st.just(1), "onStopped": st.sampled_from(["START", "REPLACE", "KEEP"]), "locationPolicy": st.sampled_from([{"targetShape": "ANY_SINGLE_ZONE"}, {"targetShape": "BALANCED"}, {"locations": {"zones/us-east1-b": {"preference": "ALLOW"}}}])},
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
