"""Errors in Google's format, and the responses that carry them."""

from __future__ import annotations

import enum
import json
import logging
import re
import traceback
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final
from xml.sax.saxutils import escape, unescape

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gcpx_emulator.core.printing import printable

_STATUS: Final[Mapping[int, str]] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    405: "INVALID_ARGUMENT",
    409: "ALREADY_EXISTS",
    412: "FAILED_PRECONDITION",
    413: "INVALID_ARGUMENT",
    415: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
}
_REASON: Final[Mapping[int, str]] = {
    400: "invalid",
    401: "authError",
    403: "forbidden",
    404: "notFound",
    409: "alreadyExists",
    412: "conditionNotMet",
    429: "rateLimitExceeded",
    501: "notImplemented",
    503: "backendError",
}
_LONGEST: Final = 4_000
"""The number of characters of a message; in a longer one, the middle is left out."""
_USAGE_LIMITS: Final = frozenset({"accessNotConfigured", "quotaExceeded", "rateLimitExceeded"})
"""Reasons of another domain than `global`; Cloud SQL gave the first one in 2020."""


FAILED_PRECONDITION: Final = "failedPrecondition"
"""The reason of errors with the code 400 whose status is not INVALID_ARGUMENT."""


class ErrorForm(enum.Enum):
    """The parts of an API's errors besides the code and the message."""

    BOTH = "both"
    REASONS = "reasons"
    """`errors` with a reason; `status` only if Google's front end refuses the request."""
    STATUS = "status"
    """`status`, and no `errors`."""
    XML = "xml"
    """A code of the XML API of Cloud Storage instead of all JSON."""


_XML_CODES: Final[Mapping[int, str]] = {
    304: "NotModified",
    400: "InvalidArgument",
    403: "AccessDenied",
    404: "NoSuchKey",
    405: "MethodNotAllowed",
    412: "PreconditionFailed",
    416: "InvalidRange",
    429: "SlowDown",
    501: "NotImplemented",
    503: "ServiceUnavailable",
}
"""The codes of the XML API, as the page "HTTP status and error codes for XML" lists them."""
NO_BUCKET, EXPIRED, WRONG_SIGNATURE = "NoSuchBucket", "ExpiredToken", "SignatureDoesNotMatch"
"""The reasons of errors that have a code of their own in the XML API."""
_XML_REASONS: Final = frozenset({NO_BUCKET, EXPIRED, WRONG_SIGNATURE})
_XML_MESSAGE: Final = re.compile("<Code>(.*)</Code><Message>(.*)</Message>", re.DOTALL)


