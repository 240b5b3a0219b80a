"""Lists of scopes that cannot be reached, in Google's forms."""

from __future__ import annotations

import pytest

BASE = "/compute/v1/projects/demo-project"
ZONE = "zones/us-east1-b"
WARNING = {
    "code": "UNREACHABLE",
    "message": f"Scope '{ZONE}' cannot be reached.",
    "data": [{"key": "scope", "value": ZONE}],
}
LISTS = ["aggregated/instances", f"{ZONE}/instances", f"{ZONE}/operations", f"{ZONE}/disks", f"{ZONE}/diskTypes"]


@pytest.mark.parametrize("path", LISTS)
def test_a_list_that_does_not_allow_partial_success_fails(http, path):
    http.post("/_emulator/outages", json={"scopes": [ZONE]})
    answer = http.get(f"{BASE}/{path}")

    assert (answer.status_code, answer.json()["error"]["errors"][0]["reason"]) == (503, "backendError")


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("allowed_by", ["returnPartialSuccess", "alwaysPartial"])
def test_a_partial_list_has_a_warning_about_the_scope(http, path, allowed_by):
    http.post("/_emulator/outages", json={"scopes": [ZONE], "alwaysPartial": allowed_by == "alwaysPartial"})
    answer = http.get(f"{BASE}/{path}", params={allowed_by: "true"} if allowed_by == "returnPartialSuccess" else {})

    assert answer.status_code == 200
    found = answer.json()
    part = found["items"][ZONE] if "items" in found else found
    assert part["warning"] == WARNING


@pytest.mark.parametrize("collection", ["addresses", "subnetworks"])
def test_a_list_of_regions_that_cannot_be_reached_is_partial(http, collection):
    http.post(f"{BASE}/regions/us-west1/addresses", json={"name": "outside"})
    http.post("/_emulator/outages", json={"scopes": ["regions/us-east1"]})
    path = f"{BASE}/aggregated/{collection}"
    refused, found = http.get(path), http.get(path, params={"returnPartialSuccess": "true"}).json()["items"]

    assert (refused.status_code, http.get(f"{BASE}/regions/us-east1/{collection}").status_code) == (503, 503)
    assert found["regions/us-east1"]["warning"]["code"] == "UNREACHABLE"
    assert len(found["regions/us-west1"][collection]) == 1


def test_lists_of_other_scopes_are_complete(http):
    http.post("/_emulator/outages", json={"scopes": [ZONE]})
    answer = http.get(f"{BASE}/zones/us-east1-c/instances")

    assert answer.status_code == 200
    assert "warning" not in answer.json()


@pytest.mark.parametrize("path", ["regions", "zones"])
def test_the_lists_of_regions_and_zones_belong_to_no_scope(http, path):
    http.post("/_emulator/outages", json={"scopes": ["global", ZONE]})

    assert http.get(f"{BASE}/{path}").status_code == 200
