"""Disks on instances and images of them: order, force, what is gone, and long work."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import driver
import grpc
import pytest
from driver import UNKNOWN, failing, secret
from programs import ATTACHMENT, IMAGE, PROJECT, VM, ZONE, attachment, image
from steered import HOUR

NO_CHANGE = driver.rpc.DiffResponse.DIFF_NONE


def _devices(cloud, path=VM):
    return [disk["deviceName"] for disk in cloud.get(path)["disks"]]


def test_a_disk_is_attached_under_the_device_that_google_chose(engine, cloud, vm):
    created = engine.create(ATTACHMENT, "a", attachment())

    assert created.id == f"{VM}/persistent-disk-0"
    assert (created.outputs["index"], created.outputs["diskSizeGb"], created.outputs["zone"]) == (1, 50, ZONE)
    assert created.outputs["disk"] == "example-data", "the user's own spelling stays"
    assert cloud.requests("compute.instances.attachDisk")[0]["path"].startswith("/compute/beta/")
    assert engine.refresh(created) == created
    engine.delete(created)
    assert _devices(cloud) == ["boot"]


def test_going_with_the_instance_changes_in_place(engine, cloud, vm):
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
    assert len(cloud.requests("compute.instances.setDiskAutoDelete")) == 1, "nothing to do makes no call"


def test_every_other_change_detaches_first(engine, vm):
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


def test_a_regional_disk_is_taken_by_force(engine, cloud, vm):
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
    assert engine.refresh(first) is None, "what was taken away is gone"
    engine.delete(first)
    assert len(_devices(cloud, other)) == 2, "and its detaching leaves the taker alone"
    engine.delete(taken)


@pytest.mark.parametrize(
    "disk",
    ["example-data", "zones/us-east1-b/disks/example-data", f"projects/{PROJECT}/zones/{ZONE}/disks/example-data"],
)
def test_force_on_a_zonal_disk_is_refused_at_preview(engine, cloud, disk):
    failures = engine.failures(ATTACHMENT, attachment(disk=disk, forceAttach=True))

    assert "unless disk is a regional disk" in failures["forceAttach"]
    assert cloud.calls() == []


@pytest.mark.parametrize(
    ("token", "inputs", "path", "words"),
    [
        (ATTACHMENT, {"disk": "d"}, "instance", "is required"),
        (ATTACHMENT, {"instance": "vm", "disk": "d"}, "zone", "pulumi config set gcpx:zone"),
        (ATTACHMENT, attachment(instance="a/b"), "instance", "zones/ZONE/instances/NAME"),
        (ATTACHMENT, attachment(disk="a/b"), "disk", "regions/REGION/disks/NAME"),
        (ATTACHMENT, attachment(initializeParams={}), "initializeParams", "is not a property here"),
        (ATTACHMENT, attachment(mode="WRITE"), "mode", "must be one of READ_ONLY, READ_WRITE"),
        (IMAGE, {}, "sourceInstance", "is required"),
        (IMAGE, image(sourceInstance="vm"), "sourceInstance", "zones/ZONE/instances/NAME"),
        (
            IMAGE,
            image(params={"excludedDisks": ["a"], "includedDisks": ["b"]}),
            "params.includedDisks",
            "conflicts with excludedDisks",
        ),
        (
            IMAGE,
            image(
                machineImageEncryptionKey={"rawKey": "c2VjcmV0LWtleS1vZi0zMi1ieXRlcy1wcmVjaXNlbHk=", "kmsKeyName": "b"}
            ),
            "machineImageEncryptionKey.rawKey",
            "conflicts with kmsKeyName",
        ),
        (IMAGE, image(status="READY"), "status", "Google Cloud sets it"),
    ],
)
def test_wrong_inputs_are_refused_by_path(engine, token, inputs, path, words):
    assert words in engine.failures(token, inputs)[path]


def test_attachments_to_one_instance_are_made_in_order(engine, cloud, vm):
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
    assert refused == [], "none was sent while another was under way"
    with ThreadPoolExecutor() as pool:
        list(pool.map(engine.delete, created))
    assert _devices(cloud) == ["boot"]


def test_a_vanished_instance_or_disk_is_gone_and_no_error(engine, cloud, vm):
    created = engine.create(ATTACHMENT, "a", attachment())
    cloud.emulator.store.delete(vm)

    assert engine.refresh(created) is None
    engine.delete(created)


def test_a_device_that_another_disk_took_is_not_detached(engine, cloud, vm):
    created = engine.create(ATTACHMENT, "a", attachment(deviceName="data"))
    cloud.make_disk("stranger")
    cloud.change(
        vm,
        lambda body: body["disks"][1].update(
            source=f"https://www.googleapis.com/compute/beta/projects/{PROJECT}/zones/{ZONE}/disks/stranger"
        ),
    )
    assert engine.refresh(created) is None, "another disk under our device name is not ours"
    engine.delete(created)

    assert _devices(cloud) == ["boot", "data"]
    assert cloud.calls("compute.instances.detachDisk") == []


def test_an_attachment_whose_end_was_not_seen_is_found_by_its_disk(engine, cloud, vm):
    cloud.fail("compute.zoneOperations.wait", status=403)
    with failing() as failed:
        engine.create(ATTACHMENT, "a", attachment())
    partial = failed[0].partial

    assert partial.id == f"{VM}/projects/{PROJECT}/zones/{ZONE}/disks/example-data"
    inputs = driver.plain(partial.inputs)
    state = driver.Resource(engine.urn(ATTACHMENT, "a"), partial.id, inputs, driver.plain(partial.properties))
    assert engine.refresh(state).id == f"{VM}/persistent-disk-0"
    assert engine.update(state, attachment()).outputs["deviceName"] == "persistent-disk-0"


def test_an_image_says_what_is_in_it(engine, cloud, vm):
    created = engine.create(IMAGE, "golden", image(name="golden", guestFlush=True, params={"excludedDisks": ["none"]}))
    sent = cloud.requests("compute.machineImages.insert")[0]

    assert sent["path"].startswith("/compute/beta/")
    assert sent["query"]["sourceInstance"] == sent["body"]["sourceInstance"] == "zones/us-east1-b/instances/example-vm"
    assert created.id == f"projects/{PROJECT}/global/machineImages/golden"
    assert created.outputs["status"] == "READY"
    assert created.outputs["totalStorageBytes"] == created.outputs["savedDisks"][0]["storageBytes"] > 0
    assert created.outputs["instanceProperties"]["machineType"] == "e2-medium"
    assert created.outputs["guestFlush"] is True, "what Google never shows is kept"
    assert engine.refresh(created) == created


def test_labels_of_an_image_change_in_place_and_those_of_other_tools_stay(engine, cloud, vm):
    created = engine.create(IMAGE, "golden", image(name="golden", labels={"a": "1"}))
    path = f"projects/{PROJECT}/global/machineImages/golden"
    cloud.change(path, lambda body: body["labels"].update({"goog-terraform-provisioned": "true"}))
    assert engine.drift(created) == set()
    updated = engine.update(created, image(name="golden", labels={"a": "2"}))

    assert updated.outputs["labels"]["a"] == "2"
    assert cloud.get(path)["labels"] == {"a": "2", "goog-terraform-provisioned": "true"}


def test_labels_that_someone_else_changed_meanwhile_are_read_again_once(engine, cloud, vm):
    created = engine.create(IMAGE, "golden", image(name="golden"))
    cloud.fail("compute.machineImages.setLabels", status=412, reason="conditionNotMet")
    engine.update(created, image(name="golden", labels={"a": "1"}))

    assert len(cloud.requests("compute.machineImages.setLabels")) == 2


def test_the_keys_of_an_image_are_secret_and_not_kept_by_google(engine, vm):
    key = {"rawKey": "c2VjcmV0LWtleS1vZi0zMi1ieXRlcy1wcmVjaXNlbHk="}
    inputs = image(
        name="golden",
        machineImageEncryptionKey=key,
        sourceDiskEncryptionKeys=[{"sourceDisk": "d", "diskEncryptionKey": key}],
    )
    created = engine.create(IMAGE, "golden", inputs)

    for place in (
        created.outputs["machineImageEncryptionKey"],
        created.outputs["sourceDiskEncryptionKeys"][0]["diskEncryptionKey"],
    ):
        assert place["rawKey"] == secret("c2VjcmV0LWtleS1vZi0zMi1ieXRlcy1wcmVjaXNlbHk=")
    assert engine.diff(created, inputs).changes == NO_CHANGE


def test_an_image_that_failed_leaves_nothing(engine, cloud, vm):
    cloud.fail(
        "compute.machineImages.insert",
        operation={"errors": [{"code": "RESOURCE_NOT_READY", "message": "the disk is busy"}]},
    )
    with failing() as failed:
        engine.create(IMAGE, "golden", image(name="golden"))

    assert failed[0].partial is None
    assert "the disk is busy" in failed[0].message
    assert failed[0].code == grpc.StatusCode.FAILED_PRECONDITION
