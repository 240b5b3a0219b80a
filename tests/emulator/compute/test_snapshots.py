"""Snapshots, and the disks that are made from them."""

from __future__ import annotations

import pytest
from values.programs import DEBIAN, PROJECT, ZONE

BASE = f"/compute/v1/projects/{PROJECT}"
URL = f"https://www.googleapis.com{BASE}"
DISK = f"zones/{ZONE}/disks/example-data"


@pytest.mark.parametrize("way", ["global/snapshots", f"{DISK}/createSnapshot"])
def test_a_snapshot_of_a_disk_becomes_a_disk_of_its_size(cloud, http, way):
    cloud.make_disk()
    body = {"name": "nightly", "storageLocations": ["eu"], "labels": {"a": "b"}}
    source = {"sourceDisk": DISK} if way == "global/snapshots" else {}
    started = http.post(f"{BASE}/{way}", json={**body, **source}).json()
    made = http.get(f"{BASE}/global/snapshots/nightly").json()
    disk = {"name": "copy", "sourceSnapshot": "global/snapshots/nightly"}
    assert http.post(f"{BASE}/zones/{ZONE}/disks", json=disk).status_code == 200
    copy = http.get(f"{BASE}/zones/{ZONE}/disks/copy").json()

    assert started["operationType"] == ("insert" if source else "createSnapshot")
    assert (made["sourceDisk"], made["diskSizeGb"], made["status"]) == (f"{URL}/{DISK}", "50", "READY")
    assert (made["storageLocations"], made["labels"]) == (["eu"], {"a": "b"})
    assert (copy["sizeGb"], copy["sourceSnapshot"], copy["sourceSnapshotId"]) == ("50", made["selfLink"], made["id"])
    assert [item["name"] for item in http.get(f"{BASE}/global/snapshots").json()["items"]] == ["nightly"]
    assert http.delete(f"{BASE}/global/snapshots/nightly").status_code == 200
    assert http.get(f"{BASE}/global/snapshots/nightly").status_code == 404


def test_the_labels_of_a_snapshot_are_changed(cloud, http):
    cloud.make_disk()
    http.post(f"{BASE}/global/snapshots", json={"name": "nightly", "sourceDisk": DISK})
    snapshot = http.get(f"{BASE}/global/snapshots/nightly").json()
    body = {"labels": {"a": "b"}, "labelFingerprint": snapshot["labelFingerprint"]}
    started = http.post(f"{BASE}/global/snapshots/nightly/setLabels", json=body).json()

    assert (started["operationType"], started["status"]) == ("setLabels", "DONE")
    assert http.get(f"{BASE}/global/snapshots/nightly").json()["labels"] == {"a": "b"}
    assert (snapshot["creationSizeBytes"], snapshot["enableConfidentialCompute"]) == (snapshot["storageBytes"], False)


@pytest.mark.parametrize(
    ("collection", "body", "field", "kind"),
    [
        ("global/snapshots", {"sourceDisk": f"zones/{ZONE}/disks/none"}, "resource.sourceDisk", "disk"),
        (f"zones/{ZONE}/disks", {"sourceSnapshot": "global/snapshots/none"}, "resource.sourceSnapshot", "snapshot"),
        (
            f"zones/{ZONE}/instances",
            {"disks": [{"boot": True, "initializeParams": {"sourceSnapshot": "global/snapshots/none"}}]},
            "resource.disks[0].initializeParams.sourceSnapshot",
            "snapshot",
        ),
        (
            f"zones/{ZONE}/instances",
            {
                "disks": [
                    {"boot": True, "initializeParams": {"sourceImage": DEBIAN}},
                    {"source": f"projects/{PROJECT}/zones/{ZONE}/disks/none"},
                ]
            },
            "resource.disks[1].source",
            "disk",
        ),
    ],
)
def test_what_disks_are_made_of_must_exist(http, collection, body, field, kind):
    machine_type = {"machineType": f"zones/{ZONE}/machineTypes/e2-small"} if "instances" in collection else {}
    answer = http.post(f"{BASE}/{collection}", json={"name": "new", **machine_type, **body})
    message = answer.json()["error"]["message"]

    assert answer.status_code == 400
    assert message.startswith(f"Invalid value for field '{field}': ")
    assert message.endswith(f"The referenced {kind} resource cannot be found.")
