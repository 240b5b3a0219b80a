"""Capacity, quotas and addresses: which instances a bulk creation makes, and how it says what has run out."""

from __future__ import annotations

import pytest
from rolling.fleets import set_limits
from values.programs import PROJECT, ZONE, properties

BASE = f"/compute/v1/projects/{PROJECT}"
REGION = "us-east1"
ZONES = ("us-east1-b", "us-east1-c", "us-east1-d")


def _send(http, scope=f"regions/{REGION}", **more):
    body = {"count": "3", "namePattern": "w-###", "instanceProperties": properties(), **more}
    return http.post(f"{BASE}/{scope}/instances/bulkInsert", json=body)


def _outcome(http, **more):
    """Create instances in bulk, and read how that ended."""
    started = _send(http, **more).json()
    return http.get(f"{BASE}/regions/{REGION}/operations/{started['name']}").json()


def _codes(operation):
    return [error["code"] for error in operation.get("error", {}).get("errors", ())]


def _instances(http, cloud, *fields):
    """Return fields of all instances, in the order of their names."""
    cloud.emulator.operations.settle()
    found = []
    for scope in http.get(f"{BASE}/aggregated/instances").json()["items"].values():
        found += scope.get("instances", [])
    found.sort(key=lambda item: item["name"])
    return [tuple(item[field].rpartition("/")[2] for field in fields) for item in found]


@pytest.mark.parametrize(
    ("limits", "codes"),
    [
        ({"zones": dict.fromkeys(ZONES, 1)}, ["ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"]),
        ({"zones": dict.fromkeys(ZONES, 1), "plainErrors": True}, ["ZONE_RESOURCE_POOL_EXHAUSTED"]),
        ({"machineTypes": {zone: {"e2-small": 2} for zone in ZONES}}, ["ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"]),
        ({"machineTypes": {zone: {"e2-medium": 0} for zone in ZONES}}, []),
        (
            {"provisioningModels": {zone: {"STANDARD": 0} for zone in ZONES}},
            ["ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"],
        ),
        ({"provisioningModels": {zone: {"SPOT": 0} for zone in ZONES}}, []),
        ({"instances": {REGION: 2}}, ["QUOTA_EXCEEDED"]),
        ({"addresses": {REGION: 2}}, ["IP_SPACE_EXHAUSTED_WITH_DETAILS"]),
        ({"addresses": {REGION: 2}, "plainErrors": True}, ["IP_SPACE_EXHAUSTED"]),
        ({"addresses": {REGION: 3}}, []),
    ],
)
def test_what_has_run_out_is_the_error_of_the_operation(cloud, http, limits, codes):
    set_limits(cloud, **limits)

    assert _codes(_outcome(http)) == [*(["VM_MIN_COUNT_NOT_REACHED"] if codes else []), *codes]
    assert cloud.emulator.store.counts().get("instances", 0) == (0 if codes else 3)


def test_a_stock_out_without_details_has_the_recorded_words(cloud, http):
    set_limits(cloud, zones=dict.fromkeys(ZONES, 0), plainErrors=True)
    messages = {error["message"] for error in _outcome(http)["error"]["errors"]}

    where = f"The zone 'projects/{PROJECT}/zones/{ZONE}'"
    words = (
        "does not have enough resources available to fulfill the request.  Try a different zone, or try again later."
    )
    assert f"{where} {words}" in messages


def test_a_quota_can_be_checked_at_the_request(cloud, http):
    set_limits(cloud, instances={REGION: 2}, quotaAtRequest=True)
    refused = _send(http)
    error = refused.json()["error"]

    assert (refused.status_code, error["errors"][0]["reason"]) == (403, "quotaExceeded")
    assert "Quota 'INSTANCES' exceeded.  Limit: 2.0 in region us-east1." in error["message"]
    assert _send(http, minCount="2").status_code == 200


def test_stopped_instances_hold_no_capacity_but_quota_and_addresses(cloud, http):
    set_limits(cloud, zones={ZONE: 1, "us-east1-c": 0, "us-east1-d": 0})
    _outcome(http, count="1")
    cloud.change(f"projects/{PROJECT}/zones/{ZONE}/instances/w-001", lambda vm: vm.update(status="TERMINATED"))

    assert _codes(_outcome(http, count="1")) == []
    set_limits(cloud, instances={REGION: 2})
    assert _codes(_outcome(http, count="1")) == ["VM_MIN_COUNT_NOT_REACHED", "QUOTA_EXCEEDED"]


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ({"zones": {ZONE: 1}}, "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"),
        ({"machineTypes": {ZONE: {"e2-small": 1}}}, "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"),
        ({"instances": {REGION: 1}}, "QUOTA_EXCEEDED"),
        ({"addresses": {REGION: 1}}, "IP_SPACE_EXHAUSTED_WITH_DETAILS"),
    ],
)
def test_a_single_instance_needs_room_too(cloud, http, limits, code):
    set_limits(cloud, **limits)
    body = {**properties(), "machineType": f"zones/{ZONE}/machineTypes/e2-small"}
    codes = []
    for name in ("a", "b"):
        started = http.post(f"{BASE}/zones/{ZONE}/instances", json={**body, "name": name}).json()
        codes.append(_codes(http.get(f"{BASE}/zones/{ZONE}/operations/{started['name']}").json()))

    assert codes == [[], [code]]
    assert [item["name"] for item in http.get(f"{BASE}/zones/{ZONE}/instances").json()["items"]] == ["a"]
    set_limits(cloud, instances={REGION: 1}, quotaAtRequest=True)
    assert http.post(f"{BASE}/zones/{ZONE}/instances", json={**body, "name": "b"}).status_code == 403


