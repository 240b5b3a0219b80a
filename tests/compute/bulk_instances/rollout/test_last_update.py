"""An update after one that failed on the way, of which Pulumi keeps the outputs, but not the inputs."""

from __future__ import annotations

import attrs
import pytest
from engines import driver
from engines.driver import failing
from rolling.fleets import instance_path
from rolling.rollouts import BIGGER_DISK, BROKEN, BULK, DELETE, fail_after, instances, left_by, rolling
from values.programs import FLEET, PROJECT, ZONE, fleet

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
    assert ": 1 member is replaced: web-005" in "\n".join(text for _, _, text in engine.log.messages)

    back = engine.update(failed, rolling())
    assert {member["generation"] for member in back.outputs["members"]} == {created.outputs["generation"]}
    assert back.outputs["generation"] == created.outputs["generation"]
    assert sorted(_ids(created).items() & _ids(back).items()) == sorted(_ids(created).items())[2:]
    assert "web-005" not in _ids(back)


def test_a_label_of_a_failed_update_is_removed_when_it_is_taken_back(engine, cloud, failed):
    done = engine.update(failed, rolling(**BIGGER_DISK))

    assert all("added" not in cloud.get(instance_path(name))["labels"] for name in _ids(done))
    assert "web-005" in _ids(done), "it needs no replacement"


@pytest.mark.parametrize("refreshes", [False, True], ids=["at once", "after a refresh"])
@pytest.mark.parametrize("goes", ["there", "away"])
def test_what_was_set_on_a_member_before_something_failed_for_it_is_taken_back(engine, cloud, goes, refreshes):
    given = rolling(), rolling(metadata={"items": [{"key": "release", "value": "2"}]}, tags={"items": ["web"]})
    before, after = given if goes == "there" else given[::-1]
    created = engine.create(FLEET, "workers", before)
    was = [_set_on(item) for item in instances(cloud, created)]
    fail_after(cloud, "compute.instances.setTags", 1)
    with failing() as failures:
        engine.update(created, after)
    kept = _kept(created, failures[0])
    engine.update(_refreshed(engine, kept) if refreshes else kept, before)

    assert [_set_on(item) for item in instances(cloud, created)] == was


def _set_on(instance):
    return instance["labels"], instance.get("metadata", {}).get("items", []), instance.get("tags", {}).get("items", [])


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


@pytest.mark.parametrize("changed", [0, 1])
def test_a_label_that_a_failed_update_has_added_is_not_called_secret(engine, cloud, changed):
    created = engine.create(FLEET, "workers", fleet(2))
    fail_after(cloud, "compute.instances.setLabels", changed)
    labelled = fleet(2, labels={"tier": "web"})
    with failing() as failures:
        engine.update(created, labelled)
    refreshed = _refreshed(engine, _kept(created, failures[0]))
    done = engine.refresh(engine.update(refreshed, labelled))

    for values in (done.inputs, done.outputs):
        assert values["instanceProperties"]["labels"] == {"tier": "web"}


def test_the_keys_of_secret_labels_that_are_removed_stay_secret(engine):
    labels = driver.secret({"hidden-key": "hidden-value"})
    created = engine.create(FLEET, "workers", rolling(4, {"pauseAfter": 1}, labels=labels))
    paused = engine.update(created, rolling(4, {"pauseAfter": 1}, labels={}))

    assert "hidden-key" in str(paused.outputs["__kept"]["removedKeys"])
    assert "hidden" not in str(_without_secrets(paused.outputs))
    refreshed = engine.refresh(paused)
    assert "hidden" not in str(_without_secrets(refreshed.outputs))


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


