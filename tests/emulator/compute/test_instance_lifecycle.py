"""The life cycle of instances: stop, start, suspend, resume and reset."""

from __future__ import annotations

import base64

import pytest
from engines.clock import HOUR
from google.api_core import exceptions
from servers.google_clients import insert_instance
from values.programs import DEBIAN, PROJECT, ZONE

WHERE = {"project": PROJECT, "zone": ZONE, "instance": "vm"}
PATH = f"projects/{PROJECT}/zones/{ZONE}/instances/vm"
URL = f"/compute/v1/{PATH}"


@pytest.fixture
def instances(cloud):
    return insert_instance(cloud)


def _status(instances):
    return instances.get(**WHERE).status


def _bring_to(instances, status):
    if status == "TERMINATED":
        instances.stop(**WHERE).result()
    if status == "SUSPENDED":
        instances.suspend(**WHERE).result()


@pytest.mark.parametrize(("before", "method", "meanwhile", "after"), [
    ("RUNNING", "stop", "STOPPING", "TERMINATED"), ("SUSPENDED", "stop", "STOPPING", "TERMINATED"),
    ("TERMINATED", "start", "STAGING", "RUNNING"), ("RUNNING", "suspend", "SUSPENDING", "SUSPENDED"),
    ("SUSPENDED", "resume", "STAGING", "RUNNING"), ("RUNNING", "reset", "RUNNING", "RUNNING"),
    ("RUNNING", "start", "RUNNING", "RUNNING"), ("TERMINATED", "stop", "TERMINATED", "TERMINATED"),
])  # fmt: skip
def test_an_operation_moves_an_instance_to_another_status(cloud, instances, before, method, meanwhile, after):
    _bring_to(instances, before)
    cloud.hold_operations()
    operation = getattr(instances, method)(**WHERE)
    first = _status(instances)
    with pytest.raises(exceptions.BadRequest, match="is not ready"):
        instances.reset(**WHERE)
    cloud.finish_operations()
    operation.result()

    assert (operation.operation_type, operation.target_link.rpartition("/")[2]) == (method, "vm")
    assert operation.user == "operator@example.com"
    assert (first, _status(instances)) == (meanwhile, after)


@pytest.mark.parametrize(("status", "method"), [
    ("TERMINATED", "suspend"), ("TERMINATED", "resume"), ("TERMINATED", "reset"), ("RUNNING", "resume"),
    ("SUSPENDED", "start"), ("SUSPENDED", "reset"), ("SUSPENDED", "suspend"),
])  # fmt: skip
def test_an_instance_moves_only_from_a_status_that_allows_it(instances, status, method):
    _bring_to(instances, status)
    with pytest.raises(exceptions.BadRequest, match=f"is {status}. It must be"):
        getattr(instances, method)(**WHERE)
    assert _status(instances) == status


@pytest.mark.parametrize("method", ["stop", "start", "suspend", "resume", "reset", "startWithEncryptionKey"])
def test_an_instance_that_does_not_exist_is_not_found(http, method):
    content = {"json": {}} if method == "startWithEncryptionKey" else {}

    assert http.post(f"{URL}/{method}", **content).status_code == 404


def test_the_instance_shows_when_it_was_stopped_suspended_and_started(cloud, instances):
    created = instances.get(**WHERE)
    cloud.clock.advance(HOUR)
    instances.suspend(**WHERE).result()
    cloud.clock.advance(HOUR)
    instances.stop(**WHERE).result()
    halted = instances.get(**WHERE)
    cloud.clock.advance(HOUR)
    instances.start(**WHERE).result()
    found = instances.get(**WHERE)

    assert created.last_start_timestamp < found.last_suspended_timestamp
    assert found.last_suspended_timestamp < found.last_stop_timestamp < found.last_start_timestamp
    assert (halted.cpu_platform, found.cpu_platform) == ("Unknown CPU Platform", created.cpu_platform)


def test_an_operation_that_fails_leaves_the_status(cloud, instances):
    cloud.fail("compute.instances.stop", operation={"errors": [{"code": "INTERNAL_ERROR", "message": "again"}]})
    with pytest.raises(exceptions.GoogleAPICallError, match="again"):
        instances.stop(**WHERE).result()
    assert _status(instances) == "RUNNING"


def test_a_start_needs_capacity_in_the_zone(http, instances):
    instances.stop(**WHERE).result()
    http.post("/_emulator/limits", json={"zones": {ZONE: 0}})
    with pytest.raises(exceptions.GoogleAPICallError, match="does not have enough resources"):
        instances.start(**WHERE).result()
    assert _status(instances) == "TERMINATED"
    http.post("/_emulator/limits", json={"zones": {ZONE: 1}})
    instances.start(**WHERE).result()
    assert _status(instances) == "RUNNING"


