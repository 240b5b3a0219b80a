"""One creation has one line of request IDs: nothing is made twice, and no old failure is repeated."""

from __future__ import annotations

import pytest
from driver import failing
from programs import FLEET, IMAGE, PROJECT, TEMPLATE, fleet, image, template

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
    """Let a creation fail, however often it is asked for."""
    token, inputs, insert = creation
    cloud.fail(insert, times=10, operation={"errors": [{"code": "QUOTA_EXCEEDED", "message": message}]})
    with failing() as failed:
        engine.create(token, "made", inputs)
    cloud.emulator.faults.queue.clear()
    assert message in failed[0].message
    assert failed[0].partial is None


@pytest.mark.parametrize("failures", [1, 2, 3, 4, 6])
def test_a_creation_succeeds_once_there_is_room_however_often_it_failed(engine, cloud, creation, failures):
    token, inputs, _ = creation
    for _ in range(failures):
        _fail(engine, cloud, creation, "Quota exceeded")
    made = engine.create(token, "made", inputs)

    assert engine.refresh(made) == made


def test_a_creation_that_fails_again_tells_the_new_failure(engine, cloud, creation):
    for message in ("first", "second", "third", "fourth", "fifth"):
        _fail(engine, cloud, creation, message)


def test_an_interrupted_run_finds_what_it_made_behind_failures_of_before(engine, cloud, creation):
    token, inputs, insert = creation
    _fail(engine, cloud, creation, "Quota exceeded")
    first = engine.create(token, "made", inputs)
    again = engine.create(token, "made", inputs)

    assert again == first, "the state of the first run was lost, and nothing was made twice"
    assert len({entry["query"]["requestId"] for entry in cloud.requests(insert)}) == 2


def test_what_an_earlier_run_made_is_kept_when_it_cannot_be_read(engine, cloud, creation):
    token, inputs, insert = creation
    first = engine.create(token, "made", inputs)
    look = cloud.calls()[-1]
    if token == FLEET:
        cloud.fail(look)  # works once, since a fleet is looked for before it is made, too
    cloud.fail(look, times=10, status=403)
    with failing() as failed:
        engine.create(token, "made", inputs)

    assert failed[0].partial.id == first.id
    assert len({entry["query"]["requestId"] for entry in cloud.requests(insert)}) == 1


def test_a_fleet_that_failed_without_quota_is_made_when_there_is_some(engine, cloud):
    cloud.emulator.store.put("limits/all", {"instances": {"us-east1": 1}})
    for _ in range(3):
        with failing() as failed:
            engine.create(FLEET, "crew", fleet(3))
        assert failed[0].partial is None
    cloud.emulator.store.put("limits/all", {})
    made = engine.create(FLEET, "crew", fleet(3))

    assert made.outputs["createdCount"] == 3
    assert made.id.startswith(f"projects/{PROJECT}/regions/us-east1/bulkInstances/")
