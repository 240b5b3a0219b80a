"""What a property requires is set before it, and removed after it."""

from __future__ import annotations

import pytest
from rolling.rollouts import STOP, instances, rolling
from values.programs import FLEET

GPU = {
    "guestAccelerators": [{"acceleratorType": "nvidia-tesla-t4", "acceleratorCount": 1}],
    "scheduling": {"onHostMaintenance": "TERMINATE"},
}
PLAIN = {"scheduling": {"onHostMaintenance": "MIGRATE"}}
IN_C = {"locationPolicy": {"zones": [{"zone": "zones/us-east1-c"}]}}


@pytest.mark.parametrize(("before", "after"), [({}, GPU), (GPU, PLAIN), (GPU, {}), (PLAIN, GPU)])
def test_accelerators_come_after_the_scheduling_that_they_require_and_go_before_it(engine, cloud, before, after):
    created = engine.create(FLEET, "workers", rolling(2, machineType="n1-standard-1", **IN_C, **before))
    cloud.emulator.requests.kept.clear()
    updated = engine.update(created, rolling(2, machineType="n1-standard-1", **IN_C, **after))

    assert len(cloud.requests(STOP)) == 2
    for item in instances(cloud, updated):
        assert item["status"] == "RUNNING"
        assert bool(item.get("guestAccelerators")) == (after is GPU)
        assert item["scheduling"]["onHostMaintenance"] == ("TERMINATE" if after is GPU else "MIGRATE")


def test_a_platform_goes_before_the_machine_type_that_has_it_and_comes_after_it(engine, cloud):
    setters = ("compute.instances.setM",)
    created = engine.create(FLEET, "workers", rolling(1))
    cloud.emulator.requests.kept.clear()
    platform = {"minCpuPlatform": "Intel Ice Lake", "machineType": "n2-standard-2"}
    updated = engine.update(created, rolling(1, **platform))
    assert cloud.calls(*setters) == ["compute.instances.setMachineType", "compute.instances.setMinCpuPlatform"]

    cloud.emulator.requests.kept.clear()
    engine.update(updated, rolling(1))
    assert cloud.calls(*setters) == ["compute.instances.setMinCpuPlatform", "compute.instances.setMachineType"]
