"""Under gunicorn, started as the guide of push receivers says, slow strangers do not hold others up."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys

import pytest
from engines.clock import HANGS
from servers import plain_http
from workspace import ROOT

GUIDE = (ROOT / "docs" / "push-receivers.md").read_text()
HEAD = b"POST /push HTTP/1.1\r\nHost: receiver\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n"


def start_command(name):
    """Return the command of the guide that starts a receiver."""
    (command,) = re.findall(rf"`(gunicorn [^`]*{name}:\w+)`", GUIDE)
    return shlex.split(command)


@pytest.fixture(params=["receiver_flask", "receiver_django"])
def address(request, tmp_path):
    """The address of a receiver of the guide, which gunicorn serves."""
    (code,) = re.findall(rf"```python\n(# {request.param}\.py\n.*?)```", GUIDE, re.DOTALL)
    (tmp_path / f"{request.param}.py").write_text(code)
    # A worker that is blocked is not ended after 30 seconds, so that the test notices it.
    environment = {
        **os.environ,
        "PUSH_AUDIENCE": "receiver",
        "PUSH_SERVICE_ACCOUNT": "pusher@p.iam.gserviceaccount.com",
    }
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = subprocess.Popen(
            [sys.executable, "-m", *start_command(request.param)],
            cwd=tmp_path,
            env={
                **environment,
                "GUNICORN_CMD_ARGS": f"--bind fd://{listening.fileno()} --no-control-socket --timeout 0",
            },
            pass_fds=[listening.fileno()],
        )
        try:
            yield listening.getsockname()
        finally:
            server.terminate()
            server.wait(HANGS)


def test_slow_strangers_are_refused_or_wait_alone(address):
    without_an_end, without_a_body = [socket.create_connection(address, timeout=HANGS) for _ in range(2)]
    with without_an_end, without_a_body:
        without_an_end.sendall(HEAD)
        without_a_body.sendall(HEAD + b"\r\n")
        assert without_a_body.recv(12) == b"HTTP/1.1 400"

        refused = plain_http.post("http://{}:{}/push".format(*address), json={"message": {}})
        assert (refused.status_code, refused.text) == (400, "the header authorization is missing")
