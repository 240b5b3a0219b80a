"""`--log`: one readable line for each request, without secrets."""

from __future__ import annotations

import io
import json
import re

import pytest
from servers import plain_http
from workspace import emulator

from gcpx_emulator.terminal_log import TerminalLog

ZONE = "/compute/v1/projects/demo-project/zones/us-east1-b"


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def lines(cloud):
    """The log of the emulator, which is not a terminal; a function that gives the lines so far."""
    stream = io.StringIO()
    cloud.emulator.requests.listeners.append(TerminalLog(stream))
    yield lambda: stream.getvalue().splitlines()
    cloud.emulator.requests.listeners.clear()


def test_a_request_is_one_line(http, lines):
    http.post(f"{ZONE}/disks", json={"name": "data", "sizeGb": "10"})

    (line,) = lines()
    assert re.fullmatch(
        r"[0-2][0-9]:[0-5][0-9]:[0-6][0-9]  200  +[0-9]+ ms  compute\.disks\.insert demo-project/zones/us-east1-b/disks",
        line,
    )


def test_an_error_is_told_in_its_own_words(http, lines):
    http.get(f"{ZONE}/disks/data")
    http.get("/compute/v1/nonsense")

    assert lines()[0].endswith(
        "compute.disks.get demo-project/zones/us-east1-b/disks/data"
        "  The resource 'projects/demo-project/zones/us-east1-b/disks/data' was not found"
    )
    assert lines()[1].endswith("GET nonsense  /compute/v1/nonsense is not a path of any API that is emulated")


def test_each_request_of_a_batch_has_its_line(http, lines):
    part = "--x\r\nContent-Type: application/http\r\n\r\nGET /storage/v1/b/missing HTTP/1.1\r\n\r\n\r\n--x--"
    http.post("/batch/storage/v1", content=part, headers={"Content-Type": "multipart/mixed; boundary=x"})

    assert [line.split("ms  ")[1].split()[0] for line in lines()] == ["storage.buckets.get", "POST"]


def test_a_long_path_is_shortened_and_cannot_command_the_terminal(http, lines):
    http.get(f"/storage/v1/b/uploads/o/{'a' * 500}")
    http.get("/storage/v1/b/up%1b%5B31mloads")

    assert len(lines()) == 2
    assert len(lines()[0]) < 250
    assert "…" in lines()[0]
    assert r"b/up\x1b[31mloads" in lines()[1]
    assert "\x1b" not in lines()[1]


def test_no_secret_is_logged(http, lines):
    secret = "Hunter2-the-password"
    items = [{"key": "password", "value": secret}]
    http.post(f"{ZONE}/instances", json={"name": secret, "metadata": {"items": items}})
    http.post(f"{ZONE}/disks", json={"name": "Wrong!", "diskEncryptionKey": {"rawKey": secret}})
    http.put("/v1/projects/p/subscriptions/!", json={"topic": "!", "pushConfig": {"pushEndpoint": f"x:?{secret}"}})
    http.get(f"/storage/v1/b/uploads?access_token={secret}")
    http.get("/storage/v1/b/uploads", headers={"Authorization": f"Bearer {secret}"})

    assert len(lines()) == 5
    assert "Invalid value for field" in lines()[0]
    assert secret not in "\n".join(lines())


@pytest.mark.parametrize(("status", "colour"), [(200, "32"), (404, "33"), (503, "31")])
def test_a_terminal_gets_colours_unless_the_user_wants_none(monkeypatch, status, colour):
    entry = {
        "time": 0.0,
        "seconds": 0.0123,
        "status": status,
        "httpMethod": "GET",
        "method": "",
        "path": "/",
        "body": None,
    }
    shown = {}
    for wanted in ("", "1"):
        monkeypatch.setenv("NO_COLOR", wanted)
        stream = Terminal()
        TerminalLog(stream)(entry, "")
        shown[wanted] = stream.getvalue()

    assert f"\033[{colour}m{status}\033[0m" in shown[""]
    assert "\033" not in shown["1"]
    assert "   12 ms" in shown["1"]


def test_a_closed_terminal_stops_no_request(http, cloud):
    closed = io.StringIO()
    closed.close()
    cloud.emulator.requests.listeners.append(TerminalLog(closed))
    try:
        assert http.get(f"{ZONE}/disks").status_code == 200
    finally:
        cloud.emulator.requests.listeners.clear()


def test_the_command_logs_to_stderr(capfd):
    with emulator("--log") as host:
        plain_http.get(f"http://{host}/storage/v1/b?project=demo-project")
    logged = capfd.readouterr().err

    assert "storage.buckets.list b\n" in logged
    assert "\033" not in logged
    assert json.dumps("listening") not in logged
