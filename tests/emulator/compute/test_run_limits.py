"""Run limits: instances that end by themselves, at the time of the emulator's clock."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from engines.clock import HOUR
from google.cloud import compute_v1
from servers.google_clients import connect, insert_instance
from values.programs import PROJECT, ZONE, properties

WHERE = {"project": PROJECT, "zone": ZONE, "instance": "vm"}
PATH = f"projects/{PROJECT}/zones/{ZONE}/instances/vm"
URL = f"/compute/v1/{PATH}"


def _limited(cloud, **scheduling):
    limit = compute_v1.Duration(seconds=int(HOUR))
    given = scheduling or {"max_run_duration": limit}
    return insert_instance(cloud, scheduling=compute_v1.Scheduling(**given))


def _seconds(text):
    return datetime.fromisoformat(text).timestamp()


def _end(http):
    return http.get(URL).json().get("resourceStatus", {}).get("scheduling", {}).get("terminationTimestamp")


def _kinds(cloud):
    client = connect(compute_v1.ZoneOperationsClient, cloud)
    return [(item.operation_type, item.user) for item in client.list(project=PROJECT, zone=ZONE)]


def test_an_instance_is_stopped_when_its_time_is_over(cloud, http):
    instances = _limited(cloud)
    before = instances.get(**WHERE)
    end = before.resource_status.scheduling.termination_timestamp
    cloud.clock.advance(HOUR - 1)
    last = instances.get(**WHERE).status
    cloud.clock.advance(600)
    found = instances.get(**WHERE)

    assert _seconds(end) - _seconds(before.last_start_timestamp) == pytest.approx(HOUR, abs=0.002)
    assert (last, found.status) == ("RUNNING", "TERMINATED")
    assert found.last_stop_timestamp == end
    assert (_end(http), [name for name in http.get(URL).json() if name.startswith("_")]) == (None, [])


def test_an_operation_of_the_system_tells_a_run_limit_from_a_stop_by_hand(cloud, http):
    instances = _limited(cloud)
    cloud.clock.advance(HOUR + 1)
    limited = _kinds(cloud)
    instances.start(**WHERE).result()
    instances.stop(**WHERE).result()

    assert ("compute.instances.deferredStop", "system") in limited
    assert "stop" not in [kind for kind, _ in limited]
    assert {kind for kind, user in _kinds(cloud) if user != "system"} == {"insert", "start", "stop"}


def test_an_instance_is_deleted_when_its_time_is_over_if_it_says_so(cloud, http):
    limit = compute_v1.Duration(seconds=int(HOUR))
    _limited(cloud, max_run_duration=limit, instance_termination_action="DELETE")
    cloud.clock.advance(HOUR + 1)

    assert http.get(URL).status_code == 404
    assert ("compute.instances.deferredDelete", "system") in _kinds(cloud)
    assert cloud.get(f"projects/{PROJECT}/zones/{ZONE}/disks/vm") is None


def test_an_instance_ends_at_a_time(cloud, http):
    moment = cloud.clock.now() + HOUR
    _limited(cloud, termination_time=datetime.fromtimestamp(moment, UTC).isoformat())
    end = _end(http)
    cloud.clock.advance(HOUR + 1)

    assert _seconds(end) == pytest.approx(moment, abs=0.001)
    assert http.get(URL).json()["status"] == "TERMINATED"


@pytest.mark.parametrize(("leave", "back"), [("stop", "start"), ("suspend", "resume")])
def test_an_instance_that_does_not_run_has_no_end_and_gets_a_new_one(cloud, http, leave, back):
    _limited(cloud)
    first = _end(http)
    http.post(f"{URL}/{leave}")
    cleared = _end(http)
    cloud.clock.advance(10 * HOUR)
    status = http.get(URL).json()["status"]
    http.post(f"{URL}/{back}")
    second = _end(http)

    assert (cleared, status) == (None, {"stop": "TERMINATED", "suspend": "SUSPENDED"}[leave])
    assert _seconds(second) - _seconds(first) == pytest.approx(10 * HOUR, abs=60)


def test_a_limit_that_is_set_on_a_stopped_instance_counts_from_its_start(cloud, http):
    insert_instance(cloud)
    http.post(f"{URL}/stop")
    http.post(f"{URL}/setScheduling", json={"maxRunDuration": {"seconds": "60"}})
    http.post(f"{URL}/start")
    running = http.get(URL).json()["status"]
    cloud.clock.advance(61)

    assert (running, http.get(URL).json()["status"]) == ("RUNNING", "TERMINATED")


def test_a_fleet_ends_with_its_limit(cloud, http):
    limit = {"scheduling": {"maxRunDuration": {"seconds": "60"}, "instanceTerminationAction": "DELETE"}}
    body = {"count": "3", "namePattern": "web-#", "instanceProperties": properties(**limit)}
    http.post(f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances/bulkInsert", json=body).raise_for_status()
    found = len(http.get(f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances").json()["items"])
    cloud.clock.advance(61)

    assert (found, "items" in http.get(f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances").json()) == (3, False)


def test_the_end_falls_in_the_middle_of_a_change(cloud, http):
    _limited(cloud)
    fingerprint = http.get(URL).json()["labelFingerprint"]
    cloud.emulator.operations.latency = 2 * HOUR
    http.post(f"{URL}/setLabels", json={"labels": {"a": "b"}, "labelFingerprint": fingerprint})
    cloud.clock.advance(1.5 * HOUR)
    status = http.get(URL).json()["status"]
    cloud.clock.advance(HOUR)
    found = http.get(URL).json()

    assert (status, found["status"], found["labels"]) == ("TERMINATED", "TERMINATED", {"a": "b"})
