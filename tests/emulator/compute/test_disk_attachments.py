"""Disks, attached to instances and detached."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google.cloud import compute_v1
from google_clients import connect, insert_instance
from programs import PROJECT, ZONE


def test_disks_are_created_attached_detached_and_deleted(cloud):
    disks, instances = connect(compute_v1.DisksClient, cloud), insert_instance(cloud)
    disks.insert(project=PROJECT, zone=ZONE, disk_resource=compute_v1.Disk(name="data", size_gb=50)).result()
    attached = compute_v1.AttachedDisk(source=f"zones/{ZONE}/disks/data", device_name="data")
    where = {"project": PROJECT, "zone": ZONE, "instance": "vm"}
    instances.attach_disk(**where, attached_disk_resource=attached).result()
    found = instances.get(**where).disks[1]

    assert (found.device_name, found.index, found.disk_size_gb) == ("data", 1, 50)
    assert disks.get(project=PROJECT, zone=ZONE, disk="data").users[0].endswith("/instances/vm")
    with pytest.raises(exceptions.BadRequest, match="already being used"):
        disks.delete(project=PROJECT, zone=ZONE, disk="data")
    with pytest.raises(exceptions.BadRequest, match="already attached"):
        instances.attach_disk(
            **where, attached_disk_resource=compute_v1.AttachedDisk(source=f"zones/{ZONE}/disks/data")
        )
    forced = compute_v1.AttachDiskInstanceRequest(**where, force_attach=True, attached_disk_resource=attached)
    with pytest.raises(exceptions.BadRequest, match=r"Only regional disks|already used"):
        instances.attach_disk(request=forced)
    instances.set_disk_auto_delete(**where, auto_delete=True, device_name="data").result()
    assert instances.get(**where).disks[1].auto_delete
    instances.detach_disk(**where, device_name="data").result()
    with pytest.raises(exceptions.BadRequest, match="No attached disk"):
        instances.detach_disk(**where, device_name="data")
    assert [item.name for item in disks.list(project=PROJECT, zone=ZONE)] == ["data", "vm"]
    disks.delete(project=PROJECT, zone=ZONE, disk="data").result()
    instances.delete(**where).result()
    assert list(disks.list(project=PROJECT, zone=ZONE)) == [], "the boot disk went with its instance"


def test_a_zonal_disk_is_not_attached_by_force(http, cloud, vm):
    cloud.make_regional_disk()
    answers = [
        http.post(f"/compute/v1/{vm}/attachDisk", params={"forceAttach": "true"}, json={"source": source})
        for source in ("regions/us-east1/disks/shared", f"zones/{ZONE}/disks/example-data")
    ]

    assert [answer.status_code for answer in answers] == [200, 400]
    assert "Only regional disks" in answers[1].json()["error"]["message"]


def test_a_disk_that_is_being_attached_is_not_attached_elsewhere_or_deleted(cloud, http):
    first, second = (cloud.make_instance(name) for name in ("first", "second"))
    disk = cloud.make_disk()
    cloud.hold_operations()
    assert http.post(f"/compute/v1/{first}/attachDisk", json={"source": disk}).status_code == 200
    for answer in (
        http.post(f"/compute/v1/{second}/attachDisk", json={"source": disk}),
        http.delete(f"/compute/v1/{disk}"),
    ):
        assert (answer.status_code, answer.json()["error"]["errors"][0]["reason"]) == (400, "resourceNotReady")


def test_a_disk_that_is_being_deleted_is_not_attached(cloud, http):
    vm, disk = cloud.make_instance(), cloud.make_disk()
    cloud.hold_operations()
    assert http.delete(f"/compute/v1/{disk}").status_code == 200
    answer = http.post(f"/compute/v1/{vm}/attachDisk", json={"source": disk})

    assert (answer.status_code, answer.json()["error"]["errors"][0]["reason"]) == (400, "resourceNotReady")


def test_two_changes_under_way_both_count(cloud):
    instances = connect(compute_v1.InstancesClient, cloud)
    path = cloud.make_disk("data")
    names = ("one", "two")
    for name in names:
        cloud.make_instance(name)
    cloud.emulator.operations.latency = 60
    for name in names:
        disk = compute_v1.AttachedDisk(source=path, mode="READ_ONLY")
        instances.attach_disk_unary(project=PROJECT, zone=ZONE, instance=name, attached_disk_resource=disk)
    cloud.emulator.store.run("update operations set ends = 0 where settled = 0")

    assert [user.rpartition("/")[2] for user in cloud.get(path)["users"]] == ["one", "two"]
