"""The guard of an ASGI application: what passes is a good push, with its message decoded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

import attrs

from gcpx.push.errors import MalformedRequest
from gcpx.push.receiver import LONGEST_BODY, Answer, receive
from gcpx.push.verifier import PushVerifier

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
KEY: Final = "gcpx.push"
"""Where the application finds the message: `scope["gcpx.push"]`, or `request.scope[...]` in Starlette."""


@attrs.frozen(eq=False)
class PushMiddleware:
    """Lets through what `receive` finds good, and answers the rest itself.

    Attributes:
        path: guard only this path; None guards every one.
    """

    app: App
    verifier: PushVerifier
    path: str | None = None

    async def __call__(self, scope: Scope, receive_: Receive, send: Send) -> None:
        """Answer, or pass on."""
        if scope["type"] != "http" or self.path not in (None, scope["path"]):
            await self.app(scope, receive_, send)
            return
        try:
            body = await _body(receive_)
        except MalformedRequest as error:
            await _refuse(Answer(error.status, str(error)), send)
            return
        answer = await self._checked(scope, body)
        if answer.message is None:
            await _refuse(answer, send)
            return
        scope[KEY] = answer.message
        await self.app(scope, _replayed(body, receive_), send)

    async def _checked(self, scope: Scope, body: bytes) -> Answer:
        """Check in a thread: keys may have to be fetched, and a signature takes its time."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        query = scope.get("query_string", b"").decode("latin-1")
        return await asyncio.to_thread(receive, self.verifier, scope["method"], headers, query, body)


async def _body(receive_: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive_()
        if message["type"] == "http.disconnect":
            raise MalformedRequest("the request ended too early")
        body += message.get("body", b"")
        if len(body) > LONGEST_BODY:
            raise MalformedRequest(f"the body is longer than {LONGEST_BODY:,} bytes")
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
