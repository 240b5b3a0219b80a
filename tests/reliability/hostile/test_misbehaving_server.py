"""A server that sends too much, too deep, too slowly, or what nobody asked for: a clear error in bounded time and memory.

Holds reliability.md: "A response that is incomplete"; "It never means that something is gone"; "A response may have at
most"; "All pages of a list".
Holds settings.md: "Redirects are not followed".
"""

from __future__ import annotations

import gzip
import itertools
import json
import zlib

import grpc
import httpx
import pytest
from engines import driver
from engines.clock import FakeClock
from engines.clocked import ClockedProvider, client, context
from engines.driver import Resource, failing
from engines.plugin_process import plugin_process
from servers.raw_server import answering, response
from values import matrix
from values.programs import ATTACHMENT, FLEET, IMAGE, KEY, NOTIFICATION, PROJECT, TEMPLATE, USER

from gcpx.gcp import list_method
from gcpx.gcp.connections import Connections
from gcpx.gcp.errors import ApiError
from gcpx.gcp.request import COMPUTE, Request
from gcpx.gcp.settings import Settings

READ = Request(api=COMPUTE, method="GET", path=f"v1/projects/{PROJECT}/global/instanceTemplates/web")
MEGABYTE = 1 << 20
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CUT_GZIP = gzip.compress(b"{}" * 1000)[:-9]
IDS = {
    TEMPLATE: f"projects/{PROJECT}/global/instanceTemplates/web",
    IMAGE: f"projects/{PROJECT}/global/machineImages/i",
    ATTACHMENT: f"projects/{PROJECT}/zones/us-east1-b/instances/vm/data",
    FLEET: f"projects/{PROJECT}/regions/us-east1/bulkInstances/f",
    NOTIFICATION: "bucket/notificationConfigs/7",
    KEY: f"users/{USER}/sshPublicKeys/abc",
}
HTML = b"<html><title>404 Not Found</title></html>"


def _read(host, token):
    """Refresh a resource of the state; return the error."""
    with driver.engine(ClockedProvider(), project=PROJECT, emulatorHost=host) as engine, failing() as failed:
        engine.refresh(Resource(engine.urn(token, "r"), IDS[token], {}, {"disk": "d", "deviceName": "data"}))
    return failed[0]


def _send(answer):
    """Send one request; return the error and the number of requests."""
    with answering(answer) as server:
        clock = FakeClock()
        google = client(clock, Settings(project=PROJECT, emulator_host=server.host))
        with pytest.raises(ApiError) as raised:
            google.send(READ, context(clock))
        google.close()
    return raised.value, len(server.requests)


@pytest.mark.parametrize("status", ["404 Not Found", "409 Conflict", "412 Precondition Failed", "403 Forbidden"])
@pytest.mark.parametrize("token", IDS)
def test_a_page_of_a_proxy_does_not_mean_that_a_resource_is_gone(token, status):
    with answering(lambda _: [response(HTML, status, "Connection: close")]) as server:
        error = _read(server.host, token)

    assert error.code == grpc.StatusCode.ABORTED
    assert "not in the format of Google's APIs" in error.message


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{}", b"null", b"[]", b'"not found"', b'{"error": 404}', b'{"error": "notFound"}', b'{"code": 404}',
        b'{"error": {"message": "not found"}}', b'{"error": {"code": 400}}', b'{"error": {"code": "404"}}',
    ],
)  # fmt: skip
def test_only_googles_form_of_not_found_means_that_a_resource_is_gone(body):
    with answering(lambda _: [response(body, "404 Not Found", "Connection: close")]) as server:
        assert _read(server.host, TEMPLATE).code == grpc.StatusCode.ABORTED


@pytest.mark.parametrize("token", [TEMPLATE, IMAGE, NOTIFICATION, KEY])
def test_a_page_of_a_proxy_does_not_mean_that_a_resource_was_deleted(token):
    with (
        answering(lambda _: [response(HTML, "404 Not Found", "Connection: close")]) as server,
        driver.engine(ClockedProvider(), project=PROJECT, emulatorHost=server.host) as engine,
        failing() as failed,
    ):
        engine.delete(Resource(engine.urn(token, "r"), IDS[token], {}, {}))

    assert "not in the format of Google's APIs" in failed[0].message