@pytest.mark.parametrize(
    "limits",
    [{"zones": {ZONE: 0}}, {"machineTypes": {ZONE: {"e2-medium": 0}}}, {"provisioningModels": {ZONE: {"STANDARD": 0}}}],
)
def test_a_stopped_instance_needs_room_to_start(cloud, http, limits):
    vm = cloud.make_instance()
    http.post(f"/compute/v1/{vm}/stop")
    set_limits(cloud, **limits)
    started = http.post(f"/compute/v1/{vm}/start").json()
    operation = http.get(f"{BASE}/zones/{ZONE}/operations/{started['name']}").json()

    assert _codes(operation) == ["ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"]
    assert (operation["httpErrorStatusCode"], cloud.get(vm)["status"]) == (503, "TERMINATED")


def _policy(**machine_types):
    """Return a flexibility policy, from machine types by name of the selection and its rank."""
    selections = {name: {"machineTypes": types, "rank": str(rank)} for name, (rank, *types) in machine_types.items()}
    return {"instanceSelections": selections}


def test_selections_are_used_by_rank_in_all_zones(cloud, http):
    set_limits(cloud, machineTypes={zone: {"n2-standard-4": 1} for zone in ZONES})
    policy = _policy(fallback=(2, "e2-medium"), best=(1, "n2-standard-4"))
    _outcome(http, count="5", instanceFlexibilityPolicy=policy, locationPolicy={"targetShape": "ANY"})
    found = _instances(http, cloud, "machineType", "zone")

    assert sorted(found) == [("e2-medium", ZONE)] * 2 + [("n2-standard-4", zone) for zone in ZONES]


def test_a_zone_has_room_for_so_many_instances_of_all_machine_types_together(cloud, http):
    set_limits(cloud, zones={ZONE: 2, "us-east1-c": 0, "us-east1-d": 0}, machineTypes={ZONE: {"n2-standard-4": 1}})
    policy = _policy(best=(0, "n2-standard-4"), fallback=(1, "e2-medium"))
    refused = _outcome(http, instanceFlexibilityPolicy=policy)
    _outcome(http, minCount="1", instanceFlexibilityPolicy=policy)
    later = _outcome(http, count="1", namePattern="x-###")

    assert _codes(refused) == ["VM_MIN_COUNT_NOT_REACHED", "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"]
    assert _instances(http, cloud, "machineType") == [("n2-standard-4",), ("e2-medium",)]
    assert _codes(later) == ["VM_MIN_COUNT_NOT_REACHED", "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"]


def test_a_single_zone_is_the_one_that_fits_all_with_the_best_ranks(cloud, http):
    set_limits(
        cloud, machineTypes={ZONE: {"n2-standard-4": 1}, "us-east1-c": {"n2-standard-4": 2}}, zones={"us-east1-d": 2}
    )
    policy = _policy(best=(0, "n2-standard-4"), fallback=(1, "e2-medium"))
    _outcome(http, instanceFlexibilityPolicy=policy)

    assert _instances(http, cloud, "machineType", "zone") == [
        ("n2-standard-4", "us-east1-c"),
        ("n2-standard-4", "us-east1-c"),
        ("e2-medium", "us-east1-c"),
    ]


def test_machine_types_of_one_rank_are_used_by_capacity(cloud, http):
    set_limits(cloud, machineTypes={zone: {"e2-small": 1, "e2-medium": 5} for zone in ZONES})
    _outcome(http, instanceFlexibilityPolicy=_policy(any=(0, "e2-small", "e2-medium")))

    assert _instances(http, cloud, "machineType") == [("e2-medium",)] * 3


def test_a_selection_may_bring_its_own_disks_and_platform(cloud, http):
    disks = properties()["disks"]
    disks[0] = {**disks[0], "autoDelete": True, "deviceName": "own"}
    selection = {"machineTypes": ["n2-standard-4"], "disks": disks, "minCpuPlatform": "Intel Ice Lake"}
    without_machine_type = {key: value for key, value in properties().items() if key != "machineType"}
    policy = {"instanceSelections": {"only": selection}}
    _outcome(http, count="1", instanceProperties=without_machine_type, instanceFlexibilityPolicy=policy)
    instance = cloud.get(f"projects/{PROJECT}/zones/{ZONE}/instances/w-001")

    assert (instance["disks"][0]["deviceName"], instance["minCpuPlatform"]) == ("own", "Intel Ice Lake")


@pytest.mark.parametrize(
    ("scope", "policy", "words"),
    [
        (f"zones/{ZONE}", _policy(only=(0, "e2-small")), "Only regional"),
        (f"regions/{REGION}", _policy(only=(0, "e9-small")), "existing machine type"),
        (f"regions/{REGION}", _policy(only=(0,)), "only.machineTypes"),
    ],
)
def test_invalid_flexibility_policies_are_refused(http, scope, policy, words):
    refused = _send(http, scope, instanceFlexibilityPolicy=policy)

    assert (refused.status_code, words in refused.text) == (400, True)


def test_without_limits_a_start_takes_as_much_work_beside_many_instances_as_beside_none(http, cloud, vm):
    def work():
        """Stop and start the instance; count the steps of the database, in hundreds."""
        steps = []
        database = cloud.emulator.store._database  # noqa: SLF001 - only the connection counts them
        database.set_progress_handler(lambda: steps.append(1), 100)
        for method in ("stop", "start"):
            http.post(f"/compute/v1/{vm}/{method}").raise_for_status()
            cloud.emulator.operations.settle()
        database.set_progress_handler(None, 0)
        return len(steps)

    alone, store = work(), cloud.emulator.store
    for number in range(500):
        store.put(f"{vm}-{number}", store.get(vm) | {"name": f"vm-{number}", "id": store.new_id()})
    assert work() < 2 * alone
