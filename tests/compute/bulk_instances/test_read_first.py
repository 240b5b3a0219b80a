"""The engine reads a fleet before it compares, after a failure and where previews ask Google."""

from __future__ import annotations

import attrs
import pytest
from engines import driver
from engines.driver import failing, struct
from rolling.fleets import stop
from rolling.rollouts import BROKEN, BULK, left_by
from values.programs import FLEET, PROJECT, TEMPLATE, fleet, template


def _update(engine, resource, program):
    inputs = engine.checked(FLEET, "workers", program, resource.inputs)
    return engine.stub.Update(
        driver.rpc.UpdateRequest(
            id=resource.id, urn=resource.urn, olds=struct(resource.outputs), old_inputs=struct(resource.inputs),
            news=struct(inputs),
        )
    )  # fmt: skip


def _read(engine, resource):
    return engine.stub.Read(
        driver.rpc.ReadRequest(
            id=resource.id, urn=resource.urn, properties=struct(resource.outputs), inputs=struct(resource.inputs)
        )
    )


def test_a_fleet_is_read_first_after_a_failure_until_an_update_succeeds(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(2))
    assert not _read(engine, created).refresh_before_update
    cloud.fail(BULK, operation=BROKEN)
    stop(cloud, "web-001")
    with failing() as failed:
        engine.update(created, fleet(3))
    assert failed[0].partial.refresh_before_update
    left = left_by(failed[0], created)
    with failing() as again:
        engine.refresh(left)

    assert again[0].partial.refresh_before_update, "a refresh does not hide that the update has not succeeded"
    assert "the next update goes on" in again[0].message
    done = _update(engine, left_by(again[0], left), fleet(3))
    assert not done.refresh_before_update
    updated = attrs.evolve(
        left, inputs=engine.checked(FLEET, "workers", fleet(3)), outputs=driver.plain(done.properties)
    )
    assert not _read(engine, updated).refresh_before_update


@pytest.mark.parametrize(("token", "program", "reads"), [(FLEET, fleet(2), True), (TEMPLATE, template(), False)])
def test_what_grows_is_read_first_where_previews_ask_google(cloud, token, program, reads):
    with driver.engine(project=PROJECT, emulatorHost=cloud.host, validateOnline="true") as online:
        inputs = online.checked(token, "one", program)
        request = driver.rpc.CreateRequest(urn=online.urn(token, "one"), properties=struct(inputs))

        assert online.stub.Create(request).refresh_before_update is reads


@pytest.mark.parametrize("gone", ["localSsds", "machineType", "status", "zone"])
def test_a_refresh_reads_what_the_state_does_not_say_of_members(engine, gone):
    made = engine.create(FLEET, "workers", fleet(2))
    outputs = {
        **made.outputs,
        "members": [
            {name: value for name, value in member.items() if name != gone} for member in made.outputs["members"]
        ],
    }
    older = attrs.evolve(made, outputs=outputs)
    engine.diff(older, fleet(2, machineType="e2-medium"))
    refreshed = engine.refresh(older)

    assert refreshed.outputs["members"] == made.outputs["members"]
    assert not engine.diff(refreshed, fleet(2)).detailedDiff
    assert engine.update(older, fleet(3)).outputs["memberCount"] == 3
