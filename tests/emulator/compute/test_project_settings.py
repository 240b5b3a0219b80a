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
