"""More instances than one request may create are divided into several requests, each of which is sent once."""

from __future__ import annotations

import driver
import pytest
from driver import failing
from fleets import set_limits
from programs import FLEET, PROJECT, fleet

BULK = "compute.regionInstances.bulkInsert"
LARGE = fleet(5002, namePattern="web-####", networkInterfaces=[{"subnetwork": "regions/us-east1/subnetworks/wide"}])
WIDE = {"name": "wide", "network": "global/networks/wide", "ipCidrRange": "10.0.0.0/16"}


@pytest.fixture(autouse=True)
def wide_subnetwork(cloud):
    """A subnetwork with enough addresses, which the one of the network `default` has not."""
    base = f"/compute/v1/projects/{PROJECT}"
    cloud.post(f"{base}/global/networks", {"name": "wide", "autoCreateSubnetworks": False})
    cloud.post(f"{base}/regions/us-east1/subnetworks", WIDE)


def test_a_large_fleet_is_created_in_several_requests_also_if_a_response_is_lost(engine, cloud):
    cloud.fail(BULK, delay=0.0)
    cloud.fail(BULK, drop="after")
    created = engine.create(FLEET, "workers", {**LARGE, "minCount": 4999})

    assert created.outputs["createdCount"] == 5002
    assert cloud.emulator.store.counts()["instances"] == 5002
    assert created.outputs["perLocationStatus"]["zones/us-east1-b"]["createdVmCount"] == 5002
    requests = [(entry["query"]["requestId"], entry["body"]) for entry in cloud.requests(BULK)]
    first, lost = requests  # the operation of the lost one is found, so that it is not sent again
    assert first[0] != lost[0]
    assert [(body["count"], body["minCount"]) for _, body in requests] == [("5000", "4997"), ("2", "1")], (
        "a request that others follow leaves them their share of the minimum"
    )
    assert [body.get("locationPolicy") for _, body in requests] == [None, {"zones": [{"zone": "zones/us-east1-b"}]}], (
        "ANY_SINGLE_ZONE holds for all requests together"
    )


def test_a_large_fleet_whose_second_request_fails_is_completed_by_the_next_run(engine, cloud):
    cloud.fail(BULK, delay=0.0)
    cloud.fail(BULK, status=400, reason="invalid", message="not like this")
    inputs = engine.checked(FLEET, "workers", LARGE)
    with failing() as failed:
        engine.create(FLEET, "workers", LARGE)
    partial = failed[0].partial
    state = driver.Resource(engine.urn(FLEET, "workers"), partial.id, inputs, driver.plain(partial.properties))

    assert "5,000 of 5,002 instances exist" in partial.reasons[0]
    assert engine.update(state, LARGE).outputs["createdCount"] == 5002


def test_after_a_request_that_fell_short_no_more_are_sent(engine, cloud):
    set_limits(cloud, zones={"us-east1-b": 10, "us-east1-c": 10, "us-east1-d": 10})
    created = engine.create(FLEET, "workers", {**LARGE, "minCount": 0})

    assert created.outputs["createdCount"] == 10
    assert len(cloud.requests(BULK)) == 1
    assert sum(shortfall["count"] for shortfall in created.outputs["shortfalls"]) == 4990
