"""Which requests are sent again, and after which pause.

Holds reliability.md: "gcpx repeats a request"; "After that, gcpx sends nothing"; "gcpx waits as long as".
"""

from __future__ import annotations

import threading

import attrs
import httpx
import pytest
from engines.clock import FakeClock
from engines.clocked import client, context
from values.programs import PROJECT

from gcpx.errors import CancelledError, ProviderError
from gcpx.gcp.errors import RateLimited, Unfinished
from gcpx.gcp.request import COMPUTE, Request
from gcpx.gcp.retries import retry_after
from gcpx.gcp.settings import Settings

GET = "compute.instanceTemplates.get"
INSERT = "compute.instanceTemplates.insert"
TEMPLATES = f"v1/projects/{PROJECT}/global/instanceTemplates"
READ = Request(api=COMPUTE, method="GET", path=f"{TEMPLATES}/web")
CREATE = Request(api=COMPUTE, method="POST", path=TEMPLATES, body={"name": "web"}, idempotent=False)


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def google(cloud, clock):
    """A client of the emulator, whose pauses pass at once."""
    found = client(clock, Settings(project=PROJECT, emulator_host=cloud.host))
    yield found
    found.close()


@pytest.mark.parametrize("fault", [{"status": 503}, {"drop": "before"}, {"body": "<html>"}], ids=str)
def test_every_retry_is_reported_until_patience_is_over(cloud, google, clock, fault):
    lines = []
    cloud.fail(GET, times=1000, **fault)
    with pytest.raises(ProviderError) as raised:
        google.send(READ, context(clock, say=lines.append))

    assert len(lines) == len(clock.pauses) > 5
    assert "trying again in" in lines[0]
    assert lines[0].startswith(raised.value.message.partition(" (")[0])
    assert 90 < sum(clock.pauses) <= READ.patience


@pytest.mark.parametrize(("asked", "kept"), [(7, 7), (3600, 30)])
def test_the_pause_that_google_asks_for_is_kept_up_to_30_seconds(cloud, google, clock, asked, kept):
    cloud.fail(GET, status=429, retry_after=asked)
    cloud.fail(GET, body='{"name": "web"}')

    assert google.send(READ, context(clock)) == {"name": "web"}
    assert clock.pauses == [kept]


@pytest.mark.parametrize(
    ("fault", "calls"),
    [({"status": 429, "retry_after": 1}, 2), ({"status": 403, "reason": "rateLimitExceeded"}, 2), ({"status": 503}, 1),
     ({"drop": "after"}, 1), ({"status": 400}, 1)],
    ids=str,
)  # fmt: skip
def test_a_request_that_is_not_idempotent_is_sent_again_only_after_a_rate_limit(cloud, google, clock, fault, calls):
    cloud.fail(INSERT, **fault)
    cloud.fail(INSERT, status=400, message="stop here")
    with pytest.raises(ProviderError):
        google.send(CREATE, context(clock))

    assert len(cloud.requests(INSERT)) == calls
    assert len(clock.pauses) == calls - 1


def test_a_rate_limit_holds_back_every_request_of_the_client(cloud, google, clock):
    cloud.fail(GET, status=429, retry_after=7)
    cloud.fail(GET, body='{"name": "web"}')
    with pytest.raises(RateLimited):
        google.send(READ, context(FakeClock(), cancelled_at_first_pause=True))
    assert google.send(attrs.evolve(READ, query={"fields": "name"}), context(clock)) == {"name": "web"}

    assert clock.pauses == [7]


@pytest.mark.parametrize("request_", [READ, CREATE])
def test_nothing_is_sent_after_a_cancellation(cloud, google, clock, request_):
    cancelled = threading.Event()
    cancelled.set()
    with pytest.raises(CancelledError, match="it changed nothing"):
        google.send(request_, attrs.evolve(context(clock), cancelled=cancelled))

    assert cloud.calls() == []


def test_a_cancellation_between_retries_does_not_hide_that_the_first_attempt_may_have_been_carried_out(cloud, google):
    cloud.fail(INSERT, drop="before")
    change = attrs.evolve(CREATE, idempotent=True)
    with pytest.raises(
        Unfinished, match=r"[a-zA-Z)]\. Google may have carried the request out\. Run the command again"
    ):
        google.send(change, context(FakeClock(), cancelled_at_first_pause=True))

    assert len(cloud.requests(INSERT)) == 1


def test_a_rate_limit_between_retries_does_not_hide_that_either(cloud, google, clock):
    cloud.fail(INSERT, drop="before")
    cloud.fail(INSERT, status=429, times=1000)
    with pytest.raises(
        Unfinished, match=r"[a-zA-Z)]\. Google may have carried the request out\. Run the command again"
    ):
        google.send(attrs.evolve(CREATE, idempotent=True), context(clock))


def test_a_call_that_is_cancelled_while_it_is_held_back_sends_nothing(cloud, google):
    cloud.fail(GET, status=429, retry_after=7)
    for expected in (RateLimited, CancelledError):
        with pytest.raises(expected):
            google.send(READ, context(FakeClock(), cancelled_at_first_pause=True))

    assert len(cloud.requests(GET)) == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:12 GMT", "Date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 12.0),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT", "Date": "Wed, 21 Oct 2026 07:28:12 GMT"}, 0.0),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "Fri, 31 Dec 99999999999 00:00:00 GMT"}, None),
        ({"Retry-After": "\u0667"}, None),
        ({}, None),
    ],
    ids=str,
)
def test_retry_after_is_a_number_of_seconds_or_a_date(headers, seconds):
    assert retry_after(httpx.Headers(headers, encoding="utf-8")) == seconds
