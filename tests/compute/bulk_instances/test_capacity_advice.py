"""With `validateOnline`, a preview shows how likely it is that Spot and flex-start instances can be created."""

from __future__ import annotations

import pytest
from engines import driver
from engines.driver import UNKNOWN
from servers import plain_http
from values.programs import FLEET, PROJECT, fleet

ADVICE = "compute.advice.capacity"
SPOT = {"scheduling": {"provisioningModel": "SPOT"}}
FLEX_START = {"scheduling": {"provisioningModel": "FLEX_START", "maxRunDuration": {"seconds": 3600}}}


@pytest.fixture
def online(cloud):
    with driver.engine(project=PROJECT, emulatorHost=cloud.host, validateOnline="true") as made:
        yield made


def _advise(cloud, **scores):
    plain_http.post(f"http://{cloud.host}/_emulator/advice", json=scores).raise_for_status()


def _said(engine):
    return [(severity, text) for severity, _, text in engine.log.messages if "capacity advice" in text]


@pytest.mark.parametrize(("properties", "words"), [
    (SPOT, "capacity advice for 3 Spot instances: an obtainability of 1.00 (0 to 1), and an expected uptime of 6.0 hours"),
    (FLEX_START, "capacity advice for 3 flex-start instances: an obtainability of 1.00 (0 to 1)"),
    ({"scheduling": {"preemptible": True}}, "3 Spot instances"),
], ids=str)  # fmt: skip
def test_a_preview_shows_the_advice(online, properties, words):
    assert online.failures(FLEET, fleet(**properties)) == {}
    ((severity, text),) = _said(online)

    assert severity == "INFO"
    assert words in text


def test_a_low_obtainability_is_a_warning(online, cloud):
    _advise(cloud, obtainability=0.2, estimatedUptime="1800s")

    assert online.failures(FLEET, fleet(**SPOT)) == {}
    ((severity, text),) = _said(online)
    assert severity == "WARNING"
    assert "an obtainability of 0.20 (0 to 1), and an expected uptime of 0.5 hours; this is low" in text


def test_the_question_names_zones_machine_types_and_the_new_instances(online, cloud):
    zones = [{"zone": "zones/us-east1-b"}, {"zone": "zones/us-east1-c"}]
    locations = {"zones/us-east1-c": {"preference": "DENY"}, "zones/us-east1-d": {"preference": "ALLOW"}}
    policy = {"targetShape": "BALANCED", "zones": zones, "locations": locations}
    flexible = {"instanceSelections": {"first": {"machineTypes": ["e2-small"], "rank": 1}, "second": {"machineTypes": ["e2-medium"]}}}  # fmt: skip
    created = online.create(FLEET, "workers", fleet(2, **SPOT))
    online.check(FLEET, "workers", fleet(5, **SPOT, locationPolicy=policy, instanceFlexibilityPolicy=flexible), created.inputs)  # fmt: skip

    body = cloud.requests(ADVICE)[-1]["body"]
    assert body == {
        "size": 3,
        "instanceProperties": {"scheduling": {"provisioningModel": "SPOT"}},
        "instanceFlexibilityPolicy": {"instanceSelections": {"first": {"machineTypes": ["e2-small"], "rank": "1"}, "second": {"machineTypes": ["e2-medium"]}}},
        "distributionPolicy": {"targetShape": "BALANCED", "zones": [{"zone": "zones/us-east1-b"}]},
    }  # fmt: skip


@pytest.mark.parametrize("inputs", [
    fleet(), fleet(**SPOT, machineType=UNKNOWN), fleet(UNKNOWN, **SPOT),
    fleet(scheduling={"provisioningModel": UNKNOWN}), fleet(scheduling=UNKNOWN), {**fleet(**SPOT), "region": UNKNOWN},
], ids=str)  # fmt: skip
def test_google_is_not_asked_where_it_has_no_advice(online, cloud, inputs):
    online.failures(FLEET, inputs)

    assert cloud.calls(ADVICE) == []


def test_each_fleet_is_asked_about_once(online, cloud):
    for _ in range(2):
        online.failures(FLEET, fleet(**SPOT))

    assert cloud.calls(ADVICE) == [ADVICE]


def test_a_fleet_that_does_not_grow_is_not_asked_about(online, cloud):
    created = online.create(FLEET, "workers", fleet(2, **SPOT))
    asked = len(cloud.calls(ADVICE))
    online.check(FLEET, "workers", fleet(2, **SPOT), created.inputs)

    assert len(cloud.calls(ADVICE)) == asked


def test_without_validate_online_google_is_not_asked(engine, cloud):
    engine.failures(FLEET, fleet(**SPOT))

    assert cloud.calls() == []


@pytest.mark.parametrize("fault", [{"status": 403, "message": "no"}, {"status": 404}, {"body": "{}"}, {"body": '{"recommendations": [{"scores": 1}, 2]}'}], ids=str)  # fmt: skip
def test_advice_that_google_does_not_give_is_no_failure(online, cloud, fault):
    cloud.fail(ADVICE, **fault)

    assert online.failures(FLEET, fleet(**SPOT)) == {}
    assert _said(online) == []


@pytest.mark.parametrize(("more", "path", "words"), [
    ({"fallbacks": [{"zones": ["us-east1-x"]}]}, "fallbacks[0].zones[0]", "must be a zone of demo-project"),
    ({"fallbacks": [{"machineType": "e9-huge"}]}, "fallbacks[0].machineType", "must be a machine type in us-east1"),
    ({"placement": {"policies": ["none"]}}, "placement.policies[0]", "does not exist"),
])  # fmt: skip
def test_what_fallbacks_and_placement_name_has_to_exist(online, more, path, words):
    assert words in online.failures(FLEET, fleet(**more))[path]
