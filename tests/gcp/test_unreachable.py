"""Endpoints that do not answer: told at once where waiting cannot help, and with progress where it may."""

from __future__ import annotations

import socket
import ssl
import threading

import driver
import httpx
import pytest
from driver import failing
from programs import PROJECT, TEMPLATE, template

from gcpx.errors import ProviderError
from gcpx.gcp.client import COMPUTE, Google, Request
from gcpx.gcp.settings import Settings
from gcpx.gcp.unreachable import unreachable

PATH = f"v1/projects/{PROJECT}/global/instanceTemplates/web"
READ = Request(api=COMPUTE, method="GET", path=PATH)


class Patience:
    """What surrounds a call: pauses pass at once, and are remembered like the lines of progress."""

    def __init__(self):
        self.cancelled = self
        self.timeout = None
        self.pauses = []
        self.lines = []
        self.progress = self.lines.append
        self.now = 0.0

    def wait(self, pause):
        self.pauses.append(pause)
        self.now += pause
        return False


def _send(request=READ, **settings):
    """Send a request that fails; gives what surrounded it, and the error."""
    patience = Patience()
    google = Google(Settings(project=PROJECT, **settings), clock=lambda: patience.now)
    with pytest.raises(ProviderError) as raised:
        google.send(request, patience)
    google.close()
    return patience, raised.value


@pytest.fixture
def closed():
    """A port that nothing listens at, and that nothing else can take meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.mark.parametrize("form", ["127.0.0.1:{}", "localhost:{}", "http://127.0.0.1:{}"])
def test_a_missing_emulator_is_reported_within_two_seconds(closed, form):
    host = form.format(closed)
    patience, error = _send(emulator_host=host)

    words = f"no emulator at {host.removeprefix('http://')}; start it with `gcpx-emulator --port {closed}`"
    assert str(error).startswith(words)
    assert 1 <= len(patience.pauses) <= 2
    assert sum(patience.pauses) < 2


def test_a_missing_emulator_is_reported_to_the_user(closed):
    with driver.engine(project=PROJECT, emulatorHost=f"127.0.0.1:{closed}") as lost, failing() as failed:
        lost.create(TEMPLATE, "web", template())

    words = f"no emulator at 127.0.0.1:{closed}; start it with `gcpx-emulator --port {closed}`"
    assert failed[0].message.startswith(words)


def test_a_missing_local_endpoint_is_reported_as_quickly(closed):
    patience, error = _send(access_token="t", endpoints={"compute": f"http://127.0.0.1:{closed}"})

    assert f"nothing listens at 127.0.0.1:{closed}" in str(error)
    assert "CustomEndpoint" in str(error)
    assert sum(patience.pauses) < 2


@pytest.mark.parametrize("fault", [{"status": 503}, {"drop": "before"}, {"body": "<html>"}], ids=str)
def test_every_retry_is_reported_from_the_first_on(cloud, fault):
    cloud.fail("compute.instanceTemplates.get", times=1000, **fault)
    patience, error = _send(emulator_host=cloud.host)

    assert len(patience.lines) == len(patience.pauses) > 5
    assert "trying again in" in patience.lines[0]
    assert patience.lines[0].startswith(error.message.partition(" (")[0])
    assert 90 < sum(patience.pauses) <= 120


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"emulator_host": "ftp://127.0.0.1:1"}, "must begin with https:// or http://"),
        ({"access_token": "t", "endpoints": {"compute": "ftp://127.0.0.1:1"}}, "must begin with https:// or http://"),
        ({"emulator_host": "localhost:abc"}, "is not a valid URL"),
        ({"emulator_host": "[::1"}, "is not a valid URL"),
        ({"access_token": "t", "endpoints": {"compute": "http://[::1"}}, "is not a valid URL"),
        ({"emulator_host": "EMULATOR", "request_reason": "hunter2\nhunter3"}, "must be one line of ASCII characters"),
        (
            {"emulator_host": "EMULATOR", "request_reason": "hunter2-Gr\u00fc\u00dfe"},
            "must be one line of ASCII characters",
        ),
    ],
    ids=str,
)
def test_what_cannot_pass_is_not_tried_again(cloud, settings, words):
    given = {name: cloud.host if value == "EMULATOR" else value for name, value in settings.items()}
    patience, error = _send(**given)

    assert words in str(error)
    assert patience.pauses == []
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
def test_a_missing_response_is_explained_in_our_words(error, words):
    said = str(unreachable(error, "GET", f"https://user:hunter2@compute.example.com:8443/{PATH}", emulated=False))

    assert said.startswith(f"compute.example.com:8443 did not answer GET /{PATH} (")
    assert words in said
    assert "hunter2" not in said


def test_a_certificate_that_is_not_trusted_cannot_pass():
    untrusted = ssl.SSLCertVerificationError(1, "certificate verify failed")
    untrusted.verify_message = "self-signed certificate"
    error = _caused(httpx.ConnectError("x"), untrusted)

    assert "self-signed certificate" in str(unreachable(error, "GET", "https://a.example/b", emulated=False))


def test_an_emulator_that_stops_during_an_operation_is_reported_and_the_id_kept():
    """The answer to the creation comes from a server that is gone when its operation is asked for."""
    operation = b'{"name": "operation-1", "status": "PENDING", "targetId": "7"}'
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def serve_once():
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                server.close()
                connection.sendall(answer % (len(operation), operation))

        thread = threading.Thread(target=serve_once)
        thread.start()
        with driver.engine(project=PROJECT, emulatorHost=f"127.0.0.1:{port}") as lost, failing() as failed:
            lost.create(TEMPLATE, "web", {"name": "web", **template()})
        thread.join()

    assert failed[0].partial.id == f"projects/{PROJECT}/global/instanceTemplates/web"
    assert f"no emulator at 127.0.0.1:{port}" in failed[0].message
