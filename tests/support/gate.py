"""A gate in front of the emulator, at which a test holds requests: a server that does not answer until it may."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal

import attrs
from steered import HANGS

Hold = Literal["before the work", "after the work", "without the work"]
HOLDS: Final[tuple[Hold, ...]] = ("before the work", "after the work", "without the work")
_Application = Callable[[Any, Any, Any], Awaitable[None]]


@attrs.define(eq=False)
class Gate:
    """An application that holds requests for another one.

    Attributes:
        requests: how many requests for Google's APIs have arrived since the last `watch`.
        arrived: set when a request is held.
    """

    application: _Application
    requests: int = 0
    arrived: threading.Event = attrs.Factory(threading.Event)
    _hold_from: int | None = None
    _how: Hold = "before the work"
    _held: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = attrs.Factory(list)
    _under_way: int = 0
    _changed: threading.Condition = attrs.Factory(threading.Condition)

    def watch(self, hold_from: int | None = None, how: Hold = "before the work") -> None:
        """Count requests from 1; hold those from a number on, until `open`.

        The work of a request that is held `without the work` is never done.
        """
        self.requests, self._hold_from, self._how = 0, hold_from, how
        self.arrived.clear()

    def wait_until_held(self, count: int) -> None:
        """Wait until so many requests are held at the same time."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self._held) >= count, HANGS), f"{len(self._held)} are held"

    def open(self) -> None:
        """Let everything pass."""
        with self._changed:
            self._hold_from = None
            held, self._held = self._held, []
        for loop, opened in held:
            loop.call_soon_threadsafe(opened.set)

    def drain(self) -> None:
        """Let everything pass, and wait until no request is under way any more."""
        self.open()
        with self._changed:
            assert self._changed.wait_for(lambda: not self._under_way, HANGS), "a request does not end"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on; the gate's own state changes in the emulator's thread only."""
        if scope["type"] != "http" or scope["path"].startswith("/_emulator"):
            await self.application(scope, receive, send)
            return
        self._count(1)
        try:
            await self._pass(scope, receive, send)
        finally:
            self._count(-1)

    async def _pass(self, scope: Any, receive: Any, send: Any) -> None:
        self.requests += 1
        if self._hold_from is None or self.requests < self._hold_from:
            await self.application(scope, receive, send)
            return
        how, messages = self._how, []
        body = await _read(receive)

        async def receive_again() -> Any:
            return body

        async def keep(message: Any) -> None:
            messages.append(message)

        if how == "after the work":
            await self.application(scope, receive_again, keep)
        await self._hold()
        if how == "before the work":
            await self.application(scope, receive_again, keep)
        for message in messages or _UNAVAILABLE:
            await send(message)

    async def _hold(self) -> None:
        opened = asyncio.Event()
        with self._changed:
            if self._hold_from is None:
                return
            self._held.append((asyncio.get_running_loop(), opened))
            self._changed.notify_all()
        self.arrived.set()
        await opened.wait()

    def _count(self, number: int) -> None:
        with self._changed:
            self._under_way += number
            self._changed.notify_all()


async def _read(receive: Any) -> Any:
    """Read the whole body of a request into one message."""
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    return {"type": "http.request", "body": body, "more_body": False}


_UNAVAILABLE: Final[list[dict[str, Any]]] = [
    {"type": "http.response.start", "status": 503, "headers": [(b"content-length", b"0")]},
    {"type": "http.response.body", "body": b""},
]
"""The response of a request whose work is not done."""
