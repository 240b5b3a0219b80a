"""An emulator that runs in a thread of this process."""

from __future__ import annotations

import asyncio
import socket
import ssl
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from starlette.types import ASGIApp

from gcpx_emulator.app import DEFAULT_PROJECT, application
from gcpx_emulator.emulator import Emulator
from gcpx_emulator.grpc_apis.connections import Grpc
from gcpx_emulator.interception.authority import Authority
from gcpx_emulator.interception.environment import environment
from gcpx_emulator.interception.hosts import is_served, is_served_without_tls
from gcpx_emulator.interception.proxy import Proxy, proxying
from gcpx_emulator.interception.refusal import Refusal
from gcpx_emulator.server import LOOPBACK, listen, port_problem
from gcpx_emulator.serving import Server
from gcpx_emulator.terminal_log import TerminalLog
from gcpx_emulator.testing.control import EmulatorError
from gcpx_emulator.testing.running_emulator import RunningEmulator


@contextmanager
def running(port: int = 0, project: str = DEFAULT_PROJECT, *, strict: bool = False) -> Iterator[RunningEmulator]:
    """Run an emulator during the block, on a port of this machine; 0 picks a free one.

    `project` is the project in which `RunningEmulator.seed` creates resources, and the default of programs.
    `strict` refuses unknown names in bodies of Compute Engine and Cloud Storage, too, which Google ignores.

    Raises:
        EmulatorError: if the port cannot be opened.
    """
    emulator = Emulator(strict=strict)
    with serving(application(emulator, project=project), _opened(port), Grpc(emulator)) as host:
        yield RunningEmulator(host, project)


@contextmanager
def intercepting(
    port: int = 0, project: str = DEFAULT_PROJECT, *, strict: bool = False, logs: bool = False
) -> Iterator[RunningEmulator]:
    """Run an emulator during the block that clients reach at Google's own addresses, in its `environment`.

    `logs` writes a line for each request to stderr. The other arguments and the errors are those of `running`. Calls to
    hosts of Google that are not emulated are refused.
    """
    emulator = Emulator(strict=strict)
    if logs:
        emulator.requests.listeners.append(TerminalLog(sys.stderr))
    with ExitStack() as during:
        folder = Path(during.enter_context(tempfile.TemporaryDirectory(prefix="gcpx-emulator-")))
        authority, opened = Authority(folder), listen()
        app = application(emulator, is_served, project)
        plain, secure = Refusal(app, is_served_without_tls), Refusal(app, is_served)
        certified = secure, opened, authority.context()
        host = during.enter_context(serving(plain, _opened(port), Grpc(emulator), certified))
        google = opened.getsockname()[1]
        proxy = during.enter_context(proxying(Proxy(int(host.rpartition(":")[2]), google)))
        key, certificate = emulator.signer.key_of_programs(), authority.certificate
        variables = environment(host, f"{LOOPBACK}:{google}", proxy, project, key, certificate, folder)
        yield RunningEmulator(host, project, variables)


def _opened(port: int) -> socket.socket:
    try:
        return listen(port)
    except (OSError, OverflowError) as error:
        problem = f"the emulator cannot open port {port}: {port_problem(error)}"
        raise EmulatorError(f"{problem}; 0 picks a free one") from error


@contextmanager
def serving(
    app: ASGIApp,
    listener: socket.socket,
    grpc: Grpc | None = None,
    secure: tuple[ASGIApp, socket.socket, ssl.SSLContext] | None = None,
) -> Iterator[str]:
    """Serve an application in a thread during the block; yields its host and port.

    With `grpc`, calls by gRPC are answered, too. `secure` is served in the same thread with TLS, as both applications
    may have one emulator.
    """
    served = [(Server(app, grpc), listener)]
    if secure is not None:
        served.append((Server(secure[0], grpc, secure[2]), secure[1]))

    async def serve() -> None:
        await asyncio.gather(*(server.serve(sockets=[opened]) for server, opened in served))

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        for server, _ in served:
            server.should_exit = True
        thread.join()
        for _, opened in served:
            opened.close()
