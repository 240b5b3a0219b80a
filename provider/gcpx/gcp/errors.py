"""What can go wrong with a call to Google, as one tree.

ApiError
    Unreachable         no answer
        TimedOut        no answer in time
        Refused         nothing listens on this machine
        Uncallable      no request can be made
    Unauthenticated     401
    PermissionDenied    403
    RateLimited         429, or 403 with a rate-limit reason
    QuotaExceeded       403 or an operation, with a quota reason
    NotFound            404
    Conflict            409
    PreconditionFailed  412
    Rejected            any other 4xx
    ServerError         5xx
    OperationFailed     an operation that ended with errors
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from gcpx.errors import ProviderError

_RATE_REASONS: Final = frozenset(
    {"rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED", "concurrentOperationsQuotaExceeded",
     "CONCURRENT_OPERATIONS_QUOTA_EXCEEDED"}
)  # fmt: skip
_QUOTA_REASONS: Final = frozenset({"quotaExceeded", "QUOTA_EXCEEDED", "limitExceeded", "dailyLimitExceeded"})


class ApiError(ProviderError):
    """A call that Google did not carry out.

    Attributes:
        status: the HTTP status, or None where there was no answer.
        message: what happened, without what to do next.
        reason: Google's own reason, such as `resourceInUseByAnotherResource`.
        operation: the operation that ended with this, if one did.
    """

    next_step: ClassVar[str] = ""

    def __init__(
        self, message: str, *, status: int | None = None, reason: str = "", operation: dict[str, Any] | None = None
    ) -> None:
        super().__init__(f"{message.rstrip('.')}. {self.next_step}".strip() if self.next_step else message)
        self.message = message
        self.status = status
        self.reason = reason
        self.operation = operation


class Unreachable(ApiError):  # noqa: N818 - this and its siblings name the outcome
    """No answer came."""

    code = "ABORTED"
    next_step = "Check the network, and the endpoint settings of gcpx (emulatorHost, ...CustomEndpoint)."


class TimedOut(Unreachable):
    """The request was sent, and its answer did not come in time."""


class Refused(Unreachable):
    """Nothing listens at an address of this machine; waiting rarely helps, starting what is to listen does."""

    next_step = ""


class Uncallable(Unreachable):
    """The request cannot be made, now or later: its address or its headers are wrong."""

    code = "INVALID_ARGUMENT"
    next_step = "Correct the settings of gcpx (emulatorHost, ...CustomEndpoint, universeDomain)."


class Unauthenticated(ApiError):  # noqa: N818
    """Google does not know who is calling."""

    code = "UNAUTHENTICATED"
    next_step = (
        "Run `gcloud auth application-default login`, or set gcpx:credentials or gcpx:accessToken to valid ones."
    )


class PermissionDenied(ApiError):  # noqa: N818
    """The caller may not do this."""

    code = "PERMISSION_DENIED"
    next_step = (
        "Grant the named permission to the caller, or set gcpx:impersonateServiceAccount to an account that has it."
    )


class RateLimited(ApiError):  # noqa: N818
    """Too many calls in a short time, also after waiting."""

    code = "RESOURCE_EXHAUSTED"
    next_step = "Run again with a lower --parallel, or request a higher rate quota."


class QuotaExceeded(ApiError):  # noqa: N818
    """The project's quota does not allow it."""

    code = "RESOURCE_EXHAUSTED"
    next_step = "Delete what is not needed, choose another region, or request a higher quota."


class NotFound(ApiError):  # noqa: N818
    """There is no such thing."""

    code = "NOT_FOUND"


class Conflict(ApiError):  # noqa: N818
    """The state of the resource stands against it."""

    code = "ALREADY_EXISTS"


class PreconditionFailed(ApiError):  # noqa: N818
    """The resource changed since it was read."""

    code = "ABORTED"


class Rejected(ApiError):  # noqa: N818
    """Google does not take the request."""

    code = "INVALID_ARGUMENT"


class ServerError(ApiError):
    """Google failed, also after waiting."""

    code = "ABORTED"
    next_step = "The problem is on Google's side; run again later."


class OperationFailed(ApiError):  # noqa: N818
    """The work was taken on and then failed."""


