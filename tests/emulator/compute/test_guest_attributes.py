"""Guest attributes: set by tests, or when an instance boots, and read through the API."""

from __future__ import annotations

import pytest
from cli.documented import commands
from google.api_core import exceptions
from google.cloud import compute_v1
from servers.google_clients import insert_instance
from values.programs import PROJECT, ZONE, properties

WHERE = {"project": PROJECT, "zone": ZONE, "instance": "vm"}
PATH = f"projects/{PROJECT}/zones/{ZONE}/instances/vm"
URL = f"/compute/v1/{PATH}"
READY = {"web/ready": "yes"}


@pytest.fixture
def instances(cloud):
    return insert_instance(cloud)


def _set(http, **body):
    answer = http.post("/_emulator/guest-attributes", json=body)
    answer.raise_for_status()
    return answer.json()


def _read(http, path=URL, **query):
    answer = http.get(f"{path}/getGuestAttributes", params=query)
    return answer.json() if answer.status_code == 200 else answer.status_code


@pytest.mark.parametrize(("query_path", "found"), [
    ("web/", ["web/ready", "web/version"]), ("web", ["web/ready", "web/version"]), ("web/ready", ["web/ready"]),
    ("", ["hostkeys/ed25519", "web/ready", "web/version"]), ("none/", None), ("web/none", None), ("we", None),
])  # fmt: skip
def test_attributes_are_read_by_path(http, instances, query_path, found):
    _set(http, instance=PATH, attributes={**READY, "web/version": "2", "hostkeys/ed25519": "AAAA"})
    request = compute_v1.GetGuestAttributesInstanceRequest(**WHERE, query_path=query_path)
    if found is None:
        with pytest.raises(exceptions.NotFound, match="Guest Attribute"):
            instances.get_guest_attributes(request=request)
        return
    answer = instances.get_guest_attributes(request=request)

    assert [f"{item.namespace}/{item.key}" for item in answer.query_value.items] == found
    assert (answer.kind, answer.query_path) == ("compute#guestAttributes", query_path)


@pytest.mark.parametrize("query", [
    {"variableKey": "web/ready"}, {"queryPath": "web/", "variableKey": "ready"}, {"queryPath": "web", "variableKey": "ready"},
    {"queryPath": "web/ready", "variableKey": "ready"},
])  # fmt: skip
def test_one_attribute_is_read_by_key(http, instances, query):
    _set(http, instance=PATH, attributes=READY)
    missing = {**query, "variableKey": "none"}

    assert _read(http, **query)["variableValue"] == "yes"
    assert _read(http, **missing) == 404


def test_an_instance_that_has_reported_nothing_has_no_attributes(http, instances):
    assert _read(http, queryPath="web/") == 404
    assert _read(http, f"/compute/beta/projects/{PROJECT}/zones/{ZONE}/instances/none") == 404


def test_attributes_are_changed_one_by_one_and_are_not_fields_of_the_instance(http, instances):
    _set(http, instance=PATH, attributes={**READY, "web/version": "1"})
    kept = _set(http, instance=PATH, attributes={"web/version": "2", "web/ready": None})

    assert kept == {"web/version": "2"}
    assert not [name for name in http.get(URL).json() if "uest" in name]


def test_created_and_started_instances_report_what_is_set_for_boots(cloud, http):
    _set(http, onBoot=READY)
    insert_instance(cloud)
    created = _read(http, queryPath="web/ready")["queryValue"]["items"]
    _set(http, onBoot={"web/ready": "again"})
    before = _read(http, variableKey="web/ready")["variableValue"]
    http.post(f"{URL}/stop")
    stopped = _read(http, variableKey="web/ready")["variableValue"]
    http.post(f"{URL}/start")

    assert created == [{"namespace": "web", "key": "ready", "value": "yes"}]
    assert (before, stopped, _read(http, variableKey="web/ready")["variableValue"]) == ("yes", "yes", "again")
    assert http.get("/_emulator/guest-attributes").json() == {"onBoot": {"web/ready": "again"}}


def test_a_reset_boots_and_a_resumption_does_not(http, instances):
    http.post(f"{URL}/suspend")
    _set(http, onBoot=READY)
    http.post(f"{URL}/resume")
    resumed = _read(http, variableKey="web/ready")
    http.post(f"{URL}/reset")

    assert (resumed, _read(http, variableKey="web/ready")["variableValue"]) == (404, "yes")