@pytest.mark.parametrize("token", IDS)
def test_the_response_for_another_request_does_not_mean_that_a_resource_is_gone(token):
    other = {"id": "99", "name": "other", "fingerprint": "other", "key": "ssh-rsa x", "kind": "compute#instance"}
    with answering(lambda _: [response(json.dumps(other).encode(), "200 OK", "Connection: close")]) as server:
        assert _read(server.host, token).code == grpc.StatusCode.ABORTED


@pytest.mark.parametrize("token", IDS)
def test_an_empty_object_does_not_mean_that_a_resource_is_gone(token):
    with answering(lambda _: [response(b"{}", "200 OK", "Connection: close")]) as server:
        assert _read(server.host, token).code == grpc.StatusCode.ABORTED


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"])
def test_a_redirect_is_not_followed_and_names_where_it_leads(status):
    location = "Location: http://user:hunter2@elsewhere.example/path?token=hunter2"
    error, count = _send(lambda _: [response(b"", status, location, "Connection: close")])

    assert "redirect to http://elsewhere.example" in str(error)
    assert "hunter2" not in str(error)
    assert (error.code, count) == ("INVALID_ARGUMENT", 1)


@pytest.mark.parametrize("location", ["http://[", "http://a]b/"])
def test_a_redirect_to_a_malformed_address_is_a_redirect(location):
    error, _ = _send(lambda _: [response(b"", "302 Found", f"Location: {location}", "Connection: close")])

    assert "redirect to a malformed URL (HTTP 302)" in str(error)


def _endless(line):
    yield CHUNKED
    piece = b"100000\r\n" + b"a" * MEGABYTE + b"\r\n"
    yield from itertools.repeat(piece)


def _bomb(line):
    packer = zlib.compressobj(wbits=31)
    first, block = (packer.compress(b"a" * MEGABYTE) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    yield response(first + block * 1024, "200 OK", "Content-Encoding: gzip", "Connection: close")


@pytest.mark.parametrize("answer", [_endless, _bomb] if matrix.FULL else [_bomb])
def test_a_body_is_read_up_to_a_limit_only(answer):
    with answering(answer) as server, plugin_process(project=PROJECT, emulatorHost=server.host) as plugin:
        before = plugin.peak()
        with failing() as failed:
            plugin.engine.refresh(Resource(plugin.engine.urn(TEMPLATE, "web"), IDS[TEMPLATE], {}, {}))
        taken = plugin.peak() - before

    assert "larger than 268,435,456 bytes" in failed[0].message
    assert len(server.requests) == 1
    assert taken < 320, "besides the 256 MiB that may be read"


def test_an_encoding_that_nobody_asked_for_is_refused():
    twice = gzip.compress(gzip.compress(b"{}"))
    error, count = _send(lambda _: [response(twice, "200 OK", "Content-Encoding: gzip, gzip", "Connection: close")])

    assert "compressed in a way that gcpx did not ask for" in str(error)
    assert count == 1


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (response(CUT_GZIP, "200 OK", "Content-Encoding: gzip", "Connection: close"), "the connection was lost"),
        (response(b"not gzip", "200 OK", "Content-Encoding: gzip", "Connection: close"), "not valid HTTP"),
        (b"HTTP/1.1 200 OK\r\n" + b"".join(b"x%d: y\r\n" % n for n in range(40_000)) + b"\r\n", "not valid HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", "not valid HTTP"),
        (b"\x00\x01\x02 nonsense\r\n\r\n", "not valid HTTP"),
        (b"", "the connection was lost"),
    ],
    ids=["cut gzip", "no gzip", "huge headers", "bad length", "nonsense", "nothing"],
)
def test_what_is_not_http_is_told(answer, words):
    error, count = _send(lambda _: [answer])

    assert words in str(error)
    assert count <= 60


