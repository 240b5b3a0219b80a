"""A fleet that fell short says why: by cause and place, with what to do next, whatever Google's spelling of the error."""

from __future__ import annotations

import grpc
import pytest
from engines.driver import failing
from rolling.fleets import set_limits
from values.programs import FLEET, fleet

BULK = "compute.regionInstances.bulkInsert"
OPERATIONS = "compute.zoneOperations.list"
IN_B = {"locationPolicy": {"zones": [{"zone": "zones/us-east1-b"}]}}
NOWHERE = {"us-east1-b": 0, "us-east1-c": 0, "us-east1-d": 0}


def _short(engine, **more):
    """Create a fleet that accepts any number; return its shortfalls, and the warning about them."""
    created = engine.create(FLEET, "workers", fleet(count=10, minCount=0, **more))
    (said,) = [text for _, _, text in engine.log.messages if "of 10 instances exist" in text]
    return created.outputs["shortfalls"], said


def test_a_stock_out_names_the_zones_with_room(engine, cloud):
    set_limits(cloud, zones={"us-east1-b": 7})
    shortfalls, said = _short(engine, **IN_B)

    message = "no capacity for e2-small, but Google reported room in us-east1-c, us-east1-d: allow these zones with locationPolicy, or name them in fallbacks"
    assert shortfalls == [{
        "cause": "STOCK_OUT", "count": 3, "zone": "us-east1-b", "machineType": "e2-small",
        "zonesWithRoom": ["us-east1-c", "us-east1-d"], "message": message,
    }]  # fmt: skip
    assert f"- 3 instances in us-east1-b: {message}" in said.splitlines()


def test_a_stock_out_without_details_is_the_same_cause(engine, cloud):
    set_limits(cloud, zones={"us-east1-b": 7}, plainErrors=True)
    ((shortfall,), said) = _short(engine, **IN_B)

    assert {**shortfall, "message": ""} == {
        "cause": "STOCK_OUT", "count": 3, "zone": "us-east1-b", "machineType": "e2-small", "zonesWithRoom": [], "message": "",
    }  # fmt: skip
    assert "allow other zones with locationPolicy, allow other machine types with instanceFlexibilityPolicy" in said


def test_a_quota_is_named_with_limit_and_usage(engine, cloud):
    set_limits(cloud, instances={"us-east1": 6})
    ((shortfall,), said) = _short(engine)

    assert (shortfall["cause"], shortfall["count"]) == ("QUOTA", 4)
    words = (
        "the quota INSTANCES-per-project-region is used up (region us-east1, limit 6, usage 6): request a higher quota"
    )
    assert words in shortfall["message"]
    assert words in said


def test_a_quota_that_is_checked_at_the_request_is_the_same_cause(engine, cloud):
    set_limits(cloud, instances={"us-east1": 6}, quotaAtRequest=True)
    with failing() as failed:
        engine.create(FLEET, "workers", fleet(count=10))

    assert failed[0].code == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert failed[0].message.count("Quota 'INSTANCES' exceeded") == 1
    assert "Quota 'INSTANCES' exceeded" in failed[0].message
    assert "request a higher quota" in failed[0].message


def test_used_up_addresses_are_a_cause(engine, cloud):
    set_limits(cloud, addresses={"us-east1": 8})
    ((shortfall,), said) = _short(engine)

    assert (shortfall["cause"], shortfall["count"]) == ("ADDRESSES", 2)
    assert "extend the subnetwork's range" in said


def test_each_cause_and_zone_has_its_line(engine, cloud):
    set_limits(cloud, zones={"us-east1-b": 1, "us-east1-c": 2, "us-east1-d": 3}, addresses={"us-east1": 4})
    shortfalls, said = _short(engine, locationPolicy={"targetShape": "BALANCED"})

    assert sum(shortfall["count"] for shortfall in shortfalls) == 6
    assert {shortfall["cause"] for shortfall in shortfalls} == {"STOCK_OUT", "ADDRESSES"}
    assert len(said.splitlines()) == len(shortfalls) + 1


