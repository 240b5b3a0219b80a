"""The members of a batch are observed after they are ready, and the next batch begins only if they are still ready."""

from __future__ import annotations

import pytest
from engines import driver
from engines.clocked import ClockedProvider
from engines.driver import failing
from rolling.rollouts import ATTRIBUTES, BIGGER_DISK, BULK, DELETE, rolling
from values.programs import FLEET, PROJECT

READY = {"guestAttribute": "app/state=ready", "within": 5}
ALL = f"projects/{PROJECT}/zones/us-east1-b/instances"


@pytest.fixture
def provider():
    return ClockedProvider()


@pytest.fixture
def engine(cloud, provider):
    cloud.emulator.store.put("guest-attributes/all", {"onBoot": {"app/state": "ready"}})
    with driver.engine(provider, project=PROJECT, emulatorHost=cloud.host) as made:
        yield made


def _taken(engine, provider, seconds, change):
    """Roll a fleet of 3 members one by one; return the seconds that this takes."""
    policy = {"ready": {**READY, "stableFor": seconds}}
    created = engine.create(FLEET, "workers", rolling(3, policy, **ATTRIBUTES))
    begun = provider.time.now()
    engine.update(created, rolling(3, policy, **ATTRIBUTES, **change))
    return provider.time.now() - begun


@pytest.mark.parametrize("change", [BIGGER_DISK, {"machineType": "e2-medium"}], ids=["replace", "restart"])
def test_each_batch_is_observed(engine, provider, change):
    assert 180 <= _taken(engine, provider, 60, change) < 240


@pytest.mark.parametrize("change", [{}, {"labels": {"a": "1"}}], ids=["nothing", "labels"])
def test_nothing_is_observed_if_no_member_is_created_or_restarted(engine, provider, change):
    assert _taken(engine, provider, 60, change) < 60


def test_a_version_that_fails_while_it_is_observed_ends_the_rollout_in_its_first_batch(engine, provider, cloud):
    policy = {"ready": {**READY, "stableFor": 60}}
    created = engine.create(FLEET, "workers", rolling(3, policy, **ATTRIBUTES))
    begun, old = provider.time.now(), {item["id"] for item in cloud.emulator.store.list(ALL)}

    def fail_later(_number, request):
        new = [item for item in cloud.emulator.store.list(ALL) if item["id"] not in old]
        if new and provider.time.now() - begun >= 30:
            path = f"{ALL}/{new[0]['name']}"
            cloud.change(path, lambda body: body.update(_guestAttributes={"app/state": "failed"}))

    with cloud.interceptor.observed(fail_later), failing() as failed:
        engine.update(created, rolling(3, policy, **ATTRIBUTES, **BIGGER_DISK))

    assert "not ready within 5 seconds" in failed[0].partial.reasons[0]
    assert len(cloud.requests(DELETE)) == 1
    assert len(cloud.requests(BULK)) == 2


def test_the_preview_says_how_long_each_batch_is_observed(engine):
    policy = {"ready": {"stableFor": 60}}
    created = engine.create(FLEET, "workers", rolling(3, policy))
    engine.preview_update(created, rolling(3, policy, **BIGGER_DISK))
    said = "\n".join(text for _, _, text in engine.log.messages)

    assert "3 batches, each observed for 60 s; at least 2 of 3 members run at any time" in said
