"""What Google could not reach is unknown: it is never gone, and no list is taken for complete without it.

Holds reliability.md: "any of these"; "A list in which Google did not reach"; "A fleet needs only the zones".
"""

from __future__ import annotations

import pytest
from engines.driver import failing
from rolling.fleets import instance_path, member_names
from rolling.rollouts import BIGGER_DISK, rolling
from values.programs import ATTACHMENT, FLEET, NOTIFICATION, PROJECT, TEMPLATE, ZONE, fleet

SCOPE = f"zones/{ZONE}"
INSTANCES = "gcpx:compute:aggregatedListInstances"
TEMPLATES = "gcpx:compute:aggregatedListInstanceTemplates"
FIRST_LIST, ZONE_LIST = "compute.instances.aggregatedList", "compute.instances.list"
CHANGES = ("compute.instances.delete", "compute.instances.setLabels", "compute.regionInstances.bulkInsert")


@pytest.fixture(params=["first list of a process", "later lists"])
def deployed(request, cloud, engine, clocked_engine):
    """A fleet, and an engine whose next list is an aggregated one, or lists each zone."""
    created = engine.create(FLEET, "workers", fleet(3))
    made = clocked_engine if request.param.startswith("first") else engine
    cloud.emulator.requests.kept.clear()
    return made, created


def cut_off(cloud, *scopes):
    """Make scopes unreachable, so that lists answer 200 without them."""
    cloud.post("/_emulator/outages", {"scopes": list(scopes or [SCOPE]), "alwaysPartial": True})


def instances(cloud):
    """Return the number of instances in the emulator."""
    return cloud.emulator.store.counts().get("instances", 0)


def recover(cloud):
    cloud.post("/_emulator/outages", {})


def said_of(action):
    with failing() as failures:
        action()
    return failures[0].message


def test_a_refresh_keeps_a_fleet_whose_zone_was_not_reached(deployed, cloud):
    engine, created = deployed
    cut_off(cloud)
    said = said_of(lambda: engine.refresh(created))

    assert f"it does not cover {SCOPE}" in said
    assert "gcpx does not know what exists there" in said
    recover(cloud)
    assert engine.refresh(created).outputs == created.outputs


def test_an_import_of_a_fleet_whose_zone_was_not_reached_fails(deployed, cloud):
    engine, created = deployed
    cut_off(cloud)

    assert f"it does not cover {SCOPE}" in said_of(lambda: engine.import_(FLEET, "again", created.id))


@pytest.mark.parametrize("change", ["scale up", "scale down", "roll"])
def test_an_update_changes_nothing_while_a_zone_was_not_reached(deployed, cloud, change):
    engine, created = deployed
    wanted = {"scale up": fleet(5), "scale down": fleet(1), "roll": rolling(3, **BIGGER_DISK)}
    cut_off(cloud)
    said = said_of(lambda: engine.update(created, wanted[change]))

    assert f"it does not cover {SCOPE}" in said
    assert cloud.calls(*CHANGES) == []
    assert instances(cloud) == 3


def test_a_deletion_deletes_nothing_and_fails_while_a_zone_was_not_reached(deployed, cloud):
    engine, created = deployed
    cut_off(cloud)
    said = said_of(lambda: engine.delete(created))

    assert f"it does not cover {SCOPE}" in said
    assert instances(cloud) == 3
    recover(cloud)
    engine.delete(created)
    assert instances(cloud) == 0


def test_a_creation_creates_nothing_while_a_zone_was_not_reached(engine, cloud):
    cut_off(cloud)
    said = said_of(lambda: engine.create(FLEET, "workers", fleet(3)))

    assert f"it does not cover {SCOPE}" in said
    assert cloud.calls(*CHANGES) == []


@pytest.mark.parametrize("scopes", [["zones/us-central1-a"], ["global", "regions/us-central1"]], ids=str)
def test_an_outage_elsewhere_does_not_stop_a_fleet(deployed, cloud, scopes):
    engine, created = deployed
    cut_off(cloud, *scopes)

    assert engine.refresh(created) == created
    grown = engine.update(created, fleet(4))
    engine.delete(grown)
    assert instances(cloud) == 0


