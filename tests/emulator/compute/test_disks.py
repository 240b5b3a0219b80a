"""Disks."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google.cloud import compute_v1
from google_clients import connect
from programs import PROJECT


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
