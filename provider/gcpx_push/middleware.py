"""The ASGI middleware that passes on only valid pushes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any, Final

import attrs

from gcpx_push.errors import CertificatesError, PushError
from gcpx_push.message import PushMessage
from gcpx_push.receiver import check_body_start, check_head, read_message, refusal
from gcpx_push.verifier import PushVerifier

Scope = MutableMapping[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_SCOPE_KEY: Final = "gcpx.push"
"""The key of the message in the scope: `scope["gcpx.push"]`, in Starlette `request.scope["gcpx.push"]`."""
_POLICY_VIOLATION: Final = 1008
"""A WebSocket close code."""


class _DisconnectedError(Exception):
    """The client has disconnected, so it gets no answer."""


@attrs.frozen(eq=False)
class PushMiddleware:
    """Guards an ASGI application: passes valid pushes on to it, and answers all other requests itself.

    It guards every path of the application. To guard a part of an application, use the framework's routing:
    `Mount("/hooks", PushMiddleware(receiver, verifier))`. WebSockets are refused; lifespan events, which come from
    the server, are passed on.

    Attributes:
        app: the application. It finds the `PushMessage` in `scope["gcpx.push"]`, and can read the body again.
        verifier: checks the tokens.
    """

    app: App
    verifier: PushVerifier

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        if scope["type"] == "http":
            await self._guard(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": ""})
        elif scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        else:
            raise ValueError("the type of the ASGI scope must be http, websocket or lifespan")

    async def _guard(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body, scope[_SCOPE_KEY] = await self._read(scope, receive)
        except (PushError, CertificatesError) as error:
            answer = refusal(error)
            headers = [(b"content-type", b"text/plain; charset=utf-8")]
            if answer.status == HTTPStatus.METHOD_NOT_ALLOWED:
                headers.append((b"allow", b"POST"))
            await send({"type": "http.response.start", "status": answer.status, "headers": headers})
            await send({"type": "http.response.body", "body": answer.reason.encode()})
        except _DisconnectedError:
            return
        else:
            await self.app(scope, _replay(body, receive), send)

    async def _read(self, scope: Scope, receive: Receive) -> tuple[bytes, PushMessage]:
        """Check the head, then read the body.

        The checks run in threads, because they may fetch keys, and take CPU time.
        """
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        query_string = scope.get("query_string", b"").decode("latin-1")
        await asyncio.to_thread(check_head, self.verifier, scope["method"], headers, query_string)
        body = await _read_body(receive)
        return body, await asyncio.to_thread(read_message, self.verifier, query_string, body)


async def _read_body(receive: Receive) -> bytes:
    """Read the body, and stop as soon as it cannot be a push's."""
    body, white_space = bytearray(), 0
    while True:
        event = await receive()
        if event["type"] == "http.disconnect":
            raise _DisconnectedError
        body += event.get("body", b"")
        white_space = check_body_start(body, white_space)
        if not event.get("more_body"):
            return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Give the application the body that was read, and then all later events."""
    events = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Event:
        return events.pop() if events else await receive()

    return replay
