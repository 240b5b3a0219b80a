"""An update after one that failed on the way, of which Pulumi keeps the outputs, but not the inputs."""

from __future__ import annotations

import attrs
import driver
import pytest
from driver import failing
from fleets import instance_path
from programs import FLEET, PROJECT, ZONE
from rollouts import BIGGER_DISK, BULK, DELETE, fail_after, left_by, rolling

SET_METADATA = "compute.instances.setMetadata"
CHANGED = rolling(**BIGGER_DISK, labels={"added": "1"})


def _ids(resource):
    return {member["name"]: member["id"] for member in resource.outputs["members"]}


@pytest.fixture
def created(engine):
    return engine.create(FLEET, "workers", rolling())


@pytest.fixture
def failed(engine, cloud, created):
    """The fleet after a rollout that failed in its second batch."""
    fail_after(cloud, BULK, 1)
    with failing() as failures:
        engine.update(created, CHANGED)
    return _kept(created, failures[0])


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


def test_a_rollback_after_a_refresh_gives_members_the_properties_of_their_generation(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(1))
    fail_after(cloud, DELETE, 0)
    with failing() as failures:
        engine.update(created, rolling(1, **BIGGER_DISK))
    refreshed = _refreshed(engine, _kept(created, failures[0]))
    fail_after(cloud, BULK, 0)
    with failing():
        engine.update(refreshed, rolling(1, {"onFailure": "ROLL_BACK"}, **BIGGER_DISK))

    (member,) = cloud.emulator.store.list(f"projects/{PROJECT}/zones/{ZONE}/instances")
    has_new_label = member["labels"]["gcpx-generation"] == refreshed.outputs["generation"]
    assert has_new_label == (member["disks"][0]["diskSizeGb"] == "50")


def _with_password(value):
    return rolling(1, metadata={"items": [{"key": "password", "value": value}]}, **BIGGER_DISK)


def test_a_refresh_keeps_a_secret_of_a_failed_update_secret(engine, cloud):
    created = engine.create(FLEET, "workers", _with_password("not secret"))
    fail_after(cloud, SET_METADATA, 0)
    with failing() as failures:
        engine.update(created, _with_password(driver.secret("hunter2marker")))
    refreshed = _refreshed(engine, _kept(created, failures[0]))

    for values in (refreshed.inputs, refreshed.outputs):
        assert "hunter2marker" not in str(_without_secrets(values))


def _without_secrets(value):
    if isinstance(value, dict):
        return {} if driver.SIGNATURE in value else {key: _without_secrets(item) for key, item in value.items()}
    return [_without_secrets(item) for item in value] if isinstance(value, list) else value


def _refreshed(engine, resource):
    """Refresh a fleet whose rollout is unfinished."""
    with failing() as failures:
        engine.refresh(resource)
    return left_by(failures[0], resource)


def _kept(resource, failed):
    """Return a resource as the engine keeps it after a failed update: with the inputs from before."""
    return attrs.evolve(left_by(failed, resource), inputs=resource.inputs)
