"""Requests to `/_emulator`: valid ones take effect; others are refused in Google's format, with what is accepted."""

from __future__ import annotations

import json

import pytest
from values.programs import BUCKET, PROJECT

BUCKET_PATH = f"resources/b/{BUCKET}"
METHOD = "compute.regions.list"
ERROR = {"code": "QUOTA_EXCEEDED", "message": "too many"}


def _operation(**info):
    return {"method": METHOD, "operation": {"errors": [ERROR | {"errorDetails": [{"errorInfo": info}]}]}}


def _send(http, path, **content):
    return http.request("PATCH" if path == BUCKET_PATH else "POST", f"/_emulator/{path}", **content)


ACCEPTED = [
    ("limits", {}),
    ("limits", {"zones": {"us-east1-b": 0}, "instances": {"us-east1": 3}}),
    ("limits", {"machineTypes": {"us-east1-b": {"n2-standard-4": 3}}, "addresses": {"us-east1": 20}}),
    ("limits", {"provisioningModels": {"us-east1-b": {"SPOT": 0}}, "plainErrors": True, "quotaAtRequest": False}),
    ("advice", {"obtainability": 0.25, "estimatedUptime": "600s"}),
    ("rates", {"perSecond": 20, "burst": 40}),
    ("rates", {"perSecond": {"heavyWeightReads": 0.5, "mutations": 20}}),
    (
        "outages",
        {
            "scopes": ["global", "zones/us-east1-b"],
            "alwaysPartial": True,
            "quotas": ["us-east1"],
            "requireBasicQuota": True,
        },
    ),
    ("tokens", {"email": "a@example.com", "audience": "me", "claims": {"any": ["claim"]}, "iap": False}),
    ("tokens", {}),
    ("guest-attributes", {"onBoot": {"web/ready": "yes"}, "only": "web-*"}),
    ("clock", {"advance": 3600}),
    ("keys/rotate", {}),
    ("reset", {}),
    (
        "faults",
        {"method": METHOD, "name": "mine", "times": 1, "status": 503, "reason": "r", "message": "m", "retry_after": 0},
    ),
    ("faults", {"method": "*", "drop": "after", "delay": 0.0, "body": "{", "status": None}),
    ("faults", {"method": METHOD, "operation": {"errors": [ERROR], "httpErrorStatusCode": 403}}),
    ("faults", _operation(reason="R" * 63, metadatas={"k" * 64: "v"})),
    (BUCKET_PATH, {"location": "EU"}),
]


@pytest.mark.parametrize(("path", "body"), ACCEPTED)
def test_valid_control_requests_are_accepted(http, path, body):
    answer = _send(http, path, content=json.dumps(body))

    assert answer.status_code == 200, answer.text
    if path in {"limits", "outages"}:
        assert answer.json() == body


