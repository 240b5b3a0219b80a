"""The emulator beside other emulators: the same calls of objects in a bucket, by the same client, one after another.

The others are no dependencies: moto is measured if the command `moto_server` is found, and storage-testbench if
the variable TESTBENCH names a checkout whose folder .venv has what it needs.
"""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import attrs
import httpx
from measurement import Row
from sizes import sized
from workspace import emulator

_ROUNDS: Final = sized(5, 1)
_CALLS: Final = sized(100, 2)
"""The calls of each verb in a round."""
_LONGEST_START: Final = 60.0
_BODY: Final = b"text"
_CREDENTIAL: Final = "Credential=key/20260101/us-east-1/s3/aws4_request"
_SIGNED: Final = {"Authorization": f"AWS4-HMAC-SHA256 {_CREDENTIAL}, SignedHeaders=host, Signature=0"}
"""What moto has to see. It verifies no signature, and the others take every credential."""


@attrs.frozen
class _Api:
    """How an API makes a bucket, and makes, reads and lists its objects; the requests are methods and paths."""

    bucket: tuple[str, str]
    verbs: dict[str, Callable[[str], tuple[str, str]]]


_GOOGLE: Final = _Api(
    ("POST", "/storage/v1/b?project=p"),
    {
        "insert": lambda name: ("POST", f"/upload/storage/v1/b/bench/o?uploadType=media&name={name}"),
        "get": lambda name: ("GET", f"/storage/v1/b/bench/o/{name}"),
        "list of 100": lambda _: ("GET", "/storage/v1/b/bench/o?maxResults=100"),
    },
)
_AMAZON: Final = _Api(
    ("PUT", "/bench"),
    {
        "insert": lambda name: ("PUT", f"/bench/{name}"),
        "get": lambda name: ("HEAD", f"/bench/{name}"),
        "list of 100": lambda _: ("GET", "/bench?list-type=2&max-keys=100"),
    },
)


def rows() -> Iterator[Row]:
    """Compare the calls in a second with those of the other emulators that are found."""
    with ExitStack() as started:
        ours = f"http://{started.enter_context(emulator())}"
        contenders = {"gcpx": (_GOOGLE, ours)}
        for name, (api, command) in _others().items():
            contenders[name] = api, started.enter_context(_server(command))
        rates = _rates(contenders, started.enter_context(httpx.Client(headers=_SIGNED, trust_env=False, timeout=60)))
    for verb in ("insert", "list of 100"):
        yield Row(f"emulator: {verb}, objects", rates["gcpx", verb], rates["gcpx", "get"], "per s", "get")
    for verb in _GOOGLE.verbs:
        for name in list(contenders)[1:]:
            yield Row(f"emulator: {verb}, objects", rates["gcpx", verb], rates[name, verb], "per s", name)


def _others() -> dict[str, tuple[_Api, list[str]]]:
    """Return the other emulators' APIs, and the commands that start them; the port is added."""
    found = {}
    if checkout := os.environ.get("TESTBENCH"):
        root = Path(checkout).resolve()
        program = "import sys, testbench, waitress; waitress.serve(testbench.run(), port=int(sys.argv[1]))"
        code = f"import sys; sys.path.insert(0, {str(root)!r}); {program}"
        found["storage-testbench"] = _GOOGLE, [str(root / ".venv" / "bin" / "python"), "-c", code]
    else:
        print("bench: storage-testbench is left out, because TESTBENCH names no checkout of it")
    if command := shutil.which("moto_server"):
        found["moto, objects of S3"] = _AMAZON, [command, "-p"]
    else:
        print("bench: moto is left out, because the command moto_server is not found")
    return found


def _rates(contenders: dict[str, tuple[_Api, str]], client: httpx.Client) -> dict[tuple[str, str], float]:
    """Let the contenders take turns; return the median of each verb's calls in a second."""
    for api, host in contenders.values():
        method, path = api.bucket
        client.request(method, host + path, json={"name": "bench"} if api is _GOOGLE else None).raise_for_status()
    found: dict[tuple[str, str], list[float]] = {}
    for number in range(_ROUNDS):
        for verb in _GOOGLE.verbs:
            for name, (api, host) in contenders.items():
                began = time.perf_counter()
                for call in range(_CALLS):
                    method, path = api.verbs[verb](f"object-{number}-{call}")
                    content = _BODY if verb == "insert" else None
                    client.request(method, host + path, content=content).raise_for_status()
                found.setdefault((name, verb), []).append(_CALLS / (time.perf_counter() - began))
    return {key: statistics.median(each) for key, each in found.items()}


@contextmanager
def _server(command: list[str]) -> Iterator[str]:
    """Run a server on a free port; yields its URL once it accepts connections."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet = subprocess.DEVNULL
    with subprocess.Popen([*command, str(port)], stdout=quiet, stderr=quiet) as process:
        try:
            _await(process, port)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _await(process: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + _LONGEST_START
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            if process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"bench: {process.args!r} does not start") from None
            time.sleep(0.1)
        else:
            return
