"""Disks, attached to instances and detached."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google.cloud import compute_v1
from servers.google_clients import connect, insert_instance
from values.programs import DEBIAN, PROJECT, ZONE


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


def _attach(http, vm, source, **more):
    return http.post(f"/compute/v1/{vm}/attachDisk", json={"source": source, **more})


def _insert(http, zone, *disks, name="new", scope="instances"):
    boot = {"boot": True, "initializeParams": {"sourceImage": DEBIAN}}
    own = {"machineType": "e2-small", "disks": [boot, *disks]}
    if scope == "instances":
        body = {"name": name, **own, "machineType": f"zones/{zone}/machineTypes/e2-small"}
    else:
        body = {"namePattern": f"{name}-#", "count": "1", "instanceProperties": own}
    return http.post(f"/compute/v1/projects/{PROJECT}/zones/{zone}/{scope}", json=body)


def _refusal(answer):
    """Return the status, the reason and the message of a refused request."""
    error = answer.json()["error"]
    return answer.status_code, error["errors"][0]["reason"], error["message"]


def _elsewhere(field, link):
    message = f"Invalid value for field '{field}': '{link}'. Disk must be in the same zone as the instance."
    return 400, "invalid", message


def test_a_disk_is_attached_in_its_own_zone_only(http, cloud, vm):
    url = f"https://www.googleapis.com/compute/v1/{cloud.make_disk('far', 'us-east1-c')}"

    assert _refusal(_attach(http, vm, url)) == _elsewhere("resource.source", url)
    assert _refusal(_insert(http, ZONE, {"source": url})) == _elsewhere("resource.disks[1].source", url)
    assert _insert(http, "us-east1-c", {"source": url}).status_code == 200


def test_a_regional_disk_is_attached_in_the_zones_of_its_replicas_only(http, cloud, vm):
    url = f"https://www.googleapis.com/compute/v1/{cloud.make_regional_disk()}"
    other = cloud.make_instance("other", "us-east1-d")

    assert _refusal(_attach(http, other, url)) == _elsewhere("resource.source", url)
    assert _refusal(_insert(http, "us-east1-d", {"source": url})) == _elsewhere("resource.disks[1].source", url)
    assert _attach(http, vm, url).status_code == 200


@pytest.mark.parametrize(("first", "second"), [("READ_ONLY", "READ_WRITE"), ("READ_WRITE", "READ_ONLY")])
def test_a_disk_that_is_written_to_is_not_shared(http, cloud, vm, first, second):
    disk, other = f"projects/{PROJECT}/zones/{ZONE}/disks/example-data", cloud.make_instance("other")
    assert _attach(http, vm, disk, mode=first).status_code == 200
    message = f"The disk resource '{disk}' is already being used by '{vm}'"
    expected = (400, "resourceInUseByAnotherResource", message)

    assert _refusal(_attach(http, other, disk, mode=second)) == expected
    assert _refusal(_insert(http, ZONE, {"source": disk, "mode": second})) == expected
    assert _refusal(_insert(http, ZONE, {"source": disk, "mode": second}, scope="instances/bulkInsert")) == expected


def test_a_forced_attachment_takes_the_disk_from_all_its_users(http, cloud):
    disk, vms = cloud.make_regional_disk(), [cloud.make_instance(name) for name in ("one", "two", "three")]
    for vm in vms[:2]:
        assert _attach(http, vm, disk, mode="READ_ONLY").status_code == 200
    forced = http.post(f"/compute/v1/{vms[2]}/attachDisk", params={"forceAttach": "true"}, json={"source": disk})
    cloud.emulator.operations.settle()

    assert forced.status_code == 200
    assert [len(cloud.get(vm)["disks"]) for vm in vms] == [1, 1, 2]
    assert [user.rpartition("/")[2] for user in cloud.get(disk)["users"]] == ["three"]


def test_an_instance_has_one_boot_disk_which_is_the_first(http, cloud, vm):
    disk = cloud.make_disk("second")
    second = {"boot": True, "source": disk}
    message = "Boot disk must be the first disk attached to the instance."

    assert _refusal(_attach(http, vm, disk, boot=True)) == (
        400,
        "invalid",
        f"Invalid value for field 'resource': '{disk}'. {message}",
    )
    assert _refusal(_insert(http, ZONE, second)) == (
        400,
        "invalid",
        f"Invalid value for field 'resource.disks[1].boot': 'true'. {message}",
    )


def test_the_boot_disk_of_a_stopped_instance_only_is_detached_and_attached_again(http, cloud, vm):
    detach = f"/compute/v1/{vm}/detachDisk?deviceName=boot"
    message = "Invalid resource usage: 'To detach the boot disk, the instance must be in TERMINATED state.'."
    assert _attach(http, vm, f"zones/{ZONE}/disks/example-data").status_code == 200

    assert _refusal(http.post(detach)) == (400, "invalidResourceUsage", message)
    http.post(f"/compute/v1/{vm}/stop")
    assert http.post(detach).status_code == 200
    boot = f"projects/{PROJECT}/zones/{ZONE}/disks/example-vm"
    assert _attach(http, vm, boot, boot=True, deviceName="again").status_code == 200
    cloud.emulator.operations.settle()
    assert [(disk["deviceName"], disk["index"], disk["boot"]) for disk in cloud.get(vm)["disks"]] == [
        ("again", 0, True),
        ("persistent-disk-0", 1, False),
    ]


def test_an_instance_without_its_boot_disk_is_not_started(http, vm):
    http.post(f"/compute/v1/{vm}/stop")
    http.post(f"/compute/v1/{vm}/detachDisk?deviceName=boot")
    started = http.post(f"/compute/v1/{vm}/start")
    why = f"The instance '{vm}' has no boot disk, so it cannot be started."

    assert _refusal(started)[-1] == f"Invalid resource usage: '{why}'."