REFUSED = [
    ("limits", {"regions": {}}, "has unknown keys: regions. It may have addresses, instances, machineTypes,"),
    (
        "limits",
        {"zones": {"us-east1-b": "1"}},
        "'zones' must be whole numbers by zone (such as africa-south1-a and africa-south1-b",
    ),
    ("limits", {"zones": {"us-east1-b": -1}}, "'zones'"),
    ("limits", {"zones": {"us-east1-b": True}}, "'zones'"),
    ("limits", {"zones": {"zones/us-east1-b": 1}}, "'zones'"),
    (
        "limits",
        {"instances": {"us-est1": 1}},
        "'instances' must be whole numbers by region (such as africa-south1 and asia-east1",
    ),
    ("limits", {"instances": 3}, "'instances'"),
    (
        "limits",
        {"machineTypes": {"us-east1-b": 3}},
        "'machineTypes' must be whole numbers by zone (such as africa-south1-a and africa-south1-b",
    ),
    ("limits", {"machineTypes": {"us-east1": {"e2-small": 3}}}, "'machineTypes'"),
    ("limits", {"machineTypes": {"us-east1-b": {"e2-small": -1}}}, "'machineTypes'"),
    (
        "limits",
        {"provisioningModels": {"us-east1-b": {"CHEAP": 3}}},
        "provisioning model (FLEX_START, RESERVATION_BOUND,",
    ),
    ("limits", {"plainErrors": 1}, "'plainErrors' must be true or false."),
    ("limits", [], "must be a JSON object, not a list."),
    ("limits", None, "must be a JSON object, not null."),
    ("advice", {"obtainability": 1.5}, "'obtainability' must be a number from 0 to 1."),
    ("advice", {"estimatedUptime": 600}, "'estimatedUptime' must be a duration, such as 3600s."),
    (
        "rates",
        {"perSecond": 0},
        "'perSecond' must be a positive number, or positive numbers by group (heavyWeightReads,",
    ),
    ("rates", {"perSecond": {"writes": 1}}, "'perSecond'"),
    ("rates", {"burst": 0}, "'burst' must be a whole number of at least 1."),
    (
        "outages",
        {"scope": ["global"]},
        "has unknown keys: scope. It may have alwaysPartial, quotas, requireBasicQuota, scopes.",
    ),
    ("outages", {"scopes": "global"}, "'scopes' must be a list of scopes (such as global and regions"),
    ("outages", {"scopes": ["us-east1-b"]}, "'scopes'"),
    ("outages", {"scopes": [["global"]]}, "'scopes'"),
    ("outages", {"quotas": ["zones/us-east1-b"]}, "'quotas' must be a list of regions"),
    ("outages", {"requireBasicQuota": "yes"}, "'requireBasicQuota' must be true or false."),
    ("tokens", {"mail": "a@example.com"}, "has unknown keys: mail. It may have audience, claims, email, iap."),
    ("tokens", {"email": 1}, "'email' must be a string."),
    ("tokens", {"claims": ["iss"]}, "'claims' must be an object."),
    ("tokens", {"iap": "true"}, "'iap' must be true or false."),
    ("clock", {"advance": -1}, "'advance' must be a number of seconds, at most 1000000000."),
    ("clock", {"to": "noon"}, "has unknown keys: to. It may have advance."),
    ("keys/rotate", {"now": True}, "has unknown keys: now. It must be empty."),
    ("reset", {"all": True}, "has unknown keys: all. It must be empty."),
    ("faults", {"method": METHOD, "what": 1}, "has unknown keys: what. It may have body, delay,"),
    ("faults", {"status": 503}, "must have a method."),
    ("faults", {"method": METHOD, "reason": "quotaExceeded"}, "does nothing without one of status, drop, delay,"),
    ("faults", {"method": ""}, "'method' must be a method's ID, or * for any."),
    ("faults", {"method": METHOD, "times": "3"}, "'times' must be a whole number of at least 1."),
    ("faults", {"method": METHOD, "times": 0}, "'times'"),
    ("faults", {"method": METHOD, "status": "503"}, "'status' must be an HTTP status"),
    ("faults", {"method": METHOD, "status": 600}, "'status'"),
    ("faults", {"method": METHOD, "retry_after": -1}, "'retry_after'"),
    ("faults", {"method": METHOD, "drop": "between"}, "'drop' must be before or after."),
    ("faults", {"method": METHOD, "delay": "1"}, "'delay' must be a number of seconds, at most 3600."),
    ("faults", {"method": METHOD, "delay": 3601}, "'delay' must be a number of seconds, at most 3600."),
    (
        "faults",
        {"method": "compute.region.list"},
        "compute.region.list is not a method that is emulated; did you mean compute.regions.list or ",
    ),
    ("faults", {"method": "xyz"}, "xyz is not a method that is emulated; a method is named like"),
    (
        "faults",
        {"method": METHOD, "operation": {"error": []}},
        "'operation' must be an error's code, or an operation's result",
    ),
    ("faults", {"method": METHOD, "operation": {"errors": [{"message": "no code"}]}}, "'operation'"),
    ("faults", {"method": METHOD, "operation": {"errors": [ERROR], "httpErrorStatusCode": "403"}}, "'operation'"),
    ("faults", {"method": METHOD, "operation": {"errors": [ERROR], "httpErrorMessage": 1}}, "'operation'"),
    ("faults", {"method": METHOD, "operation": {"errors": [{"code": "A", "message": 1}]}}, "'operation'"),
    ("faults", _operation(reason="R" * 64), "'operation'"),
    ("faults", _operation(metadatas={"k" * 65: "v"}), "'operation'"),
    (BUCKET_PATH, ["location"], "must be a JSON object, not a list."),
]


