"""Errors in Google's format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_STATUS: Final[Mapping[int, str]] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    405: "INVALID_ARGUMENT",
    409: "ALREADY_EXISTS",
    412: "FAILED_PRECONDITION",
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
_USAGE_LIMITS: Final = frozenset({"accessNotConfigured", "quotaExceeded", "rateLimitExceeded"})
"""Reasons of another domain than `global`; Cloud SQL gave the first one in 2020."""


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
        # The message may repeat parts of the request that are not valid Unicode.
        self.message = message.encode(errors="backslashreplace").decode()
        self.reason = reason or _REASON.get(status, "backendError")
        self.details = details or []

    def body(self) -> dict[str, Any]:
        """Return the body of the response."""
        domain = "usageLimits" if self.reason in _USAGE_LIMITS else "global"
        error = {
            "code": self.status,
            "message": self.message,
            "status": _STATUS.get(self.status, "UNKNOWN"),
            "errors": [{"domain": domain, "reason": self.reason, "message": self.message}],
        }
        return {"error": error | ({"details": self.details} if self.details else {})}


def invalid(field: str, value: Any, why: str) -> ApiError:
    """Say that the value of a field is invalid."""
    return ApiError(400, f"Invalid value for field '{field}': '{value}'. {why}")


def required(field: str) -> ApiError:
    """Say that a required field is missing."""
    return ApiError(400, f"Invalid value for field '{field}': ''. The field is required.", "required")


def stale(what: str) -> ApiError:
    """Say that the fingerprint in a request is not the current one."""
    return ApiError(412, f"Supplied fingerprint does not match current {what} fingerprint.", "conditionNotMet")


def not_found(path: str) -> ApiError:
    """Say that a resource does not exist."""
    return ApiError(404, f"The resource '{path}' was not found")


def already_exists(path: str) -> ApiError:
    """Say that a resource of this name already exists."""
    return ApiError(409, f"The resource '{path}' already exists")
