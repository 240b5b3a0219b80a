"""The rate of requests follows the server's quota: few requests are refused, and programs share the whole quota.

Holds reliability.md: "gcpx learns from the responses".
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from engines.clock import FakeClock
from engines.clocked import client, context
from servers.quota_simulation import Quota, Simulation
from values.programs import PROJECT

from gcpx.gcp.request import COMPUTE, PATIENCE, STORAGE, Request
from gcpx.gcp.settings import Settings

READ = Request(api=COMPUTE, method="GET", path=f"v1/projects/{PROJECT}")
DELETE = Request(api=COMPUTE, method="DELETE", path=f"v1/projects/{PROJECT}/zones/z/instances/i", idempotent=False)


@pytest.mark.parametrize("second_start", [0.0, 20.0])
def test_two_programs_share_a_quota(second_start):
    world = Simulation(Quota(rate=20, burst=20))
    both = world.run((3000, 0.0), (3000, second_start))
    shares = [sum(70 < moment < 170 for moment in succeeded) for succeeded in both]

    assert [len(succeeded) for succeeded in both] == [3000, 3000]
    assert world.longest < PATIENCE, "no request fails"
    assert sum(shares) >= 0.95 * 20 * 100
    assert min(shares) >= 0.4 * sum(shares)


@contextmanager
def _server(clock, allowed, headers=None):
    """Run a server that allows some requests in each second of the clock; yield its host and a counter."""
    quota, counts = Quota(rate=allowed, burst=allowed), {200: 0, 403: 0}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet, so that no acknowledgement is waited for

        def do_GET(self):
            accepted = "storage" in self.path or quota.accepts(clock.now())
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
    clock = FakeClock()
    with _server(clock, allowed=20) as (host, counts):
        google = client(clock, Settings(project=PROJECT, emulator_host=host))
        for _ in range(1000):
            assert google.send(DELETE, context(clock)) == {}
        google.close()

    assert counts[200] == 1000
    assert clock.now() <= 1.2 * 1000 / 20


@pytest.mark.parametrize("asked", ["7", "Wed, 21 Oct 2015 07:28:07 GMT"])
def test_the_pause_that_a_server_asks_for_does_not_depend_on_the_local_clock(asked):
    """The server's clock differs from the local one by years; a date counts from the date of its response."""
    clock = FakeClock()
    with _server(clock, allowed=1, headers={"Date": "Wed, 21 Oct 2015 07:28:00 GMT", "Retry-After": asked}) as (
        host,
        _,
    ):
        google = client(clock, Settings(project=PROJECT, emulator_host=host))
        for _ in range(2):
            google.send(READ, context(clock))
        google.close()

    assert clock.pauses == [7.0]


def test_the_quota_of_one_api_does_not_slow_down_another():
    clock = FakeClock()
    with _server(clock, allowed=1) as (host, counts):
        google = client(clock, Settings(project=PROJECT, emulator_host=host))
        for _ in range(3):
            google.send(READ, context(clock))
        before = clock.now()
        for _ in range(50):
            google.send(Request(api=STORAGE, method="GET", path="v1/b/bucket"), context(clock))
        google.close()

    assert counts[403] > 0
    assert clock.now() == before > 0
