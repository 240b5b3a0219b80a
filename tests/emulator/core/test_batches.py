"""Batches of requests, as Google's libraries send them and as they are documented."""

from __future__ import annotations

import json
from importlib import resources

import httplib2
import pytest
from engines.clock import HANGS
from google.api_core import exceptions
from googleapiclient import discovery
from servers.google_clients import storage_client
from values.programs import BUCKET, PROJECT, ZONE, properties

from gcpx_emulator.core.faults import Fault

DOCUMENTS = resources.files("googleapiclient") / "discovery_cache" / "documents"
INSTANCES = f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances"
HEADERS = {"Content-Type": "multipart/mixed; boundary=xyz"}


def _body(*requests, head="Content-Type: application/http"):
    parts = [f"--xyz\r\n{head}\r\nContent-ID: <item {n}>\r\n\r\n{item}\r\n" for n, item in enumerate(requests)]
    return "".join([*parts, "--xyz--"]).encode()


@pytest.fixture
def compute(cloud):
    """Compute of google-api-python-client, whose batches reach the emulator."""
    described = json.loads((DOCUMENTS / "compute.v1.json").read_text()) | {"rootUrl": f"http://{cloud.host}/"}
    http = httplib2.Http(timeout=HANGS)
    yield discovery.build_from_document(described, http=http)
    http.close()


def test_the_api_client_deletes_instances_in_one_batch(cloud, compute):
    cloud.make_instance()
    cloud.make_instance("second")
    answers = {}
    batch = compute.new_batch_http_request(lambda name, *answer: answers.update({name: answer}))
    for name in ("example-vm", "missing", "second"):
        batch.add(compute.instances().delete(project=PROJECT, zone=ZONE, instance=name), request_id=f"{name} ü+")
    batch.execute()

    assert [(name, answer and answer["operationType"]) for name, (answer, _) in answers.items()] == [
        ("example-vm ü+", "delete"), ("missing ü+", None), ("second ü+", "delete")
    ]  # fmt: skip
    assert answers["missing ü+"][1].status_code == 404
    assert compute.instances().list(project=PROJECT, zone=ZONE).execute().get("items", []) == []


def test_a_batch_inserts_with_bodies(compute):
    answers = []
    batch = compute.new_batch_http_request(lambda *answer: answers.append(answer))
    for name in ("one", "two"):
        body = {"name": name, "description": "ü\n\nb", "properties": properties()}
        batch.add(compute.instanceTemplates().insert(project=PROJECT, body=body))
    batch.execute()

    assert [(name, problem) for name, _, problem in answers] == [("1", None), ("2", None)]
    made = compute.instanceTemplates().list(project=PROJECT).execute()["items"]
    assert [(item["name"], item["description"]) for item in made] == [("one", "ü\n\nb"), ("two", "ü\n\nb")]


def test_the_storage_client_changes_and_deletes_objects_in_a_batch(cloud):
    client = storage_client(cloud)
    bucket = client.bucket(BUCKET)
    blobs = [bucket.blob(f"a/{name} ü") for name in range(3)]
    for blob in blobs:
        blob.upload_from_string("x")
    with client.batch():
        for blob in blobs:
            blob.metadata = {"seen": "yes"}
            blob.patch()
    assert [blob.metadata for blob in bucket.list_blobs()] == [{"seen": "yes"}] * 3

    with pytest.raises(exceptions.NotFound), client.batch():
        bucket.delete_blobs([*blobs, "missing"])
    assert list(bucket.list_blobs()) == []


def test_a_batch_of_all_apis_is_answered_in_the_documented_form(http):
    answer = http.post(
        "/batch", content=_body(f"GET {INSTANCES}", f"GET /b/{BUCKET} HTTP/1.1\r\n\r\n"), headers=HEADERS
    )
    first, second = answer.text.split(f"--{answer.headers['content-type'].partition('=')[2]}")[1:3]

    assert first.startswith(
        "\r\nContent-Type: application/http\r\nContent-ID: <response-item 0>\r\n\r\nHTTP/1.1 200 OK\r\n"
    )
    assert json.loads(first.partition("\r\n\r\n")[2].partition("\r\n\r\n")[2])["kind"] == "compute#instanceList"
    assert "HTTP/1.1 404 Not Found\r\n" in second


