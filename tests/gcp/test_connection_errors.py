"""Requests without a response: which fail at once, which are retried, and what the user reads."""

from __future__ import annotations

import socket
import ssl
import threading

import httpx
import pytest
from engines import driver
from engines.clock import FakeClock
from engines.clocked import client, context
from engines.driver import failing
from values.programs import PROJECT, TEMPLATE, template

from gcpx.errors import ProviderError
from gcpx.gcp.connections import connection_error
from gcpx.gcp.request import COMPUTE, Request
from gcpx.gcp.settings import Settings

PATH = f"v1/projects/{PROJECT}/global/instanceTemplates/web"
READ = Request(api=COMPUTE, method="GET", path=PATH)


def _fail(**settings):
    """Send a request that fails; return the clock, which has the pauses between the attempts, and the error."""
    clock = FakeClock()
    google = client(clock, Settings(project=PROJECT, **settings))
    with pytest.raises(ProviderError) as raised:
        google.send(READ, context(clock))
    google.close()
    return clock, raised.value


@pytest.fixture
def closed_port():
    """A port that nothing listens at, and that nothing else can take during the test."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.mark.parametrize("form", ["127.0.0.1:{}", "localhost:{}", "http://127.0.0.1:{}"])
def test_a_missing_emulator_is_reported_within_two_seconds(closed_port, form):
    host = form.format(closed_port)
    clock, error = _fail(emulator_host=host)

    words = f"no emulator at {host.removeprefix('http://')}; start it with `gcpx-emulator --port {closed_port}`"
    assert str(error).startswith(words)
    assert 1 <= len(clock.pauses) <= 2
    assert sum(clock.pauses) < 2


def test_a_missing_emulator_is_reported_to_the_user(closed_port):
    with driver.engine(project=PROJECT, emulatorHost=f"127.0.0.1:{closed_port}") as engine, failing() as failed:
        engine.create(TEMPLATE, "web", template())

    words = f"no emulator at 127.0.0.1:{closed_port}; start it with `gcpx-emulator --port {closed_port}`"
    assert failed[0].message.startswith(words)


def test_a_missing_local_endpoint_is_reported_as_quickly(closed_port):
    clock, error = _fail(access_token="t", compute_custom_endpoint=f"http://127.0.0.1:{closed_port}")

    assert f"nothing listens at 127.0.0.1:{closed_port}" in str(error)
    assert "CustomEndpoint" in str(error)
    assert sum(clock.pauses) < 2


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"emulator_host": "ftp://127.0.0.1:1"}, "must begin with https:// or http://"),
        ({"access_token": "t", "compute_custom_endpoint": "ftp://127.0.0.1:1"}, "must begin with https:// or http://"),
        ({"emulator_host": "localhost:abc"}, "is not a valid URL"),
        ({"emulator_host": "[::1"}, "is not a valid URL"),
        ({"access_token": "t", "compute_custom_endpoint": "http://[::1"}, "is not a valid URL"),
        ({"emulator_host": "EMULATOR", "request_reason": "hunter2\nhunter3"}, "must be one line of ASCII characters"),
        (
            {"emulator_host": "EMULATOR", "request_reason": "hunter2-Gr\u00fc\u00dfe"},
            "must be one line of ASCII characters",
        ),
    ],
    ids=str,
)
def test_a_request_that_cannot_be_sent_is_not_retried(cloud, settings, words):
    given = {name: cloud.host if value == "EMULATOR" else value for name, value in settings.items()}
    clock, error = _fail(**given)

    assert words in str(error)
    assert clock.pauses == []
    assert "hunter" not in str(error)


def _caused(outer, inner):
    outer.__cause__ = inner
    return outer


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            _caused(httpx.ConnectError("x"), socket.gaierror(-2, "Name or service not known")),
            "the name compute.example.com cannot be resolved",
        ),
        (_caused(httpx.ConnectError("x"), ConnectionRefusedError(111, "refused")), "connection refused"),
        (_caused(httpx.ConnectError("x"), OSError(101, "Network is unreachable")), "Network is unreachable"),
        (_caused(httpx.ConnectError("x"), ssl.SSLError(1, "hunter2")), "a secure connection could not be established"),
        (httpx.ReadTimeout("hunter2"), "waiting for the response timed out"),
        (httpx.RemoteProtocolError("hunter2"), "the connection was lost: RemoteProtocolError"),
    ],
    ids=str,
)
def test_a_missing_response_is_explained_without_the_exceptions_text(monkeypatch, error, words):
    monkeypatch.setenv("no_proxy", "*")  # a proxy would be named
    url = f"https://user:hunter2@compute.example.com:8443/{PATH}"
    message = str(connection_error(error, "GET", url, emulated=False))

    assert message.startswith(f"compute.example.com:8443 did not answer GET /{PATH} (")
    assert words in message
    assert "hunter2" not in message


def test_an_untrusted_certificate_is_an_error_of_the_settings():
    untrusted = ssl.SSLCertVerificationError(1, "certificate verify failed")
    untrusted.verify_message = "self-signed certificate"
    error = connection_error(_caused(httpx.ConnectError("x"), untrusted), "GET", "https://a.example/b", emulated=False)

    assert error.code == "INVALID_ARGUMENT"
    assert "self-signed certificate" in str(error)


def test_an_emulator_that_stops_during_an_operation_is_reported_and_the_id_is_kept():
    """A server accepts the creation and stops before it is asked for the operation."""
    operation = b'{"name": "operation-1", "status": "PENDING", "targetId": "7"}'
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
    with socket.create_server(("127.0.0.1", 0), reuse_port=True) as server, socket.socket() as holding:
        port = server.getsockname()[1]
        holding.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        holding.bind(("127.0.0.1", port))  # so that nobody else gets the port when the server has stopped

        def serve_once():
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                server.close()
                connection.sendall(answer % (len(operation), operation))

        thread = threading.Thread(target=serve_once)
        thread.start()
        with driver.engine(project=PROJECT, emulatorHost=f"127.0.0.1:{port}") as engine, failing() as failed:
            engine.create(TEMPLATE, "web", {"name": "web", **template()})
        thread.join()

    assert failed[0].partial.id == f"projects/{PROJECT}/global/instanceTemplates/web"
    assert f"no emulator at 127.0.0.1:{port}" in failed[0].message
