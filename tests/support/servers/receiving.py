"""A push endpoint that runs in a thread of the test's own process."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import attrs
import uvicorn
from engines.clock import HANGS

from gcpx_emulator.server import listen


@attrs.frozen
class Endpoint:
    """A running endpoint and what it received.

    Attributes:
        received: what the application put into the queue, in order.
    """

    url: str
    received: queue.Queue[Any]

    def next(self) -> Any:
        """Wait for the next item of the queue, and return it."""
        return self.received.get(timeout=HANGS)


@contextmanager
def endpoint(app: Callable[[str, queue.Queue[Any]], Any], path: str = "/push") -> Iterator[Endpoint]:
    """Serve the application that `app` creates from its own URL and the queue that it is to fill."""
    listener = listen()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}{path}"
    received: queue.Queue[Any] = queue.Queue()
    config = uvicorn.Config(app(url, received), log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
    thread.start()
    try:
        yield Endpoint(url, received)
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
