"""What requests name: resources by name or by numeric ID, topics in both forms, templates of their own region."""

from __future__ import annotations

import httpx
import pytest
from google.api_core import exceptions
from google.api_core.client_options import ClientOptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import compute_v1, storage
from programs import BUCKET, PROJECT, ZONE, properties

BASE = f"/compute/v1/projects/{PROJECT}"
TOPIC = f"projects/{PROJECT}/topics/uploads"


@pytest.fixture
def http(cloud):
    with httpx.Client(base_url=f"http://{cloud.host}", trust_env=False, timeout=60) as client:
        yield client


def _client(kind, cloud):
    options = {"host": cloud.host, "url_scheme": "http", "credentials": AnonymousCredentials()}
    return kind(transport=kind.get_transport_class("rest")(**options))


def _id(cloud, path):
    return cloud.get(path)["id"]


def _done(cloud, http, method, path, body=None):
    """Make a change, and let it take effect; gives the operation."""
    answer = http.request(method, path, json=body)
    assert answer.status_code == 200, answer.text
    cloud.emulator.operations.settle()
    return answer.json()


@pytest.fixture
def template(cloud):
    for scope in ("global", "regions/us-east1"):
        cloud.post(f"{BASE}/{scope}/instanceTemplates", {"name": "web", "properties": properties()})
    return f"projects/{PROJECT}/global/instanceTemplates/web"


def test_every_resource_is_read_by_its_numeric_id(cloud, http, vm, template):
    cloud.post(f"{BASE}/global/machineImages?sourceInstance=zones/{ZONE}/instances/example-vm", {"name": "golden"})
    regional = template.replace("global", "regions/us-east1")
    paths = [vm, template, regional, f"projects/{PROJECT}/zones/{ZONE}/disks/example-data", cloud.make_regional_disk(),
             f"projects/{PROJECT}/global/machineImages/golden"]  # fmt: skip
    for path in paths:
        by_id = f"/compute/v1/{path.rpartition('/')[0]}/{_id(cloud, path)}"
        assert http.get(by_id).json() == http.get(f"/compute/v1/{path}").json()


@pytest.mark.parametrize("path", ["regions", "zones", f"zones/{ZONE}/machineTypes", "global/networks"])
def test_what_every_project_has_is_read_by_its_numeric_id(http, path):
    first = http.get(f"{BASE}/{path}").json()["items"][0]

    assert http.get(f"{BASE}/{path}/{first['id']}").json() == first
    assert http.get(f"{BASE}/{path}/1").status_code == 404


def test_a_public_image_is_read_by_its_numeric_id(cloud):
    images = _client(compute_v1.ImagesClient, cloud)
    newest = images.get_from_family(project="debian-cloud", family="debian-12")

    assert images.get(project="debian-cloud", image=str(newest.id)).name == newest.name


def test_every_change_takes_a_numeric_id(cloud, http, vm):
    instance = f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances/{_id(cloud, vm)}"
    disk = f"projects/{PROJECT}/zones/{ZONE}/disks/{_id(cloud, f'projects/{PROJECT}/zones/{ZONE}/disks/example-data')}"
    fingerprint = cloud.get(vm)["labelFingerprint"]
    _done(cloud, http, "POST", f"{instance}/setLabels", {"labels": {"a": "b"}, "labelFingerprint": fingerprint})
    _done(cloud, http, "POST", f"{instance}/attachDisk", {"source": disk, "deviceName": "data"})
    found = cloud.get(vm)

    assert found["labels"] == {"a": "b"}
    assert found["disks"][1]["source"].endswith("/disks/example-data")
    assert http.delete(f"/compute/v1/{disk}").status_code == 400, "the disk is in use"
    _done(cloud, http, "POST", f"{instance}/detachDisk?deviceName=data")
    _done(cloud, http, "DELETE", f"/compute/v1/{disk}")
    done = _done(cloud, http, "DELETE", instance)
    assert done["targetLink"].endswith(vm)
    assert cloud.get(vm) is None


def test_links_in_bodies_take_a_numeric_id(cloud, http, vm, template):
    source = f"zones/{ZONE}/instances/{_id(cloud, vm)}"
    _done(cloud, http, "POST", f"{BASE}/global/instanceTemplates", {"name": "copy", "sourceInstance": source})
    _done(cloud, http, "POST", f"{BASE}/global/machineImages?sourceInstance={source}", {"name": "golden"})
    order = {
        "count": "1",
        "namePattern": "w-#",
        "sourceInstanceTemplate": f"global/instanceTemplates/{_id(cloud, template)}",
    }
    _done(cloud, http, "POST", f"{BASE}/zones/{ZONE}/instances/bulkInsert", order)

    assert http.get(f"{BASE}/global/instanceTemplates/copy").json()["sourceInstance"].endswith(vm)
    assert http.get(f"{BASE}/global/machineImages/golden").json()["sourceInstance"].endswith(vm)
    assert http.get(f"{BASE}/zones/{ZONE}/instances/w-1").status_code == 200


