"""A page is read only as far, and only as long, as the caller says, whatever the server sends."""

from __future__ import annotations

import gzip
import threading
import time
import zlib

import httpx
import pytest
from engines.clock import HANGS
from servers import raw_server

from gcpx_http.connections import Connections, UnreadableBodyError, page

MEGABYTE = 1 << 20


def _bomb():
    packed = zlib.compressobj(wbits=31)
    return packed.compress(bytes(64 * MEGABYTE)) + packed.flush()


def test_a_page_is_unpacked_only_up_to_its_limit():
    answer = raw_server.response(_bomb(), "200 OK", "Content-Encoding: gzip")
    with (
        raw_server.answering(lambda _: [answer]) as server,
        pytest.raises(UnreadableBodyError, match="larger than 1,048,576 bytes"),
    ):
        page(f"http://{server.host}/", HANGS, MEGABYTE)


def test_a_page_without_end_is_read_only_up_to_its_limit():
    sent = []

    def endless(_):
        yield b"HTTP/1.1 200 OK\r\n\r\n"
        for _ in range(10_000):
            sent.append(1)
            yield bytes(1 << 16)

    with raw_server.answering(endless) as server, pytest.raises(UnreadableBodyError, match="larger than"):
        page(f"http://{server.host}/", HANGS, MEGABYTE)

    assert len(sent) < 10_000, "the connection was closed"


@pytest.mark.parametrize(
    ("head", "more"),
    [(b"HTTP/1.1 200 OK\r\n\r\n", b" "), (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n")],
    ids=["a body", "responses that announce another"],
)
def test_a_page_that_never_ends_is_left_when_its_time_is_over(head, more):
    end = time.monotonic() + HANGS

    def drip(_):
        yield head
        while time.monotonic() < end:
            yield more

    with raw_server.answering(drip) as server, pytest.raises(httpx.HTTPError):
        page(f"http://{server.host}/", 0.2, 1 << 40)


def test_a_response_that_goes_on_after_its_compressed_body_is_left_when_its_time_is_over():
    end = time.monotonic() + HANGS

    def drip(_):
        yield b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"{}")
        while time.monotonic() < end:
            yield b" "

    with raw_server.answering(drip) as server, pytest.raises(httpx.ReadTimeout):
        Connections().exchange("GET", f"http://{server.host}/", timeout=httpx.Timeout(0.2))
    assert time.monotonic() < end


def test_a_page_of_a_silent_server_is_left_when_its_time_is_over():
    ended = threading.Event()

    def silent(_):
        yield b""
        ended.wait(HANGS)

    with raw_server.answering(silent) as server:
        try:
            with pytest.raises(httpx.HTTPError):
                page(f"http://{server.host}/", 0.2, MEGABYTE)
        finally:
            ended.set()