class ApiError(Exception):
    """A request that an API refuses.

    Attributes:
        status: the HTTP status.
        message: the explanation for people.
        reason: Google's short name of the error, such as `notFound`.
        details: typed details, such as an `ErrorInfo`.
    """

    def __init__(
        self, status: int, message: str, reason: str | None = None, details: list[dict[str, Any]] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        # The message may repeat parts of the request, which may be long and not valid Unicode.
        shown = message if len(message) <= _LONGEST else f"{message[: _LONGEST // 2]}...{message[-_LONGEST // 2 :]}"
        self.message = shown.encode(errors="backslashreplace").decode()
        self.reason = reason or _REASON.get(status, "backendError")
        self.details = details or []

    def body(self, form: ErrorForm = ErrorForm.BOTH) -> dict[str, Any]:
        """Return the body of the response of an API with this form of errors."""
        domain = "usageLimits" if self.reason in _USAGE_LIMITS else "global"
        error: dict[str, Any] = {"code": self.status, "message": self.message}
        if form is not ErrorForm.STATUS:
            error["errors"] = [{"domain": domain, "reason": self.reason, "message": self.message}]
        if form is not ErrorForm.REASONS or domain == "usageLimits":
            by_code = _STATUS.get(self.status, "UNKNOWN")
            error["status"] = "FAILED_PRECONDITION" if self.reason == FAILED_PRECONDITION else by_code
        return {"error": error | ({"details": self.details} if self.details else {})}

    def xml(self) -> str:
        """Return the body of the response of the XML API."""
        code = self.reason if self.reason in _XML_REASONS else _XML_CODES.get(self.status, "InternalError")
        message = "".join(letter if letter.isprintable() else " " for letter in self.message)
        content = f"<Code>{code}</Code><Message>{escape(message)}</Message>"
        return f"<?xml version='1.0' encoding='UTF-8'?><Error>{content}</Error>"


def invalid(field: str, value: Any, why: str) -> ApiError:
    """Say that the value of a field is invalid."""
    return ApiError(400, f"Invalid value for field '{field}': '{value}'. {why}")


def misused(why: str) -> ApiError:
    """Say that a resource cannot be used in this way."""
    return ApiError(400, f"Invalid resource usage: '{why}'.", "invalidResourceUsage")


def required(field: str) -> ApiError:
    """Say that a required field is missing."""
    return ApiError(400, f"Invalid value for field '{field}': ''. The field is required.", "required")


def check_given(body: dict[str, Any], *fields: str) -> None:
    """Refuse a body that lacks one of these fields."""
    for field in fields:
        if not body.get(field):
            raise required(f"resource.{field}")


def stale(what: str) -> ApiError:
    """Say that the fingerprint in a request is not the current one."""
    return ApiError(412, f"Supplied fingerprint does not match current {what} fingerprint.", "conditionNotMet")


def not_found(path: str) -> ApiError:
    """Say that a resource does not exist."""
    return ApiError(404, f"The resource '{path}' was not found")


def already_exists(path: str) -> ApiError:
    """Say that a resource of this name already exists."""
    return ApiError(409, f"The resource '{path}' already exists")


_LOG: Final = logging.getLogger("gcpx_emulator")
_INTERNAL_ERROR: Final = "The emulator failed with an internal error; see its log."


def error_response(error: Exception, request: str, form: ErrorForm = ErrorForm.BOTH) -> Response:
    """Turn an exception into a response; any but an ApiError is a bug, and is logged with its place.

    Its text is not logged, because it may quote a key or a token of the request. `request` names the request in the
    log: the method's ID, or the HTTP method and path.
    """
    if not isinstance(error, ApiError):
        places = "".join(traceback.format_tb(error.__traceback__))
        _LOG.error("%s failed: %s\n%s", printable(request), type(error).__name__, places)
        error = ApiError(500, _INTERNAL_ERROR)
    if error.status == HTTPStatus.NOT_MODIFIED:
        return Response(status_code=error.status)
    # Do not wait for the rest of a request that takes too long.
    headers = {"Connection": "close"} if error.status == HTTPStatus.REQUEST_TIMEOUT else None
    if form is ErrorForm.XML:
        return Response(error.xml(), error.status, headers, "application/xml; charset=UTF-8")
    return JSONResponse(error.body(form), error.status, headers)


def error_of(response: Response) -> tuple[str, str]:
    """Return the reason, or else the status name, and the message in the body of an error; empty where it has none."""
    content_type = response.headers.get("content-type", "")
    if response.status_code < HTTPStatus.BAD_REQUEST:
        return "", ""
    if content_type.startswith("application/xml"):
        found = _XML_MESSAGE.search(bytes(response.body).decode())
        return (found[1], unescape(found[2])) if found else ("", "")
    if not content_type.startswith("application/json"):
        return "", ""
    try:
        error = json.loads(bytes(response.body))["error"]
        reason = error["errors"][0]["reason"] if error.get("errors") else error["status"]
        return str(reason), str(error.get("message", ""))
    except (ValueError, LookupError, TypeError, AttributeError):
        return "", ""  # a fault may answer with anything


class ErrorMiddleware:
    """Turns every exception of an application into a response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application."""
        try:
            await self._app(scope, receive, send)
        except Exception as error:  # noqa: BLE001 - the client gets a response to every error
            response = error_response(error, f"{scope.get('method')} {scope.get('path')}")
            await response(scope, receive, send)
