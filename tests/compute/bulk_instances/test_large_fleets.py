"""More instances than one request may create are divided into several requests, each of which is sent once."""

from __future__ import annotations

import pytest
from engines import driver
from engines.driver import failing
from rolling.fleets import set_limits
from values.programs import FLEET, PROJECT, fleet

BULK = "compute.regionInstances.bulkInsert"
LARGE = fleet(5002, namePattern="web-####", networkInterfaces=[{"subnetwork": "regions/us-east1/subnetworks/wide"}])
WIDE = {"name": "wide", "network": "global/networks/wide", "ipCidrRange": "10.0.0.0/16"}


@pytest.fixture(autouse=True)
def wide_subnetwork(cloud):
    """A subnetwork with enough addresses, which the one of the network `default` has not."""
    base = f"/compute/v1/projects/{PROJECT}"
    cloud.post(f"{base}/global/networks", {"name": "wide", "autoCreateSubnetworks": False})
    cloud.post(f"{base}/regions/us-east1/subnetworks", WIDE)


def test_a_large_fleet_takes_several_requests_and_the_next_run_completes_it_also_if_a_response_is_lost(engine, cloud):
    inputs = {**LARGE, "minCount": 4999}
    cloud.fail(BULK, delay=0.0)
    cloud.fail(BULK, status=400, reason="invalid", message="not like this")
    checked = engine.checked(FLEET, "workers", inputs)
    with failing() as failed:
        engine.create(FLEET, "workers", inputs)
    partial = failed[0].partial
    state = driver.Resource(engine.urn(FLEET, "workers"), partial.id, checked, driver.plain(partial.properties))
    first, refused = cloud.requests(BULK)

    assert "5,000 of 5,002 instances exist" in partial.reasons[0]
    assert first["query"]["requestId"] != refused["query"]["requestId"]
    bodies = [request["body"] for request in (first, refused)]
    assert [(body["count"], body["minCount"]) for body in bodies] == [("5000", "4997"), ("2", "1")], (
        "a request that others follow leaves them their share of the minimum"
    )
    assert [body.get("locationPolicy") for body in bodies] == [None, {"zones": [{"zone": "zones/us-east1-b"}]}], (
        "ANY_SINGLE_ZONE holds for all requests together"
    )

    cloud.fail(BULK, drop="after")
    completed = engine.update(state, inputs)

    assert completed.outputs["memberCount"] == 5002
    assert cloud.emulator.store.counts()["instances"] == 5002
    assert len(cloud.requests(BULK)) == 3, "the operation of the lost request is found, so that it is not sent again"


def test_after_a_request_that_fell_short_no_more_are_sent(engine, cloud):
    set_limits(cloud, zones={"us-east1-b": 10, "us-east1-c": 10, "us-east1-d": 10})
    created = engine.create(FLEET, "workers", {**LARGE, "minCount": 0})

    assert created.outputs["memberCount"] == 10
    assert len(cloud.requests(BULK)) == 1
    assert sum(shortfall["count"] for shortfall in created.outputs["shortfalls"]) == 4990
