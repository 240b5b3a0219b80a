"""Guest attributes: set by tests, or when an instance boots, and read through the API."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google.cloud import compute_v1
from google_clients import insert_instance
from programs import PROJECT, ZONE, properties

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
