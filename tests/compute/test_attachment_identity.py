"""Which disk on an instance is ours: our disk under our device name, and nothing else."""

from __future__ import annotations

import driver
import pytest
from driver import failing
from programs import ATTACHMENT, PROJECT, VM, ZONE, attachment

NO_CHANGE = driver.rpc.DiffResponse.DIFF_NONE
SOURCE = f"https://www.googleapis.com/compute/beta/projects/{PROJECT}/zones/{ZONE}/disks"


def _attached(cloud):
    return {disk["deviceName"]: disk["source"].rpartition("/")[2] for disk in cloud.get(VM)["disks"][1:]}


def _swap(cloud, device, **change):
    """Change an attached disk behind everyone's back."""

    def edit(body):
        next(disk for disk in body["disks"] if disk["deviceName"] == device).update(change)

    cloud.change(VM, edit)


def test_a_device_named_like_our_disk_is_left_alone(engine, cloud, vm):
    cloud.make_disk("other")
    ours = engine.create(ATTACHMENT, "a", attachment(deviceName="d1"))
    theirs = engine.create(ATTACHMENT, "b", attachment(disk="other", deviceName="example-data"))
    cloud.change(VM, lambda body: body["disks"].pop(1))

    assert engine.refresh(ours) is None
    engine.delete(ours)
    assert _attached(cloud) == {"example-data": "other"}
    assert engine.refresh(theirs) == theirs


def test_each_of_two_that_are_named_crosswise_is_itself(engine, cloud, vm):
    cloud.make_disk("other")
    ours = engine.create(ATTACHMENT, "a", attachment(deviceName="d1"))
    engine.create(ATTACHMENT, "b", attachment(disk="other", deviceName="example-data"))

    assert engine.refresh(ours) == ours
    engine.delete(ours)
    assert _attached(cloud) == {"example-data": "other"}


def test_a_disk_named_like_ours_elsewhere_is_not_followed(engine, cloud, vm):
    regional = cloud.make_regional_disk("example-data")
    ours = engine.create(ATTACHMENT, "a", attachment(deviceName="d1"))
    _swap(cloud, "d1", deviceName="d2", source=f"https://www.googleapis.com/compute/beta/{regional}")

    assert engine.refresh(ours) is None
    engine.delete(ours)
    assert _attached(cloud) == {"d2": "example-data"}


@pytest.mark.parametrize("elsewhere", [f"projects/other-project/zones/{ZONE}", f"projects/{PROJECT}/zones/us-east1-c"])
def test_a_disk_of_our_name_from_elsewhere_under_our_device_is_not_ours(engine, cloud, vm, elsewhere):
    ours = engine.create(ATTACHMENT, "a", attachment(deviceName="d1"))
    _swap(cloud, "d1", source=f"https://www.googleapis.com/compute/beta/{elsewhere}/disks/example-data")

    assert engine.refresh(ours) is None
    engine.delete(ours)
    assert _attached(cloud) == {"d1": "example-data"}
    assert cloud.calls("compute.instances.detachDisk") == []


def test_our_disk_under_another_device_is_not_ours(engine, cloud, vm):
    ours = engine.create(ATTACHMENT, "a", attachment())
    _swap(cloud, "persistent-disk-0", deviceName="by-hand")

    assert engine.refresh(ours) is None
    engine.delete(ours)
    assert _attached(cloud) == {"by-hand": "example-data"}


def test_an_update_does_not_touch_a_stranger(engine, cloud, vm):
    cloud.make_disk("stranger")
    ours = engine.create(ATTACHMENT, "a", attachment(deviceName="d1"))
    _swap(cloud, "d1", source=f"{SOURCE}/stranger")
    with failing() as failed:
        engine.update(ours, attachment(deviceName="d1", autoDelete=True))

    assert "pulumi refresh" in failed[0].message
    assert cloud.calls("compute.instances.setDiskAutoDelete") == []


def test_a_disk_that_disappears_while_it_is_detached_is_not_an_error(engine, cloud, vm):
    ours = engine.create(ATTACHMENT, "a", attachment())
    cloud.fail("compute.instances.detachDisk", status=400, message="No attached disk found")
    with failing() as failed:
        engine.delete(ours)
    assert "No attached disk found" in failed[0].message, "it is still there, so the refusal stands"
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
def test_every_spelling_of_a_disk_finds_it(engine, cloud, vm, disk):
    ours = engine.create(ATTACHMENT, "a", attachment(disk=disk))

    assert engine.refresh(ours) == ours
    engine.delete(ours)
    assert _attached(cloud) == {}


def test_an_import_goes_by_the_device_and_not_by_the_name_of_a_disk(engine, cloud, vm):
    engine.create(ATTACHMENT, "a", attachment(deviceName="d1"))

    assert engine.import_(ATTACHMENT, "a", f"{VM}/example-data") is None
    assert engine.import_(ATTACHMENT, "a", f"{PROJECT}/{ZONE}/example-vm/d1").id == f"{VM}/d1"


def test_an_import_can_name_the_disk_by_its_path(engine, cloud, vm):
    created = engine.create(ATTACHMENT, "a", attachment())
    found = engine.import_(ATTACHMENT, "a", f"{VM}/projects/{PROJECT}/zones/{ZONE}/disks/example-data")

    assert found.id == created.id
    assert engine.diff(found, attachment()).changes == NO_CHANGE


@pytest.mark.parametrize("device", ["a/b", "50%", "what?", "two words", "Gr\u00fc\u00dfe", "a%2Fb"])
def test_a_device_name_may_hold_any_characters(engine, cloud, vm, device):
    created = engine.create(ATTACHMENT, "a", attachment(deviceName=device))

    assert engine.refresh(created) == created
    assert created.id in engine.list(ATTACHMENT, {})[0]
    assert engine.import_(ATTACHMENT, "a", created.id).outputs["deviceName"] == device
    engine.delete(created)
    assert _attached(cloud) == {}
