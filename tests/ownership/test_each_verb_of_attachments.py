"""Which disk on an instance belongs to an attachment: its disk under its device name, and no other.

Holds reliability.md: "Three facts decide"; "A name or a label never"; "A number does"; "What is promised".
"""

from __future__ import annotations

import pytest
from engines import driver
from engines.driver import failing
from values.programs import ATTACHMENT, PROJECT, VM, ZONE, attachment

NO_CHANGE = driver.rpc.DiffResponse.DIFF_NONE
SOURCE = f"https://www.googleapis.com/compute/beta/projects/{PROJECT}/zones/{ZONE}/disks"


def _attached(cloud):
    return {disk["deviceName"]: disk["source"].rpartition("/")[2] for disk in cloud.get(VM)["disks"][1:]}


def _change_disk(cloud, device, **change):
    """Change an attached disk without the provider."""

    def edit(body):
        next(disk for disk in body["disks"] if disk["deviceName"] == device).update(change)

    cloud.change(VM, edit)


def test_another_device_with_our_disks_name_is_left_alone(engine, cloud, vm):
    cloud.make_disk("other")
    ours = engine.create(ATTACHMENT, "a", attachment(deviceName="d1"))
    theirs = engine.create(ATTACHMENT, "b", attachment(disk="other", deviceName="example-data"))
    cloud.change(VM, lambda body: body["disks"].pop(1))

    assert engine.refresh(ours) is None
    engine.delete(ours)
    assert _attached(cloud) == {"example-data": "other"}
    assert engine.refresh(theirs) == theirs


def test_two_attachments_are_told_apart_if_one_device_has_the_others_disk_name(engine, cloud, vm):
    cloud.make_disk("other")
    ours = engine.create(ATTACHMENT, "a", attachment(deviceName="d1"))
    engine.create(ATTACHMENT, "b", attachment(disk="other", deviceName="example-data"))

    assert engine.refresh(ours) == ours
    engine.delete(ours)
    assert _attached(cloud) == {"example-data": "other"}


def test_a_regional_disk_with_our_disks_name_under_another_device_is_not_ours(engine, cloud, vm):
    regional = cloud.make_regional_disk("example-data")
    ours = engine.create(ATTACHMENT, "a", attachment(deviceName="d1"))
    _change_disk(cloud, "d1", deviceName="d2", source=f"https://www.googleapis.com/compute/beta/{regional}")

    assert engine.refresh(ours) is None
    engine.delete(ours)
    assert _attached(cloud) == {"d2": "example-data"}


@pytest.mark.parametrize("owner", [f"projects/other-project/zones/{ZONE}", f"projects/{PROJECT}/zones/us-east1-c"])
def test_a_disk_of_another_project_or_zone_under_our_device_name_is_not_ours(engine, cloud, vm, owner):
    ours = engine.create(ATTACHMENT, "a", attachment(deviceName="d1"))
    _change_disk(cloud, "d1", source=f"https://www.googleapis.com/compute/beta/{owner}/disks/example-data")

    assert engine.refresh(ours) is None
    engine.delete(ours)
    assert _attached(cloud) == {"d1": "example-data"}
    assert cloud.calls("compute.instances.detachDisk") == []


def test_our_disk_under_another_device_name_is_not_ours(engine, cloud, vm):
    ours = engine.create(ATTACHMENT, "a", attachment())
    _change_disk(cloud, "persistent-disk-0", deviceName="by-hand")

    assert engine.refresh(ours) is None
    engine.delete(ours)
    assert _attached(cloud) == {"by-hand": "example-data"}


def test_an_update_leaves_another_disk_under_our_device_name_alone(engine, cloud, vm):
    cloud.make_disk("stranger")
    ours = engine.create(ATTACHMENT, "a", attachment(deviceName="d1"))
    _change_disk(cloud, "d1", source=f"{SOURCE}/stranger")
    with failing() as failed:
        engine.update(ours, attachment(deviceName="d1", autoDelete=True))

    assert "pulumi up --refresh" in failed[0].message
    assert cloud.calls("compute.instances.setDiskAutoDelete") == []