@pytest.mark.parametrize("refreshes", [False, True], ids=["at once", "after a refresh"])
@pytest.mark.parametrize("ends", ["as before", "as wanted"])
@pytest.mark.parametrize("goes", ["there", "away"])
def test_a_fleet_without_a_policy_ends_as_the_program_says_after_an_update_that_failed(
    engine, cloud, goes, ends, refreshes
):
    given = {"metadata": {"items": [{"key": "release", "value": "2"}]}, "labels": {"tier": "web"}}
    programs = [fleet(3), fleet(3, **given)]
    before, after = programs if goes == "there" else programs[::-1]
    created = engine.create(FLEET, "workers", before)
    fail_after(cloud, SET_METADATA, 1)
    with failing() as failures:
        engine.update(created, after)
    kept = _kept(created, failures[0])
    kept = _refreshed(engine, kept) if refreshes else kept
    end = before if ends == "as before" else after
    done = engine.update(kept, end)

    is_given = end is programs[1]
    for labels, metadata, _ in map(_set_on, instances(cloud, created)):
        assert metadata == (given["metadata"]["items"] if is_given else [])
        assert labels.get("tier") == ("web" if is_given else None)
    assert engine.diff(engine.refresh(done), end).changes == driver.rpc.DiffResponse.DIFF_NONE


def _hosted(**hosts):
    """Return the inputs of a fleet of three named members, with these host names."""
    program = rolling(3)
    program["perInstanceProperties"] = {name: {"hostname": hosts[name]} if name in hosts else {} for name in _NAMED}
    return {name: value for name, value in program.items() if name not in {"count", "namePattern"}}


_NAMED = ("alpha", "beta", "gamma")
_OLD, _NEW = ({name: f"{name}.{domain}.example.com" for name in _NAMED} for domain in ("old", "new"))


def _replaced(engine, resource, program):
    """Return what a preview says of members that are replaced."""
    engine.log.messages.clear()
    engine.preview_update(resource, program)
    said = "\n".join(text for _, _, text in engine.log.messages)
    return [line.rpartition(": ")[2] for line in said.splitlines() if "replaced: " in line]


@pytest.mark.parametrize(
    ("before", "after", "refreshes", "goes_back"),
    [
        (_OLD, _NEW, 0, False), (_OLD, _NEW, 0, True), (_OLD, _NEW, 1, False), (_OLD, _NEW, 1, True),
        ({}, _NEW, 0, False), ({}, _NEW, 0, True), ({}, _NEW, 1, False), ({}, _NEW, 1, True), ({}, _NEW, 2, True),
        (_OLD, {}, 0, False), (_OLD, {}, 0, True), (_OLD, {}, 1, False), (_OLD, {}, 1, True),
    ],
)  # fmt: skip
def test_a_preview_after_a_change_of_host_names_that_failed_names_who_is_left(
    engine, cloud, before, after, refreshes, goes_back
):
    created = engine.create(FLEET, "workers", _hosted(**before))
    fail_after(cloud, DELETE, 1)
    cloud.fail(DELETE, operation=BROKEN)
    with failing() as failures:
        engine.update(created, _hosted(**after))
    kept = _kept(created, failures[0])
    hosts = {item["name"]: item.get("hostname") for item in instances(cloud, kept)}
    assert hosts == {"alpha": after.get("alpha"), "beta": before.get("beta"), "gamma": before.get("gamma")}

    program = _hosted(**(before if goes_back else after))
    for _ in range(refreshes):
        with failing() as failures:  # a refresh does not hide that the update has failed
            engine.refresh(kept)
        kept = left_by(failures[0], kept)
        assert engine.diff(kept, program).changes == driver.rpc.DiffResponse.DIFF_SOME
    assert _replaced(engine, kept, program) == (["alpha"] if goes_back else ["beta, gamma"])
    done = engine.update(kept, program)
    assert [item.get("hostname") for item in instances(cloud, done)] == [
        (before if goes_back else after).get(name) for name in _NAMED
    ]
    assert _replaced(engine, done, program) == []
    assert engine.diff(done, program).changes == driver.rpc.DiffResponse.DIFF_NONE
    assert engine.diff(engine.refresh(done), program).changes == driver.rpc.DiffResponse.DIFF_NONE
