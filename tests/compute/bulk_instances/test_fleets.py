"""A fleet as one resource: scaled, repaired, short of capacity, found again, taken down."""

from __future__ import annotations

import driver
import grpc
import pytest
from driver import UNKNOWN, failing
from programs import FLEET, PROJECT, TEMPLATE, fleet, properties, template

BULK = "compute.regionInstances.bulkInsert"
LIST = "compute.instances.aggregatedList"
NO_CHANGE = driver.rpc.DiffResponse.DIFF_NONE


def _names(resource):
    return [member["name"] for member in resource.outputs["members"]]


def _limit(cloud, **limits):
    cloud.emulator.store.put("limits/all", limits)


def _instance(name, zone="us-east1-b"):
    return f"projects/{PROJECT}/zones/{zone}/instances/{name}"


def test_a_fleet_is_one_mutating_call_between_two_lists(engine, cloud):
    created = engine.create(FLEET, "workers", fleet())

    assert cloud.calls() == [LIST, BULK, "compute.regionOperations.wait", LIST]
    assert cloud.requests(BULK)[0]["path"] == f"/compute/beta/projects/{PROJECT}/regions/us-east1/instances/bulkInsert"
    assert cloud.requests(BULK)[0]["body"]["instanceProperties"]["labels"]["gcpx-bulk"] == created.outputs["fleetId"]
    assert created.id == f"projects/{PROJECT}/regions/us-east1/bulkInstances/{created.outputs['fleetId']}"
    assert _names(created) == ["web-001", "web-002", "web-003"]
    first = created.outputs["members"][0]
    assert set(first) == {"name", "selfLink", "id", "zone", "status", "internalAddress"}
    assert (first["status"], first["zone"]) == ("RUNNING", "us-east1-b")
    assert created.outputs["perLocationStatus"]["zones/us-east1-b"]["createdVmCount"] == 3
    assert created.outputs["operationGroupId"]


def test_more_are_made_in_one_more_call_and_fewer_are_the_highest_numbers_gone(engine, cloud):
    created = engine.create(FLEET, "workers", fleet())
    assert not engine.diff(created, fleet(count=5)).replaces
    grown = engine.update(created, fleet(count=5))
    assert cloud.requests(BULK)[1]["body"]["count"] == "2"
    assert _names(grown) == [f"web-00{number}" for number in range(1, 6)]
    cloud.emulator.requests.kept.clear()
    shrunk = engine.update(grown, fleet(count=2))

    assert _names(shrunk) == ["web-001", "web-002"]
    assert cloud.calls("compute.instances.delete") == ["compute.instances.delete"] * 3
    assert "compute.instances.get" not in cloud.calls()
    assert engine.refresh(shrunk) == shrunk
    grown_again = engine.update(shrunk, fleet(count=5))
    assert grown_again.outputs["createdCount"] == 5, "the same growth later is another request"


def test_a_thousand_are_read_in_two_pages_and_ten_fewer_are_ten_deletes(engine, cloud):
    created = engine.create(FLEET, "many", fleet(count=1000, namePattern="m-####"))
    assert created.outputs["createdCount"] == 1000
    cloud.emulator.requests.kept.clear()
    engine.refresh(created)
    assert cloud.calls() == [LIST, LIST]
    cloud.emulator.requests.kept.clear()
    engine.update(created, fleet(count=990, namePattern="m-####"))

    assert len(cloud.calls("compute.instances.delete")) == 10
    assert "compute.instances.get" not in cloud.calls()


def test_a_lost_member_is_drift_and_is_made_again(engine, cloud):
    created = engine.create(FLEET, "workers", fleet())
    cloud.emulator.store.delete(_instance("web-002"))
    assert engine.drift(created) == {"count"}
    refreshed = engine.refresh(created)
    assert refreshed.inputs["count"] == 2
    assert set(engine.diff(refreshed, fleet()).detailedDiff) == {"count"}
    repaired = engine.update(refreshed, fleet())

    assert _names(repaired) == ["web-001", "web-003", "web-004"]
    assert cloud.requests(BULK)[-1]["body"]["count"] == "1"


