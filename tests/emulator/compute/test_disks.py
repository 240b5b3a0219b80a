"""Disks."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google.cloud import compute_v1
from google_clients import connect
from programs import PROJECT, ZONE


def test_regional_disks_need_two_zones(cloud):
    disks = connect(compute_v1.RegionDisksClient, cloud)
    zones = [f"projects/{PROJECT}/zones/us-east1-{letter}" for letter in "bc"]
    disks.insert(
        project=PROJECT, region="us-east1", disk_resource=compute_v1.Disk(name="d", replica_zones=zones)
    ).result()

    assert disks.get(project=PROJECT, region="us-east1", disk="d").size_gb == 500
    with pytest.raises(exceptions.BadRequest, match="two replica zones"):
        disks.insert(
            project=PROJECT, region="us-east1", disk_resource=compute_v1.Disk(name="e", replica_zones=zones[:1])
        )
    disks.delete(project=PROJECT, region="us-east1", disk="d").result()


def test_a_disk_grows_and_its_instances_show_the_new_size(cloud, vm, http):
    disks = connect(compute_v1.DisksClient, cloud)
    instances = connect(compute_v1.InstancesClient, cloud)
    http.post(f"/compute/v1/{vm}/attachDisk", json={"source": f"zones/{ZONE}/disks/example-data"})
    where = {"project": PROJECT, "zone": ZONE, "disk": "example-data"}
    disks.resize(**where, disks_resize_request_resource=compute_v1.DisksResizeRequest(size_gb=100)).result()

    assert disks.get(**where).size_gb == 100
    assert [disk.disk_size_gb for disk in instances.get(project=PROJECT, zone=ZONE, instance="example-vm").disks][
        1:
    ] == [100]
    with pytest.raises(exceptions.BadRequest, match="larger than the present one"):
        disks.resize(**where, disks_resize_request_resource=compute_v1.DisksResizeRequest(size_gb=100))
