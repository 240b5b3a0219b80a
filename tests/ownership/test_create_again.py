"""Inserts under request IDs: nothing is created twice, and an old failure does not prevent a new attempt."""

from __future__ import annotations

import pytest
from engines.driver import failing, without_hidden
from values.programs import FLEET, IMAGE, PROJECT, TEMPLATE, fleet, image, template

CREATIONS = {
    "template": (TEMPLATE, {"name": "web", **template()}, "compute.instanceTemplates.insert"),
    "regional template": (
        TEMPLATE,
        {"name": "web", "region": "us-east1", **template()},
        "compute.regionInstanceTemplates.insert",
    ),
    "image": (IMAGE, image(name="golden"), "compute.machineImages.insert"),
    "fleet": (FLEET, fleet(2, fleetId="crew"), "compute.regionInstances.bulkInsert"),
}


@pytest.fixture(params=CREATIONS)
def creation(request, vm):
    return CREATIONS[request.param]


def _fail(engine, cloud, creation, message):
    """Let a creation fail, whichever request IDs it uses."""
    token, inputs, insert = creation
    cloud.fail(insert, times=10, operation={"errors": [{"code": "QUOTA_EXCEEDED", "message": message}]})
    with failing() as failed:
        engine.create(token, "name", inputs)
    cloud.emulator.faults.queue.clear()
    assert message in failed[0].message
    assert failed[0].partial is None


@pytest.mark.parametrize("failures", [1, 2, 3, 4, 6])
def test_a_creation_succeeds_after_any_number_of_failures(engine, cloud, creation, failures):
    token, inputs, _ = creation
    for _ in range(failures):
        _fail(engine, cloud, creation, "Quota exceeded")
    created = engine.create(token, "name", inputs)

    assert engine.refresh(created) == created


def test_each_failure_is_reported_with_its_own_message(engine, cloud, creation):
    for message in ("first", "second", "third", "fourth", "fifth"):
        _fail(engine, cloud, creation, message)


@pytest.mark.parametrize("failures", [1, 2])
def test_a_creation_that_fails_at_once_is_sent_four_times_at_most_and_succeeds_later(engine, cloud, creation, failures):
    token, inputs, insert = creation
    cloud.emulator.operations.done_at_once = True
    for _ in range(failures):
        cloud.emulator.requests.kept.clear()
        _fail(engine, cloud, creation, "Quota exceeded")
        assert len(cloud.requests(insert)) == 4
    created = engine.create(token, "name", inputs)

    assert engine.refresh(created) == created


def test_a_run_after_a_failure_and_a_lost_state_finds_what_was_created(engine, cloud, creation):
    token, inputs, insert = creation
    _fail(engine, cloud, creation, "Quota exceeded")
    first = engine.create(token, "name", inputs)
    again = engine.create(token, "name", inputs)

    assert again.id == first.id, "the state of the first run was lost, and nothing was created twice"
    assert without_hidden(again.outputs) == without_hidden(first.outputs)
    assert len({entry["query"]["requestId"] for entry in cloud.requests(insert)}) == 2


def test_a_creation_is_found_after_many_that_were_deleted_since(engine, cloud, creation):
    token, inputs, insert = creation
    for _ in range(6):
        engine.delete(engine.create(token, "name", inputs))
        cloud.clock.advance(5.0)
    first = engine.create(token, "name", inputs)
    again = engine.create(token, "name", inputs)

    assert again.id == first.id, "the state of the last run was lost, and nothing was created twice"
    assert len({entry["query"]["requestId"] for entry in cloud.requests(insert)}) == 7


def test_a_fleet_that_exceeded_the_quota_is_created_once_the_quota_allows_it(engine, cloud):
    cloud.emulator.store.put("limits/all", {"instances": {"us-east1": 1}})
    for _ in range(3):
        with failing() as failed:
            engine.create(FLEET, "crew", fleet(3))
        assert failed[0].partial is None
    cloud.emulator.store.put("limits/all", {})
    created = engine.create(FLEET, "crew", fleet(3))

    assert created.outputs["memberCount"] == 3
    assert created.id.startswith(f"projects/{PROJECT}/regions/us-east1/bulkInstances/")