def test_only_instances_whose_names_match_report(http):
    _set(http, onBoot=READY, only="web-[2-9]")
    body = {"count": "3", "namePattern": "web-#", "instanceProperties": properties()}
    http.post(f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances/bulkInsert", json=body).raise_for_status()
    paths = [f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances/web-{number}" for number in (1, 2, 3)]

    assert [_read(http, path) == 404 for path in paths] == [True, False, False]


HEADER = '-H "Metadata-Flavor: Google"'
ATTRIBUTES = "http://metadata.google.internal/computeMetadata/v1/instance/guest-attributes"
PUT = f"curl -X PUT --data yes {HEADER} {ATTRIBUTES}/web/ready"
DELETE = f"curl -X DELETE {HEADER} {ATTRIBUTES}/web/ready"


def _insert_with_scripts(cloud, startup, shutdown="", enabled="TRUE"):
    items = {"startup-script": startup, "shutdown-script": shutdown, "enable-guest-attributes": enabled}
    metadata = {"items": [{"key": key, "value": value} for key, value in items.items()]}
    body = {"name": "vm", **properties(metadata=metadata), "machineType": f"zones/{ZONE}/machineTypes/e2-small"}
    cloud.post(f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances", body)


@pytest.mark.parametrize("startup", [
    f"#!/bin/sh\napt-get install -y web\n{PUT}\n",
    PUT.replace(" -H", " \\\n  -H"),
    f"curl -s -d yes --request PUT --header 'metadata-flavor: google' '{ATTRIBUTES}/web/ready' > /dev/null",
    f"web --start && {PUT} || exit 1",
    f"curl http://example.com/web.sh | sh; {PUT.replace('metadata.google.internal', '169.254.169.254')}",
    f"{DELETE}; {PUT}",
    PUT.replace("yes", "no") + f"\n{PUT}",
])  # fmt: skip
def test_what_a_startup_script_writes_is_reported_at_boot(cloud, http, startup):
    _insert_with_scripts(cloud, startup)

    assert _read(http, variableKey="web/ready")["variableValue"] == "yes"


def test_the_command_in_the_guide_of_fleets_is_understood(cloud, http):
    _insert_with_scripts(cloud, commands("docs/fleets.md", "Readiness"))

    assert _read(http, variableKey="worker/state")["variableValue"] == "ready"


@pytest.mark.parametrize(("startup", "enabled"), [
    (PUT, "FALSE"), (PUT, ""), ("", "TRUE"), (f"# {PUT}", "TRUE"), (PUT.replace(HEADER, ""), "TRUE"),
    (PUT.replace("PUT", "POST"), "TRUE"), (PUT.replace("-X PUT", ""), "TRUE"), (PUT.replace("--data yes", ""), "TRUE"),
    (PUT.replace("yes", "$STATE"), "TRUE"), (PUT.replace("yes", "`web --state`"), "TRUE"), (PUT + "'", "TRUE"),
    (PUT.replace("/web/ready", "/ready"), "TRUE"), (PUT.replace("metadata.google", "metadata.example"), "TRUE"),
    (PUT.replace("curl", "echo"), "TRUE"),
])  # fmt: skip
def test_other_commands_of_a_script_report_nothing(cloud, http, startup, enabled):
    _insert_with_scripts(cloud, startup, enabled=enabled)

    assert _read(http, queryPath="web/") == 404


def test_a_shutdown_script_takes_back_what_the_startup_script_reports_again(cloud, http):
    _insert_with_scripts(cloud, PUT, DELETE)
    found = [_read(http, queryPath="web/ready") != 404]
    for method in ("stop", "start", "reset"):
        http.post(f"{URL}/{method}")
        found.append(_read(http, queryPath="web/ready") != 404)
    http.post("/_emulator/guest-terminate", json={"instances": [PATH]})
    found.append(_read(http, queryPath="web/ready") != 404)

    assert found == [True, False, True, True, False]


def test_a_shutdown_script_writes_the_first_attribute(cloud, http):
    _insert_with_scripts(cloud, "", PUT)
    found = [_read(http, queryPath="web/ready")]
    http.post(f"{URL}/stop")

    assert found == [404]
    assert _read(http, variableKey="web/ready")["variableValue"] == "yes"


def test_no_shutdown_script_runs_if_the_host_fails_or_while_an_instance_is_suspended(cloud, http):
    _insert_with_scripts(cloud, PUT, DELETE)
    http.post(f"{URL}/suspend")
    http.post(f"{URL}/stop")
    suspended = _read(http, queryPath="web/ready")
    http.post(f"{URL}/start")
    cloud.change(PATH, lambda body: body["scheduling"].update(automaticRestart=False))
    http.post("/_emulator/host-error", json={"instances": [PATH]})

    assert 404 not in (suspended, _read(http, queryPath="web/ready"))
    assert http.get(URL).json()["status"] == "TERMINATED"


def test_a_control_request_for_boots_goes_before_the_startup_script(cloud, http):
    _set(http, onBoot={"web/ready": "broken"})
    _insert_with_scripts(cloud, PUT)

    assert _read(http, variableKey="web/ready")["variableValue"] == "broken"


def test_attributes_are_deleted_with_the_instance(cloud, http, instances):
    _set(http, instance=PATH, attributes=READY)
    instances.delete(**WHERE).result()
    insert_instance(cloud)

    assert _read(http, queryPath="web/") == 404


@pytest.mark.parametrize(("body", "status", "words"), [
    ({}, 400, "either instance and attributes or onBoot"), ({"instance": PATH}, 400, "either instance and attributes"),
    ({"only": "web-*"}, 400, "either instance and attributes"),
    ({"instance": PATH, "attributes": READY, "onBoot": READY}, 400, "either instance and attributes"),
    ({"instance": f"{PATH}-2", "attributes": READY}, 404, "not found"),
    ({"instance": PATH, "attributes": {"ready": "yes"}}, 400, "by NAMESPACE/KEY"),
    ({"instance": PATH, "attributes": {"a/b/c": "yes"}}, 400, "by NAMESPACE/KEY"),
    ({"instance": PATH, "attributes": {"web/ready": True}}, 400, "by NAMESPACE/KEY"),
    ({"onBoot": {"web/ready": None}}, 400, "by NAMESPACE/KEY"), ({"boot": READY}, 400, "unknown keys: boot"),
])  # fmt: skip
def test_other_requests_are_refused(http, instances, body, status, words):
    answer = http.post("/_emulator/guest-attributes", json=body)

    assert (answer.status_code, words in answer.json()["error"]["message"]) == (status, True), answer.text