def test_an_operation_is_read_by_its_numeric_id(cloud, http):
    made = _done(cloud, http, "POST", f"{BASE}/global/instanceTemplates", {"name": "web", "properties": properties()})
    read = http.get(f"{BASE}/global/operations/{made['id']}").json()

    assert (read["name"], read["status"]) == (made["name"], "DONE")
    assert http.post(f"{BASE}/global/operations/{made['id']}/wait").json()["name"] == made["name"]


def test_an_id_is_of_one_scope_alone(cloud, http, vm):
    number = _id(cloud, vm)

    assert http.get(f"{BASE}/zones/us-east1-c/instances/{number}").status_code == 404
    assert http.get(f"/compute/v1/projects/other/zones/{ZONE}/instances/{number}").status_code == 404
    assert http.get(f"{BASE}/zones/{ZONE}/disks/{number}").status_code == 404


def test_an_empty_text_for_an_enum_is_the_same_as_none(cloud, http):
    disk = {**properties()["disks"][0], "mode": "", "interface": "", "type": ""}
    nic = {"network": "default", "nicType": "", "accessConfigs": [{"type": "", "networkTier": ""}]}
    body = {
        "name": "web",
        "properties": {**properties(), "disks": [disk], "networkInterfaces": [nic], "keyRevocationActionType": ""},
    }
    _done(cloud, http, "POST", f"{BASE}/global/instanceTemplates?requestId=", body)
    made = http.get(f"/compute/beta/projects/{PROJECT}/global/instanceTemplates/web?view=").json()["properties"]

    assert (made["disks"][0]["mode"], made["disks"][0]["type"]) == ("READ_WRITE", "PERSISTENT")
    assert made["networkInterfaces"][0]["accessConfigs"][0]["type"] == "ONE_TO_ONE_NAT"
    assert "nicType" not in made["networkInterfaces"][0]
    assert "keyRevocationActionType" not in made


@pytest.mark.parametrize("topic", [TOPIC, f"//pubsub.googleapis.com/{TOPIC}"])
def test_a_notification_takes_a_topic_in_both_forms(http, topic):
    made = http.post(f"/storage/v1/b/{BUCKET}/notificationConfigs", json={"topic": topic, "payload_format": "NONE"})

    assert made.json()["topic"] == f"//pubsub.googleapis.com/{TOPIC}"
    assert (
        http.get(f"/storage/v1/b/{BUCKET}/notificationConfigs/1").json()["topic"] == f"//pubsub.googleapis.com/{TOPIC}"
    )


@pytest.mark.parametrize(
    "topic", ["uploads", f"{TOPIC}/", "projects/p/topics/x", "//pubsub.googleapis.com//projects/p/topics/abc"]
)
def test_a_malformed_topic_is_refused(http, topic):
    answer = http.post(f"/storage/v1/b/{BUCKET}/notificationConfigs", json={"topic": topic, "payload_format": "NONE"})

    assert (answer.status_code, "Invalid Google Cloud Pub/Sub topic name" in answer.text) == (400, True)


def test_a_notification_for_a_topic_that_does_not_exist_is_refused(cloud, http):
    options = ClientOptions(api_endpoint=f"http://{cloud.host}")
    bucket = storage.Client(PROJECT, AnonymousCredentials(), client_options=options).bucket(BUCKET)
    with pytest.raises(exceptions.Forbidden, match=f"{PROJECT}/topics/missing.*does not exist"):
        bucket.notification("missing", topic_project=PROJECT).create()
    http.delete(f"/v1/{TOPIC}").raise_for_status()
    with pytest.raises(exceptions.Forbidden, match="does not exist"):
        bucket.notification("uploads", topic_project=PROJECT).create()

    assert list(bucket.list_notifications()) == []


@pytest.mark.parametrize(
    ("place", "status"),
    [("regions/us-east1", 200), ("zones/us-east1-c", 200), ("regions/us-central1", 400), ("zones/us-central1-a", 400)],
)
def test_a_regional_template_serves_its_own_region_alone(http, template, place, status):
    order = {"count": "1", "namePattern": "w-#", "sourceInstanceTemplate": "regions/us-east1/instanceTemplates/web"}
    answer = http.post(f"{BASE}/{place}/instances/bulkInsert", json=order)

    assert answer.status_code == status
    assert status == 200 or "us-east1" in answer.json()["error"]["message"]


@pytest.mark.parametrize(("zone", "status"), [("us-east1-b", 200), ("us-central1-a", 400)])
def test_an_instance_is_made_from_a_template(cloud, http, template, zone, status):
    link = "regions/us-east1/instanceTemplates/web"
    answer = http.post(
        f"{BASE}/zones/{zone}/instances",
        params={"sourceInstanceTemplate": link},
        json={"name": "vm", "labels": {"a": "b"}},
    )

    assert answer.status_code == status
    made = cloud.get(f"projects/{PROJECT}/zones/{zone}/instances/vm") or {}
    assert (made.get("labels"), made.get("machineType", "").rpartition("/")[2]) == (
        ({"a": "b"}, "e2-small") if status == 200 else (None, "")
    )
