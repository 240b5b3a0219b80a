"""Rate quotas: too many requests in too short a time are refused, as Google refuses them."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google.cloud import compute_v1
from servers.google_clients import connect
from values.programs import PROJECT, ZONE

BASE = f"/compute/v1/projects/{PROJECT}"
AGGREGATED = f"{BASE}/aggregated/instances"


def _set(http, **rates):
    assert http.post("/_emulator/rates", json=rates).status_code == 200


def _statuses(http, path, number):
    return [http.get(path).status_code for _ in range(number)]


def test_requests_above_the_rate_are_refused_until_time_has_passed(cloud, http):
    _set(http, perSecond=2, burst=3)
    at_first = _statuses(http, AGGREGATED, 5)
    cloud.clock.advance(0.5)
    later = _statuses(http, AGGREGATED, 2)
    cloud.clock.advance(100)

    assert (at_first, later) == ([200, 200, 200, 403, 403], [200, 403])
    assert _statuses(http, AGGREGATED, 4) == [200, 200, 200, 403]


def test_each_group_has_its_own_quota(cloud, http):
    _set(http, perSecond={"heavyWeightReads": 1, "mutations": 1})

    assert _statuses(http, AGGREGATED, 2) == [200, 403]
    assert _statuses(http, f"{BASE}/zones/{ZONE}/instances", 3) == [200, 200, 200]
    url = f"{BASE}/zones/{ZONE}/disks"
    assert [http.post(url, json={"name": name}).status_code for name in ("a", "b")] == [200, 403]


@pytest.mark.parametrize(
    ("method", "path", "group"),
    [
        ("GET", "aggregated/instances", "heavyWeightReads"),
        ("POST", f"zones/{ZONE}/operations/none/wait", "heavyWeightReads"),
        ("POST", "regions/us-east1/operations/none/wait", "heavyWeightReads"),
        ("POST", "global/operations/none/wait", "operationReads"),
        ("GET", f"zones/{ZONE}/operations/none", "operationReads"),
        ("GET", f"zones/{ZONE}/operations", "lists"),
        ("GET", f"zones/{ZONE}/instances/none", "reads"),
        ("POST", "regions/us-east1/advice/capacity", "reads"),
        ("DELETE", f"zones/{ZONE}/instances/none", "mutations"),
    ],
)
def test_requests_are_counted_by_group(http, method, path, group):
    http.request(method, f"{BASE}/{path}")

    assert http.get("/_emulator/rates").json() == {"groups": {group: {"accepted": 1, "refused": 0}}}


def test_the_counts_begin_again_when_quotas_are_set_and_after_a_reset(http):
    _set(http, perSecond=1, burst=2)
    _statuses(http, AGGREGATED, 3)
    counted = http.get("/_emulator/rates").json()
    _set(http, perSecond=5)
    begun_again = http.get("/_emulator/rates").json()
    http.post("/_emulator/reset")

    assert counted == {"perSecond": 1, "burst": 2, "groups": {"heavyWeightReads": {"accepted": 2, "refused": 1}}}
    assert begun_again == {"perSecond": 5, "groups": {}}
    assert http.get("/_emulator/rates").json() == {"groups": {}}


def test_google_s_client_reads_which_quota_is_used_up(cloud, http):
    _set(http, perSecond=1)
    instances = connect(compute_v1.InstancesClient, cloud)
    request = compute_v1.AggregatedListInstancesRequest(project=PROJECT)
    list(instances.aggregated_list(request=request))
    with pytest.raises(exceptions.Forbidden, match="Quota exceeded for quota metric 'Heavy-weight") as refused:
        instances.aggregated_list(request=request, retry=None)

    assert refused.value.reason == "RATE_LIMIT_EXCEEDED"
    assert refused.value.metadata["quota_metric"] == "compute.googleapis.com/heavy_weight_read_requests"
    assert refused.value.metadata["quota_limit_value"] == "60"
    error = http.get(AGGREGATED).json()["error"]
    assert (error["errors"][0]["domain"], error["errors"][0]["reason"]) == ("usageLimits", "rateLimitExceeded")