def test_a_fleet_of_nobody_is_gone(engine, cloud):
    created = engine.create(FLEET, "workers", fleet())
    for name in _names(created):
        cloud.emulator.store.delete(_instance(name))

    assert engine.refresh(created) is None
    engine.delete(created)


def test_named_instances_are_added_and_removed_by_name(engine, cloud):
    named = fleet(
        count=None, namePattern=None, perInstanceProperties={"alpha": {}, "beta": {"hostname": "beta.example.com"}}
    )
    created = engine.create(FLEET, "named", {name: value for name, value in named.items() if value is not None})
    changed = {**created.inputs, "perInstanceProperties": {"beta": {"hostname": "beta.example.com"}, "gamma": {}}}
    found = engine.diff(created, changed)
    updated = engine.update(created, changed)

    assert set(found.detailedDiff) == {"perInstanceProperties.alpha", "perInstanceProperties.gamma"}
    assert not found.replaces
    assert _names(updated) == ["beta", "gamma"]
    assert cloud.requests(BULK)[1]["body"]["perInstanceProperties"] == {"gamma": {}}
    cloud.emulator.store.delete(_instance("beta"))
    assert engine.drift(updated) == {"perInstanceProperties.beta"}
    renamed = {**changed, "perInstanceProperties": {"beta": {"hostname": "other.example.com"}, "gamma": {}}}
    assert _names(engine.update(updated, renamed)) == ["beta", "gamma"]
    assert cloud.get(_instance("beta"))["hostname"] == "other.example.com"


def test_labels_tags_and_metadata_change_on_the_running_instances(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(labels={"a": "1", "b": "1"}))
    cloud.change(_instance("web-001"), lambda body: body["labels"].update(added="by-hand"))
    changed = fleet(labels={"a": "2"}, tags={"items": ["x"]}, metadata={"items": [{"key": "k", "value": "v"}]})
    assert not engine.diff(created, changed).replaces
    engine.update(created, changed)
    first, last = cloud.get(_instance("web-001")), cloud.get(_instance("web-003"))

    assert first["labels"] == {"a": "2", "added": "by-hand", "gcpx-bulk": created.outputs["fleetId"]}
    assert last["labels"] == {"a": "2", "gcpx-bulk": created.outputs["fleetId"]}
    assert (last["tags"]["items"], last["metadata"]["items"]) == (["x"], [{"key": "k", "value": "v"}])
    assert first["id"] in {member["id"] for member in created.outputs["members"]}, "no instance was made anew"
    cloud.emulator.requests.kept.clear()
    engine.update(created, changed)
    assert set(cloud.calls()) == {LIST}, "nothing to do makes no call"


def test_labels_that_changed_meanwhile_are_read_again(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(count=1))
    cloud.fail("compute.instances.setLabels", status=412, reason="conditionNotMet")
    engine.update(created, fleet(count=1, labels={"a": "1"}))

    assert cloud.get(_instance("web-001"))["labels"]["a"] == "1"


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"machineType": "e2-medium"}, "instanceProperties.machineType"),
        ({"canIpForward": True}, "instanceProperties.canIpForward"),
    ],
)
def test_other_properties_replace_the_fleet(engine, change, path):
    created = engine.create(FLEET, "workers", fleet())
    found = engine.diff(created, fleet(**change))

    assert list(found.detailedDiff) == [path]
    assert list(found.replaces) == ["instanceProperties"]
    assert not found.deleteBeforeReplace, "numbers go on, so the new fleet can come first"


def test_where_and_how_many_suffice_needs_no_call(engine, cloud):
    created = engine.create(FLEET, "workers", fleet())
    changed = fleet(minCount=1, locationPolicy={"targetShape": "BALANCED"})
    assert not engine.diff(created, changed).replaces
    cloud.emulator.requests.kept.clear()
    engine.update(created, changed)

    assert set(cloud.calls()) == {LIST}