@pytest.mark.parametrize(("path", "body", "words"), REFUSED)
def test_invalid_control_requests_are_refused_and_change_nothing(cloud, http, path, body, words):
    before, keys = dict(cloud.emulator.store.counts()), cloud.emulator.signer.certificates()
    answer = _send(http, path, content=json.dumps(body))
    error = answer.json()["error"]

    assert (answer.status_code, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT")
    assert error["errors"][0]["reason"] == "invalid"
    assert words in error["message"]
    assert cloud.emulator.store.counts() == before
    assert cloud.emulator.faults.queue == []
    assert cloud.emulator.signer.certificates() == keys


NAMES = [
    "clock", "faults", "guest-attributes", "guest-terminate", "host-error", "keys/rotate", "limits", "outages", "preempt", "reset",
    "tokens", BUCKET_PATH,
]  # fmt: skip


@pytest.mark.parametrize("path", NAMES)
@pytest.mark.parametrize("content", [
    b"{", b"\xff", b"[" * 100_000, b"[" * 500 + b"]" * 500, b'{"a": ' * 500 + b"1" + b"}" * 500,
    b'{"\\ud800": 1}', b'{"email": "\\udc00"}', b'{"delay": NaN}', b'{"delay": 1e999}',
])  # fmt: skip
def test_control_requests_that_are_not_json_are_refused(http, path, content):
    answer = _send(http, path, content=content)

    assert (answer.status_code, answer.json()["error"]["errors"][0]["reason"]) == (400, "parseError")
    assert "must be JSON: " in answer.json()["error"]["message"]


def test_control_requests_may_have_no_body(http):
    assert [_send(http, path).status_code for path in ("keys/rotate", "reset", "tokens")] == [200, 200, 200]


def test_requests_are_logged_and_can_be_removed(http):
    headers = {"Authorization": "Bearer hunter2", "X-Goog-Request-Reason": "why"}
    http.get(f"/compute/v1/projects/{PROJECT}/regions", headers=headers)
    kept = http.get("/_emulator/requests")

    assert kept.json()[0]["method"] == "compute.regions.list"
    assert (kept.json()[0]["status"], kept.json()[0]["authorized"]) == (200, True)
    assert kept.json()[0]["headers"]["x-goog-request-reason"] == "why"
    assert "hunter2" not in kept.text
    http.delete("/_emulator/requests")
    assert http.get("/_emulator/requests").json() == []


def test_calls_and_bytes_are_added_up_by_method(http):
    topic = {"labels": {"team": "web"}}
    made = http.put(f"/v1/projects/{PROJECT}/topics/counted", json=topic)
    regions = [http.get(f"/compute/v1/projects/{PROJECT}/regions") for _ in range(2)]
    traffic = http.get("/_emulator/traffic").json()

    assert traffic["pubsub.projects.topics.create"] == {
        "calls": 1,
        "sent": len(made.request.content),
        "received": len(made.content),
    }
    assert traffic["compute.regions.list"] == {"calls": 2, "sent": 0, "received": 2 * len(regions[0].content)}
    http.delete("/_emulator/requests")
    assert http.get("/_emulator/traffic").json() == {}


def test_requests_are_logged_without_keys(http):
    hidden = "mQ7xV9tZ3Lp0Wd2K"
    pem = f"-----BEGIN RSA PRIVATE KEY-----\n{hidden}\n-----END RSA PRIVATE KEY-----"
    keys = [{"diskEncryptionKey": {"rawKey": hidden}}, {"diskEncryptionKey": {"rsaEncryptedKey": hidden}}]
    body = {"name": "a", "properties": {"disks": keys, "metadata": {"items": [{"key": "k", "value": pem}]}}}
    http.post(f"/compute/v1/projects/{PROJECT}/global/instanceTemplates", json=body)
    http.get("/tokeninfo", params={"id_token": hidden, "access_token": hidden})
    kept = http.get("/_emulator/requests")

    assert kept.json()[0]["body"]["properties"]["disks"][0] == {"diskEncryptionKey": {"rawKey": "[secret]"}}
    assert hidden not in kept.text


def test_resources_are_changed_without_their_api(http):
    path = f"/_emulator/resources/b/{BUCKET}"

    assert http.patch(path, json={"location": "EU", "labels": {"a": "b"}}).json()["location"] == "EU"
    assert http.get(f"/storage/v1/b/{BUCKET}").json()["labels"] == {"a": "b"}
    http.patch(path, json={"labels": None})
    assert "labels" not in http.get(f"/storage/v1/b/{BUCKET}").json()
    http.delete(path)
    assert http.get(path).status_code == 404
    http.post("/storage/v1/b?project=p", json={"name": "another-one"})
    http.post("/_emulator/reset")
    assert http.get("/storage/v1/b/another-one").status_code == 404


def test_limits_stay_until_they_are_set_again(http):
    http.post("/_emulator/limits", json={"zones": {"us-east1-b": 1}})

    assert http.get("/_emulator/limits").json() == {"zones": {"us-east1-b": 1}}


@pytest.mark.parametrize("number", ["x", "-1", "1.5", "1000", ""])
def test_deliveries_are_waited_for_by_number(http, number):
    answer = http.get("/_emulator/deliveries", params={"atLeast": number})

    assert answer.status_code == 400
    assert "atLeast" in answer.json()["error"]["message"]


def test_the_faults_of_one_name_are_removed(http):
    for name in ("mine", "yours"):
        http.post("/_emulator/faults", json={"method": METHOD, "name": name, "status": 503})

    assert [fault["name"] for fault in http.delete("/_emulator/faults?name=mine").json()] == ["yours"]
    assert http.delete("/_emulator/faults").json() == []


def test_resources_of_a_kind_are_listed_and_all_are_counted(http, vm):
    http.post("/_emulator/limits", json={"zones": {"us-east1-b": 5}})

    assert list(http.get("/_emulator/resources?kind=instances").json()) == [vm]
    assert list(http.get("/_emulator/resources?kind=b").json()) == [f"b/{BUCKET}"]
    assert http.get("/_emulator/resources").json()["disks"] == 2


def test_the_clock_is_advanced_and_a_reset_shows_the_present_again(http):
    year = http.get("/_emulator/clock").json()["time"][:4]
    later = http.post("/_emulator/clock", json={"advance": 400 * 86400}).json()["time"]

    assert int(later[:4]) > int(year)
    assert http.get("/_emulator/clock").json()["time"] >= later
    http.post("/_emulator/reset")
    assert http.get("/_emulator/clock").json()["time"] < later


def test_the_clock_stops_before_the_last_year_that_a_date_can_show(http):
    longest = {"advance": 1_000_000_000}
    answers = [http.post("/_emulator/clock", json=longest) for _ in range(230)]
    refused = next(answer for answer in answers if answer.is_error)

    assert refused.status_code == 400
    assert "after the year 9000" in refused.text
    assert http.get("/_emulator/clock").status_code == 200


@pytest.mark.parametrize(("method", "path", "status", "words"), [
    ("GET", "resources?kind=instnces", 400, "instnces is not a kind of resources; did you mean instances"),
    ("GET", "resources?kind=setLabels", 400, "setLabels is not a kind of resources"),
    ("GET", "resources/projects/p/zones/us-east1-b/instnces/web", 400, "instnces is not a kind of resources; did you mean instances"),
    ("GET", "resources/web", 400, "is not a kind of resources; a kind is the last part of a collection's path, such as instances"),
    ("DELETE", "resources/projects/p/zones/us-east1-b/instances/web", 404, "does not exist"),
    ("GET", "resources/b/uploads/o/a/b/c", 404, "does not exist"),
    ("GET", "requests?method=compute.instance.insert", 400, "is not a method that is emulated; did you mean compute.instances.insert"),
    ("GET", "requests?methd=compute.instances.insert", 400, "/_emulator/requests has unknown query parameters: methd; it may have method"),
    ("POST", "clock?advance=5", 400, "/_emulator/clock has unknown query parameters: advance; it has none"),
    ("GET", "faultz", 404, "/_emulator/faultz is not a control request; did you mean faults?"),
    ("GET", "zzz", 404, "/_emulator/zzz is not a control request; advice, "),
    ("PUT", "clock", 405, "PUT is not allowed on /_emulator/clock; GET or POST is"),
])  # fmt: skip
def test_unknown_kinds_methods_and_controls_are_refused(http, method, path, status, words):
    answer = http.request(method, f"/_emulator/{path}", json={} if method == "POST" else None)

    assert answer.status_code == status
    assert words in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "kind", ["instances", "disks", "instanceTemplates", "machineImages", "topics", "subscriptions", "b", "notificationConfigs", "sshPublicKeys", "o", "networks", "operations"]
)  # fmt: skip
def test_every_kind_that_the_emulator_creates_is_accepted(http, kind):
    assert http.get(f"/_emulator/resources?kind={kind}").status_code == 200


def test_the_log_keeps_the_latest_bodies_and_says_that_it_left_older_ones_out(cloud, http, monkeypatch):
    monkeypatch.setattr(cloud.emulator.requests, "most_characters", 1_000)
    for number in range(3):
        body = {"name": f"bucket-{number}", "labels": {"text": "x" * 450}}
        assert http.post("/storage/v1/b?project=p", json=body).status_code == 200
    bodies = [entry["body"] for entry in http.get("/_emulator/requests").json()]

    assert bodies[0].endswith("left out because the bodies after it fill the log")
    assert [body["name"] for body in bodies[1:]] == ["bucket-1", "bucket-2"]
    assert "fill the log" in http.get("/console/requests").text


def test_the_latest_body_is_kept_however_long_it_is(cloud, http, monkeypatch):
    monkeypatch.setattr(cloud.emulator.requests, "most_characters", 10)
    http.post("/storage/v1/b?project=p", json={"name": "bucket-0", "labels": {"text": "x" * 60}})
    (entry,) = http.get("/_emulator/requests").json()

    assert entry["body"]["name"] == "bucket-0"
