"""Errors in Google's shape."""

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


class ApiError(Exception):
    """A refusal, with HTTP status and Google's reason."""

    def __init__(self, status: int, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        # What a request holds may be no Unicode, and is repeated here.
        self.message = message.encode(errors="backslashreplace").decode()
        self.reason = reason or _REASON.get(status, "backendError")

    def body(self) -> dict[str, Any]:
        """Write it as Google does."""
        return {
            "error": {
                "code": self.status,
                "message": self.message,
                "status": _STATUS.get(self.status, "UNKNOWN"),
                "errors": [{"domain": "global", "reason": self.reason, "message": self.message}],
            }
        }


def invalid(field: str, value: Any, why: str) -> ApiError:
    """Refuse a field's value."""
    return ApiError(400, f"Invalid value for field '{field}': '{value}'. {why}")


def required(field: str) -> ApiError:
    """Refuse a request that lacks a field."""
    return ApiError(400, f"Invalid value for field '{field}': ''. The field is required.", "required")


def stale(what: str) -> ApiError:
    """Refuse a change that was made up from an older state."""
    return ApiError(412, f"Supplied fingerprint does not match current {what} fingerprint.", "conditionNotMet")


def not_found(what: str) -> ApiError:
    """Say that there is no such resource."""
    return ApiError(404, f"The resource '{what}' was not found")


def exists(what: str) -> ApiError:
    """Say that the name is taken."""
    return ApiError(409, f"The resource '{what}' already exists")