def test_fewer_than_wanted_and_enough_is_a_fleet_with_a_warning(engine, cloud):
    _limit(cloud, zones={"us-east1-b": 7, "us-east1-c": 0, "us-east1-d": 0})
    created = engine.create(FLEET, "workers", fleet(count=10, minCount=5))

    assert created.outputs["createdCount"] == 7
    assert created.outputs["perLocationStatus"]["zones/us-east1-b"]["failedToCreateVmCount"] == 3
    assert ("WARNING", created.urn) in [
        (severity, urn) for severity, urn, said in engine.log.messages if "7 of 10" in said
    ]
    assert engine.diff(created, fleet(count=10, minCount=5)).changes == NO_CHANGE
    _limit(cloud)
    refreshed = engine.refresh(created)
    assert engine.update(refreshed, fleet(count=10, minCount=5)).outputs["createdCount"] == 10


def test_a_minimum_of_nothing_is_sent_and_what_could_be_made_is_the_fleet(engine, cloud):
    _limit(cloud, zones={"us-east1-b": 1, "us-east1-c": 0, "us-east1-d": 0})
    created = engine.create(FLEET, "workers", fleet(count=10, minCount=0))

    assert cloud.requests(BULK)[0]["body"]["minCount"] == "0"
    assert engine.refresh(created).outputs["createdCount"] == 1


@pytest.mark.parametrize(
    "fault", [None, {"errors": [{"code": "STOCKOUT", "message": "sold out"}]}], ids=["done", "failed"]
)
def test_a_creation_that_made_nothing_fails_with_what_google_said(engine, cloud, fault):
    _limit(cloud, zones={"us-east1-b": 0, "us-east1-c": 0, "us-east1-d": 0})
    if fault:
        cloud.fail(BULK, operation=fault)
    with failing() as failed:
        engine.create(FLEET, "workers", fleet(count=10, minCount=0))

    assert failed[0].partial is None, "there is nothing to keep in the state"
    words = ["sold out"] if fault else ["at least one instance", "0 of 10", "zones/us-east1-b: 10 could not be created"]
    assert all(word in failed[0].message for word in words), failed[0].message
    _limit(cloud)
    assert engine.create(FLEET, "workers", fleet(count=10, minCount=0)).outputs["createdCount"] == 10


def test_growth_that_made_nothing_keeps_the_fleet_and_warns(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(count=2, minCount=0))
    _limit(cloud, zones={"us-east1-b": 0, "us-east1-c": 0, "us-east1-d": 0})
    grown = engine.update(created, fleet(count=5, minCount=0))

    assert cloud.requests(BULK)[-1]["body"]["minCount"] == "0"
    assert grown.outputs["createdCount"] == 2
    assert any("2 of 5" in said for _, _, said in engine.log.messages)


def test_a_fleet_that_lost_everyone_and_gets_nobody_back_is_an_error(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(count=2, minCount=0))
    for name in _names(created):
        cloud.emulator.store.delete(_instance(name))
    _limit(cloud, zones={"us-east1-b": 0, "us-east1-c": 0, "us-east1-d": 0})
    with failing() as failed:
        engine.update(created, fleet(count=2, minCount=0))

    assert "0 of 2" in failed[0].message


@pytest.mark.parametrize("count", [0, "0"])
def test_a_fleet_without_instances_is_refused(engine, count):
    assert engine.failures(FLEET, fleet(count=count))["count"] == "must be at least 1"
    named = {**fleet(count=count), "perInstanceProperties": {}, "namePattern": None}
    assert engine.failures(FLEET, named)


def test_too_little_quota_leaves_nothing_and_says_how_much_there_is(engine, cloud):
    _limit(cloud, instances={"us-east1": 4})
    with failing() as failed:
        engine.create(FLEET, "workers", fleet(count=10))

    assert failed[0].code == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert failed[0].partial is None
    assert "The limit of compute.googleapis.com/instances is 4 in region us-east1" in failed[0].message
    assert "instances" not in cloud.emulator.store.counts()


def test_a_zone_that_runs_out_fails_with_the_reason(engine, cloud):
    _limit(cloud, zones={"us-east1-b": 1, "us-east1-c": 1, "us-east1-d": 1})
    with failing() as failed:
        engine.create(FLEET, "workers", fleet(count=10))

    assert "does not have enough resources available" in failed[0].message
    assert "VM_MIN_COUNT_NOT_REACHED" in failed[0].message


