"""DiskAttachment: attach and detach in order, by force, in place, and when something is gone.

Holds reliability.md: "something with a given name".
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import pytest
from engines import driver
from engines.clock import HOUR
from engines.driver import UNKNOWN, failing
from engines.stack import Declared, Stack
from servers.surroundings import prepare
from values.programs import ATTACHMENT, PROJECT, VM, ZONE, attachment

NO_CHANGE = driver.rpc.DiffResponse.DIFF_NONE


def _devices(cloud, path=VM):
    return [disk["deviceName"] for disk in cloud.get(path)["disks"]]


def test_a_disk_has_the_device_name_that_google_chose(engine, cloud, vm):
    created = engine.create(ATTACHMENT, "a", attachment())

    assert created.id == f"{VM}/persistent-disk-0"
    assert (created.outputs["index"], created.outputs["diskSizeGb"], created.outputs["zone"]) == (1, 50, ZONE)
    assert created.outputs["disk"] == "example-data", "the user's own spelling stays"
    assert cloud.requests("compute.instances.attachDisk")[0]["path"].startswith("/compute/beta/")
    assert engine.refresh(created) == created
    engine.delete(created)
    assert _devices(cloud) == ["boot"]


def test_auto_delete_changes_in_place(engine, cloud, vm):
    created = engine.create(ATTACHMENT, "a", attachment())
    changed = engine.diff(created, attachment(autoDelete=True))
    assert not changed.replaces
    updated = engine.update(created, attachment(autoDelete=True))

    assert updated.outputs["autoDelete"] is True
    assert cloud.get(VM)["disks"][1]["autoDelete"] is True
    assert cloud.calls("compute.instances.attachDisk", "compute.instances.setDiskAutoDelete")[-1].endswith(
        "setDiskAutoDelete"
    )
    engine.update(updated, attachment(autoDelete=True))
    assert len(cloud.requests("compute.instances.setDiskAutoDelete")) == 1, "an unchanged value makes no call"


@pytest.mark.parametrize("before", [{}, {"deviceName": "persistent-disk-1"}])
def test_another_name_of_the_form_that_google_chooses_is_a_change(cloud, vm, before):
    stack = Stack(cloud)
    stack.succeed({"web": Declared(ATTACHMENT, attachment(**before))})
    (device,) = _devices(cloud)[1:]

    assert stack.preview({"web": Declared(ATTACHMENT, attachment(deviceName="persistent-disk-2"))}) != {}
    assert stack.preview({"web": Declared(ATTACHMENT, attachment(deviceName=device))}) == {}
    assert stack.preview({"web": Declared(ATTACHMENT, attachment())}) == {}


def test_an_update_that_does_not_find_the_disk_reports_no_change(engine, cloud, vm):
    created = engine.create(ATTACHMENT, "a", attachment())
    cloud.fail("compute.instances.get", status=404)
    with failing() as failed:
        engine.update(created, attachment(autoDelete=True))

    assert "no longer exists; run `pulumi up --refresh`" in failed[0].message
    assert cloud.get(VM)["disks"][1]["autoDelete"] is False


def test_every_other_change_replaces_and_detaches_first(engine, vm):
    created = engine.create(ATTACHMENT, "a", attachment())
    for change in (
        {"mode": "READ_ONLY"},
        {"deviceName": "x"},
        {"instance": "zones/us-east1-b/instances/other"},
        {"disk": UNKNOWN},
    ):
        found = engine.diff(created, attachment(**change))
        assert found.replaces
        assert found.deleteBeforeReplace
    assert (
        engine.diff(
            created, attachment(instance=VM, disk=f"projects/{PROJECT}/zones/{ZONE}/disks/example-data")
        ).changes
        == NO_CHANGE
    )
    assert not engine.diff(created, attachment(forceAttach=False)).replaces


def test_force_attach_takes_a_regional_disk_from_another_instance(engine, cloud, vm):
    disk = cloud.make_regional_disk()
    other = cloud.make_instance("other-vm")
    first = engine.create(ATTACHMENT, "a", attachment(disk=disk))
    with failing() as failed:
        engine.create(ATTACHMENT, "b", {"instance": other, "disk": disk})
    taken = engine.create(ATTACHMENT, "b", {"instance": other, "disk": disk, "forceAttach": True})

    assert "already being used" in failed[0].message
    assert cloud.requests("compute.instances.attachDisk")[-1]["query"]["forceAttach"] == "true"
    assert _devices(cloud) == ["boot"]
    assert len(_devices(cloud, other)) == 2
    assert engine.refresh(first) is None, "the disk was taken away"
    engine.delete(first)
    assert len(_devices(cloud, other)) == 2, "deleting the first attachment leaves the second alone"
    engine.delete(taken)


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_failed_detachment_is_an_error_only_if_the_disk_is_still_attached(engine, cloud, vm, is_gone):
    created = engine.create(ATTACHMENT, "a", attachment())
    error = {"code": "RESOURCE_NOT_FOUND", "message": "the instance was not found"}
    cloud.fail("compute.instances.detachDisk", operation={"errors": [error], "httpErrorStatusCode": 404})

    def observe(_, request):
        if is_gone and request.endswith("/wait") and cloud.get(vm):
            cloud.delete(vm)

    with cloud.interceptor.observed(observe), failing() if not is_gone else nullcontext([]) as failed:
        engine.delete(created)

    assert [error.message.endswith("the instance was not found (RESOURCE_NOT_FOUND)") for error in failed] == (
        [] if is_gone else [True]
    )


def test_without_a_zone_the_preview_says_how_to_set_it(engine):
    assert "pulumi config set gcpx:zone" in engine.failures(ATTACHMENT, {"instance": "vm", "disk": "d"})["zone"]


def test_disks_are_attached_to_one_instance_one_after_the_other(engine, cloud, vm):
    disks = [f"disk-{number}" for number in range(4)]
    for disk in disks:
        cloud.make_disk(disk)
    inputs = [{"instance": vm, "disk": disk, "deviceName": disk} for disk in disks]
    with ThreadPoolExecutor() as pool, cloud.held_operations():
        creations = [pool.submit(engine.create, ATTACHMENT, given["disk"], given) for given in inputs]
        for _ in disks:
            cloud.clock.wait_for_waiting()
            cloud.clock.advance(HOUR)
        created = [creation.result() for creation in creations]
    refused = [entry for entry in cloud.requests("compute.instances.attachDisk") if entry["status"] != 200]

    assert sorted(_devices(cloud)) == ["boot", *disks]
    assert refused == [], "no request was sent while another was in progress"
    with ThreadPoolExecutor() as pool:
        list(pool.map(engine.delete, created))
    assert _devices(cloud) == ["boot"]


def test_an_attachment_whose_instance_is_deleted_is_gone_without_an_error(engine, cloud, vm):
    created = engine.create(ATTACHMENT, "a", attachment())
    cloud.emulator.store.delete(vm)

    assert engine.refresh(created) is None
    engine.delete(created)


def test_an_attachment_whose_operation_cannot_be_read_is_found_by_its_disk(engine, cloud, vm):
    cloud.fail("compute.zoneOperations.wait", status=403)
    with failing() as failed:
        engine.create(ATTACHMENT, "a", attachment())
    partial = failed[0].partial

    assert partial.id == f"{VM}/projects/{PROJECT}/zones/{ZONE}/disks/example-data"
    inputs = driver.plain(partial.inputs)
    state = driver.Resource(engine.urn(ATTACHMENT, "a"), partial.id, inputs, driver.plain(partial.properties))
    assert engine.refresh(state).id == f"{VM}/persistent-disk-0"
    assert engine.update(state, attachment()).outputs["deviceName"] == "persistent-disk-0"


@pytest.fixture
def stack(cloud):
    """A stack for an attachment."""
    prepare(cloud)
    made = Stack(cloud, ATTACHMENT)
    yield made
    cloud.emulator.faults.queue.clear()
    made.end_plugin()


@pytest.fixture
def crashed(cloud, stack):
    """A stack whose run was killed when it had attached a disk; another disk is attached beside it."""
    cloud.post(f"/compute/v1/{VM}/attachDisk", {"source": cloud.make_disk("other"), "deviceName": "other"})
    stack.crash("up", attachment(), None, "after")
    cloud.clock.advance(1.0)
    return stack


def test_an_attachment_of_a_crashed_run_is_taken_over_although_another_disk_was_detached_since(cloud, crashed):
    cloud.detach(VM, f"projects/{PROJECT}/zones/{ZONE}/disks/other")
    for _ in range(2):
        cloud.clock.advance(1.0)
        crashed.end_plugin()
        crashed.up(attachment())

    assert crashed.failed is None
    assert _devices(cloud) == ["boot", "persistent-disk-0"]
    crashed.destroy()
    assert crashed.failed is None
    assert _devices(cloud) == ["boot"]


def test_an_attachment_of_a_crashed_run_that_others_have_made_anew_is_refused(cloud, crashed):
    disk = f"projects/{PROJECT}/zones/{ZONE}/disks/example-data"
    cloud.detach(VM, disk)
    cloud.clock.advance(1.0)
    cloud.post(f"/compute/v1/{VM}/attachDisk", {"source": disk})
    crashed.up(attachment())

    assert "is attached already and was not attached by this resource with these inputs" in crashed.failed.message
    assert crashed.state is None


def _forbid_lists_of_operations(cloud):
    cloud.fail("compute.zoneOperations.list", status=403, message="no list", times=10**9)


@pytest.mark.parametrize("done", [True, False], ids=["done at once", "done later"])
@pytest.mark.parametrize("crashes", [True, False], ids=["after a crash", "at first"])
def test_a_disk_is_attached_and_detached_without_the_permission_to_list_operations(cloud, stack, done, crashes):
    cloud.emulator.operations.done_at_once = done
    if crashes:
        stack.crash("up", attachment(), None, "after")
    _forbid_lists_of_operations(cloud)
    stack.up(attachment())
    assert (stack.failed, stack.warnings) == (None, [])
    assert _devices(cloud) == ["boot", "persistent-disk-0"]
    stack.refresh()
    assert stack.failed is None
    stack.destroy()

    assert stack.failed is None
    assert _devices(cloud) == ["boot"]


@pytest.mark.parametrize("verb", ["up", "refresh", "destroy"])
def test_an_attachment_whose_operation_was_not_awaited_is_ours_without_that_permission(cloud, stack, verb):
    stack.cancel(attachment())
    assert stack.failed.partial is not None
    stack.failed = None
    cloud.emulator.operations.settle()
    _forbid_lists_of_operations(cloud)
    if verb == "up":
        stack.up(attachment())
        assert stack.state.outputs["deviceName"] == "persistent-disk-0"
    elif verb == "refresh":
        stack.refresh()
        assert stack.state.outputs["deviceName"] == "persistent-disk-0"
    else:
        stack.destroy()
        assert _devices(cloud) == ["boot"]

    assert stack.failed is None
    assert ["cannot find out whether Google is still working" in said for said in stack.warnings] == [True] * (
        verb != "up"
    )


@pytest.mark.parametrize("verb", ["up", "refresh", "destroy"])
def test_an_attachment_whose_answers_were_lost_blocks_no_verb_without_that_permission(cloud, stack, verb):
    cloud.fail("compute.instances.attachDisk", drop="after")
    cloud.fail("compute.instances.attachDisk", status=403)
    _forbid_lists_of_operations(cloud)
    stack.up(attachment())
    assert stack.failed.partial is not None
    stack.failed = None
    stack.end_plugin()
    if verb == "up":
        stack.up(attachment())
        assert stack.state.outputs["deviceName"] == "persistent-disk-0"
    elif verb == "refresh":
        stack.refresh()
        assert stack.state is None
    else:
        stack.destroy()

    assert stack.failed is None
    assert _devices(cloud) == ["boot", "persistent-disk-0"]
    assert "is left alone" in stack.warnings[-1]
    assert "no list" in stack.warnings[-1]


def test_an_attachment_that_may_not_be_deleted_first_is_not_taken_for_its_replacement(cloud):
    prepare(cloud)
    stack = Stack(cloud)
    stack.up({"data": Declared(ATTACHMENT, attachment())})
    stack.up({"data": Declared(ATTACHMENT, attachment(mode="READ_ONLY"))})
    stack.up({"data": Declared(ATTACHMENT, attachment(mode="READ_WRITE"), delete_before_replace=False)})
    assert "deleteBeforeReplace" in stack.failed.message

    stack.up({"data": Declared(ATTACHMENT, attachment(mode="READ_WRITE"))})
    assert stack.failed is None
    assert stack.entries[0].resource.outputs["mode"] == "READ_WRITE"
