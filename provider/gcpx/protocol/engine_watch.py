"""Notice when the engine has ended without stopping the plugin, as it does when it is killed."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from typing import Final

_DEADLINE: Final = 10.0
"""Seconds in which an engine on this machine accepts a connection."""
_PAUSE: Final = 1.0
"""Seconds until the next attempt, if it cannot be told whether the engine still listens."""


def when_ended(engine_address: str, tell: Callable[[], None]) -> None:
    """Call `tell` in a thread of its own when nothing listens any more at an engine's address.

    A plugin that outlived its engine would go on changing what the user's next command also changes.

    Args:
        engine_address: host and port. An address at which nothing has ever listened is not watched.
        tell: called once, at most.
    """
    threading.Thread(target=_watch, args=(engine_address, tell), name="engine watch", daemon=True).start()


def _watch(engine_address: str, tell: Callable[[], None]) -> None:
    host, _, port = engine_address.rpartition(":")
    address, was_there = (host.strip("[]"), int(port) if port.isdecimal() else 0), False
    while True:
        try:
            connection = socket.create_connection(address, timeout=_DEADLINE, all_errors=True)
        except (OSError, OverflowError, ExceptionGroup) as error:
            if _is_refusal(error) or not was_there:
                break
            time.sleep(_PAUSE)
        else:
            was_there = True
            _wait_for_end(connection)
    if was_there:
        tell()


def _is_refusal(error: Exception) -> bool:
    """Return whether nothing listens at an address; other errors, such as too many open files, do not mean that."""
    errors = error.exceptions if isinstance(error, ExceptionGroup) else (error,)
    return any(isinstance(one, ConnectionRefusedError) for one in errors)


def _wait_for_end(connection: socket.socket) -> None:
    """Wait until the other end closes a connection; an engine does so too, some minutes after it was opened."""
    with connection:
        connection.settimeout(None)
        try:
            while connection.recv(1024):
                pass
        except OSError:
            return
