"""What stands in front of an emulator in tests: it sees every request for Google's APIs, and can interfere with it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal

import attrs
from engines.clock import HANGS

Hold = Literal["before the work", "after the work", "without the work"]
HOLDS: Final[tuple[Hold, ...]] = ("before the work", "after the work", "without the work")
Loss = Literal["before", "after"]
"""Whether a connection is lost before the work of a request, or after it and before the response."""
_Application = Callable[[Any, Any, Any], Awaitable[None]]
_Messages = list[dict[str, Any]]
_UNAVAILABLE: Final[_Messages] = [
    {"type": "http.response.start", "status": 503, "headers": [(b"content-length", b"0")]},
    {"type": "http.response.body", "body": b""},
]
"""The response of a request whose work is not done."""
_LOST: Final[_Messages] = [
    {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]},
    {"type": "http.response.body", "body": b"", "more_body": True},
]
"""A response that ends before its body."""


@attrs.define(eq=False)
class Interceptor:
    """An application that passes requests on to another one, in that one's thread.

    Attributes:
        rewrite: gives the body of a response, from the request's `METHOD path` and the body that the application gave.
        loop: the loop that serves requests; None before the first one.
    """

    application: _Application
    rewrite: Callable[[str, bytes], bytes] | None = None
    loop: asyncio.AbstractEventLoop | None = None
    _observers: list[Callable[[str], None]] = attrs.Factory(list)
    _arrived: int = 0
    """How many requests have arrived since the last `hold`."""
    _hold_from: int | None = None
    _how: Hold = "before the work"
    _loses: Loss | None = None
    _held: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = attrs.Factory(list)
    _under_way: int = 0
    _changed: threading.Condition = attrs.Factory(threading.Condition)

    @contextmanager
    def observed(self, observer: Callable[[int, str], None] = lambda _number, _request: None) -> Iterator[list[str]]:
        """Observe the requests of the block; yield a list that has the `METHOD path` of each.

        The observer gets the number of each request, counted from 1, and its `METHOD path`, before it has any effect.
        """
        requests: list[str] = []

        def observe(request: str) -> None:
            requests.append(request)
            observer(len(requests), request)

        self._observers.append(observe)
        try:
            yield requests
        finally:
            self._observers.remove(observe)

    def hold(self, first: int = 1, how: Hold = "before the work") -> None:
        """Hold the request with a number, counted from now, and all later ones, until `release`.

        The work of a request that is held `without the work` is never done.
        """
        self._arrived, self._hold_from, self._how = 0, first, how

    def wait_until_held(self, count: int = 1) -> None:
        """Wait until `count` requests are held at the same time."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self._held) >= count, HANGS), f"{len(self._held)} are held"

    def release(self) -> None:
        """Hold nothing any more."""
        with self._changed:
            self._hold_from = None
            held, self._held = self._held, []
        for loop, released in held:
            loop.call_soon_threadsafe(released.set)

    def lose(self, moment: Loss) -> None:
        """Lose the connection at the request that is being observed; no later request arrives until `drain`."""
        self._loses = moment

    @property
    def is_lost(self) -> bool:
        """Whether requests do not arrive any more."""
        return self._loses is not None

    def drain(self) -> None:
        """Hold nothing any more, wait until no request is under way, and lose nothing after that."""
        self.release()
        with self._changed:
            assert self._changed.wait_for(lambda: not self._under_way, HANGS), "a request does not end"
        self._loses = None

    def reset(self) -> None:
        """Interfere with nothing any more, and wait until no request is under way."""
        self.drain()
        self.rewrite = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on."""
        self.loop = asyncio.get_running_loop()
        if scope["type"] != "http" or scope["path"].startswith("/_emulator"):
            await self.application(scope, receive, send)
            return
        self._count(1)
        try:
            await self._pass(scope, receive, send)
        finally:
            self._count(-1)

    async def _pass(self, scope: Any, receive: Any, send: Any) -> None:
        request = f"{scope['method']} {scope['path']}"
        if self._observers:  # one of them may kill the plugin, which may still be sending the body
            receive = _again(await _read(receive))
        self._arrived += 1
        how = self._how if self._hold_from is not None and self._arrived >= self._hold_from else None
        was_lost = self.is_lost
        for observe in list(self._observers):
            observe(request)
        lost = "before" if was_lost else self._loses
        if not (how or lost or self.rewrite):
            await self.application(scope, receive, send)
            return
        for message in await self._answered(request, scope, receive, how, lost):
            await send(message)

    async def _answered(self, request: str, scope: Any, receive: Any, how: Hold | None, lost: Loss | None) -> _Messages:
        """Return the response to a request with which something interferes."""
        receive_again, messages = _again(await _read(receive)), _Messages()

        async def keep(message: Any) -> None:
            messages.append(message)

        if lost != "before" and how in {None, "after the work"}:
            await self.application(scope, receive_again, keep)
        if how:
            await self._hold()
        if lost != "before" and how == "before the work":
            await self.application(scope, receive_again, keep)
        if lost:
            return _LOST
        if not messages:
            return _UNAVAILABLE
        return _rewritten(messages, self.rewrite, request) if self.rewrite else messages

    async def _hold(self) -> None:
        released = asyncio.Event()
        with self._changed:
            if self._hold_from is None:
                return
            self._held.append((asyncio.get_running_loop(), released))
            self._changed.notify_all()
        await released.wait()

    def _count(self, number: int) -> None:
        with self._changed:
            self._under_way += number
            self._changed.notify_all()


def _again(received: Any) -> Callable[[], Awaitable[Any]]:
    """Return what receives a request that was read before."""

    async def receive() -> Any:
        return received

    return receive


async def _read(receive: Any) -> Any:
    """Read the whole body of a request into one message."""
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    return {"type": "http.request", "body": body, "more_body": False}


def _rewritten(messages: _Messages, rewrite: Callable[[str, bytes], bytes], request: str) -> _Messages:
    """Return a response with another body."""
    start, body = messages[0], rewrite(request, b"".join(message.get("body", b"") for message in messages))
    headers = [(name, value) for name, value in start["headers"] if name != b"content-length"]
    length = (b"content-length", str(len(body)).encode())
    return [{**start, "headers": [*headers, length]}, {"type": "http.response.body", "body": body}]
