"""Notice when the engine has ended without stopping the plugin, as it does when it is killed."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Final

_DEADLINE: Final = 10.0
"""Seconds in which an engine on this machine accepts a connection."""


def when_ended(engine_address: str, tell: Callable[[], None]) -> None:
    """Call `tell` in a thread of its own when nothing listens any more at an engine's address.

    A plugin that outlived its engine would go on changing what the user's next command also changes.

    Args:
        engine_address: host and port. An address at which nothing has ever listened is not watched.
        tell: called once, at most.
    """
    threading.Thread(target=_watch, args=(engine_address, tell), name="engine watch", daemon=True).start()


def _watch(engine_address: str, tell: Callable[[], None]) -> None:
    was_there = False
    while (connection := _connected(engine_address)) is not None:
        was_there = True
        _wait_for_end(connection)
    if was_there:
        tell()


def _connected(engine_address: str) -> socket.socket | None:
    host, _, port = engine_address.rpartition(":")
    try:
        return socket.create_connection((host.strip("[]"), int(port)), timeout=_DEADLINE)
    except (OSError, ValueError):
        return None


def _wait_for_end(connection: socket.socket) -> None:
    """Wait until the other end closes a connection; an engine does so too, some minutes after it was opened."""
    with connection:
        connection.settimeout(None)
        try:
            while connection.recv(1024):
                pass
        except OSError:
            return