def test_causes_are_read_from_all_pages_in_few_calls(engine, cloud):
    set_limits(cloud, zones={"us-east1-b": 1})
    created = engine.create(FLEET, "workers", fleet(count=1100, minCount=0, namePattern="web-####", **IN_B))

    assert [shortfall["count"] for shortfall in created.outputs["shortfalls"]] == [1099]
    (first, *others) = cloud.requests(OPERATIONS)
    assert f'operationGroupId = "{created.outputs["__kept"]["operationGroupId"]}"' in first["query"]["filter"]
    assert len(others) <= 3


def test_instances_that_google_deletes_again_do_not_hide_why_the_others_were_not_created(engine, cloud):
    set_limits(cloud, zones={"us-east1-b": 1, "us-east1-c": 1, "us-east1-d": 5}, plainErrors=True)
    with failing() as failed:
        engine.create(FLEET, "workers", fleet(count=9, locationPolicy={"targetShape": "BALANCED"}))

    assert "- 1 instance in us-east1-b: no capacity for e2-small" in failed[0].message
    assert "- 1 instance in us-east1-c: no capacity for e2-small" in failed[0].message
    assert failed[0].message.count("\n- ") == 2
    assert "canceled by user" not in failed[0].message


def test_a_cancellation_beside_a_missed_minimum_is_no_reason_to_skip_the_fallbacks(engine, cloud):
    canceled, missed = {"code": "OPERATION_CANCELED_BY_USER"}, {"code": "VM_MIN_COUNT_NOT_REACHED"}
    cloud.fail(BULK, operation={"errors": [canceled, missed], "httpErrorStatusCode": 503})
    created = engine.create(FLEET, "workers", fleet(fallbacks=[{"machineType": "n2-standard-2"}]))

    assert created.outputs["memberCount"] == 3
    assert len(cloud.requests(BULK)) == 2


def test_a_fleet_that_is_complete_asks_for_no_causes(engine, cloud):
    created = engine.create(FLEET, "workers", fleet())

    assert created.outputs["shortfalls"] == []
    assert cloud.calls(OPERATIONS) == []


@pytest.mark.parametrize("fault", [{"status": 403, "message": "not yours"}, {"body": '{"items": [3]}'}], ids=str)
def test_causes_that_cannot_be_read_do_not_hide_the_shortfall(engine, cloud, fault):
    set_limits(cloud, zones={"us-east1-b": 7})
    cloud.fail(OPERATIONS, times=100, **fault)
    ((shortfall,), said) = _short(engine, **IN_B)

    assert (shortfall["cause"], shortfall["count"], shortfall["zone"]) == ("OTHER", 3, "us-east1-b")
    assert "the reasons could not be read" in said


def test_a_usage_that_cannot_be_read_is_left_out(engine, cloud):
    set_limits(cloud, instances={"us-east1": 6})
    cloud.fail("compute.regions.get", status=403)
    ((shortfall,), _) = _short(engine)

    assert "(region us-east1, limit 6)" in shortfall["message"]


@pytest.mark.parametrize(("code", "cause"), [
    ("QUOTA_EXCEEDED", "higher quota"), ("quotaExceeded", "higher quota"),
    ("ZONE_RESOURCE_POOL_EXHAUSTED", "no capacity"), ("stockout", "no capacity"),
    ("ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", "no capacity"),
    ("IP_SPACE_EXHAUSTED", "extend the subnetwork's range"), ("PERMISSION_DENIED", "rant the "),
    ("INTERNAL_ERROR", "odd"),
])  # fmt: skip
def test_spellings_of_an_error_are_one_cause(engine, cloud, code, cause):
    cloud.fail(BULK, operation={"errors": [{"code": code, "message": "odd"}]})
    with failing() as failed:
        engine.create(FLEET, "workers", fleet())
    asynchronous = failed[0].message
    cloud.fail(BULK, status=403 if "PERMISSION" in code else 400, reason=code, message="odd")
    with failing() as failed:
        engine.create(FLEET, "workers", fleet())

    assert cause in asynchronous
    assert cause in failed[0].message


def test_a_fleet_that_failed_says_what_each_attempt_fell_short_of(engine, cloud):
    set_limits(cloud, zones=NOWHERE)
    with failing() as failed:
        engine.create(FLEET, "workers", fleet(fallbacks=[{"machineType": "n2-standard-2", "zones": ["us-east1-c"]}]))

    assert "- 3 instances in us-east1-b: no capacity for e2-small" in failed[0].message
    assert "- 3 instances in us-east1-c: no capacity for n2-standard-2" in failed[0].message
