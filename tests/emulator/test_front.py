"""A web page on this machine can neither control the emulator nor make it read without end."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket

import pytest
from engines.clock import HANGS
from values.programs import PROJECT

from gcpx_emulator.app import application
from gcpx_emulator.core.errors import ApiError, ErrorMiddleware
from gcpx_emulator.core.uploads import MOST_BYTES
from gcpx_emulator.front import Front
from gcpx_emulator.server import listen
from gcpx_emulator.testing.background import serving

BUCKETS = f"/storage/v1/b?project={PROJECT}"
JSON = {"Content-Type": "application/json"}


def _send(cloud, method, path, body=b"", **headers):
    """Send a request with exactly these headers; return the status and the message of an error."""
    connection = http.client.HTTPConnection(cloud.host, timeout=HANGS)
    try:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.putrequest(method, path, skip_host="Host" in names)
        for name, value in ({"Content-Length": str(len(body))} | names).items():
            connection.putheader(name, value)
        connection.endheaders()
        connection.send(body)
        answer = connection.getresponse()
        raw = answer.read()
    finally:
        connection.close()
    return answer.status, json.loads(raw)["error"]["message"] if answer.status >= 400 else ""


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8095",
        "127.0.0.1.evil.example",
        "compute.googleapis.com",
        "localhost.example",
        "EVIL.example.",
        "127.0.0.1@evil.example",
        "evil",
        "evil:8095",
        "ai.",
    ],
)
@pytest.mark.parametrize("path", ["/", "/_emulator/requests", BUCKETS, "/compute/v1/projects/p/zones"])
def test_a_name_of_dns_leads_nowhere(cloud, host, path):
    status, message = _send(cloud, "GET", path, Host=host)

    assert status == 403
    assert "--allow-host" in message


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:8095",
        "127.0.0.1",
        "[::1]:8095",
        "10.0.0.7:1",
        "app.localhost",
        "host.docker.internal:8095",
        "LOCALHOST",
    ],
)
def test_addresses_and_own_names_are_answered(cloud, host):
    assert _send(cloud, "GET", "/_emulator/clock", Host=host) == (200, "")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", BUCKETS),
        ("POST", "/_emulator/reset"),
        ("DELETE", "/_emulator/faults"),
        ("PUT", "/v1/projects/p/topics/t"),
        ("GET", "/_emulator/resources"),
    ],
)
def test_a_request_of_another_site_is_refused(cloud, origin, method, path):
    assert _send(cloud, method, path, b"{}", Origin=origin, Content_Type="application/json")[0] == 403
    assert cloud.calls() == []


def test_a_page_of_the_emulator_itself_is_answered(cloud):
    assert _send(cloud, "GET", "/_emulator/clock", Origin=f"http://{cloud.host}") == (200, "")


@pytest.mark.parametrize(
    "kind",
    [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain; application/json",
    ],
)
@pytest.mark.parametrize("name", ["reset", "faults", "clock", "limits", "tokens", "keys/rotate"])
def test_a_command_that_any_page_could_send_is_refused(cloud, kind, name):
    headers = {"Content_Type": kind} if kind else {}
    status, message = _send(cloud, "POST", f"/_emulator/{name}", b"{}", **headers)

    assert status == 415
    assert "--json" in message


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "Application/JSON"])
def test_a_command_in_json_is_taken(cloud, kind):
    assert _send(cloud, "POST", "/_emulator/reset", b"", Content_Type=kind) == (200, "")


@pytest.mark.parametrize(("method", "path"), [("POST", BUCKETS), ("PUT", "/_emulator/state")])
def test_a_body_that_is_declared_too_large_is_refused_before_it_is_read(cloud, method, path):
    for length in (1 << 40, MOST_BYTES + 1):
        status, message = _send(cloud, method, path, b"", Content_Length=str(length))
        assert (status, "at most" in message) == (413, True)


@pytest.mark.parametrize("path", [BUCKETS, "/_emulator/faults"])
def test_a_body_with_too_many_values_is_refused_before_anything_is_made_of_it(cloud, path):
    body = b'{"labels": [' + b"[]," * 1_100_000 + b"[]]}"
    status, message = _send(cloud, "POST", path, body, Content_Type="application/json")

    assert (status, "at most 200,000 values" in message) == (413, True)
    assert _send(cloud, "POST", BUCKETS, b'{"name": "uploads"}') == (200, "")


def test_a_body_without_a_length_is_read_only_up_to_the_limit():
    given, sent = [], []

    async def read_all(_scope, receive, _send):
        while (message := await receive()).get("more_body"):
            given.append(len(message["body"]))

    async def receive():
        sent.append(1)
        return {"type": "http.request", "body": b"x" * 10, "more_body": True}

    scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
    with pytest.raises(ApiError) as refused:
        asyncio.run(Front(read_all, most=35)(scope, receive, None))

    assert refused.value.status == 413
    assert (len(given), len(sent)) == (3, 4)


class _HastyLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock also moves when it is told to."""

    moved = 0.0

    def time(self) -> float:
        return super().time() + self.moved


def test_a_body_that_comes_byte_by_byte_is_read_only_for_a_time():
    loop, given = _HastyLoop(), []

    async def read_all(_scope, receive, _send):
        while (message := await receive()).get("more_body"):
            given.append(message["body"])

    async def receive():
        await asyncio.sleep(0)
        loop.moved += 10_000.0
        return {"type": "http.request", "body": b"x", "more_body": True}

    scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
    with asyncio.Runner(loop_factory=lambda: loop) as runner, pytest.raises(ApiError) as refused:
        runner.run(Front(read_all, longest=35_000.0)(scope, receive, None))

    assert refused.value.status == 408
    assert len(given) == 4


def test_a_disconnection_after_the_body_is_waited_for_without_a_limit():
    loop, seen = _HastyLoop(), []
    sent = iter([{"type": "http.request", "body": b"", "more_body": False}, {"type": "http.disconnect"}])

    async def watch(_scope, receive, _send):
        seen.append((await receive())["type"])
        loop.moved += 10_000.0
        seen.append((await receive())["type"])

    async def receive():
        await asyncio.sleep(0)
        return next(sent)

    scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(Front(watch, longest=5_000.0)(scope, receive, None))

    assert seen == ["http.request", "http.disconnect"]


def test_a_client_that_does_not_send_its_whole_body_loses_its_connection():
    async def read_all(_scope, receive, _send):
        while (await receive()).get("more_body"):
            pass

    with serving(ErrorMiddleware(Front(read_all, longest=0.0)), listen()) as host:
        connection = socket.create_connection(host.split(":"), timeout=HANGS)
        with connection, connection.makefile("rb") as answer:
            connection.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nx")
            received = answer.read()

    assert received.startswith(b"HTTP/1.1 408 ")
    assert b"\r\nconnection: close\r\n" in received.lower(), "what comes later would keep it open"
    assert b"at most 0 seconds for the body" in received


def test_more_names_can_be_allowed(cloud):
    app = application(cloud.emulator, {"emulator.example", "emulator"}.__contains__)
    statuses = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        statuses.append(message.get("status"))

    for name in (b"emulator.example:8095", b"emulator:8095", b"other.example", b"other"):
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/_emulator/clock",
            "raw_path": b"/_emulator/clock",
            "query_string": b"",
            "headers": [(b"host", name)],
        }
        asyncio.run(app(scope, receive, send))

    assert statuses[::2] == [200, 200, 403, 403]
