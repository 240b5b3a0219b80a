"""A custom timeout is one limit for a whole call, over all its requests, retries, pauses and waits."""

from __future__ import annotations

import driver
import pytest
from driver import failing
from hurried import HurriedProvider
from interrupted import World, is_read
from pauses import Pauses
from programs import FLEET, PROJECT, TEMPLATE, template
from scenarios import CANCEL_SCENARIOS
from stack import Stack

from gcpx.errors import OutOfTimeError, ProviderError
from gcpx.gcp.request import COMPUTE, Request
from gcpx.gcp.settings import Settings
from gcpx.model.resource import READING_TIME
from gcpx_emulator.core.request_log import RequestLog

WEB = {"name": "web", **template()}
INSERT = "compute.instanceTemplates.insert"
GET = "compute.instanceTemplates.get"
WAIT = "compute.globalOperations.wait"
READ = Request(api=COMPUTE, method="GET", path=f"v1/projects/{PROJECT}/global/instanceTemplates/web")
SLOW = 1.0
"""Seconds of the provider's clock that each request takes."""
ONE_AT_A_TIME = [item for item in CANCEL_SCENARIOS if item.token != FLEET and item.verb != "read"]
"""The scenarios whose requests are sent one after the other."""


class SlowLog(RequestLog):
    """Lets time pass with each request, and notes when it was sent; its time begins when it is made."""

    def __init__(self, provider):
        super().__init__()
        self.provider, self.begun, self.sent = provider, provider.clock(), []

    def add(self, *request):
        self.sent.append(self.seconds)
        self.provider.let_pass(SLOW)
        return super().add(*request)

    @property
    def seconds(self):
        return self.provider.clock() - self.begun


@pytest.fixture
def slowly(cloud):
    """Return a function that makes requests slow, until the end of the test."""
    before = cloud.emulator.requests

    def make(provider):
        cloud.emulator.requests = SlowLog(provider)
        return cloud.emulator.requests

    yield make
    cloud.emulator.requests = before


@pytest.mark.parametrize("scenario", ONE_AT_A_TIME, ids=str)
def test_a_call_ends_a_second_after_its_timeout_and_changes_nothing_after_it(cloud, scenario, slowly):
    world = World(cloud)
    for timeout in range(1, len(world.learn(scenario).calls)):
        stack = world.begin(scenario)
        stack.engine.timeout = timeout
        log = slowly(stack.provider)
        scenario.run(stack)
        stack.end_plugin()

        # The emulator's requests take a second at once, so that the last one may end that much later.
        assert log.seconds <= timeout + READING_TIME + SLOW
        for entry, sent in zip(log.kept, log.sent, strict=True):
            assert sent < timeout + (READING_TIME if is_read(entry["method"]) else 0), entry


def test_what_was_created_just_before_the_limit_is_still_read(cloud):
    _, created = _create_with(cloud, 60.0)

    assert created.outputs["selfLink"]
    assert cloud.calls() == [INSERT, WAIT, GET]


def test_what_was_created_after_the_limit_is_kept_in_the_state(cloud):
    with failing() as failed:
        _create_with(cloud, 60.0 + READING_TIME)

    assert failed[0].partial.id == f"projects/{PROJECT}/global/instanceTemplates/web"
    assert "raise customTimeouts" in failed[0].message
    assert cloud.calls() == [INSERT, WAIT]


def _create_with(cloud, passing):
    """Create a template with a timeout of a minute; let time pass while its operation is being waited for."""
    provider = HurriedProvider()

    class Log(RequestLog):
        def add(self, *request):
            entry = super().add(*request)
            if entry["path"].endswith("/wait"):
                provider.let_pass(passing)
            return entry

    before, cloud.emulator.requests = cloud.emulator.requests, Log()
    try:
        with driver.engine(provider, project=PROJECT, emulatorHost=cloud.host) as engine:
            return engine, engine.create(TEMPLATE, "web", WEB, timeout=60)
    finally:
        before.kept.extend(cloud.emulator.requests.kept)
        cloud.emulator.requests = before


def test_the_limit_is_shared_by_all_requests_of_a_call(cloud):
    pauses = Pauses()
    google, call = pauses.google(Settings(project=PROJECT, emulator_host=cloud.host)), pauses.call(timeout=5)
    cloud.fail(GET, times=1000, status=503)
    for _ in range(5):
        with pytest.raises(ProviderError):
            google.send(READ, call)
    google.close()

    assert 0 < sum(pauses.seconds) <= 5


def test_nothing_is_sent_after_the_limit(cloud):
    pauses = Pauses()
    google, call = pauses.google(Settings(project=PROJECT, emulator_host=cloud.host)), pauses.call(timeout=5)
    pauses.wait(5.0)
    change = Request(api=COMPUTE, method="DELETE", path=READ.path)
    with pytest.raises(OutOfTimeError, match="not sent, because the custom timeout of 5 s was over"):
        google.send(change, call)
    pauses.wait(READING_TIME)
    with pytest.raises(OutOfTimeError):
        google.send(READ, call)
    google.close()

    assert cloud.calls() == []


def test_a_wait_for_the_rate_that_would_take_longer_than_the_limit_is_not_begun(cloud):
    pauses = Pauses()
    google = pauses.google(Settings(project=PROJECT, emulator_host=cloud.host))
    cloud.fail(GET, status=429, retry_after=20)
    with pytest.raises(ProviderError):
        google.send(READ, pauses.call(timeout=5))
    with pytest.raises(OutOfTimeError):
        google.send(READ, pauses.call(timeout=5))
    google.close()

    assert pauses.seconds == []
    assert cloud.calls() == [GET]


def test_an_update_after_a_timeout_goes_on(cloud):
    world = World(cloud)
    scenario = next(item for item in CANCEL_SCENARIOS if str(item) == "fleet_scaled.relabel")
    stack = world.begin(scenario)
    assert isinstance(stack, Stack)
    stack.engine.timeout = 60
    cloud.fail("compute.instances.setLabels", status=429, retry_after=30, times=1000)
    scenario.run(stack)
    cloud.emulator.faults.queue.clear()
    stack.engine.timeout = 0

    assert stack.failed is not None
    stack.up(scenario.changed)
    assert stack.failed is None
    assert not stack.preview(scenario.changed)
    stack.end_plugin()
