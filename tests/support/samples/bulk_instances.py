from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from servers.emulated import Emulated
from values.programs import DEBIAN, FLEET, PROJECT, ZONE, fleet, one_at_a_time
from values.sample import CANCELLATIONS, CRASHES, FAULTS, ApiObject, Edit, Inputs, Life, Program, Sample, inputs_with
from values.valid import SECRET_METADATA, labels, metadata, names

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
    "maxUnavailable": _AMOUNT,
    "onFailure": st.sampled_from(["STOP", "ROLL_BACK"]),
    "pauseAfter": _AMOUNT,
    "ready": inputs_with({}, {"within": st.integers(1, 600), "stableFor": st.integers(0, 60), "guestAttribute": st.sampled_from(["app/state", "app/state=ready"])}),
}  # fmt: skip
_UPDATE_POLICY = (
    st.just({"maxUnavailable": 1})
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


def _surround(cloud: Emulated) -> None:
    cloud.change(cloud.make_instance("web-900"), lambda body: body.update(labels={"gcpx-bulk": "stranger"}))
    cloud.emulator.store.put("guest-attributes/all", {"onBoot": {"app/state": "ready"}})


def _named(*given: str, **more: Any) -> Inputs:
    made = fleet(None, **more)
    del made["namePattern"], made["count"]
    return made | {"perInstanceProperties": {name: {} for name in given}}


def _rolling(policy: Inputs, **more: Any) -> Inputs:
    return fleet(2, updatePolicy=one_at_a_time(policy), **more)


def _crew(count: int, **more: Any) -> Inputs:
    return fleet(count, fleetId="crew", **more)


def _declared(count: int, machine: str, own_labels: dict[str, str], more: Inputs) -> Inputs:
    return fleet(count, machineType=machine, scheduling=_SPOT, **({"labels": own_labels} if own_labels else {}), **more)


def _identity(inputs: Inputs) -> str | None:
    fleet_id = inputs.get("fleetId")
    return f"projects/{PROJECT}/regions/us-east1/bulkInstances/{fleet_id}" if fleet_id else None


_SPOT = {"preemptible": True, "automaticRestart": False, "onHostMaintenance": "TERMINATE"}
_RELABEL: Inputs = {"labels": {"a": "2"}}
_ONE = {"maxUnavailable": 1}
_TWO = {"maxUnavailable": 2}
_READY = {**_TWO, "ready": {"guestAttribute": "app/state"}}
_BIGGER_DISK: Inputs = {"disks": [{"boot": True, "initializeParams": {"diskSizeGb": 50, "sourceImage": DEBIAN}}]}
_BIGGER_KEPT_DISK: Inputs = {
    "disks": [{"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": DEBIAN, "diskSizeGb": "20"}}]
}
_RESTART: Inputs = {"action": "RESTART", "trigger": "monday"}
_FALLBACK: Inputs = {"fallbacks": [{"machineType": "e2-medium"}]}
_FAULTS, _CRASHES, _CANCELLATIONS = (frozenset({suite}) for suite in (FAULTS, CRASHES, CANCELLATIONS))
SAMPLE = Sample(
    token=FLEET,
    inputs=fleet(2),
    any_inputs=inputs_with(
        {"region": st.just("us-east1"), "count": st.integers(0, 3), "namePattern": names.map(lambda name: f"{name}-####"), "instanceProperties": _INSTANCE},
        {"fallbacks": _FALLBACKS, "placement": st.sampled_from([{"policies": ["rack"], "membersPerPolicy": 3}, {"policies": ["rack", "shelf"]}]), "updatePolicy": _UPDATE_POLICY,
         "maxDeleted": _AMOUNT, "minCount": st.just(1), "onStopped": st.sampled_from(["START", "REPLACE", "KEEP"]), "locationPolicy": st.sampled_from([{"targetShape": "ANY_SINGLE_ZONE"}, {"targetShape": "BALANCED"}, {"locations": {"zones/us-east1-b": {"preference": "ALLOW"}}}])},
    ),
    api=ApiObject.compute("BulkInsertInstanceResource"),
    own={"memberCount", "fallbacks", "fleetId", "generation", "lastMachineType", "lastRollingAction", "lostMembers", "maxDeleted", "memberNames", "members", "onStopped", "operationGroupId", "perLocationStatus", "placement", "project", "region", "removedKeys", "rollingAction", "runningCount", "shortfalls", "updatePolicy"},
    read_method="compute.instances.list",
    lives={
        "fleet": Life(
            inputs=fleet(fleetId="team", labels={"role": "worker"}),
            path=_MEMBER,
            drift=(lambda cloud: _lose(cloud, _MEMBER), "count"),
            edits=[
                Edit({"count": 5}, "update", {"count"}),
                Edit({"count": 2}, "update", {"count"}),
                Edit(fleet(count=2, labels={"role": "boss"}), "update", {"instanceProperties.labels.role"}),
                Edit(fleet(count=2, labels={"role": "boss"}, machineType="e2-medium"), "update", {"instanceProperties.machineType"}),
                Edit(fleet(count=2, labels={"role": "boss"}, machineType="e2-medium", namePattern="app-###"), "replace", {"namePattern"}),
            ],
            imports=[f"projects/{PROJECT}/regions/us-east1/bulkInstances/team"],
            remove=_lose_all,
        )
    },
    changed_by=("compute.regionInstances.bulkInsert", "compute.instances.delete", "compute.instances.setLabels"),
    programs={
        "fleet": Program(
            inputs=fleet(2, **SECRET_METADATA),
            updates={
                "scale_up": fleet(4, **SECRET_METADATA),
                "scale_down": fleet(1, **SECRET_METADATA),
                "relabel": fleet(2, **_RELABEL, **SECRET_METADATA),
            },
            suites=_FAULTS,
        ),
        "fleet_named": Program(
            inputs=_named("alpha", "beta", labels={"a": "1"}),
            updates={
                "scale_up": _named("alpha", "beta", "gamma", labels={"a": "1"}),
                "scale_down": _named("beta", labels={"a": "1"}),
            },
            suites=_FAULTS,
        ),
        "fleet_rolling": Program(
            inputs=_rolling(_ONE),
            updates={
                "relabel": _rolling(_ONE, **_RELABEL),
                "restart": _rolling(_ONE, machineType="e2-medium"),
                "replace": _rolling(_ONE, **_BIGGER_DISK),
            },
            suites=_FAULTS,
        ),
        "fleet_with_id": Program(
            inputs=_crew(2),
            updates={
                "scale_up": _crew(3),
                "scale_down": (_crew(3), _crew(1)),
                "relabel": (_crew(3), _crew(1), _crew(1, labels={"tier": "web"})),
            },
            other=_crew(3),
            suites=_CRASHES,
        ),
        "fleet_generated": Program(
            inputs=fleet(2), updates={"scale_up": fleet(3), "scale_down": (fleet(3), fleet(1))}, other=fleet(3), suites=_CRASHES
        ),
        "fleet_of_names": Program(inputs=_named("alpha", "beta"), other=_named("alpha"), suites=_CRASHES | _CANCELLATIONS),
        "fleet_with_fallbacks": Program(inputs=fleet(2, **_FALLBACK), updates={"scale_up": fleet(3, **_FALLBACK)}, suites=_CRASHES),
        "fleet_scaled": Program(
            inputs=fleet(2),
            updates={"scale_up": fleet(4), "scale_down": (fleet(3), fleet(1)), "relabel": fleet(2, **_RELABEL)},
            suites=_CANCELLATIONS,
        ),
        "fleet_restarted": Program(
            inputs=_rolling(_TWO), updates={"restart": _rolling(_TWO, machineType="e2-medium"), "restart_again": _rolling(_TWO, rollingAction=_RESTART)}, suites=_CRASHES | _CANCELLATIONS
        ),
        "fleet_replaced": Program(
            inputs=_rolling(_READY), updates={"replace": _rolling(_READY, **_BIGGER_KEPT_DISK)}, suites=_CANCELLATIONS
        ),
    },
    surround=_surround,
    declared=st.builds(
        _declared, st.integers(1, 3), st.sampled_from(["e2-small", "e2-medium"]), st.sampled_from([{}, {"tier": "web"}, {"tier": "db"}]),
        inputs_with({}, {"fleetId": st.just("crew"), "updatePolicy": st.just(_ONE), "minCount": st.just(1)}),
    ),
    identity=_identity,
)  # fmt: skip
