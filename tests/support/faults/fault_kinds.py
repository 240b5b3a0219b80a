"""The kinds of faults that the fault matrix injects into calls of Google's APIs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal, Protocol

import attrs
import httpx

BROKEN: Final = {"errors": [{"code": "INTERNAL_ERROR", "message": "something broke"}]}
"""The result of an operation that failed."""
_WRONG: Final = {str: 7, int: "x", bool: [], list: "x", dict: [1], float: {}, type(None): 7}
"""For each JSON type, a value of another type."""


class Connection(Protocol):
    """The connection that a request takes."""

    def send(self, request: httpx.Request) -> httpx.Response:
        """Exchange the request for its response, which is read to its end."""

    def wait_for_response(self, request: httpx.Request) -> None:
        """Let the time pass after which the client gives up waiting for a response."""

    def send_late(self, request: httpx.Request) -> None:
        """Let the request arrive after the client has given up waiting for its response."""


@attrs.frozen(kw_only=True)
class FaultKind:
    """One kind of fault.

    Attributes:
        name: what the names of cases call it.
        response: fields of the emulator's `Fault`, if the emulator injects it.
        on_its_way: what happens to a request on its way, if it does not arrive as it was sent.
        operation: what happens to the operation that the call starts.
        after_work: it differs from another kind only by what a call that changes something has done.
        everywhere: while it lasts, all methods have it, and not only the one that had it first.
    """

    name: str
    response: dict[str, Any] = attrs.Factory(dict)
    on_its_way: Callable[[Connection, httpx.Request], httpx.Response] | None = None
    operation: Literal["", "fails", "disappears", "never ends"] = ""
    after_work: bool = False
    everywhere: bool = True


def _refuse(_connection: Connection, request: httpx.Request) -> httpx.Response:
    error = httpx.ConnectError("refused", request=request)
    raise error from ConnectionRefusedError(111, "Connection refused")


def _cut(connection: Connection, request: httpx.Request) -> httpx.Response:
    connection.send(request)
    error = httpx.ReadError("reset", request=request)
    raise error from ConnectionResetError(104, "Connection reset by peer")


def _lose(connection: Connection, request: httpx.Request) -> httpx.Response:
    connection.wait_for_response(request)
    raise httpx.ReadTimeout("no response", request=request)


def _lose_response(connection: Connection, request: httpx.Request) -> httpx.Response:
    connection.send(request)
    return _lose(connection, request)


def _delay(connection: Connection, request: httpx.Request) -> httpx.Response:
    connection.send_late(request)
    return _lose(connection, request)


class _Body(httpx.SyncByteStream):
    """A body that arrives in parts of a size."""

    def __init__(self, content: bytes, size: int) -> None:
        self.content = content
        self.size = size

    def __iter__(self) -> Iterator[bytes]:
        return (self.content[index : index + self.size] for index in range(0, len(self.content), self.size))


def _trickle(connection: Connection, request: httpx.Request) -> httpx.Response:
    found = connection.send(request)
    return _response(found.status_code, found.content, request, size=1)


def _truncate(connection: Connection, request: httpx.Request) -> httpx.Response:
    found = connection.send(request)
    return _response(found.status_code, found.content[: len(found.content) // 2], request)


def _change_types(connection: Connection, request: httpx.Request) -> httpx.Response:
    found = connection.send(request)
    wrong = {key: _WRONG[type(value)] for key, value in (found.json() if found.content else {}).items()}
    return _response(found.status_code, json.dumps(wrong).encode(), request)


def _answer_after_work(status: int) -> Callable[[Connection, httpx.Request], httpx.Response]:
    def answer(connection: Connection, request: httpx.Request) -> httpx.Response:
        connection.send(request)
        return _response(status, json.dumps({"error": {"code": status, "message": "injected"}}).encode(), request)

    return answer


def _response(status: int, content: bytes, request: httpx.Request, *, size: int = 1 << 20) -> httpx.Response:
    headers = {"Content-Type": "application/json", "Content-Length": str(len(content))}
    return httpx.Response(status, headers=headers, stream=_Body(content, size), request=request)


def _refusal(status: int, **more: Any) -> dict[str, Any]:
    return {"status": status, "message": "injected", **more}


KINDS: Final = {
    kind.name: kind
    for kind in (
        FaultKind(name="refused", on_its_way=_refuse),
        FaultKind(name="cut_before_work", response={"drop": "before"}),
        FaultKind(name="cut_after_work", on_its_way=_cut, after_work=True),
        FaultKind(name="lost", on_its_way=_lose),
        FaultKind(name="response_lost", on_its_way=_lose_response, after_work=True),
        FaultKind(name="late", on_its_way=_delay, after_work=True),
        FaultKind(name="trickle", on_its_way=_trickle),
        FaultKind(name="401", response=_refusal(401)),
        FaultKind(name="403_rate", response=_refusal(403, reason="rateLimitExceeded")),
        FaultKind(name="403_permission", response=_refusal(403), everywhere=False),
        FaultKind(name="404", response=_refusal(404), everywhere=False),
        FaultKind(name="409", response=_refusal(409, reason="conflict"), everywhere=False),
        FaultKind(name="412", response=_refusal(412, reason="conditionNotMet"), everywhere=False),
        FaultKind(name="429", response=_refusal(429)),
        FaultKind(name="429_retry_after", response=_refusal(429, retry_after=7)),
        FaultKind(name="500", response=_refusal(500)),
        FaultKind(name="500_after_work", on_its_way=_answer_after_work(500), after_work=True),
        FaultKind(name="502", on_its_way=_answer_after_work(502)),
        FaultKind(name="503", response=_refusal(503)),
        FaultKind(name="504", on_its_way=_answer_after_work(504)),
        FaultKind(name="html", response={"body": "<html><body>Bad Gateway</body></html>"}),
        FaultKind(name="truncated", on_its_way=_truncate),
        FaultKind(name="wrong_types", on_its_way=_change_types),
        FaultKind(name="operation_fails", response={"operation": BROKEN}, operation="fails"),
        FaultKind(name="operation_disappears", operation="disappears"),
        FaultKind(name="operation_never_ends", operation="never ends"),
    )
}
"""All kinds, by name."""
