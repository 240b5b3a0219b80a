"""The rate of requests follows the server's quota: few requests are refused, and programs share the whole quota."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from pauses import Pauses
from programs import PROJECT
from shared_quota import Bucket, Outage, Simulation, Window

from gcpx.gcp.request import COMPUTE, PATIENCE, STORAGE, Request
from gcpx.gcp.settings import Settings

READ = Request(api=COMPUTE, method="GET", path=f"v1/projects/{PROJECT}")
DELETE = Request(api=COMPUTE, method="DELETE", path=f"v1/projects/{PROJECT}/zones/z/instances/i", idempotent=False)


@pytest.mark.parametrize("latency", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("burst", [5, 20, 100])
def test_a_thousand_requests_take_hardly_longer_than_the_quota_requires(burst, latency):
    world = Simulation(Bucket(rate=20, burst=burst), latency)
    (succeeded,) = world.run((1000, 0.0))

    assert len(succeeded) == 1000
    assert max(succeeded) <= 1.2 * (1000 - burst) / 20
    assert world.refused < 200
    assert world.longest < PATIENCE, "no request fails"


@pytest.mark.parametrize("retry_after", [None, 5.0])
def test_a_quota_by_the_minute_is_used_up_with_few_refusals(retry_after):
    world = Simulation(Window(size=1200, seconds=60.0), 0.1, retry_after=retry_after)
    (succeeded,) = world.run((3000, 0.0))

    assert len(succeeded) == 3000
    assert sum(moment < 120 for moment in succeeded) == 2400, "the first two minutes are used up"
    assert max(succeeded) <= 150
    assert world.refused < 1000


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("second_start", [0.0, 20.0, 60.0])
def test_two_programs_share_a_quota(second_start, seed):
    world = Simulation(Bucket(rate=20, burst=20), 0.1, seed=seed)
    both = world.run((3000, 0.0), (3000, second_start))
    shares = [sum(70 < moment < 170 for moment in succeeded) for succeeded in both]

    assert [len(succeeded) for succeeded in both] == [3000, 3000]
    assert world.longest < PATIENCE, "no request fails"
    assert sum(shares) >= 0.95 * 20 * 100
    assert min(shares) >= 0.4 * sum(shares)


def test_a_server_that_refuses_everything_for_a_while_gets_few_requests():
    world = Simulation(Outage(until=60.0), 0.1)
    (succeeded,) = world.run((1000, 0.0))

    assert len(succeeded) == 1000
    assert world.refused <= 32 * 10, "each of 32 threads asks with growing pauses"
    assert world.longest < PATIENCE, "no request fails"


@contextmanager
def _server(pauses, allowed, headers=None):
    """Run a server that allows some requests in each second of the clock of `pauses`; yield its host and a counter."""
    quota, counts = Window(size=allowed, seconds=1.0), {200: 0, 403: 0}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet, so that no acknowledgement is waited for

        def do_GET(self):
            accepted = "storage" in self.path or quota.accepts(pauses.now)
            status, body = (
                (200, b"{}")
                if accepted
                else (403, b'{"error": {"code": 403, "errors": [{"reason": "rateLimitExceeded"}]}}')
            )
            counts[status] += 1
            self.send_response_only(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_DELETE(self):
            self.do_GET()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}", counts
        finally:
            server.shutdown()
            thread.join()


def test_a_client_finishes_a_thousand_changes_in_the_time_that_the_quota_allows():
    pauses = Pauses()
    with _server(pauses, allowed=20) as (host, counts):
        google = pauses.google(Settings(project=PROJECT, emulator_host=host))
        for _ in range(1000):
            assert google.send(DELETE, pauses.call()) == {}
        google.close()

    assert counts[200] == 1000
    assert pauses.now <= 1.2 * 1000 / 20


@pytest.mark.parametrize("asked", ["7", "Wed, 21 Oct 2015 07:28:07 GMT"])
def test_the_pause_that_a_server_asks_for_does_not_depend_on_the_local_clock(asked):
    """The server's clock differs from the local one by years; a date counts from the date of its response."""
    pauses = Pauses()
    with _server(pauses, allowed=1, headers={"Date": "Wed, 21 Oct 2015 07:28:00 GMT", "Retry-After": asked}) as (
        host,
        _,
    ):
        google = pauses.google(Settings(project=PROJECT, emulator_host=host))
        for _ in range(2):
            google.send(READ, pauses.call())
        google.close()

    assert pauses.seconds == [7.0]


def test_the_quota_of_one_api_does_not_slow_down_another():
    pauses = Pauses()
    with _server(pauses, allowed=1) as (host, counts):
        google = pauses.google(Settings(project=PROJECT, emulator_host=host))
        for _ in range(3):
            google.send(READ, pauses.call())
        before = pauses.now
        for _ in range(50):
            google.send(Request(api=STORAGE, method="GET", path="v1/b/bucket"), pauses.call())
        google.close()

    assert counts[403] > 0
    assert pauses.now == before > 0