@pytest.mark.parametrize("method", ["stop", "suspend"])
def test_the_client_says_what_becomes_of_local_ssds(cloud, http, method):
    boot = {"boot": True, "initializeParams": {"sourceImage": DEBIAN}}
    local = {"type": "SCRATCH", "initializeParams": {"diskType": f"zones/{ZONE}/diskTypes/local-ssd"}}
    body = {"name": "vm", "machineType": f"zones/{ZONE}/machineTypes/n2-standard-2", "disks": [boot, local]}
    cloud.post(f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances", body)

    assert http.post(f"{URL}/{method}").json()["error"]["errors"][0]["reason"] == "required"
    assert http.post(f"{URL}/{method}", params={"discardLocalSsd": "true"}).status_code == 200


def test_an_instance_with_gpus_cannot_be_suspended(cloud, http, instances):
    cloud.change(PATH, lambda vm: vm.update(guestAccelerators=[{"acceleratorCount": 1}]))
    answer = http.post(f"{URL}/suspend")

    assert answer.status_code == 400
    assert "has GPUs" in answer.json()["error"]["message"]


def test_a_protected_disk_is_started_with_its_key(cloud, http):
    key = {"rawKey": base64.b64encode(b"k" * 32).decode()}
    boot = {"boot": True, "initializeParams": {"sourceImage": DEBIAN}, "diskEncryptionKey": key}
    body = {"name": "vm", "machineType": f"zones/{ZONE}/machineTypes/n2-standard-2", "disks": [boot]}
    cloud.post(f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances", body)
    http.post(f"{URL}/stop")
    source = http.get(URL).json()["disks"][0]["source"]
    protected = {"disks": [{"source": source, "diskEncryptionKey": key}]}

    assert http.post(f"{URL}/start").status_code == 400
    assert http.post(f"{URL}/startWithEncryptionKey", json=protected).status_code == 200
    assert http.get(URL).json()["status"] == "RUNNING"


def test_one_request_id_stops_once(cloud, http, instances):
    parameters = {"requestId": "6f1b3b1e-4a0e-4d43-9a0b-0c6f2f1d9a11"}
    first = http.post(f"{URL}/stop", params=parameters).json()
    http.post(f"{URL}/start")
    second = http.post(f"{URL}/stop", params=parameters).json()

    assert first["name"] == second["name"]
    assert _status(instances) == "RUNNING"


def test_an_operation_carries_the_user_of_its_token(http, instances):
    token = http.post("/_emulator/tokens", json={"email": "me@example.com"}).json()["token"]
    answer = http.post(f"{URL}/stop", headers={"Authorization": f"Bearer {token}"})

    assert answer.json()["user"] == "me@example.com"


def test_what_changes_meanwhile_is_kept(cloud, http, instances):
    fingerprint = http.get(URL).json()["labelFingerprint"]
    cloud.hold_operations()
    http.post(f"{URL}/setLabels", json={"labels": {"a": "b"}, "labelFingerprint": fingerprint})
    http.patch(f"/_emulator/resources/{PATH}", json={"status": "TERMINATED"})
    cloud.finish_operations()
    found = http.get(URL).json()

    assert (found["labels"], found["status"]) == ({"a": "b"}, "TERMINATED")


@pytest.mark.parametrize(("method", "body", "permission"), [
    ("stop", None, "compute.instances.stop"), ("getGuestAttributes", None, "compute.instances.getGuestAttributes"),
    ("setServiceAccount", {"email": "web@example.com"}, "compute.instances.setServiceAccount"),
    ("setServiceAccount", {"email": "web@example.com"}, "iam.serviceAccounts.actAs"),
    ("addResourcePolicies", {"resourcePolicies": ["nightly"]}, "compute.resourcePolicies.use"),
    ("setDeletionProtection", None, "compute.instances.setDeletionProtection"),
])  # fmt: skip
def test_a_call_needs_the_permission_of_its_method(http, instances, method, body, permission):
    _bring_to(instances, "TERMINATED")
    binding = {"permission": permission, "members": ["me@example.com"]}
    http.post("/_emulator/policy", json={"bindings": [binding]}).raise_for_status()
    verb = "GET" if method.startswith("get") else "POST"
    content = {"json": body} if body else {}
    answer = http.request(verb, f"{URL}/{method}", **content)

    assert answer.status_code == 403
    assert permission in answer.json()["error"]["message"]