def test_thirty_of_a_hundred_that_are_left_are_in_the_state_and_filled_up(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(count=30))
    error = {"errors": [{"code": "INTERNAL_ERROR", "message": "something broke"}]}
    cloud.fail(BULK, operation=error)
    with failing() as failed:
        engine.update(created, fleet(count=100))
    partial = failed[0].partial

    assert partial.id == created.id
    assert "something broke" in partial.reasons[0]
    assert "30 of 100 instances exist" in partial.reasons[0]
    state = driver.Resource(created.urn, partial.id, driver.plain(partial.inputs), driver.plain(partial.properties))
    assert state.outputs["createdCount"] == 30
    assert engine.update(state, fleet(count=100)).outputs["createdCount"] == 100


@pytest.mark.parametrize(
    "fault", [{"drop": "after"}, {"drop": "before"}, {"status": 503}, {"body": "no JSON"}], ids=str
)
def test_a_lost_answer_makes_one_fleet(engine, cloud, fault):
    cloud.fail(BULK, **fault)
    created = engine.create(FLEET, "workers", fleet())

    assert created.outputs["createdCount"] == 3
    assert cloud.emulator.store.counts()["instances"] == 3
    assert len({entry["query"]["requestId"] for entry in cloud.requests(BULK)}) == 1


def test_two_fleets_share_a_pattern_and_not_their_members(engine, cloud):
    one = engine.create(FLEET, "one", fleet())
    two = engine.create(FLEET, "two", fleet())

    assert _names(two) == ["web-004", "web-005", "web-006"]
    engine.delete(one)
    assert engine.refresh(two) == two


def test_a_template_is_merged_with_what_the_fleet_says(engine, cloud):
    made = engine.create(
        TEMPLATE,
        "base",
        {"name": "base", **template(labels={"from": "template", "both": "template"}, canIpForward=True)},
    )
    inputs = {
        "region": "us-east1",
        "count": 1,
        "namePattern": "t-#",
        "sourceInstanceTemplate": made.outputs["selfLinkUnique"],
    }
    created = engine.create(FLEET, "workers", {**inputs, "instanceProperties": {"labels": {"both": "fleet"}}})
    labels = cloud.get(_instance("t-1"))["labels"]

    assert labels == {"from": "template", "both": "fleet", "gcpx-bulk": created.outputs["fleetId"]}
    assert cloud.get(_instance("t-1"))["canIpForward"] is True
    alone = engine.create(FLEET, "alone", inputs)
    assert cloud.get(_instance("t-2"))["labels"]["gcpx-bulk"] == alone.outputs["fleetId"]


def test_the_location_policy_spreads_the_fleet(engine):
    policy = {"targetShape": "BALANCED", "locations": {"zones/us-east1-d": {"preference": "DENY"}}}
    created = engine.create(FLEET, "workers", fleet(count=6, locationPolicy=policy))
    zones = [member["zone"] for member in created.outputs["members"]]

    assert {zone: zones.count(zone) for zone in zones} == {"us-east1-b": 3, "us-east1-c": 3}


@pytest.mark.parametrize("by", ["id", "pattern", "label"])
def test_a_fleet_is_imported_and_then_has_no_change(engine, cloud, by):
    created = engine.create(FLEET, "workers", fleet(labels={"role": "worker"}))
    place = f"projects/{PROJECT}/regions/us-east1"
    imported = engine.import_(
        FLEET,
        "again",
        {"id": created.id, "pattern": f"{place}/namePattern/web-###", "label": f"{place}/labels/role=worker"}[by],
    )

    assert imported is not None
    assert imported.inputs["count"] == 3
    assert imported.inputs["namePattern"] == "web-###"
    checked = engine.checked(FLEET, "again", imported.inputs, imported.inputs)
    assert checked == imported.inputs
    program = {name: value for name, value in imported.inputs.items() if not name.startswith("__")}
    assert engine.diff(imported, program).changes == NO_CHANGE
    assert (
        engine.diff(imported, fleet(labels={"role": "worker"}, fleetId=imported.inputs["fleetId"])).changes == NO_CHANGE
    )
    grown = engine.update(imported, {**program, "count": 4})
    assert grown.outputs["createdCount"] == 4
    assert cloud.get(_instance("web-004"))["labels"].get("role") == "worker"


