"""In the servers that the guide of push receivers names, idle and slow connections hold up no push."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
from contextlib import ExitStack

import pytest
from engines.clock import HANGS
from servers import plain_http
from workspace import ROOT

GUIDE = (ROOT / "docs" / "push-receivers.md").read_text()
HEAD = b"POST /push HTTP/1.1\r\nHost: receiver\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n"
SLOW = {"idle": b"", "half of the head": HEAD, "half of the body": HEAD + b"\r\n{"}
WSGI = re.findall(r"```sh\n(waitress-serve .*)\n```", GUIDE)[0]
ASGI = re.findall(r"`(uvicorn .*)`", GUIDE)[0]
SERVERS = {
    "receiver_flask": (WSGI, "--listen=127.0.0.1:{}", "/push"),
    "receiver_django": (
        WSGI.replace("receiver_flask:app", "receiver_django:application"),
        "--listen=127.0.0.1:{}",
        "/push",
    ),
    "receiver_fastapi": (ASGI, "--port={}", "/hooks/push"),
}


@pytest.fixture(params=SERVERS)
def served(request, tmp_path):
    """The port and the path of a receiver of the guide, in its server."""
    command, option, path = SERVERS[request.param]
    (code,) = re.findall(rf"```python\n(# {request.param}\.py\n.*?)```", GUIDE, re.DOTALL)
    (tmp_path / f"{request.param}.py").write_text(code)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program, *arguments = shlex.split(command)
    module = {"waitress-serve": "waitress"}.get(program, program)
    with subprocess.Popen(
        [sys.executable, "-m", module, option.format(port), *arguments],
        cwd=tmp_path,
        env={**os.environ, "PUSH_AUDIENCE": "receiver", "PUSH_SERVICE_ACCOUNT": "p@p.iam.gserviceaccount.com"},
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert any("http://127.0.0.1" in line for line in server.stderr), "the server did not start"
            yield port, path
        finally:
            server.kill()


@pytest.mark.parametrize("sent", SLOW.values(), ids=SLOW)
def test_200_slow_connections_hold_up_no_push(served, sent):
    port, path = served
    with ExitStack() as held:
        for _ in range(200):
            connection = held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=HANGS))
            connection.sendall(sent)
        refused = plain_http.post(f"http://127.0.0.1:{port}{path}", json={"message": {}})
        assert (refused.status_code, "the header authorization is missing" in refused.text) == (400, True)
