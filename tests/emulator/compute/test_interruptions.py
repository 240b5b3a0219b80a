"""Interruptions on demand: preemption, host errors, and shutdowns from within."""

from __future__ import annotations

import pytest
from google.cloud import compute_v1
from servers.google_clients import connect, insert_instance
from values.programs import PROJECT, ZONE

SPOT = {"provisioningModel": "SPOT"}
PATH = f"projects/{PROJECT}/zones/{ZONE}/instances"
URL = f"/compute/v1/{PATH}"


def _create(cloud, name="vm", zone=ZONE, **scheduling):
    disk = {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": "family/debian-12"}}
    body = {"name": name, "machineType": f"zones/{zone}/machineTypes/e2-medium", "disks": [disk]}
    cloud.post(f"/compute/v1/projects/{PROJECT}/zones/{zone}/instances", {**body, "scheduling": scheduling})
    return f"projects/{PROJECT}/zones/{zone}/instances/{name}"


def _operations(cloud, expression=""):
    client = connect(compute_v1.ZoneOperationsClient, cloud)
    return list(client.list(compute_v1.ListZoneOperationsRequest(project=PROJECT, zone=ZONE, filter=expression)))


def test_a_preempted_instance_is_stopped_and_an_operation_of_the_system_tells_it(cloud, http):
    path = _create(cloud, **SPOT)
    answer = http.post("/_emulator/preempt", json={"instances": [path]})
    found = http.get(f"{URL}/vm").json()
    (operation,) = _operations(cloud, 'operationType = "compute.instances.preempted"')

    assert answer.json()["operations"][0]["name"] == operation.name
    assert (found["status"], "lastStopTimestamp" in found) == ("TERMINATED", True)
    assert operation.status == compute_v1.Operation.Status.DONE
    assert (operation.user, operation.progress) == ("system", 100)
    assert operation.target_link.endswith(f"/{path}")
    assert str(operation.target_id) == found["id"]
    assert operation.status_message == "Instance was preempted."


def test_a_preempted_instance_is_deleted_with_its_disk_if_it_says_so(cloud, http):
    path = _create(cloud, **SPOT, instanceTerminationAction="DELETE")
    http.post("/_emulator/preempt", json={"instances": [path]})

    assert http.get(f"{URL}/vm").status_code == 404
    assert cloud.get(f"projects/{PROJECT}/zones/{ZONE}/disks/vm") is None
    assert [item.operation_type for item in _operations(cloud)] == ["insert", "compute.instances.preempted"]


def test_a_preemption_is_done_at_once_though_operations_take_time(cloud, http):
    path = _create(cloud, **SPOT)
    cloud.hold_operations()
    answer = http.post("/_emulator/preempt", json={"instances": [path]})

    assert answer.json()["operations"][0]["status"] == "DONE"
    assert http.get(f"{URL}/vm").json()["status"] == "TERMINATED"


def test_a_preempted_instance_is_started_again(cloud, http):
    path = _create(cloud, preemptible=True)
    http.post("/_emulator/preempt", json={"instances": [f"https://www.googleapis.com/compute/v1/{path}"]})

    assert http.post(f"{URL}/vm/start").status_code == 200
    assert http.get(f"{URL}/vm").json()["status"] == "RUNNING"


def test_instances_are_named_by_a_pattern_in_all_zones_of_a_project(cloud, http):
    for name, zone in (("web-1", ZONE), ("web-2", "us-east1-c"), ("other", ZONE)):
        _create(cloud, name, zone, **SPOT)
    answer = http.post("/_emulator/preempt", json={"names": "web-*", "project": PROJECT})
    again = http.post("/_emulator/preempt", json={"names": "web-*", "project": PROJECT})

    assert [item["targetLink"].rpartition("/")[2] for item in answer.json()["operations"]] == ["web-1", "web-2"]
    assert http.get(f"{URL}/other").json()["status"] == "RUNNING"
    assert (again.status_code, "No running instance" in again.json()["error"]["message"]) == (404, True)


@pytest.mark.parametrize(("body", "status", "words"), [
    ({"instances": [f"{PATH}/vm", f"{PATH}/standard"]}, 400, "neither Spot nor preemptible"),
    ({"names": "*", "project": PROJECT}, 400, "neither Spot nor preemptible"),
    ({"instances": [f"{PATH}/none"]}, 404, "not found"), ({"instances": []}, 400, "must be a list of paths"),
    ({"instances": [f"projects/{PROJECT}/zones/{ZONE}/disks/vm"]}, 404, "not found"),
    ({"names": "vm"}, 400, "either instances or names and project"), ({}, 400, "either instances or names and project"),
    ({"instances": [f"{PATH}/vm"], "project": PROJECT}, 400, "either instances or names and project"),
    ({"instance": f"{PATH}/vm"}, 400, "unknown keys: instance"),
])  # fmt: skip
def test_what_cannot_be_preempted_is_refused_and_nothing_happens(cloud, http, body, status, words):
    _create(cloud, **SPOT)
    _create(cloud, "standard")
    answer = http.post("/_emulator/preempt", json=body)

    assert (answer.status_code, words in answer.json()["error"]["message"]) == (status, True), answer.text
    assert {item["status"] for item in http.get(URL).json()["items"]} == {"RUNNING"}


@pytest.mark.parametrize("name", ["preempt", "host-error", "guest-terminate"])
def test_an_instance_that_does_not_run_cannot_be_interrupted(cloud, http, name):
    path = _create(cloud, **SPOT)
    http.post(f"{URL}/vm/stop")
    answer = http.post(f"/_emulator/{name}", json={"instances": [path]})

    assert (answer.status_code, "is TERMINATED" in answer.json()["error"]["message"]) == (400, True)


@pytest.mark.parametrize(("restart", "status", "kinds"), [
    (True, "RUNNING", ["compute.instances.hostError", "compute.instances.automaticRestart"]),
    (False, "TERMINATED", ["compute.instances.hostError"]),
])  # fmt: skip
def test_a_host_error_restarts_an_instance_or_stops_it(cloud, http, restart, status, kinds):
    path = _create(cloud, automaticRestart=restart)
    before = http.get(f"{URL}/vm").json()
    cloud.clock.advance(60)
    http.post("/_emulator/host-error", json={"instances": [path]})
    found = http.get(f"{URL}/vm").json()

    assert (found["status"], found["id"]) == (status, before["id"])
    assert (found["lastStartTimestamp"] > before["lastStartTimestamp"]) is restart
    assert {item.operation_type for item in _operations(cloud)} == {"insert", *kinds}


def test_a_shutdown_from_within_stops_an_instance(cloud, http):
    instances = insert_instance(cloud)
    http.post("/_emulator/guest-terminate", json={"instances": [f"{PATH}/vm"]})

    assert instances.get(project=PROJECT, zone=ZONE, instance="vm").status == "TERMINATED"
    assert _operations(cloud)[-1].operation_type == "compute.instances.guestTerminate"
