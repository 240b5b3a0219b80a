"""An update after one that failed on the way, of which Pulumi keeps the outputs, but not the inputs."""

from __future__ import annotations

import driver
import pytest
from driver import Resource, failing
from fleets import instance_path
from programs import FLEET
from rollouts import BIGGER_DISK, BULK, fail_after, rolling

CHANGED = rolling(**BIGGER_DISK, labels={"added": "1"})


def _ids(resource):
    return {member["name"]: member["id"] for member in resource.outputs["members"]}


@pytest.fixture
def created(engine):
    return engine.create(FLEET, "workers", rolling())


@pytest.fixture
def failed(engine, cloud, created):
    """The fleet after a rollout that failed in its second batch, as the engine keeps it: with the inputs from before."""
    fail_after(cloud, BULK, 1)
    with failing() as failures:
        engine.update(created, CHANGED)
    partial = failures[0].partial
    return Resource(created.urn, partial.id, created.inputs, driver.plain(partial.properties))


def test_setting_the_properties_back_changes_only_members_that_have_the_new_ones(engine, created, failed):
    assert sorted(_ids(failed)) == ["web-003", "web-004", "web-005"]
    engine.preview_update(failed, rolling())
    assert "- 1 member is replaced: web-005" in "\n".join(text for _, _, text in engine.log.messages)

    back = engine.update(failed, rolling())
    assert {member["generation"] for member in back.outputs["members"]} == {created.outputs["generation"]}
    assert back.outputs["generation"] == created.outputs["generation"]
    assert sorted(_ids(created).items() & _ids(back).items()) == sorted(_ids(created).items())[2:]
    assert "web-005" not in _ids(back)


def test_a_label_of_a_failed_update_is_removed_when_it_is_taken_back(engine, cloud, failed):
    done = engine.update(failed, rolling(**BIGGER_DISK))

    assert all("added" not in cloud.get(instance_path(name))["labels"] for name in _ids(done))
    assert "web-005" in _ids(done), "it needs no replacement"


def test_the_same_update_goes_on(engine, created, failed):
    done = engine.update(failed, CHANGED)

    assert not _ids(created).items() & _ids(done).items()
    assert "web-005" in _ids(done)
    assert engine.diff(done, CHANGED).changes == driver.rpc.DiffResponse.DIFF_NONE
