"""The zones of regional disks, in every way that clients write them."""

from __future__ import annotations

import pytest
from values.programs import PROJECT, ZONE

DISKS = f"/compute/v1/projects/{PROJECT}/regions/us-east1/disks"


@pytest.mark.parametrize("form", ["projects/demo-project/global/zones/{}", "zones/{}",
                                  "https://www.googleapis.com/compute/v1/projects/demo-project/zones/{}"])  # fmt: skip
def test_a_disk_can_be_attached_in_its_zones_however_they_are_written(http, vm, form):
    zones = [form.format(zone) for zone in (ZONE, "us-east1-c")]
    made = http.post(DISKS, json={"name": "both", "sizeGb": "200", "replicaZones": zones})
    source = f"projects/{PROJECT}/regions/us-east1/disks/both"
    attached = http.post(f"/compute/v1/{vm}/attachDisk", json={"source": source})

    assert (made.status_code, attached.status_code) == (200, 200), attached.text
    assert http.get(f"{DISKS}/both").json()["replicaZones"] == [
        f"https://www.googleapis.com/compute/v1/projects/{PROJECT}/zones/{zone}" for zone in (ZONE, "us-east1-c")
    ]


def test_zones_of_another_region_are_refused(http):
    zones = ["zones/us-west1-a", "zones/us-west1-b"]
    answer = http.post(DISKS, json={"name": "away", "sizeGb": "200", "replicaZones": zones})

    assert (answer.status_code, "Must be zones of region us-east1" in answer.text) == (400, True)
