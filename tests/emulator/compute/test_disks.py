"""Disks."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google.cloud import compute_v1
from servers.google_clients import connect
from values.programs import PROJECT, ZONE


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


@pytest.mark.parametrize("scope", [f"zones/{ZONE}", "regions/us-east1"])
def test_a_highly_available_hyperdisk_is_created(http, scope):
    base = f"/compute/v1/projects/{PROJECT}/{scope}"
    kind = f"projects/{PROJECT}/{scope}/diskTypes/hyperdisk-balanced-high-availability"
    body = {"name": "d", "sizeGb": "50", "type": kind, "replicaZones": [f"zones/us-east1-{letter}" for letter in "bc"]}
    answer = http.post(f"{base}/disks", json=body)

    assert answer.status_code == 200, answer.text
    assert http.get(f"{base}/disks/d").json()["type"].endswith(kind)


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


BASE = f"/compute/beta/projects/{PROJECT}"
DISKS = f"{BASE}/zones/{ZONE}/disks"
ARM = "projects/debian-cloud/global/images/family/debian-12-arm64"


def _made(http, **body):
    answer = http.post(DISKS, json={"name": "d", **body})
    assert answer.status_code == 200, answer.text
    return http.get(f"{DISKS}/d").json()


def test_a_disk_shows_what_it_was_made_with_and_the_block_size(http):
    given = {
        "accessMode": "READ_WRITE_MANY",
        "description": "data",
        "enableConfidentialCompute": True,
        "provisionedIops": "20000",
        "provisionedThroughput": "300",
        "locationHint": "near",
        "guestOsFeatures": [{"type": "GVNIC"}],
        "licenseCodes": ["1000205"],
    }
    links = {"resourcePolicies": ["daily"], "licenses": ["global/licenses/l"]}
    disk = _made(http, **given, **links)
    home = f"https://www.googleapis.com{BASE}"

    assert given.items() <= disk.items()
    assert disk["resourcePolicies"] == [f"{home}/regions/us-east1/resourcePolicies/daily"]
    assert disk["licenses"] == [f"{home}/global/licenses/l"]
    assert (disk["physicalBlockSizeBytes"], disk["sizeGb"]) == ("4096", "500")


def test_a_disk_that_is_made_from_another_one_is_like_it(http):
    source = _made(http, sourceImage=ARM, sizeGb="44")
    http.post(DISKS, json={"name": "copy", "sourceDisk": f"zones/{ZONE}/disks/d"})
    copy = http.get(f"{DISKS}/copy").json()

    assert (copy["sizeGb"], copy["architecture"]) == ("44", "ARM64")
    assert (copy["sourceDisk"], copy["sourceDiskId"]) == (source["selfLink"], source["id"])
    small = http.post(DISKS, json={"name": "small", "sourceDisk": f"zones/{ZONE}/disks/d", "sizeGb": "43"})
    assert "cannot be smaller than the disk size (44 GB)" in small.text
    assert http.post(DISKS, json={"name": "none", "sourceDisk": f"zones/{ZONE}/disks/none"}).status_code == 400


def test_a_disk_is_made_from_a_disk_of_a_machine_image(http, vm):
    http.post(f"{BASE}/global/machineImages", json={"name": "golden", "sourceInstance": vm})
    image = http.get(f"{BASE}/global/machineImages/golden").json()
    device = image["instanceProperties"]["disks"][0]
    source = {
        "sourceMachineImage": "global/machineImages/golden",
        "sourceMachineImageDiskDeviceName": device["deviceName"],
    }
    disk = _made(http, **source)

    assert disk["sizeGb"] == device["diskSizeGb"]
    assert (disk["sourceMachineImage"], disk["sourceMachineImageId"]) == (image["selfLink"], image["id"])
    wrong = http.post(DISKS, json={"name": "x", **source, "sourceMachineImageDiskDeviceName": "none"})
    assert (wrong.status_code, "no disk of this device name" in wrong.text) == (400, True)


def test_the_boot_disk_of_an_instance_cannot_be_smaller_than_its_image(http):
    http.post(DISKS, json={"name": "d", "sizeGb": "20"})
    http.post(f"{BASE}/global/images", json={"name": "large", "sourceDisk": f"zones/{ZONE}/disks/d"})
    boot = {"boot": True, "initializeParams": {"sourceImage": "global/images/large", "diskSizeGb": "19"}}
    body = {"name": "vm", "machineType": f"zones/{ZONE}/machineTypes/e2-small", "disks": [boot]}
    answer = http.post(f"{BASE}/zones/{ZONE}/instances", json=body)

    assert (answer.status_code, "smaller than the image size (20 GB)" in answer.text) == (400, True)
    del boot["initializeParams"]["diskSizeGb"]
    assert http.post(f"{BASE}/zones/{ZONE}/instances", json=body).status_code == 200
    assert http.get(f"{DISKS}/vm").json()["sizeGb"] == "20"


@pytest.mark.parametrize("kind", ["disks", "regionDisks", "images"])
def test_labels_are_changed_with_the_current_fingerprint(http, kind):
    collection, body = {
        "disks": (DISKS, {}),
        "regionDisks": (
            f"{BASE}/regions/us-east1/disks",
            {"replicaZones": [f"zones/us-east1-{name}" for name in "bc"]},
        ),
        "images": (f"{BASE}/global/images", {"sourceImage": ARM}),
    }[kind]
    http.post(collection, json={"name": "d", "labels": {"a": "b"}, **body})
    url = f"{collection}/d"
    before = http.get(url).json()
    change = {"labels": {"c": "d"}, "labelFingerprint": before["labelFingerprint"]}

    assert before["labels"] == {"a": "b"}
    assert http.post(f"{url}/setLabels", json=change).json()["operationType"] == "setLabels"
    after = http.get(url).json()
    assert (after["labels"], after["labelFingerprint"] == before["labelFingerprint"]) == ({"c": "d"}, False)
    stale = http.post(f"{url}/setLabels", json=change).json()["error"]
    assert (stale["code"], stale["errors"][0]["reason"]) == (412, "conditionNotMet")
    assert stale["message"] == "Labels fingerprint either invalid or resource labels have changed"


@pytest.mark.parametrize("mask", ["paths=provisionedIops&paths=access_mode", "updateMask=provisionedIops,accessMode"])
def test_an_update_sets_the_fields_of_its_mask_alone(http, mask):
    _made(http, provisionedIops="10000", description="data")
    change = {"provisionedIops": "20000", "accessMode": "READ_WRITE_SINGLE", "provisionedThroughput": "5"}
    assert http.patch(f"{DISKS}/d?{mask}", json=change).status_code == 200

    disk = http.get(f"{DISKS}/d").json()
    assert (disk["provisionedIops"], disk["accessMode"], disk["description"]) == ("20000", "READ_WRITE_SINGLE", "data")
    assert "provisionedThroughput" not in disk
    for wrong in ("", "?paths=description", "?paths=type"):
        assert http.patch(f"{DISKS}/d{wrong}", json={}).status_code == 400
    assert http.patch(f"{DISKS}/d?paths=sizeGb", json={"sizeGb": "499"}).status_code == 400
    assert http.patch(f"{DISKS}/d?paths=sizeGb", json={"sizeGb": "501"}).status_code == 200
    assert http.get(f"{DISKS}/d").json()["sizeGb"] == "501"


def test_resource_policies_of_a_disk_are_added_and_removed(http):
    _made(http)
    for name in ("daily", "weekly", "daily"):
        http.post(
            f"{DISKS}/d/addResourcePolicies", json={"resourcePolicies": [f"regions/us-east1/resourcePolicies/{name}"]}
        )
    assert [link.rpartition("/")[2] for link in http.get(f"{DISKS}/d").json()["resourcePolicies"]] == [
        "daily",
        "weekly",
    ]
    for name in ("daily", "weekly"):
        http.post(f"{DISKS}/d/removeResourcePolicies", json={"resourcePolicies": [name]})

    assert "resourcePolicies" not in http.get(f"{DISKS}/d").json()


def test_the_disks_of_all_zones_and_regions_are_listed_together(http):
    _made(http)
    replicas = [f"zones/us-east1-{name}" for name in "bc"]
    http.post(f"{BASE}/regions/us-east1/disks", json={"name": "r", "replicaZones": replicas})
    items = http.get(f"{BASE}/aggregated/disks").json()["items"]

    assert [disk["name"] for disk in items[f"zones/{ZONE}"]["disks"]] == ["d"]
    assert [disk["name"] for disk in items["regions/us-east1"]["disks"]] == ["r"]
    assert items["zones/us-east1-c"]["warning"]["code"] == "NO_RESULTS_ON_PAGE"


def test_a_change_that_is_shown_as_done_is_in_the_store_before_any_other_request(cloud, http):
    _made(http)
    path = f"projects/{PROJECT}/zones/{ZONE}/disks/d"
    change = {"labels": {"a": "b"}, "labelFingerprint": cloud.emulator.store.get(path)["labelFingerprint"]}

    assert http.post(f"{DISKS}/d/setLabels", json=change).json()["status"] == "DONE"
    assert cloud.emulator.store.get(path)["labels"] == {"a": "b"}
