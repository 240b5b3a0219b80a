"""A preview refuses what Google would refuse, without a call."""

from __future__ import annotations

import pytest
from engines.driver import UNKNOWN
from values.programs import FLEET, fleet, properties


@pytest.mark.parametrize(
    ("inputs", "path", "words"),
    [
        (fleet(minCount=4), "minCount", "must be at most count, 3"),
        (fleet(count=-1), "count", "must be at least 0"),
        (fleet(onStopped="RESTART"), "onStopped", "must be one of"),
        (fleet(perInstanceProperties={"a": {}}), "namePattern", "conflicts with perInstanceProperties"),
        ({"region": "r", "count": 1, "instanceProperties": properties()}, "", "needs one of namePattern or perInstanceProperties"),
        ({"region": "r", "namePattern": "a-#", "instanceProperties": properties()}, "count", "is required with namePattern"),
        ({"region": "r", "count": 1, "namePattern": "a-#"}, "", "needs one of instanceProperties or sourceInstanceTemplate"),
        (fleet(namePattern="a-#-#"), "namePattern", "one run of #"),
        (fleet(namePattern="a"), "namePattern", "one run of #"),
        (fleet(namePattern="a" + "#" * 19), "namePattern", "at most 18"),
        (fleet(namePattern="a-#", count=10), "namePattern", "at most 9 names, but count is 10"),
        (fleet(namePattern="A-#"), "namePattern", "RFC 1035"),
        ({**fleet(), "count": 2, "namePattern": None, "perInstanceProperties": {"a": {}}}, "count", "the number of perInstanceProperties, 1"),
        (fleet(locationPolicy={"locations": {"zones/z": {"preference": "MAYBE"}}}), 'locationPolicy.locations["zones/z"].preference', "ALLOW, DENY"),
        (fleet(locationPolicy={"locations": {"zones/z": {"constraints": {"maxCount": -1}}}}), 'locationPolicy.locations["zones/z"].constraints.maxCount', "must be at least 0"),
        (fleet(machineType="custom-3-1024"), "instanceProperties.machineType", "an even number up to 32, not 3"),
        (fleet(machineType="custom-2-1000"), "instanceProperties.machineType", "multiples of 256"),
        (fleet(disks=[{"diskEncryptionKey": {"rawKey": "x"}}]), "instanceProperties.disks[0].diskEncryptionKey.rawKey", "customer-supplied keys cannot be used"),
        (fleet(disks=[{"initializeParams": {"replicaZones": ["a"]}}]), "instanceProperties.disks[0].initializeParams.replicaZones", "exactly 2"),
        (fleet(fleetId="No Label"), "fleetId", "a label value"),
    ],
)  # fmt: skip
def test_invalid_inputs_are_refused_at_preview(engine, cloud, inputs, path, words):
    failures = engine.failures(FLEET, inputs)

    assert words in failures.get(path, ""), failures
    assert cloud.calls() == []


@pytest.mark.parametrize("count", [0, "0"])
def test_a_fleet_without_names_is_refused_even_if_it_is_parked(engine, count):
    unnamed = {**fleet(count=count), "perInstanceProperties": {}, "namePattern": None}

    assert "needs one of" in engine.failures(FLEET, unnamed)[""]


def test_values_that_are_not_known_to_be_wrong_are_accepted(engine):
    assert engine.failures(FLEET, fleet(machineType="n2-custom-6-3072-ext")) == {}
    assert engine.failures(FLEET, fleet(count=UNKNOWN, namePattern="a-#", minCount=5)) == {}
