"""Google as it would be if an assumption of gcpx were wrong: applications that stand in front of the emulator."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlencode

import attrs
from servers.emulated import Emulated

from gcpx_emulator.core.discovery import route
from gcpx_emulator.core.errors import ApiError

_LOST: Final = 0
"""The status of a response that is lost."""
_Application = Callable[[Any, Any, Any], Awaitable[None]]


@attrs.frozen
class Asked:
    """A request.

    Attributes:
        method: the ID of the API's method, such as `compute.instances.get`.
        verb: the HTTP method.
        path: with its escapes.
        query: names and values, in order.
        body: its JSON; None without one.
    """

    method: str
    verb: str
    path: str
    query: tuple[tuple[str, str], ...]
    body: Any

    def parameter(self, name: str) -> str:
        """Return a parameter of the query; empty without it."""
        return dict(self.query).get(name, "")

    def without(self, *names: str) -> Asked:
        """Return the request without some parameters of the query."""
        return attrs.evolve(self, query=tuple(item for item in self.query if item[0] not in names))

    @property
    def is_list(self) -> bool:
        """Whether the method lists something."""
        return self.method.endswith(("list", "List"))


@attrs.frozen
class Answer:
    """A response: its status, and its JSON; None for an empty body."""

    status: int
    body: Any

    @classmethod
    def refusal(cls, status: int, reason: str, message: str) -> Answer:
        """Write an error as Google does."""
        return cls(status, ApiError(status, message, reason).body())


@attrs.frozen
class Google:
    """What stands behind a change.

    Attributes:
        scope: the ASGI scope of the request.
    """

    application: _Application
    scope: Any

    async def __call__(self, asked: Asked, application: _Application | None = None) -> Answer:
        """Answer a request; another application may do that."""
        content, messages = b"" if asked.body is None else json.dumps(asked.body).encode(), list[dict[str, Any]]()

        async def receive() -> Any:
            return {"type": "http.request", "body": content, "more_body": False}

        async def keep(message: Any) -> None:
            messages.append(message)

        headers = [item for item in self.scope["headers"] if item[0] != b"content-length"]
        given = {
            **self.scope,
            "path": unquote(asked.path),
            "raw_path": asked.path.encode(),
            "query_string": urlencode(asked.query).encode(),
            "headers": [*headers, (b"content-length", str(len(content)).encode())],
        }
        await (application or self.application)(given, receive, keep)
        start, *parts = messages
        if parts[-1].get("more_body"):
            return Answer(_LOST, None)
        body = b"".join(part.get("body", b"") for part in parts)
        return Answer(start["status"], json.loads(body) if body else None)


Change = Callable[[Asked, Google], Awaitable[Answer]]
"""Answers a request in place of a Google, which it may ask."""


@attrs.define(eq=False)
class OtherGoogle:
    """An application that answers requests for Google's APIs by a change, and passes others on."""

    application: _Application
    change: Change

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        if scope["type"] != "http" or scope["path"].startswith("/_emulator"):
            await self.application(scope, receive, send)
            return
        content, more = b"", True
        while more:
            message = await receive()
            content, more = content + message.get("body", b""), message.get("more_body", False)
        path = scope["raw_path"].decode("latin-1")
        try:
            method = route(scope["method"], path)[0].id
        except ApiError:
            method = ""
        query = tuple(parse_qsl(scope["query_string"].decode(), keep_blank_values=True))
        asked = Asked(method, scope["method"], path, query, json.loads(content) if content else None)
        answer = await self.change(asked, Google(self.application, scope))
        if answer.status == _LOST:
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]})
            await send({"type": "http.response.body", "body": b"", "more_body": True})
            return
        body = b"" if answer.body is None else json.dumps(answer.body).encode()
        headers = [(b"content-type", b"application/json; charset=UTF-8"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@contextmanager
def replaced_by(cloud: Emulated, change: Change) -> Iterator[None]:
    """Let another Google answer during the block: the emulator with a change."""
    inner = cloud.interceptor.application
    cloud.interceptor.application = OtherGoogle(inner, change)
    try:
        yield
    finally:
        cloud.interceptor.application = inner