@pytest.mark.parametrize("body", [
    '{"unreachables": ["zones/us-east1-b"]}',
    '{"unreachables": ["projects/demo-project/zones/us-east1-b"]}',
    '{"unreachables": ["regions/us-east1"]}',
    '{"warning": {"code": "UNREACHABLE", "data": [{"key": "scope", "value": "zones/us-east1-b"}]}}',
    '{"warning": {"code": "UNREACHABLE", "message": "some scopes cannot be reached"}}',
    '{"warning": {"code": "PARTIAL_SUCCESS"}}',
    '{"items": {"zones/us-east1-c": {"warning": {"code": "LIST_OVERHEAD_QUOTA_EXCEED"}}}}',
])  # fmt: skip
def test_every_mark_of_a_partial_list_is_seen(clocked_engine, engine, cloud, body):
    created = engine.create(FLEET, "workers", fleet(3))
    zones = '"items": {"zones/us-east1-b": {}, "zones/us-east1-c": {}, "zones/us-east1-d": {}}'
    head = '{"kind": "compute#instanceAggregatedList", ' + ("" if '"items"' in body else f"{zones}, ")
    cloud.fail(FIRST_LIST, status=200, body=head + body.removeprefix("{"))

    assert "it does not cover" in said_of(lambda: clocked_engine.refresh(created))
    assert clocked_engine.refresh(created).outputs == created.outputs


def test_an_empty_page_is_no_trouble(clocked_engine, engine, cloud):
    created = engine.create(FLEET, "workers", fleet(3))
    for name, member in zip(member_names(created), created.outputs["members"], strict=True):
        cloud.emulator.store.delete(instance_path(name, member["zone"]))

    assert clocked_engine.is_gone(created)


def test_members_that_appear_to_be_missing_after_a_creation_keep_its_state(engine, cloud):
    cloud.fail(ZONE_LIST, status=200, body='{"kind": "compute#instanceList", "warning": {"code": "UNREACHABLE"}}')
    with failing() as failures:
        engine.create(FLEET, "workers", fleet(3))

    assert "it does not cover" in failures[0].message
    assert failures[0].partial.id, "the instances exist, so the state has the fleet"
    assert instances(cloud) == 3


@pytest.mark.parametrize(("token", "scope"), [
    (FLEET, SCOPE), (ATTACHMENT, SCOPE), (TEMPLATE, "regions/us-east1"), (TEMPLATE, "global"),
])  # fmt: skip
def test_a_list_of_resources_to_import_fails_while_a_scope_was_not_reached(engine, cloud, token, scope):
    cut_off(cloud, scope)

    assert f"it does not cover {scope}" in said_of(lambda: engine.list(token))


def test_a_list_of_one_place_needs_only_that_place(engine, cloud, vm):
    created = engine.create(FLEET, "workers", fleet(3))
    cut_off(cloud, "zones/us-central1-a")

    assert engine.list(FLEET, {"region": "us-east1"}) == ([created.id], "")
    assert engine.list(ATTACHMENT, {"zone": ZONE})[1] == ""
    cut_off(cloud)
    assert "it does not cover" in said_of(lambda: engine.list(FLEET, {"region": "us-east1"}))
    assert "it does not cover" in said_of(lambda: engine.list(ATTACHMENT, {"zone": ZONE}))


def test_a_list_of_notifications_fails_while_a_bucket_was_not_reached(engine, cloud):
    body = '{"kind": "storage#buckets", "unreachable": ["projects/_/buckets/far"]}'
    cloud.fail("storage.buckets.list", status=200, body=body)

    assert "it does not cover projects/_/buckets/far" in said_of(lambda: engine.list(NOTIFICATION))


@pytest.mark.parametrize("fields", [{}, {"itemFields": ["description"]}], ids=["all fields", "selected fields"])
@pytest.mark.parametrize(("token", "scope"), [(INSTANCES, SCOPE), (TEMPLATES, "regions/us-east1")])
def test_a_list_function_is_partial_only_on_request(engine, cloud, token, scope, fields):
    cut_off(cloud, scope)
    said = said_of(lambda: engine.invoke(token, **fields))
    partial = engine.invoke(token, returnPartialSuccess=True, **fields)

    assert f"it does not cover {scope}" in said
    assert partial["unreachables"] == [scope]


def test_a_plain_list_function_is_partial_only_on_request(engine, cloud):
    token, said = "gcpx:compute:listInstanceTemplates", "it does not cover global"
    cut_off(cloud, "global")
    assert said in said_of(lambda: engine.invoke(token))
    partial = engine.invoke(token, returnPartialSuccess=True)

    assert [warning["code"] for warning in partial["warnings"]] == ["UNREACHABLE"]
    assert "unreachables" not in partial
    assert [text for _, _, text in engine.log.messages if "partial" in text] == [
        "the result is partial: global cannot be reached"
    ]


@pytest.mark.parametrize("method", ["aggregated/instances", "aggregated/instanceTemplates"])
def test_selected_fields_are_those_that_the_response_has(engine, cloud, method):
    tokens = {"aggregated/instances": INSTANCES, "aggregated/instanceTemplates": TEMPLATES}
    engine.invoke(tokens[method], itemFields=["description"])
    asked = next(entry for entry in cloud.emulator.requests.kept if method in entry["path"])["query"]["fields"]

    assert ("unreachables" in asked) is (method == "aggregated/instances")
    assert f"projects/{PROJECT}" not in asked
