"""Requests are checked against the API's description."""

from __future__ import annotations

import pytest
from values.programs import PROJECT, ZONE, properties

BASE = f"/compute/v1/projects/{PROJECT}"
TEMPLATES = f"{BASE}/global/instanceTemplates"


def _error(response):
    return response.json()["error"]


@pytest.mark.parametrize(
    ("method", "path", "status", "words"),
    [
        ("GET", f"{BASE}/global/healthChecks", 501, "compute.healthChecks.list is not emulated"),
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
        ("GET", f"{TEMPLATES}?alt=xml", 400, "TYPE_ENUM"),
        ("GET", f"{TEMPLATES}?alt=media", 400, "compute.instanceTemplates.list has no media"),
        ("GET", f"{TEMPLATES}?$alt=proto", 501, "the form proto"),
        ("GET", f"{TEMPLATES}?prettyPrint=maybe", 400, "TYPE_BOOL"),
        ("GET", f"{TEMPLATES}?nothing=1", 400, 'Unknown name "nothing"'),
        ("GET", f"{TEMPLATES}?orderBy=id", 400, "orderBy"),
        ("GET", f"{TEMPLATES}?pageToken=x", 400, "pageToken"),
        ("GET", f"{TEMPLATES}?filter=name%20~%20x", 400, "at character 6"),
        ("GET", f"{BASE}/global/operations/none", 404, "was not found"),
        ("GET", "/storage/v1/b", 400, "Required parameter: project"),
        ("POST", "/storage/v1/b?project=p&predefinedAcl=none", 400, "TYPE_ENUM"),
    ],
)
def test_requests_that_fit_no_method_are_refused(http, cloud, method, path, status, words):
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
        ({"properties": {"canIpForward": "maybe"}}, "(TYPE_BOOL)"),
        ({"properties": {"canIpForward": 1}}, "(TYPE_BOOL)"),
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
        ({"name": "x", "properties": properties(disks=[{}, {"boot": True}])}, "Boot disk must be the first disk"),
        ({"name": "x", "sourceInstance": "zones/us-east1-b/instances/none"}, "was not found"),
        ([], "Root element must be a message"),
    ],
)
def test_bodies_that_do_not_fit_their_schema_are_refused(http, body, words):
    response = http.post(TEMPLATES, json=body)

    assert response.status_code == (404 if words == "was not found" else 400)
    assert words in _error(response)["message"]
    assert _error(response)["errors"][0]["reason"]


def test_output_only_fields_are_ignored_and_beta_fields_hidden_from_v1(http, cloud):
    beta = TEMPLATES.replace("/v1/", "/beta/")
    body = {"name": "web", "id": "7", "selfLink": "x", "properties": properties(displayDevice={"enableDisplay": True})}
    assert http.post(beta, json=body).json()["status"] == "RUNNING"
    cloud.emulator.operations.settle()
    stable, latest = http.get(f"{TEMPLATES}/web").json(), http.get(f"{beta}/web").json()

    assert stable["id"] != "7"
    assert "displayDevice" not in stable["properties"]
    assert latest["properties"]["displayDevice"] == {"enableDisplay": True}
    assert "/compute/beta/" in latest["selfLink"]


def _done(cloud, http, method, path, body=None):
    """Make a change, and let it take effect; return the operation."""
    answer = http.request(method, path, json=body)
    assert answer.status_code == 200, answer.text
    cloud.emulator.operations.settle()
    return answer.json()


@pytest.mark.parametrize(
    ("text", "meant"), [("true", True), ("True", True), ("1", True), ("false", False), ("no", False)]
)
def test_a_boolean_may_be_written_as_a_text(http, text, meant):
    answer = http.post(TEMPLATES, json={"name": "web", "properties": properties(canIpForward=text)})

    assert answer.status_code == 200, answer.text
    assert http.get(f"{TEMPLATES}/web").json()["properties"]["canIpForward"] is meant


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


@pytest.mark.parametrize("project", ["my%20project", "My-Project", "-x", "a_b"])
def test_a_malformed_project_is_refused(http, project):
    answer = http.get(f"/compute/v1/projects/{project}/regions")

    assert answer.status_code == 400
    assert "'project'" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("number", "status"), [("0", 200), ("500", 200), ("501", 400), ("-1", 400), ("1.5", 400), ("", 400)]
)
def test_pages_have_at_most_500_items(http, number, status):
    answer = http.get(f"{BASE}/zones/{ZONE}/disks", params={"maxResults": number})

    assert answer.status_code == status
    assert status == 200 or "'maxResults'" in answer.json()["error"]["message"]


def test_the_number_of_a_project_is_a_number(http):
    statuses = [
        http.get(f"{BASE}/aggregated/instances", params={"serviceProjectNumber": number}).status_code
        for number in ("123", "mine", "9223372036854775808")
    ]

    assert statuses == [200, 400, 400]


@pytest.mark.parametrize("query", ["", "?alt=json", "?$alt=json;enum-encoding=int", "?alt=json&prettyPrint=False"])
def test_responses_are_json_on_one_line_unless_the_request_asks_for_indentation(http, query):
    answer = http.get(f"{BASE}/regions{query}")

    assert (answer.status_code, answer.headers["Content-Type"].partition(";")[0], b"\n" in answer.content) == (
        200,
        "application/json",
        False,
    )


@pytest.mark.parametrize("name", ["prettyPrint", "$prettyPrint"])
def test_a_request_can_ask_for_indentation(http, name):
    answer = http.get(f"{BASE}/regions", params={name: "true"})

    assert answer.text.startswith('{\n  "kind": "compute#regionList"')
    assert answer.json() == http.get(f"{BASE}/regions").json()


def test_terraform_may_send_a_null_for_no_node_affinities(http):
    scheduling = {"provisioningModel": "SPOT", "instanceTerminationAction": "STOP", "nodeAffinities": [None]}
    made = {"name": "spot", "properties": properties(scheduling=scheduling)}

    assert http.post(TEMPLATES, json=made).status_code == 200
    kept = http.get(f"{TEMPLATES}/spot").json()["properties"]["scheduling"]
    assert (kept["provisioningModel"], kept.get("nodeAffinities", [])) == ("SPOT", [])