_BY_STATUS: Final[Mapping[int, type[ApiError]]] = {
    401: Unauthenticated,
    403: PermissionDenied,
    404: NotFound,
    409: Conflict,
    412: PreconditionFailed,
    429: RateLimited,
}
_SERVER_ERROR: Final = 500


def from_response(what: str, status: int, body: Any) -> ApiError:
    """Read an error answer in Google's shape, or in none."""
    error = body.get("error") if isinstance(body, dict) else None
    details = error if isinstance(error, dict) else {"message": _plain(error, body)}
    reason = _reason(details)
    message = f"{what}: {details.get('message') or 'no reason given'} (HTTP {status}{f', {reason}' if reason else ''})"
    return _class_of(status, reason)(_with_hints(message, details), status=status, reason=reason)


def _plain(error: Any, body: Any) -> str:
    """Read an answer in OAuth's shape, `{"error": ..., "error_description": ...}`, or in none."""
    described = body.get("error_description") if isinstance(body, dict) else None
    return str(f"{error}: {described}" if error and described else error or body or "no reason given")[:300]


def _class_of(status: int, reason: str) -> type[ApiError]:
    if reason in _RATE_REASONS:
        return RateLimited
    if reason in _QUOTA_REASONS:
        return QuotaExceeded
    return _BY_STATUS.get(status, ServerError if status >= _SERVER_ERROR else Rejected)


def _reason(error: Mapping[str, Any]) -> str:
    for item in (*_objects(error.get("errors")), *_objects(error.get("details"))):
        if item.get("reason"):
            return str(item["reason"])
    return str(error.get("status") or "")


def _objects(value: Any) -> list[dict[str, Any]]:
    """Read a list of objects out of an answer, which may hold anything."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _object(value: Any) -> dict[str, Any]:
    """Read an object, likewise."""
    return value if isinstance(value, dict) else {}


def _with_hints(message: str, error: Mapping[str, Any]) -> str:
    return " ".join((message, *_hints(error.get("details"))))


def _hints(details: Any) -> Iterator[str]:
    for detail in _objects(details):
        for link in _objects(_object(detail.get("help") or detail).get("links")):
            yield f"See {link.get('url')} ({link.get('description', 'help')})."
        quota = _object(detail.get("quotaInfo"))
        if quota:
            yield _quota(quota)


def _quota(quota: dict[str, Any]) -> str:
    """Name a quota, and its limit if it is known."""
    name = quota.get("metricName") or quota.get("limitName") or "a quota"
    place = ", ".join(f"{key} {value}" for key, value in _object(quota.get("dimensions")).items())
    limit = quota.get("limit")
    given = f"{limit:,.15g}" if isinstance(limit, int | float) else limit
    exceeded = f"The quota that is used up is {name}" if given is None else f"The limit of {name} is {given}"
    return f"{exceeded}{f' in {place}' if place else ''}."


def from_operation(what: str, operation: Mapping[str, Any]) -> ApiError:
    """Read the errors of an operation that ended badly."""
    found = _objects(_object(operation.get("error")).get("errors"))
    codes = [str(item.get("code", "")) for item in found]
    texts = [" ".join((_localized(item) + _place(item), *_hints(item.get("errorDetails")))) for item in found]
    message = f"{what}: {'; '.join(texts) or operation.get('httpErrorMessage') or 'the operation failed'}"
    quota = any(code in _QUOTA_REASONS for code in codes)
    kind = QuotaExceeded if quota else OperationFailed
    return kind(
        f"{message} ({', '.join(codes) or 'no code'})", reason=codes[0] if codes else "", operation=dict(operation)
    )


def _place(item: Mapping[str, Any]) -> str:
    """Name the field of the request that caused an error, where Google does."""
    return f" (caused by the field `{item['location']}`)" if item.get("location") else ""


def _localized(item: Mapping[str, Any]) -> str:
    for detail in _objects(item.get("errorDetails")):
        text = _object(detail.get("localizedMessage")).get("message")
        if text:
            return str(text)
    return str(item.get("message", "no message"))


class Unfinished(ProviderError):  # noqa: N818 - it names the outcome
    """The work was taken on by Google, and its end was not seen.

    Attributes:
        operation: the work, as far as it is known.
    """

    def __init__(self, message: str, operation: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.operation = operation or {}
