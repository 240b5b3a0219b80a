"""Faults that tests inject into the next calls of a method."""

from __future__ import annotations

import asyncio
import re
from typing import Any, Final, Literal

import attrs
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from gcpx_emulator.core.call import HANDLERS
from gcpx_emulator.core.controls import (
    TEXT,
    ControlBody,
    Field,
    did_you_mean,
    is_duration,
    is_object,
    is_text,
    is_whole,
)
from gcpx_emulator.core.errors import ApiError, ErrorForm
from gcpx_emulator.core.json_data import Json

_REASON: Final = re.compile(r"(?=.{1,63}$)[A-Z][A-Z0-9_]+[A-Z0-9]")
_LONGEST_DELAY: Final = 3600
"""Seconds; a longer delay would outlast every client."""
_EFFECTS: Final = ("status", "drop", "delay", "body", "operation")
"""The keys that make a call fail or wait; the others describe it."""
_METADATA_KEY: Final = re.compile(r"(?=.{1,64}$)[a-z][a-zA-Z0-9_-]+")


def _is_operation_result(value: Any) -> bool:
    """Return whether an operation of Google's could end like this."""
    if not is_object(value) or set(value) - {"errors", "httpErrorStatusCode", "httpErrorMessage"}:
        return False
    errors = value.get("errors")
    if not is_whole(value.get("httpErrorStatusCode", 400)) or not is_text(value.get("httpErrorMessage", "")):
        return False
    return isinstance(errors, list) and bool(errors) and all(map(_is_error, errors))


def _is_error(error: Any) -> bool:
    if not is_object(error) or not is_text(error.get("code")) or not is_text(error.get("message", "")):
        return False
    details = error.get("errorDetails") or []
    return isinstance(details, list) and all(is_object(detail) and _has_error_info(detail) for detail in details)


def _has_error_info(detail: Json) -> bool:
    """Check a detail's `errorInfo`, if it has one."""
    info = detail.get("errorInfo", {})
    if not is_object(info) or not is_object(info.get("metadatas", {})):
        return False
    reason, keys = str(info.get("reason", "REASON")), info.get("metadatas", {})
    return _REASON.fullmatch(reason) is not None and all(map(_METADATA_KEY.fullmatch, keys))


BODY: Final = ControlBody(
    "faults",
    {
        "method": Field("a method's ID, or * for any", lambda value: is_text(value) and bool(value)),
        "name": TEXT,
        "times": Field("a whole number of at least 1", lambda value: is_whole(value, 1)),
        "status": Field("an HTTP status, 200 to 599", lambda value: is_whole(value, 200) and value <= 599),  # noqa: PLR2004 - statuses
        "reason": TEXT,
        "message": TEXT,
        "retry_after": Field("a whole number of seconds", is_whole),
        "drop": Field("before or after", lambda value: value in ("before", "after")),
        "delay": Field(
            f"a number of seconds, at most {_LONGEST_DELAY}",
            lambda value: is_duration(value) and value <= _LONGEST_DELAY,
        ),
        "body": TEXT,
        "operation": Field(
            "an error's code, or an operation's result: errors, each with a code, and optionally httpErrorStatusCode "
            "and httpErrorMessage",
            lambda value: (is_text(value) and bool(value)) or _is_operation_result(value),
        ),
    },
)


@attrs.frozen(kw_only=True)
class Fault:
    """A failure of the next calls of a method.

    Attributes:
        method: its ID, or `*` for any.
        name: a name by which it can be removed.
        times: the number of calls.
        status: answer with this HTTP status, and do not do the work.
        reason: Google's reason in that response, such as `quotaExceeded`; the code of an operation's error, such as
            `QUOTA_EXCEEDED`, becomes the reason of the same name.
        message: the message in that response, or of the operation's error.
        retry_after: seconds in the Retry-After header of that response.
        drop: cut the connection `before` or `after` the work is done.
        delay: seconds before the response.
        body: answer with this body, by default with status 200, and do not do the work.
        operation: the result of the operation that the call starts: {"errors": [...], "httpErrorStatusCode": ...}.
    """

    method: str
    name: str | None = None
    times: int = 1
    status: int | None = None
    reason: str | None = None
    message: str = "injected"
    retry_after: int | None = None
    drop: Literal["before", "after"] | None = None
    delay: float = 0.0
    body: str | None = None
    operation: Json | None = None

    @classmethod
    def read(cls, raw: bytes) -> Fault:
        """Read the body of a request to `/_emulator/faults`."""
        fields = BODY.read(raw)
        if "method" not in fields:
            raise ApiError(400, "The body of a request to /_emulator/faults must have a method.")
        if fields["method"] != "*":
            check_method("faults", fields["method"])
        if not fields.keys() & set(_EFFECTS):
            raise ApiError(400, f"A fault does nothing without one of {', '.join(_EFFECTS)}.")
        if "reason" in fields:
            fields["reason"] = _as_reason(fields["reason"])
        fault, code = cls(**fields), fields.get("operation")
        if not is_text(code):
            return fault
        return attrs.evolve(fault, operation={"errors": [{"code": code, "message": fault.message}]})


def _as_reason(text: str) -> str:
    """Write the code of an operation's error as the reason of a response; reasons begin with a small letter."""
    if not _REASON.fullmatch(text):
        return text
    first, *others = text.lower().split("_")
    return first + "".join(map(str.capitalize, others))


def check_method(name: str, method: str) -> None:
    """Refuse a method that is not emulated, in a request at `/_emulator/NAME`."""
    if method not in HANDLERS:
        hint = did_you_mean(method, HANDLERS, "a method is named like compute.instances.insert")
        raise ApiError(400, f"/_emulator/{name}: {method} is not a method that is emulated{hint}")


@attrs.define
class Faults:
    """The remaining faults; earlier ones apply first."""

    queue: list[Fault] = attrs.Factory(list)

    def remove(self, name: str | None) -> None:
        """Remove the faults with a name; without a name, all."""
        self.queue[:] = [fault for fault in self.queue if name is not None and fault.name != name]

    def take(self, method: str) -> Fault | None:
        """Find the fault that applies to a call of a method, and use it once."""
        for index, fault in enumerate(self.queue):
            if fault.method in {method, "*"}:
                if fault.times <= 1:
                    del self.queue[index]
                else:
                    self.queue[index] = attrs.evolve(fault, times=fault.times - 1)
                return fault
        return None


class DroppedConnection(Response):
    """A connection that ends in the middle of its response."""

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Send a shorter body than the headers announce."""
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]})
        await send({"type": "http.response.body", "body": b"", "more_body": True})


async def response_before_work(fault: Fault, form: ErrorForm) -> Response | None:
    """Wait for a fault's delay; return its response, or None if the call's work is to be done.

    `form` is the form of the API's errors.
    """
    await asyncio.sleep(fault.delay)
    if fault.drop == "before":
        return DroppedConnection()
    if fault.body is not None:
        return Response(fault.body, fault.status or 200, media_type="application/json")
    if fault.status is None:
        return None
    headers = {"Retry-After": str(fault.retry_after)} if fault.retry_after is not None else {}
    return JSONResponse(ApiError(fault.status, fault.message, fault.reason).body(form), fault.status, headers)
