"""New disks of instances: an existing disk of the name is attached, and two replica zones make a disk regional."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google.cloud import compute_v1
from servers import plain_http
from servers.google_clients import connect
from values.programs import DEBIAN, PROJECT, ZONE

ZONES = [f"projects/{PROJECT}/zones/us-east1-{letter}" for letter in "bcd"]
DISKS = f"projects/{PROJECT}/zones/{ZONE}/disks"


@pytest.fixture
def instances(cloud):
    return connect(compute_v1.InstancesClient, cloud)


def _disk(*, boot=False, **parameters):
    given = {"source_image": DEBIAN, **parameters} if boot else parameters
    return compute_v1.AttachedDisk(
        boot=boot, auto_delete=True, initialize_params=compute_v1.AttachedDiskInitializeParams(**given)
    )


def _insert(instances, *disks, name="vm", zone=ZONE):
    vm = compute_v1.Instance(name=name, machine_type=f"zones/{zone}/machineTypes/e2-medium", disks=list(disks))
    return instances.insert_unary(project=PROJECT, zone=zone, instance_resource=vm)


def _make(cloud, instances, *disks, **more):
    _insert(instances, *disks, **more)
    cloud.emulator.operations.settle()
    return instances.get(project=PROJECT, zone=more.get("zone", ZONE), instance=more.get("name", "vm"))


@pytest.mark.parametrize(("name", "parameters"), [("kept", {"disk_name": "kept"}), ("vm-1", {})])
def test_an_existing_disk_of_that_name_is_attached_unchanged(cloud, instances, name, parameters):
    path = cloud.make_disk(name)
    cloud.change(path, lambda body: body.update(labels={"precious": "yes"}))
    before = cloud.get(path)
    vm = _make(cloud, instances, _disk(boot=True), _disk(disk_size_gb=999, disk_type="pd-ssd", **parameters))
    after = cloud.get(path)

    assert (vm.disks[1].source.rpartition("/")[2], vm.disks[1].disk_size_gb) == (name, 50)
    assert {key: value for key, value in after.items() if key not in {"users", "lastAttachTimestamp"}} == before
    assert [user.rpartition("/")[2] for user in after["users"]] == ["vm"]


def test_a_boot_disk_of_the_instances_name_is_attached(cloud, instances):
    path = cloud.make_disk("vm")
    number = cloud.get(path)["id"]
    vm = _make(cloud, instances, _disk(boot=True, disk_size_gb=20))

    assert (vm.disks[0].disk_size_gb, cloud.get(path)["id"]) == (50, number)


def test_a_disk_of_another_zone_is_another_disk(cloud, instances):
    cloud.make_disk("vm", "us-east1-c")
    vm = _make(cloud, instances, _disk(boot=True, disk_size_gb=20))

    assert (vm.disks[0].disk_size_gb, f"/zones/{ZONE}/disks/vm" in vm.disks[0].source) == (20, True)
    assert cloud.get(f"projects/{PROJECT}/zones/us-east1-c/disks/vm").get("users") is None


def test_a_regional_disk_of_that_name_is_attached_where_it_is(cloud, instances):
    cloud.make_regional_disk("shared")
    vm = _make(cloud, instances, _disk(boot=True), _disk(disk_name="shared"))
    other = _make(cloud, instances, _disk(boot=True), _disk(disk_name="shared"), name="other", zone="us-east1-d")

    assert vm.disks[1].source.endswith("/regions/us-east1/disks/shared")
    assert other.disks[1].source.endswith("/zones/us-east1-d/disks/shared")


def test_a_disk_of_that_name_that_another_instance_writes_to_is_refused(cloud, instances):
    _make(cloud, instances, _disk(boot=True, disk_name="one"))
    with pytest.raises(exceptions.BadRequest, match="already being used"):
        _insert(instances, _disk(boot=True, disk_name="one"), name="second")


def test_a_disk_is_unused_after_its_instance_was_removed(cloud, instances):
    _make(cloud, instances, _disk(boot=True, disk_name="one"))
    plain_http.delete(f"http://{cloud.host}/_emulator/resources/projects/{PROJECT}/zones/{ZONE}/instances/vm")

    assert _make(cloud, instances, _disk(boot=True, disk_name="one"), name="second").disks[0].source.endswith("/one")


def test_an_instance_names_its_disks_by_url(cloud, instances):
    cloud.make_disk("data")
    with pytest.raises(exceptions.BadRequest, match="malformed"):
        _insert(instances, _disk(boot=True), compute_v1.AttachedDisk(source="data"))


def test_two_disks_of_one_instance_cannot_have_one_name(instances):
    with pytest.raises(exceptions.BadRequest, match="more than once"):
        _insert(instances, _disk(boot=True, disk_name="one"), _disk(disk_name="one"))


def test_a_disk_that_is_still_being_created_is_not_overwritten(cloud, instances):
    cloud.emulator.operations.latency = 60
    _insert(instances, _disk(boot=True, disk_name="one"))
    with pytest.raises(exceptions.BadRequest, match="not ready"):
        _insert(instances, _disk(boot=True, disk_name="one"), name="second")


def test_two_replica_zones_make_a_regional_disk(cloud, instances):
    vm = _make(cloud, instances, _disk(boot=True), _disk(disk_name="shared", disk_size_gb=200, replica_zones=ZONES[:2]))
    stored = cloud.get(f"projects/{PROJECT}/regions/us-east1/disks/shared")

    assert vm.disks[1].source.endswith("/regions/us-east1/disks/shared")
    assert [zone.rpartition("/")[2] for zone in stored["replicaZones"]] == ["us-east1-b", "us-east1-c"]
    assert stored["type"].endswith("/regions/us-east1/diskTypes/pd-standard")
    assert [user.rpartition("/")[2] for user in stored["users"]] == ["vm"]
    assert cloud.get(f"{DISKS}/shared") is None
    instances.delete_unary(project=PROJECT, zone=ZONE, instance="vm")
    assert cloud.get(f"projects/{PROJECT}/regions/us-east1/disks/shared") is None


@pytest.mark.parametrize(
    "zones",
    [
        ZONES[1:],
        ZONES[:1],
        ZONES,
        ZONES[:1] * 2,
        [ZONES[0], f"projects/{PROJECT}/zones/us-central1-a"],
        [ZONES[0], "zones/nowhere"],
    ],
)
def test_replica_zones_are_two_of_the_region_one_of_them_the_instances(instances, zones):
    with pytest.raises(exceptions.BadRequest, match="replicaZones"):
        _insert(instances, _disk(boot=True), _disk(replica_zones=zones))
