"""The emulator refuses what Google would refuse, and does what a test orders."""

from __future__ import annotations

import socket
import subprocess
import sys

import httpx
import pytest
from programs import BUCKET, PROJECT, properties
from steered import HANGS
from workspace import emulator

BASE = f"/compute/v1/projects/{PROJECT}"
TEMPLATES = f"{BASE}/global/instanceTemplates"


@pytest.fixture
def http(cloud):
    with httpx.Client(base_url=f"http://{cloud.host}", trust_env=False, timeout=HANGS) as client:
        yield client


def _error(response):
    return response.json()["error"]


@pytest.mark.parametrize(
    ("method", "path", "status", "words"),
    [
        ("GET", f"{BASE}/global/firewalls", 501, "compute.firewalls.list is not emulated"),
        ("GET", f"{BASE}/nothing", 404, "is not a path of any API"),
        ("GET", "/compute/v2/projects/p/regions", 404, "is not a path of any API"),
        ("PUT", TEMPLATES, 405, "PUT is not allowed"),
        ("GET", f"{BASE}/regions/a%0Ab", 404, "is not a call of any API"),
        ("OPTIONS", TEMPLATES, 405, "is not a call of any API"),
        ("GET", f"{TEMPLATES}?maxResults=501", 400, "within the range: [0, 500]"),
        ("GET", f"{TEMPLATES}?maxResults=x", 400, "within the range"),
        ("GET", f"{TEMPLATES}?maxResults=%201", 400, "within the range"),
        ("GET", f"{TEMPLATES}?maxResults=1_0", 400, "within the range"),
        ("GET", f"{TEMPLATES}?maxResults=%D9%A1", 400, "within the range"),
        ("GET", f"{TEMPLATES}?returnPartialSuccess=maybe", 400, "TYPE_BOOL"),
        ("GET", f"{TEMPLATES}?nothing=1", 400, 'Unknown name "nothing"'),
        ("GET", f"{TEMPLATES}?orderBy=id", 400, "orderBy"),
        ("GET", f"{TEMPLATES}?pageToken=x", 400, "pageToken"),
        ("GET", f"{TEMPLATES}?filter=name%20~%20x", 400, "at character 6"),
        ("GET", f"{BASE}/global/operations/none", 404, "was not found"),
        ("GET", "/storage/v1/b", 400, "Required parameter: project"),
        ("POST", "/storage/v1/b?project=p&predefinedAcl=none", 400, "TYPE_ENUM"),
    ],
)
def test_what_is_no_call_is_refused(http, cloud, method, path, status, words):
    cloud.emulator.store.put(
        f"projects/{PROJECT}/global/instanceTemplates/a",
        {"name": "a", "kind": "compute#instanceTemplate", "selfLink": "x"},
    )
    response = http.request(method, path)

    assert response.status_code == _error(response)["code"] == status
    assert words in _error(response)["message"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"nmae": "x"}, 'Unknown name "nmae": Cannot find field.'),
        ({"properties": {"disks": [{"mode": "x"}]}}, "Invalid value at 'properties.disks[0].mode' (TYPE_ENUM)"),
        ({"properties": {"canIpForward": "yes"}}, "(TYPE_BOOL)"),
        ({"properties": {"disks": {}}}, "a list is expected"),
        ({"properties": []}, "an object is expected"),
        ({"properties": {"disks": [None]}}, "Invalid value at 'properties.disks[0]': null is not allowed in a list"),
        ({"properties": {"disks": [{"diskSizeGb": "ten"}]}}, "(TYPE_INT64)"),
        ({"properties": {"disks": [{"diskSizeGb": "1_0"}]}}, "(TYPE_INT64)"),
        ({"properties": {"disks": [{"diskSizeGb": " 10"}]}}, "(TYPE_INT64)"),
        ({"properties": {"networkInterfaces": [{"queueCount": 1.5}]}}, "(TYPE_INT32)"),
        ({"properties": {"machineType": 1}}, "(TYPE_STRING)"),
        ({"properties": {"tags": {"fingerprint": "!"}}}, "(TYPE_BYTES)"),
        ({"properties": {"displayDevice": {}}}, "Unknown name \"displayDevice\" at 'properties'"),
        ({"name": "x", "properties": {}}, "resource.properties"),
        ({"name": "x", "properties": {**properties(), "machineType": "zones/z/machineTypes/m"}}, "must be a name"),
        ({"name": "x", "properties": properties(disks=[{"boot": True}])}, "initializeParams.sourceImage"),
        ({"name": "x", "properties": properties(disks=[{}, {"boot": True}])}, "Only the first disk"),
        ({"name": "x", "sourceInstance": "zones/us-east1-b/instances/none"}, "was not found"),
        ([], "Root element must be a message"),
    ],
)
def test_what_is_no_template_is_refused(http, body, words):
    response = http.post(TEMPLATES, json=body)

    assert response.status_code == (404 if words == "was not found" else 400)
    assert words in _error(response)["message"]
    assert _error(response)["errors"][0]["reason"]