@pytest.mark.parametrize("recognized", [True, False], ids=["answered", "only listed"])
def test_a_change_that_somebody_sent_with_the_id_of_our_request_gives_us_nothing(clocked_engine, cloud, vm, recognized):
    engine = clocked_engine
    engine.delete(engine.create(ATTACHMENT, "a", attachment(deviceName="d1")))
    ours = cloud.requests("compute.instances.attachDisk")[0]["query"]["requestId"]
    cloud.emulator.store.run("delete from operations")  # weeks later
    fingerprint = cloud.get(VM)["labelFingerprint"]
    cloud.post(f"/compute/v1/{VM}/setLabels?requestId={ours}", {"labels": {}, "labelFingerprint": fingerprint})
    cloud.post(f"/compute/v1/{VM}/attachDisk", {"source": f"{SOURCE}/example-data", "deviceName": "d1"})
    if not recognized:
        cloud.emulator.operations.forget_requests()
    with failing() as failed:
        engine.create(ATTACHMENT, "a", attachment(deviceName="d1"))

    assert "pulumi import" in failed[0].message
    assert ("setLabels" in failed[0].message) is recognized
    assert failed[0].partial is None


def test_a_refused_detachment_is_an_error_only_while_the_disk_is_attached(engine, cloud, vm):
    ours = engine.create(ATTACHMENT, "a", attachment())
    cloud.fail("compute.instances.detachDisk", status=400, message="No attached disk found", times=2)
    with failing() as failed:
        engine.delete(ours)
    assert "No attached disk found" in failed[0].message, "the disk is still attached"
    cloud.change(VM, lambda body: body["disks"].pop(1))
    engine.delete(ours)


@pytest.mark.parametrize(
    "disk",
    [
        f"zones/{ZONE}/disks/example-data",
        f"projects/{PROJECT}/zones/{ZONE}/disks/example-data",
        f"https://compute.googleapis.com/compute/v1/projects/{PROJECT}/zones/{ZONE}/disks/example-data",
        f"https://www.googleapis.com/compute/beta/projects/{PROJECT}/zones/{ZONE}/disks/example-data",
    ],
)
def test_a_disk_is_found_however_the_input_is_written(engine, cloud, vm, disk):
    ours = engine.create(ATTACHMENT, "a", attachment(disk=disk))

    assert engine.refresh(ours) == ours
    engine.delete(ours)
    assert _attached(cloud) == {}


def test_an_import_by_device_name_does_not_match_names_of_disks(engine, cloud, vm):
    engine.create(ATTACHMENT, "a", attachment(deviceName="d1"))

    with failing() as failed:
        engine.import_(ATTACHMENT, "a", f"{VM}/example-data")
    assert "does not exist" in failed[0].message
    assert engine.import_(ATTACHMENT, "a", f"{PROJECT}/{ZONE}/example-vm/d1").id == f"{VM}/d1"


def test_an_import_by_the_disks_path_finds_the_device_name(engine, cloud, vm):
    created = engine.create(ATTACHMENT, "a", attachment())
    found = engine.import_(ATTACHMENT, "a", f"{VM}/projects/{PROJECT}/zones/{ZONE}/disks/example-data")

    assert found.id == created.id
    assert engine.diff(found, attachment()).changes == NO_CHANGE


@pytest.mark.parametrize("device", ["a/b", "50%", "what?", "two words", "Gr\u00fc\u00dfe", "a%2Fb"])
def test_a_device_name_may_contain_any_characters(engine, cloud, vm, device):
    created = engine.create(ATTACHMENT, "a", attachment(deviceName=device))

    assert engine.refresh(created) == created
    assert created.id in engine.list(ATTACHMENT, {})[0]
    assert engine.import_(ATTACHMENT, "a", created.id).outputs["deviceName"] == device
    engine.delete(created)
    assert _attached(cloud) == {}