def test_a_long_creation_tells_how_far_it_is(engine, cloud):
    cloud.emulator.operations.latency = 240.0
    created = engine.create(FLEET, "workers", fleet(count=100))

    (said,) = engine.log.wait_for(1, created.urn)
    assert "50/100 VMs, zone us-east1-b rolling forward" in said


def test_a_cancelled_creation_keeps_what_there_is(engine, cloud):
    cloud.hold_operations()
    with failing() as failed:
        inputs = engine.checked(FLEET, "workers", fleet())
        engine.stub.Create(
            driver.rpc.CreateRequest(urn=engine.urn(FLEET, "workers"), properties=driver.struct(inputs), timeout=0.3)
        )

    assert failed[0].partial.id.endswith(f"/bulkInstances/{inputs['fleetId']}")
    state = driver.Resource(
        engine.urn(FLEET, "workers"), failed[0].partial.id, inputs, driver.plain(failed[0].partial.properties)
    )
    cloud.finish_operations()
    assert engine.update(state, fleet()).outputs["createdCount"] == 3, "what came after all is counted, not made twice"


@pytest.mark.parametrize(
    ("inputs", "path", "words"),
    [
        (fleet(minCount=4), "minCount", "must be at most count, 3"),
        (fleet(count=0), "count", "must be at least 1"),
        (fleet(perInstanceProperties={"a": {}}), "namePattern", "conflicts with perInstanceProperties"),
        ({"region": "r", "count": 1, "instanceProperties": properties()}, "", "needs one of namePattern or perInstanceProperties"),
        ({"region": "r", "namePattern": "a-#", "instanceProperties": properties()}, "count", "is required with namePattern"),
        ({"region": "r", "count": 1, "namePattern": "a-#"}, "", "needs one of instanceProperties or sourceInstanceTemplate"),
        (fleet(namePattern="a-#-#"), "namePattern", "one run of #"),
        (fleet(namePattern="a"), "namePattern", "one run of #"),
        (fleet(namePattern="a" + "#" * 19), "namePattern", "at most 18"),
        (fleet(namePattern="a-#", count=10), "namePattern", "at most 9 names, but count is 10"),
        (fleet(namePattern="A-#"), "namePattern", "RFC 1035"),
        ({**fleet(), "count": 2, "namePattern": None, "perInstanceProperties": {"a": {}}}, "count", "the number of perInstanceProperties, 1"),
        (fleet(locationPolicy={"locations": {"zones/z": {"preference": "MAYBE"}}}), 'locationPolicy.locations["zones/z"].preference', "ALLOW, DENY"),
        (fleet(locationPolicy={"locations": {"zones/z": {"constraints": {"maxCount": -1}}}}), 'locationPolicy.locations["zones/z"].constraints.maxCount', "must be at least 0"),
        (fleet(machineType="custom-3-1024"), "instanceProperties.machineType", "an even number up to 32, not 3"),
        (fleet(machineType="custom-2-1000"), "instanceProperties.machineType", "multiples of 256"),
        (fleet(disks=[{"diskEncryptionKey": {"rawKey": "x"}}]), "instanceProperties.disks[0].diskEncryptionKey.rawKey", "customer-supplied keys cannot be used"),
        (fleet(disks=[{"initializeParams": {"replicaZones": ["a"]}}]), "instanceProperties.disks[0].initializeParams.replicaZones", "exactly 2"),
        (fleet(fleetId="No Label"), "fleetId", "a label value"),
    ],
)  # fmt: skip
def test_wrong_fleets_are_refused_at_preview(engine, cloud, inputs, path, words):
    failures = engine.failures(FLEET, inputs)

    assert words in failures.get(path, ""), failures
    assert cloud.calls() == []


def test_custom_machines_of_other_families_are_left_to_google(engine):
    assert engine.failures(FLEET, fleet(machineType="n2-custom-6-3072-ext")) == {}
    assert engine.failures(FLEET, fleet(count=UNKNOWN, namePattern="a-#", minCount=5)) == {}
