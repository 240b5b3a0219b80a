"""A custom timeout is one limit for a whole call, over all its requests, retries, pauses and waits.

Holds reliability.md: "`customTimeouts` limits"; "After the limit"; "It may read".
"""

from __future__ import annotations

import pytest
from engines import driver
from engines.clock import FakeClock
from engines.clocked import ClockedProvider, client, context
from engines.disturbed import Run, undisturbed
from engines.driver import failing
from engines.stack import changes_something
from values.programs import FLEET, PROJECT, TEMPLATE, template
from values.scenarios import CANCEL_SCENARIOS

from gcpx.errors import OutOfTimeError, ProviderError
from gcpx.gcp.request import COMPUTE, Request
from gcpx.gcp.settings import Settings
from gcpx.model.context import READING_TIME

WEB = {"name": "web", **template()}
INSERT = "compute.instanceTemplates.insert"
GET = "compute.instanceTemplates.get"
WAIT = "compute.globalOperations.wait"
READ = Request(api=COMPUTE, method="GET", path=f"v1/projects/{PROJECT}/global/instanceTemplates/web")
SLOW = 1.0
"""Seconds of the provider's clock that each request takes."""
ONE_AT_A_TIME = [item for item in CANCEL_SCENARIOS if item.token != FLEET and item.verb != "read"]
"""The scenarios whose requests are sent one after the other."""


@pytest.mark.parametrize("scenario", ONE_AT_A_TIME, ids=str)
def test_a_call_ends_a_second_after_its_timeout_and_changes_nothing_after_it(cloud, scenario):
    for timeout in range(1, len(undisturbed(cloud, scenario).calls)):
        sent = []
        with Run.begun(cloud, scenario) as run:
            run.stack.engine.timeout = timeout
            clock, begun = run.stack.provider.time, run.stack.provider.clock()

            def take_time(_, request, clock=clock, begun=begun, sent=sent):
                sent.append((clock.now() - begun, request))
                clock.advance(SLOW)

            with cloud.interceptor.observed(take_time):
                run.act()

        # The emulator's requests take a second at once, so that the last one may end that much later.
        assert clock.now() - begun <= timeout + READING_TIME + SLOW
        for seconds, request in sent:
            assert seconds < timeout + (0 if changes_something(request) else READING_TIME), request


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
    provider = ClockedProvider()

    def let_pass(_, request):
        if request.endswith("/wait"):
            provider.time.advance(passing)

    with (
        cloud.interceptor.observed(let_pass),
        driver.engine(provider, project=PROJECT, emulatorHost=cloud.host) as engine,
    ):
        return engine, engine.create(TEMPLATE, "web", WEB, timeout=60)


def test_the_limit_is_shared_by_all_requests_of_a_call(cloud):
    clock = FakeClock()
    google, call = client(clock, Settings(project=PROJECT, emulator_host=cloud.host)), context(clock, timeout=5)
    cloud.fail(GET, times=1000, status=503)
    for _ in range(5):
        with pytest.raises(ProviderError):
            google.send(READ, call)
    google.close()

    assert 0 < sum(clock.pauses) <= 5


def test_nothing_is_sent_after_the_limit(cloud):
    clock = FakeClock()
    google, call = client(clock, Settings(project=PROJECT, emulator_host=cloud.host)), context(clock, timeout=5)
    clock.pause(5.0)
    change = Request(api=COMPUTE, method="DELETE", path=READ.path)
    with pytest.raises(OutOfTimeError, match="not sent, because the custom timeout of 5 s was over"):
        google.send(change, call)
    clock.pause(READING_TIME)
    with pytest.raises(OutOfTimeError):
        google.send(READ, call)
    google.close()

    assert cloud.calls() == []


def test_a_wait_for_the_rate_that_would_take_longer_than_the_limit_is_not_begun(cloud):
    clock = FakeClock()
    google = client(clock, Settings(project=PROJECT, emulator_host=cloud.host))
    cloud.fail(GET, status=429, retry_after=20)
    with pytest.raises(ProviderError):
        google.send(READ, context(clock, timeout=5))
    with pytest.raises(OutOfTimeError):
        google.send(READ, context(clock, timeout=5))
    google.close()

    assert clock.pauses == []
    assert cloud.calls() == [GET]


def test_an_update_after_a_timeout_goes_on(cloud):
    scenario = next(item for item in CANCEL_SCENARIOS if str(item) == "fleet_scaled.relabel")
    expected = undisturbed(cloud, scenario)
    with Run.begun(cloud, scenario) as run:
        run.stack.engine.timeout = 60
        cloud.fail("compute.instances.setLabels", status=429, retry_after=30, times=1000)
        run.act()
        cloud.emulator.faults.queue.clear()
        run.stack.engine.timeout = 0

        assert run.stack.failed is not None
        run.settle(expected)
