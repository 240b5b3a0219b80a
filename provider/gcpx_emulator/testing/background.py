"""An emulator that runs in a thread of this process."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from gcpx_emulator.app import application
from gcpx_emulator.emulator import Emulator
from gcpx_emulator.server import listen, port_problem
from gcpx_emulator.testing.control import EmulatorError
from gcpx_emulator.testing.running_emulator import RunningEmulator


@contextmanager
def running(port: int = 0, project: str = "demo-project", *, strict: bool = False) -> Iterator[RunningEmulator]:
    """Run an emulator during the block, on a port of this machine; 0 picks a free one.

    `project` is the project in which `RunningEmulator.seed` creates resources, and the default of programs.
    `strict` refuses unknown names in bodies of Compute Engine and Cloud Storage, too, which Google ignores.

    Raises:
        EmulatorError: if the port cannot be opened.
    """
    try:
        listener = listen(port)
    except (OSError, OverflowError) as error:
        problem = f"the emulator cannot open port {port}: {port_problem(error)}"
        raise EmulatorError(f"{problem}; 0 picks a free one") from error
    with serving(application(Emulator(strict=strict)), listener) as host:
        yield RunningEmulator(host, project)


@contextmanager
def serving(app: ASGIApp, listener: socket.socket) -> Iterator[str]:
    """Serve an application in a thread during the block; yields its host and port."""
    config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
