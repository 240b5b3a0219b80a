"""Machine images."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google.cloud import compute_v1
from servers.google_clients import connect, insert_instance
from values.programs import DEBIAN, PROJECT, ZONE, properties

BASE = f"/compute/v1/projects/{PROJECT}"
OTHER_KEY = "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE="


def _image_request(image):
    return compute_v1.InsertMachineImageRequest(
        project=PROJECT, source_instance=image.source_instance, machine_image_resource=image
    )


def test_machine_images(cloud):
    insert_instance(cloud)
    images = connect(compute_v1.MachineImagesClient, cloud)
    image = compute_v1.MachineImage(name="golden", source_instance=f"zones/{ZONE}/instances/vm")
    images.insert(request=_image_request(image)).result()
    found = images.get(project=PROJECT, machine_image="golden")

    assert (found.status, len(found.saved_disks)) == ("READY", 1)
    assert found.instance_properties.machine_type == "e2-medium"
    labels = compute_v1.GlobalSetLabelsRequest(labels={"a": "b"}, label_fingerprint=found.label_fingerprint)
    images.set_labels(project=PROJECT, resource="golden", global_set_labels_request_resource=labels).result()
    assert dict(next(iter(images.list(project=PROJECT))).labels) == {"a": "b"}
    images.delete(project=PROJECT, machine_image="golden").result()
    missing = compute_v1.MachineImage(name="none", source_instance=f"zones/{ZONE}/instances/none")
    with pytest.raises(exceptions.NotFound):
        images.insert(request=_image_request(missing))


def _insert(http, collection, body, **query):
    answer = http.post(f"{BASE}/{collection}", json=body, params=query)
    assert answer.status_code == 200, answer.text


@pytest.fixture
def image(cloud, http):
    """The path of an image of an instance with a boot disk of 10 GB, one of 50 GB of another type, and a local SSD."""
    boot = {"boot": True, "deviceName": "boot", "autoDelete": True, "initializeParams": {"sourceImage": DEBIAN}}
    size = {"diskSizeGb": "50", "diskType": f"zones/{ZONE}/diskTypes/pd-ssd"}
    data = {"deviceName": "data", "initializeParams": size}
    local = {
        "deviceName": "fast",
        "type": "SCRATCH",
        "initializeParams": {"diskType": f"zones/{ZONE}/diskTypes/local-ssd"},
    }
    own = {"labels": {"a": "b"}, "tags": {"items": ["web"]}, "metadata": {"items": [{"key": "k", "value": "v"}]}}
    body = {
        "name": "vm",
        "machineType": f"zones/{ZONE}/machineTypes/n2-standard-2",
        "disks": [boot, data, local],
        **own,
    }
    _insert(http, f"zones/{ZONE}/instances", body)
    _insert(http, "global/machineImages", {"name": "golden"}, sourceInstance=f"zones/{ZONE}/instances/vm")
    return "global/machineImages/golden"


@pytest.mark.parametrize("place", ["body", "query"])
def test_an_instance_is_created_from_a_machine_image(cloud, http, image, place):
    link = {"sourceMachineImage": image}
    body = {"name": "copy", "labels": {"c": "d"}, **(link if place == "body" else {})}
    _insert(http, "zones/us-east1-c/instances", body, **(link if place == "query" else {}))
    source, made = (http.get(f"{BASE}/zones/{zone}/instances/{name}").json() for zone, name in ((ZONE, "vm"), ("us-east1-c", "copy")))  # fmt: skip
    fields = ("deviceName", "boot", "autoDelete", "type", "mode", "diskSizeGb")
    shown = [[{field: disk.get(field) for field in fields} for disk in vm["disks"]] for vm in (source, made)]

    assert made["sourceMachineImage"] == f"https://www.googleapis.com/compute/v1/projects/{PROJECT}/{image}"
    assert made["machineType"].endswith("/zones/us-east1-c/machineTypes/n2-standard-2")
    assert (made["labels"], made["tags"]["items"]) == ({"c": "d"}, ["web"])
    assert made["metadata"]["items"] == source["metadata"]["items"]
    assert shown[1] == shown[0]
    assert made["networkInterfaces"][0]["networkIP"] != source["networkInterfaces"][0]["networkIP"]
    data = http.get(f"{BASE}/zones/us-east1-c/disks/copy-1").json()
    assert (data["sizeGb"], data["type"].rpartition("/")[2]) == ("50", "pd-ssd")


def test_an_instance_of_a_machine_image_that_does_not_exist_is_refused(http):
    link = f"projects/{PROJECT}/global/machineImages/none"
    refused = http.post(f"{BASE}/zones/{ZONE}/instances", json={"name": "vm", "sourceMachineImage": link})

    assert (refused.status_code, refused.json()["error"]["message"]) == (404, f"The resource '{link}' was not found")


def test_an_instance_of_an_encrypted_machine_image_needs_its_key(cloud, http):
    source, key = cloud.make_instance(), {"rawKey": OTHER_KEY}
    body = {"name": "secret", "machineImageEncryptionKey": key}
    _insert(http, "global/machineImages", body, sourceInstance=source)
    body = {"name": "copy", "sourceMachineImage": "global/machineImages/secret"}
    refused = http.post(f"{BASE}/zones/{ZONE}/instances", json=body)
    _insert(http, f"zones/{ZONE}/instances", {**body, "sourceMachineImageEncryptionKey": key})

    assert (refused.status_code, "machine image 'secret' is protected" in refused.text) == (400, True)
    made = http.get(f"{BASE}/zones/{ZONE}/instances/copy").json()
    assert OTHER_KEY not in str(made)


def test_a_regional_disk_of_a_machine_image_needs_replica_zones(cloud, http, vm):
    http.post(f"/compute/v1/{vm}/attachDisk", json={"source": cloud.make_regional_disk(), "deviceName": "shared"})
    _insert(http, "global/machineImages", {"name": "golden"}, sourceInstance=vm)
    body = {"name": "copy", "sourceMachineImage": "global/machineImages/golden"}
    refused = http.post(f"{BASE}/zones/{ZONE}/instances", json=body)
    message = "Invalid value for field '': ''. All regional disks must have replica zone overrides provided."
    zones = [f"zones/us-east1-{letter}" for letter in "bc"]
    override = {"deviceName": "shared", "initializeParams": {"replicaZones": zones}}
    _insert(http, f"zones/{ZONE}/instances", {**body, "disks": [override]})

    assert (refused.status_code, refused.json()["error"]["message"]) == (400, message)
    disks = http.get(f"{BASE}/zones/{ZONE}/instances/copy").json()["disks"]
    assert [disk["source"].rpartition(f"{PROJECT}/")[2] for disk in disks] == [
        f"zones/{ZONE}/disks/copy",
        "regions/us-east1/disks/copy-1",
    ]


@pytest.mark.parametrize(
    ("params", "kept"),
    [
        ({}, ["boot", "data", "fast"]),
        ({"includedDisks": ["boot", "data"]}, ["boot", "data"]),
        ({"excludedDisks": ["data"]}, ["boot", "fast"]),
    ],
)
def test_a_machine_image_has_the_disks_that_are_included(http, image, params, kept):
    body = {"name": "other", "params": params}
    _insert(http, "global/machineImages", body, sourceInstance=f"zones/{ZONE}/instances/vm")
    _insert(http, f"zones/{ZONE}/instances", {"name": "copy", "sourceMachineImage": "global/machineImages/other"})
    made = http.get(f"{BASE}/zones/{ZONE}/instances/copy").json()

    found = http.get(f"{BASE}/global/machineImages/other").json()
    assert [disk["deviceName"] for disk in found["instanceProperties"]["disks"]] == kept
    assert [disk["deviceName"] for disk in made["disks"]] == kept


def test_a_machine_image_includes_only_disks_that_exist(http, image):
    body = {"name": "other", "params": {"includedDisks": ["boot", "none"]}}
    answer = http.post(f"{BASE}/global/machineImages?sourceInstance=zones/{ZONE}/instances/vm", json=body)
    message = "Invalid value for field 'resource.params.includedDisks[1]': 'none'. No such device."

    assert (answer.status_code, answer.json()["error"]["message"]) == (400, message)


def test_bulk_creations_have_no_machine_image(http, image):
    instance_properties = properties(sourceMachineImage=image)
    body = {"count": "1", "namePattern": "w-#", "instanceProperties": instance_properties}
    answer = http.post(f"{BASE}/regions/us-east1/instances/bulkInsert", json=body)

    message = answer.json()["error"]["message"]
    assert (answer.status_code, 'Unknown name "sourceMachineImage"' in message) == (400, True)


def test_using_a_machine_image_needs_a_permission(cloud, http, image):
    binding = {"permission": "compute.machineImages.useReadOnly", "members": ["somebody@example.com"]}
    http.post("/_emulator/policy", json={"bindings": [binding]}).raise_for_status()
    refused = http.post(f"{BASE}/zones/{ZONE}/instances", json={"name": "copy", "sourceMachineImage": image})

    assert (refused.status_code, "compute.machineImages.useReadOnly" in refused.text) == (403, True)
