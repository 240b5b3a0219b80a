"""Operations: their progress, their request IDs, and what they keep others from."""

from __future__ import annotations

import pytest
from engines.clock import HOUR
from google.api_core import exceptions
from google.cloud import compute_v1
from servers.google_clients import connect, insert_instance, insert_template, instance_properties
from values.programs import PROJECT, ZONE, properties

BASE = f"/compute/v1/projects/{PROJECT}"
TEMPLATES = f"{BASE}/global/instanceTemplates"


@pytest.fixture
def templates(cloud):
    return connect(compute_v1.InstanceTemplatesClient, cloud)


def test_an_operation_takes_its_time_and_wait_waits(http, cloud):
    cloud.emulator.operations.latency = 100.0
    made = http.post(TEMPLATES, json={"name": "web", "properties": properties()}).json()
    path = f"{BASE}/global/operations/{made['name']}"
    cloud.clock.advance(60)
    running = http.get(path).json()
    missing = http.get(f"{TEMPLATES}/web").status_code
    done = http.post(f"{path}/wait").json()

    assert (made["status"], running["status"], done["status"]) == ("RUNNING", "RUNNING", "DONE")
    assert running["progress"] == 60
    assert missing == 404
    assert http.get(f"{TEMPLATES}/web").json()["id"] == done["targetId"]


def test_wait_answers_after_two_minutes_if_the_operation_has_not_ended(http, cloud):
    cloud.emulator.operations.latency = 300.0
    made = http.post(TEMPLATES, json={"name": "web", "properties": properties()}).json()
    begun, moments = cloud.clock.now(), []
    for _ in range(3):
        shown = http.post(f"{BASE}/global/operations/{made['name']}/wait").json()
        moments.append((round(cloud.clock.now() - begun), shown["status"]))

    assert moments == [(120, "RUNNING"), (240, "RUNNING"), (300, "DONE")]


def test_operations_are_read_waited_for_and_listed(templates, cloud):
    cloud.emulator.operations.latency = 100.0
    operations = connect(compute_v1.GlobalOperationsClient, cloud)
    name = insert_template(templates, "web").name
    early = operations.get(project=PROJECT, operation=name)
    done = operations.wait(project=PROJECT, operation=name)

    assert early.status in {compute_v1.Operation.Status.PENDING, compute_v1.Operation.Status.RUNNING}
    assert (done.status, done.progress) == (compute_v1.Operation.Status.DONE, 100)
    assert name in [item.name for item in operations.list(project=PROJECT)]


def test_a_failed_operation_is_raised_by_the_client(templates, cloud):
    cloud.fail(
        "compute.instanceTemplates.insert", operation={"errors": [{"code": "QUOTA_EXCEEDED", "message": "no quota"}]}
    )
    with pytest.raises(exceptions.GoogleAPICallError, match="no quota"):
        insert_template(templates, "web").result()


def test_a_name_is_in_use_as_soon_as_its_creation_starts(http, cloud):
    cloud.emulator.operations.latency = 5
    body = {"name": "web", "properties": properties()}

    assert [http.post(TEMPLATES, json=body).status_code for _ in range(2)] == [200, 409]


def test_a_change_waits_for_the_one_before_it(cloud):
    instances = insert_instance(cloud)
    cloud.hold_operations()
    where = {"project": PROJECT, "zone": ZONE, "instance": "vm"}
    tags = compute_v1.Tags(items=["web"], fingerprint=instances.get(**where).tags.fingerprint)
    first = instances.set_tags(**where, tags_resource=tags)
    with pytest.raises(exceptions.BadRequest, match="is not ready"):
        instances.delete(**where)
    cloud.clock.advance(HOUR)
    first.result()
    instances.delete(**where)
    assert instances.get(**where).status == "STOPPING"


@pytest.mark.parametrize("collection", ["global/instanceTemplates", "global/images", "zones/us-east1-b/disks"])
def test_what_is_being_deleted_is_not_deleted_again(http, cloud, collection):
    source = {"properties": properties(), "rawDisk": {"source": "gs://b/o"}, "sizeGb": "10"}
    fields = {"instanceTemplates": "properties", "images": "rawDisk", "disks": "sizeGb"}
    field = fields[collection.rpartition("/")[2]]
    cloud.post(f"{BASE}/{collection}", {"name": "web", field: source[field]})
    cloud.hold_operations()
    answers = [http.delete(f"{BASE}/{collection}/web") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 400]
    assert "is not ready" in answers[1].json()["error"]["message"]


def test_one_request_id_makes_one_template(templates):
    template = compute_v1.InstanceTemplate(name="web", properties=instance_properties())
    request = compute_v1.InsertInstanceTemplateRequest(
        project=PROJECT, instance_template_resource=template, request_id="3f1c6d0e-93c9-4b50-9d8f-0a5a3a0b1c2d"
    )
    first, second = templates.insert(request=request), templates.insert(request=request)

    assert first.name == second.name
    request.request_id = "00000000-0000-0000-0000-000000000000"
    with pytest.raises(exceptions.BadRequest, match="requestId"):
        templates.insert(request=request)


def test_one_request_id_makes_one_deletion(http, cloud):
    disks, query = f"{BASE}/zones/{ZONE}/disks", {"requestId": "3f1c6d0e-93c9-4b50-9d8f-0a5a3a0b1c2d"}
    http.post(disks, json={"name": "data"})
    cloud.emulator.operations.settle()
    first = http.delete(f"{disks}/data", params=query).json()
    cloud.emulator.operations.settle()
    http.post(disks, json={"name": "data"})
    cloud.emulator.operations.settle()
    second = http.delete(f"{disks}/data", params=query)
    cloud.emulator.operations.settle()

    assert (second.status_code, second.json()["name"]) == (200, first["name"])
    assert http.get(f"{disks}/data").status_code == 200, "the one that was created after the deletion"


@pytest.mark.parametrize(
    ("request_id", "status"),
    [
        ("6f1b3b1e-4a0e-4d43-9a0b-0c6f2f1d9a11", 200),
        ("00000000-0000-0000-0000-000000000000", 400),
        ("6f1b3b1e-4a0e-4d43-9a0b-0c6f2f1d9a1", 400),
        ("again", 400),
    ],
)
def test_a_request_id_is_a_uuid_and_not_all_zero(http, request_id, status):
    url = f"{BASE}/zones/{ZONE}/disks"
    answer = http.post(url, params={"requestId": request_id}, json={"name": "data"})

    assert answer.status_code == status
    assert status == 200 or "'requestId'" in answer.json()["error"]["message"]


def test_many_operations_follow_each_other(cloud, http):
    answers = [http.post(TEMPLATES, json={"name": f"t-{number}", "properties": properties()}) for number in range(50)]

    assert {answer.status_code for answer in answers} == {200}
    cloud.emulator.operations.settle()
    assert cloud.emulator.store.counts()["instanceTemplates"] == 50
