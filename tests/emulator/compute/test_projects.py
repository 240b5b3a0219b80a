"""Settings of projects."""

from __future__ import annotations

import pytest
from values.programs import PROJECT

BASE = f"/compute/v1/projects/{PROJECT}"


@pytest.mark.parametrize("form", ["{}", "gs://{}", "https://storage.googleapis.com/{}"])
def test_usage_reports_are_exported_to_a_bucket(http, form):
    location = {"bucketName": form.format("reports"), "reportNamePrefix": "usage"}
    refused = http.post(f"{BASE}/setUsageExportBucket", json=location)
    http.post(f"/storage/v1/b?project={PROJECT}", json={"name": "reports"})
    started = http.post(f"{BASE}/setUsageExportBucket", json=location)
    project = http.get(BASE).json()
    ended = http.post(f"{BASE}/setUsageExportBucket", json={})

    assert (refused.status_code, "bucketName" in refused.text) == (400, True)
    assert (started.status_code, ended.status_code) == (200, 200)
    assert started.json()["operationType"] == "compute.projects.setUsageExportBucket"
    assert (started.json()["targetLink"], started.json()["targetId"]) == (project["selfLink"], project["id"])
    assert project["usageExportLocation"] == location
    assert "usageExportLocation" not in http.get(BASE).json()


def test_metadata_of_a_project_is_replaced_as_a_whole(http):
    first = http.get(BASE).json()["commonInstanceMetadata"]
    url, items = f"{BASE}/setCommonInstanceMetadata", [{"key": "enable-oslogin", "value": "TRUE"}]
    operation = http.post(url, json={"fingerprint": first["fingerprint"], "items": items}).json()
    project = http.get(BASE).json()
    stale = http.post(url, json={"fingerprint": first["fingerprint"]})
    http.post(url, json={"fingerprint": project["commonInstanceMetadata"]["fingerprint"]})

    assert operation["operationType"] == "compute.projects.setCommonInstanceMetadata"
    assert (operation["targetLink"], operation["targetId"]) == (project["selfLink"], project["id"])
    assert project["commonInstanceMetadata"]["items"] == items
    assert (stale.status_code, stale.json()["error"]["errors"][0]["reason"]) == (412, "conditionNotMet")
    assert "items" not in http.get(BASE).json()["commonInstanceMetadata"]
    assert "items" not in http.get("/compute/v1/projects/other-project").json()["commonInstanceMetadata"]


def test_the_settings_of_a_project_are_independent(http):
    http.post(f"/storage/v1/b?project={PROJECT}", json={"name": "reports"})
    http.post(f"{BASE}/setUsageExportBucket", json={"bucketName": "reports"})
    fingerprint = http.get(BASE).json()["commonInstanceMetadata"]["fingerprint"]
    items = [{"key": "enable-oslogin", "value": "TRUE"}]
    http.post(f"{BASE}/setCommonInstanceMetadata", json={"fingerprint": fingerprint, "items": items})
    project = http.get(BASE).json()
    http.post(f"{BASE}/setUsageExportBucket", json={})

    assert project["usageExportLocation"] == {"bucketName": "reports"}
    assert "usageExportLocation" not in http.get(BASE).json()
    assert http.get(BASE).json()["commonInstanceMetadata"]["items"] == items
