"""Faults that tests inject."""

from __future__ import annotations

import httpx
import pytest
from values.programs import PROJECT

BASE = f"/compute/v1/projects/{PROJECT}"


def test_faults_are_injected_over_http(http):
    fault = {"method": "compute.regions.list", "status": 503, "retry_after": 7, "times": 2}
    assert http.post("/_emulator/faults", json=fault).json()[0]["times"] == 2
    first, second, third = (http.get(f"{BASE}/regions") for _ in range(3))

    assert [first.status_code, second.status_code, third.status_code] == [503, 503, 200]
    assert first.headers["Retry-After"] == "7"
    assert http.post("/_emulator/faults", json={"method": "x", "what": 1}).status_code == 400
    http.post("/_emulator/faults", json=fault)
    assert http.delete("/_emulator/faults").json() == []


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("quotaExceeded", "quotaExceeded"),
        ("QUOTA_EXCEEDED", "quotaExceeded"),
        ("RESOURCE_IN_USE_BY_ANOTHER_RESOURCE", "resourceInUseByAnotherResource"),
        ("STOCKOUT", "stockout"),
    ],
)
def test_the_reason_of_a_fault_begins_with_a_small_letter(http, given, shown):
    http.post("/_emulator/faults", json={"method": "compute.regions.list", "status": 403, "reason": given})
    error = http.get(f"{BASE}/regions").json()["error"]

    assert error["errors"][0]["reason"] == shown


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_dropped_connection_ends_in_the_middle(http, cloud, when):
    http.post("/_emulator/faults", json={"method": "storage.buckets.insert", "drop": when})
    with pytest.raises(httpx.RemoteProtocolError):
        http.post("/storage/v1/b?project=p", json={"name": "made-or-not"})

    assert (cloud.get("b/made-or-not") is not None) == (when == "after")


def test_a_fault_of_any_method_hits_the_next_calls_of_all(http):
    http.post("/_emulator/faults", json={"method": "*", "status": 503, "times": 2})
    paths = [f"{BASE}/regions", "/storage/v1/b?project=p", f"{BASE}/regions", "/storage/v1/b?project=p"]

    assert [http.get(path).status_code for path in paths] == [503, 503, 200, 200]
