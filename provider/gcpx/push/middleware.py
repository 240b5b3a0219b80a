"""The guard of an ASGI application: what passes is a good push, with its message decoded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

import attrs

from gcpx.push.certificates import CertificatesError
from gcpx.push.errors import PushError
from gcpx.push.message import PushMessage
from gcpx.push.receiver import Answer, check_head, check_start, read, refusal
from gcpx.push.verifier import PushVerifier

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
KEY: Final = "gcpx.push"
"""Where the application finds the message: `scope["gcpx.push"]`, or `request.scope[...]` in Starlette."""


_REFUSED: Final = 1008
"""The WebSocket close code for a policy violation."""


class _DisconnectedError(Exception):
    """The client disconnected, so there is nobody to answer."""


@attrs.frozen(eq=False)
class PushMiddleware:
    """Guards the whole application that it wraps: lets through good pushes, and answers the rest itself.

    There are no paths to leave out. To guard a part of an application, let the framework route to it:
    `Mount("/hooks", PushMiddleware(receiver, verifier))`. WebSockets are refused; the lifespan passes, since it is
    the server's own.
    """

    app: App
    verifier: PushVerifier

    async def __call__(self, scope: Scope, receive_: Receive, send: Send) -> None:
        """Answer, or pass on."""
        if scope["type"] == "http":
            await self._guard(scope, receive_, send)
        elif scope["type"] == "websocket":
            await receive_()
            await send({"type": "websocket.close", "code": _REFUSED, "reason": ""})
        elif scope["type"] == "lifespan":
            await self.app(scope, receive_, send)
        else:
            raise ValueError("the type of the ASGI scope must be http, websocket or lifespan")

    async def _guard(self, scope: Scope, receive_: Receive, send: Send) -> None:
        try:
            body, scope[KEY] = await self._received(scope, receive_)
        except (PushError, CertificatesError) as error:
            await _refuse(refusal(error), send)
        except _DisconnectedError:
            return
        else:
            await self.app(scope, _replayed(body, receive_), send)

    async def _received(self, scope: Scope, receive_: Receive) -> tuple[bytes, PushMessage]:
        """Check the head, then read the body; in threads, since keys may have to be fetched and checking takes time."""
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        query = scope.get("query_string", b"").decode("latin-1")
        await asyncio.to_thread(check_head, self.verifier, scope["method"], headers, query)
        body = await _body(receive_)
        return body, await asyncio.to_thread(read, self.verifier, query, body)


async def _body(receive_: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive_()
        if message["type"] == "http.disconnect":
            raise _DisconnectedError
        body += message.get("body", b"")
        check_start(body)
        if not message.get("more_body"):
            return bytes(body)


def _replayed(body: bytes, receive_: Receive) -> Receive:
    """Give the application the body that has been read already."""
    rest = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return rest.pop() if rest else await receive_()

    return replay


async def _refuse(answer: Answer, send: Send) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    if answer.status == 405:  # noqa: PLR2004 - the one status that has to say what is allowed
        headers.append((b"allow", b"POST"))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.reason.encode()})