def test_output_only_fields_are_ignored_and_beta_fields_hidden_from_v1(http, cloud):
    beta = TEMPLATES.replace("/v1/", "/beta/")
    body = {"name": "web", "id": "7", "selfLink": "x", "properties": properties(displayDevice={"enableDisplay": True})}
    assert http.post(beta, json=body).json()["status"] == "PENDING"
    cloud.emulator.operations.settle()
    stable, latest = http.get(f"{TEMPLATES}/web").json(), http.get(f"{beta}/web").json()

    assert stable["id"] != "7"
    assert "displayDevice" not in stable["properties"]
    assert latest["properties"]["displayDevice"] == {"enableDisplay": True}
    assert "/compute/beta/" in latest["selfLink"]


def test_an_operation_takes_its_time_and_wait_waits(http, cloud):
    cloud.emulator.operations.latency = 100.0
    made = http.post(TEMPLATES, json={"name": "web", "properties": properties()}).json()
    path = f"{BASE}/global/operations/{made['name']}"
    cloud.clock.advance(60)
    running = http.get(path).json()
    missing = http.get(f"{TEMPLATES}/web").status_code
    done = http.post(f"{path}/wait").json()

    assert (made["status"], running["status"], done["status"]) == ("PENDING", "RUNNING", "DONE")
    assert running["progress"] == 60
    assert missing == 404
    assert http.get(f"{TEMPLATES}/web").json()["id"] == done["targetId"]


def test_a_name_is_taken_from_the_moment_it_is_asked_for(http, cloud):
    cloud.emulator.operations.latency = 5
    body = {"name": "web", "properties": properties()}

    assert [http.post(TEMPLATES, json=body).status_code for _ in range(2)] == [200, 409]


def test_answers_are_cut_to_the_fields_asked_for(http):
    answer = http.get(f"{BASE}/regions?fields=items(name,quotas/metric),kind").json()

    assert set(answer) == {"items", "kind"}
    assert set(answer["items"][0]) == {"name", "quotas"}
    assert set(answer["items"][0]["quotas"][0]) == {"metric"}
    assert http.get(f"{BASE}/regions?fields=items(").status_code == 400
    assert http.get(f"{BASE}/regions?fields=)").status_code == 400


@pytest.mark.parametrize(
    ("filter_", "names"),
    [('name = "a"', ["a"]), ("name!=a", ["b"]), ("name eq [ab]", ["a", "b"]), ("name ne a.*", ["b"]),
     ("(properties.canIpForward = true)", ["b"]), ('(name = "a") AND (properties.machineType = "e2-small")', ["a"])],
)  # fmt: skip
def test_lists_are_filtered(http, cloud, filter_, names):
    for name in "ab":
        http.post(TEMPLATES, json={"name": name, "properties": properties(canIpForward=name == "b")})
    cloud.emulator.operations.settle()

    assert [item["name"] for item in http.get(TEMPLATES, params={"filter": filter_}).json()["items"]] == names


def test_faults_are_ordered_over_http(http):
    order = {"method": "compute.regions.list", "status": 503, "retry_after": 7, "times": 2}
    assert http.post("/_emulator/faults", json=order).json()[0]["times"] == 2
    first, second, third = (http.get(f"{BASE}/regions") for _ in range(3))

    assert [first.status_code, second.status_code, third.status_code] == [503, 503, 200]
    assert first.headers["Retry-After"] == "7"
    assert http.post("/_emulator/faults", json={"method": "x", "what": 1}).status_code == 400
    http.post("/_emulator/faults", json=order)
    assert http.delete("/_emulator/faults").json() == []


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_dropped_connection_ends_in_the_middle(http, cloud, when):
    http.post("/_emulator/faults", json={"method": "storage.buckets.insert", "drop": when})
    with pytest.raises(httpx.RemoteProtocolError):
        http.post("/storage/v1/b?project=p", json={"name": "made-or-not"})

    assert (cloud.get("b/made-or-not") is not None) == (when == "after")