@pytest.mark.parametrize("opening", [b"[", b'{"a":'], ids=["lists", "objects"])
@pytest.mark.parametrize("depth", [25, 900, 100_000])
@pytest.mark.parametrize("status", ["200 OK", "404 Not Found"])
def test_deep_json_is_refused(opening, depth, status):
    body = opening * depth + b"1" + (b"]" if opening == b"[" else b"}") * depth
    error, _ = _send(lambda _: [response(body, status, "Connection: close")])

    assert error.code == "ABORTED"
    assert len(str(error)) < 1000


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b" "),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"{}"), b" "),
        (b"HTTP/1.1 200 OK\r\nX-Header: ", b"x"),
        (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        (CHUNKED, b"1\r\n \r\n"),
        (CHUNKED + b"1;", b"x"),
        (CHUNKED + b"0\r\nX-Trailer: ", b"x"),
        (CHUNKED + b"0\r\n", b"x: y\r\n"),
    ],
    ids=[
        "a body", "after a compressed body", "a header", "responses that announce another",
        "chunks", "an extension of a chunk", "a trailer", "trailers",
    ],
)  # fmt: skip
def test_a_response_that_drips_ends_at_the_request_timeout(start, more):
    now = 0.0

    def drip(line):
        nonlocal now
        yield start
        for _ in range(1_000_000):
            now += 1.0
            yield more

    with answering(drip) as server:
        connections = Connections(lambda: now)
        with pytest.raises(httpx.ReadTimeout):
            connections.exchange("GET", f"http://{server.host}/", timeout=httpx.Timeout(30.0))
        connections.close()


def _pages(tokens):
    """Answer a list with empty pages that have these tokens."""
    remaining = iter(tokens)

    def answer(line):
        if "aggregated" not in line:
            return [response(b"{}", "404 Not Found", "Connection: close")]
        page = {"kind": "compute#instanceAggregatedList", "items": {}, "nextPageToken": next(remaining)}
        return [response(json.dumps(page).encode(), "200 OK", "Connection: close")]

    return answer


@pytest.mark.parametrize("tokens", [["a", "a"], ["a", "b", "a"], ["a", "b", "c", "b"]], ids=",".join)
def test_a_list_whose_page_tokens_repeat_is_an_error(tokens):
    with answering(_pages(tokens)) as server:
        error = _read(server.host, FLEET)

    assert "page token" in error.message
    assert len(server.requests) == len(tokens)


@pytest.mark.parametrize("token", [7, {"a": 1}, ["a"], True])
def test_a_page_token_of_another_type_is_an_error(token):
    with answering(_pages([token])) as server:
        assert "page token that leads nowhere" in _read(server.host, FLEET).message


def test_all_pages_of_a_list_together_are_read_up_to_a_limit_only(monkeypatch):
    monkeypatch.setattr(list_method, "_MOST_BYTES", 3 * MEGABYTE)

    def answer(line):
        page = {"kind": "compute#instanceAggregatedList", "items": {}, "nextPageToken": f"t{len(server.requests)}"}
        body = gzip.compress(json.dumps(page | {"id": "x" * MEGABYTE}).encode())
        return [response(body, "200 OK", "Content-Encoding: gzip", "Connection: close")]

    with answering(answer) as server:
        error = _read(server.host, FLEET)

    assert "list is larger than 3,145,728 bytes" in error.message
    assert len(server.requests) == 3


def test_texts_of_a_server_cannot_steer_the_terminal():
    tricks = "\x1b]0;owned\x07\x1b[2J\u202egnp.exe\u2066\x00\x9b31m\u200f"
    body = json.dumps({"error": {"code": 400, "message": tricks + "x" * 100_000}}).encode()
    with answering(lambda _: [response(body, "400 Bad Request", "Connection: close")]) as server:
        message = _read(server.host, TEMPLATE).message

    assert "\\x1b]0;owned\\x07" in message
    assert "\\u202egnp.exe" in message
    assert message.replace("\n", "").isprintable()
    assert len(message) < 5000


@pytest.mark.parametrize("number", ["9" * 5000, "1e999", "-1e999", "NaN"])
def test_a_number_that_no_float_can_hold_is_not_json(number):
    body = f'{{"error": {{"code": 403, "message": "no", "limit": {number}}}}}'.encode()
    error, _ = _send(lambda _: [response(body, "403 Forbidden", "Connection: close")])

    assert error.status == 403
    assert "not in the format of Google's APIs" in str(error)