def test_the_parts_have_the_headers_of_the_batch_and_are_logged_alone(http, cloud):
    own = "User-Agent: part\r\nX-Goog-Request-Reason: mine"
    headers = {**HEADERS, "User-Agent": "whole", "X-Goog-User-Project": "payer"}
    http.post("/batch/compute/v1", content=_body(f"GET {INSTANCES} HTTP/1.1\r\n{own}\r\n\r\n"), headers=headers)
    whole, part = cloud.emulator.requests.kept

    assert (whole["method"], whole["path"], whole["status"]) == ("", "/batch/compute/v1", 200)
    assert (part["method"], part["path"], part["status"]) == ("compute.instances.list", INSTANCES, 200)
    assert part["headers"] == {
        "user-agent": "part", "x-goog-request-reason": "mine", "x-goog-user-project": "payer"
    }  # fmt: skip


def test_a_fault_of_a_method_meets_a_part(http, cloud):
    cloud.emulator.faults.queue.append(Fault(method="compute.instances.list", status=503))
    answer = http.post("/batch", content=_body(*[f"GET {INSTANCES}"] * 2), headers=HEADERS)

    assert [line for line in answer.text.splitlines() if line.startswith("HTTP/1.1")] == [
        "HTTP/1.1 503 Service Unavailable", "HTTP/1.1 200 OK"
    ]  # fmt: skip


@pytest.mark.parametrize(("content_id", "status"), [("<item 0>", 499), ("<item €>", 503)])
def test_parts_are_answered_whatever_their_status_and_content_id_are(http, cloud, content_id, status):
    cloud.emulator.faults.queue.append(Fault(method="compute.instances.list", status=status))
    body = _body(f"GET {INSTANCES}").replace(b"<item 0>", content_id.encode())
    answer = http.post("/batch", content=body, headers=HEADERS)

    assert answer.status_code == 200
    assert f"HTTP/1.1 {status}" in answer.text


@pytest.mark.parametrize(("path", "parts", "head", "says"), [
    ("/batch/storage/v1", [f"GET {INSTANCES}"], "Content-Type: application/http", "only requests to /storage/v1/"),
    ("/batch/storage/v1", ["GET /storage/v1/b?project=p"] * 101, "Content-Type: application/http", "at most 100 requests"),
    ("/batch", [f"GET {INSTANCES}"] * 1001, "Content-Type: application/http", "at most 1,000 requests, not 1,001"),
    ("/batch", ["POST /batch HTTP/1.1\r\n\r\n{}"], "Content-Type: application/http", "no batches"),
    ("/batch", ["POST /upload/storage/v1/b/b/o?uploadType=media"], "Content-Type: application/http", "no media"),
    ("/batch", ["GET /storage/v1/b/b/o/o?alt=media"], "Content-Type: application/http", "no media"),
    ("/batch", [f"GET {INSTANCES}"], "Content-Type: text/plain", "part <item 0> of the batch must be application/http"),
    ("/batch", ["get"], "Content-Type: application/http", "must begin like"),
    ("/batch", ["GET //[/compute"], "Content-Type: application/http", "part <item 0> of the batch has a malformed URL"),
    ("/batch", [], "Content-Type: application/http", "must be multipart/mixed"),
])  # fmt: skip
def test_a_batch_that_google_does_not_take_is_refused_as_a_whole(http, path, parts, head, says):
    answer = http.post(path, content=_body(*parts, head=head), headers=HEADERS)

    assert (answer.status_code, says in answer.json()["error"]["message"]) == (400, True), answer.text


def test_a_batch_without_multipart_is_refused(http):
    assert http.post("/batch/compute/v1", json={}).status_code == 400