def test_requests_are_kept_and_forgotten(http):
    http.get(f"{BASE}/regions", headers={"Authorization": "Bearer hunter2", "X-Goog-Request-Reason": "why"})
    kept = http.get("/_emulator/requests")

    assert kept.json()[0]["method"] == "compute.regions.list"
    assert (kept.json()[0]["status"], kept.json()[0]["authorized"]) == (200, True)
    assert kept.json()[0]["headers"]["x-goog-request-reason"] == "why"
    assert "hunter2" not in kept.text
    http.delete("/_emulator/requests")
    assert http.get("/_emulator/requests").json() == []


def test_resources_are_changed_behind_the_apis_back(http):
    path = f"/_emulator/resources/b/{BUCKET}"

    assert http.patch(path, json={"location": "EU", "id": None}).json()["location"] == "EU"
    assert "id" not in http.get(f"/storage/v1/b/{BUCKET}").json()
    http.delete(path)
    assert http.get(path).status_code == 404
    http.post("/storage/v1/b?project=p", json={"name": "another-one"})
    http.post("/_emulator/reset")
    assert http.get("/storage/v1/b/another-one").status_code == 404


@pytest.mark.parametrize("kind", ["text/plain\nX-Other: 1", "t\u20acxt/plain"])
def test_a_content_type_is_what_a_header_can_hold(http, kind):
    path = f"/storage/v1/b/{BUCKET}/o"
    http.post(f"/upload{path}?uploadType=media&name=one", content=b"eins", headers={"Content-Type": "text/plain"})
    answer = http.patch(f"{path}/one", json={"contentType": kind})

    assert answer.status_code == 400
    assert "contentType" in _error(answer)["message"]
    assert http.get(f"{path}/one?alt=media").text == "eins"


def test_the_page_shows_what_there_is(http):
    http.get(f"{BASE}/regions/<script>")
    page = http.get("/")

    assert page.headers["content-type"].startswith("text/html")
    for words in ("<b>1</b>buckets", "compute.instanceTemplates", "compute.regions.get"):
        assert words in page.text
    assert "<script>" not in page.text


def test_the_command_says_where_it_listens_and_keeps_its_data(tmp_path):
    file = str(tmp_path / "data.sqlite")
    with emulator("--data", file) as host:
        assert (
            httpx.post(
                f"http://{host}/storage/v1/b?project=p", json={"name": "kept-bucket"}, trust_env=False, timeout=HANGS
            ).status_code
            == 200
        )
    with emulator("--data", file) as host:
        assert httpx.get(f"http://{host}/storage/v1/b/kept-bucket", trust_env=False, timeout=HANGS).status_code == 200


def _publish_for(host, url):
    """Publish a message for an endpoint; gives what became of the first attempt to push it."""
    topic = f"projects/{PROJECT}/topics/uploads"
    with httpx.Client(base_url=f"http://{host}", trust_env=False, timeout=HANGS) as client:
        client.put(f"/v1/{topic}", json={})
        body = {"topic": topic, "pushConfig": {"pushEndpoint": url}}
        client.put(f"/v1/projects/{PROJECT}/subscriptions/worker", json=body)
        client.post(f"/v1/{topic}:publish", json={"messages": [{"data": "eA=="}]})
        return client.get("/_emulator/deliveries?atLeast=1").json()[0]["error"]


def test_what_waited_when_the_emulator_stopped_is_pushed_after_the_next_start(tmp_path):
    with socket.socket() as receiver:
        receiver.bind(("127.0.0.1", 0))
        with emulator("--data", str(tmp_path / "data")) as host:
            url = f"http://127.0.0.1:{receiver.getsockname()[1]}/push"
            assert _publish_for(host, url) == "ConnectionRefusedError"
        receiver.listen()
        receiver.settimeout(HANGS)
        with emulator("--data", str(tmp_path / "data")), receiver.accept()[0] as connection:
            assert connection.recv(5) == b"POST "


def test_a_port_that_is_taken_is_named():
    with emulator() as host:
        command = [sys.executable, "-m", "gcpx_emulator", "--port", host.rpartition(":")[2]]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANGS)

    assert done.returncode == 1
    assert "cannot be opened" in done.stderr
    assert "--port" in done.stderr


def test_many_templates_are_made_in_a_row(cloud):
    with httpx.Client(base_url=f"http://{cloud.host}", trust_env=False, timeout=HANGS) as client:
        answers = [
            client.post(TEMPLATES, json={"name": f"t-{number}", "properties": properties()}) for number in range(50)
        ]

    assert {answer.status_code for answer in answers} == {200}
    cloud.emulator.operations.settle()
    assert cloud.emulator.store.counts()["instanceTemplates"] == 50
