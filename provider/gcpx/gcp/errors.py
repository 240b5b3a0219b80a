"""The class hierarchy of errors of calls to Google, and the conversion of Google's responses to them.

ApiError
    NoResponse              no response, or an unreadable one
        TimedOut            no response in time
        ConnectionRefused   nothing listens at an address of this machine
        HostNotFound        the name of the host cannot be resolved
        CannotSendRequest   the request cannot be sent as it is
        UnreadableResponse  a response that gcpx refuses to read
        ForeignResponse     an error response that is not in Google's format
    Unauthenticated         401
        NoCredentials       no credentials were found
    PermissionDenied        403
    ApiDisabled             403 of an API that is not enabled
    ScopeTooNarrow          403 for the scopes of the access token
    RateLimited             429, or 403 with a rate-limit reason
    QuotaExceeded           403 or an operation, with a quota reason
    NotFound                404
    Conflict                409
    PreconditionFailed      412, or an operation with its code
    Redirected              3xx
    Rejected                any other 4xx
    ServerError             5xx
        Unreached           a list without some places, which Google did not reach
    OperationFailed         an operation that ended with errors

`gcpx.gcp.retries` decides which of them are retried.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Self

from gcpx.errors import Interrupted, ProviderError, sentences, without_stop
from gcpx.model.redaction import printable, shortened

_ENABLING: Final = re.compile(r"/apis/api/([\w.-]+)/overview\?project=([\w.:-]+)")
"""The API and the project in the link to the page that enables an API."""
_SERVICE_AND_CONSUMER: Final = re.compile(r"([\w.-]+) projects/([\w.:-]+)")
"""The same in the metadata of an error. Both become part of a command, so the patterns allow nothing else."""


def hints(details: Any) -> Iterator[str]:
    """Yield the links and quotas in the details of an error, each as a sentence."""
    for detail in objects(details):
        for link in objects(object_of(detail.get("help") or detail).get("links")):
            yield f"See {link.get('url')} ({link.get('description', 'help')})."
        quota = object_of(detail.get("quotaInfo"))
        if quota:
            yield _quota(quota)


def disabled_api(details: Any) -> tuple[str, str] | None:
    """Return the disabled API that an error names, such as `compute.googleapis.com`, and its project; None if none."""
    for detail in objects(details):
        metadata = object_of(detail.get("metadata"))
        named = _SERVICE_AND_CONSUMER.fullmatch(f"{metadata.get('service')} {metadata.get('consumer')}")
        links = [_ENABLING.search(str(link.get("url"))) for link in objects(detail.get("links"))]
        found = next(filter(None, (named if detail.get("reason") == "SERVICE_DISABLED" else None, *links)), None)
        if found is not None:
            return found[1], found[2]
    return None


def _quota(quota: dict[str, Any]) -> str:
    """Name a quota, and its limit if it is known."""
    name = quota.get("metricName") or quota.get("limitName") or "a quota"
    place = ", ".join(f"{key} {value}" for key, value in object_of(quota.get("dimensions")).items())
    limit = quota.get("limit")
    given = f"{limit:,.15g}" if isinstance(limit, int | float) else limit
    exceeded = f"The quota that is used up is {name}" if given is None else f"The limit of {name} is {given}"
    return f"{exceeded}{f' in {place}' if place else ''}."


def localized(item: Mapping[str, Any]) -> str:
    """Return the message of an operation's error, in the user's language if Google gives that."""
    for detail in objects(item.get("errorDetails")):
        text = object_of(detail.get("localizedMessage")).get("message")
        if text:
            return str(text)
    return str(item.get("message", "no message"))


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list in a response; empty if it is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def object_of(value: Any) -> dict[str, Any]:
    """Return an object of a response; empty if it is not an object."""
    return value if isinstance(value, dict) else {}


_LONGEST: Final = 8000
"""The maximum number of characters of a message, so that no response makes its processing slow."""


class ApiError(ProviderError):
    """A call that Google did not carry out. Its text is the message followed by the next step.

    Attributes:
        next_step: the user's next step after this kind of error, or after this error.
        status: the HTTP status; None without a response.
        message: what happened, without the next step.
        reason: Google's reason, such as `resourceInUseByAnotherResource`.
        operation: the operation that failed with this error; None if it was not an operation.
        details: the details of an error response (REST JSON); a failed operation has its details in `operation`.
        is_repeated: whether Google may have carried out an earlier attempt of the same request.
    """

    next_step: str = ""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        reason: str = "",
        operation: Mapping[str, Any] | None = None,
        details: Sequence[dict[str, Any]] = (),
        next_step: str | None = None,
    ) -> None:
        self.message = printable(shortened(message, _LONGEST))
        self.next_step = type(self).next_step if next_step is None else next_step
        super().__init__(sentences(self.message, self.next_step))
        self.status = status
        self.reason = reason
        self.operation = operation
        self.details = details
        self.is_repeated = False

    def with_message(self, message: str) -> Self:
        """Return the same error with another message, without its operation."""
        return self._with(message, self.next_step)

    def with_hint(self, hint: str) -> Self:
        """Return the same error with one more sentence after its message."""
        return self.with_message(sentences(self.message, hint))

    def with_next_step(self, next_step: str) -> Self:
        """Return the same error with another next step."""
        return self._with(self.message, next_step, self.operation)

    def _with(self, message: str, next_step: str, operation: Mapping[str, Any] | None = None) -> Self:
        return type(self)(
            message,
            status=self.status,
            reason=self.reason,
            operation=operation,
            details=self.details,
            next_step=next_step,
        )


class NoResponse(ApiError):  # noqa: N818 - this and its siblings name the outcome
    """No response came, or an unreadable one."""

    code = "ABORTED"
    next_step = "Check the network, and the endpoint settings of gcpx (emulatorHost, ...CustomEndpoint)."


class TimedOut(NoResponse):
    """The request was sent, and its response did not come in time."""


class ConnectionRefused(NoResponse):
    """Nothing listens at an address of this machine; the user has to start the server."""

    next_step = ""


class HostNotFound(NoResponse):
    """The name of the host cannot be resolved; a few retries do not change that."""


class UnreadableResponse(NoResponse):
    """The response cannot be read, such as one that is nested too deeply; a retry would get the same."""


class ForeignResponse(NoResponse):
    """An error response that is not in the format of Google's APIs, as from proxies and other servers.

    It says nothing about the resource: a page "not found" does not mean that the resource is gone. Google's own front
    ends send such pages, too, if they fail.
    """

    next_step = (
        "Check the endpoint settings of gcpx (emulatorHost, ...CustomEndpoint), and the proxy in HTTPS_PROXY; if they "
        "are right, try again later."
    )


class CannotSendRequest(NoResponse):
    """The request can never be sent: its address or its headers are not valid."""

    code = "INVALID_ARGUMENT"
    next_step = "Correct the settings of gcpx (emulatorHost, ...CustomEndpoint, universeDomain)."


class Unauthenticated(ApiError):  # noqa: N818
    """Google does not accept the credentials, or none could be obtained."""

    code = "UNAUTHENTICATED"
    next_step = (
        "Run `gcloud auth application-default login`, or set gcpx:credentials or gcpx:accessToken to valid ones."
    )


class PermissionDenied(ApiError):  # noqa: N818
    """The caller has no permission for the call."""

    code = "PERMISSION_DENIED"
    next_step = "Use credentials that may do this, or set gcpx:impersonateServiceAccount to an account that may."


class NoCredentials(Unauthenticated):
    """No credentials are set, and the machine has none."""

    next_step = (
        "Run `gcloud auth application-default login`, or set gcpx:credentials or gcpx:accessToken. To try a program "
        "without an account, run `gcpx-emulator --port 8095`, and set GCPX_EMULATOR_HOST=127.0.0.1:8095."
    )


class ApiDisabled(ApiError):  # noqa: N818
    """The API is not enabled in the project that the call counts to."""

    code = "PERMISSION_DENIED"
    next_step = "An API that was just enabled can be used after a few minutes."


class ScopeTooNarrow(ApiError):  # noqa: N818
    """The OAuth scopes of the access token do not allow the call, whatever the account may do."""

    code = "PERMISSION_DENIED"


class RateLimited(ApiError):  # noqa: N818
    """Too many calls in a short time, even after retries."""

    code = "RESOURCE_EXHAUSTED"
    next_step = "Run the command again with a lower --parallel, or request a higher rate quota."


class QuotaExceeded(ApiError):  # noqa: N818
    """The project's quota does not allow the resource."""

    code = "RESOURCE_EXHAUSTED"
    next_step = "Delete resources that you do not need, choose another region, or request a higher quota."


class NotFound(ApiError):  # noqa: N818
    """The resource, or one that the request names, does not exist."""

    code = "NOT_FOUND"


class Conflict(ApiError):  # noqa: N818
    """The request conflicts with the state of a resource, which usually already exists."""

    code = "ALREADY_EXISTS"


class PreconditionFailed(ApiError):  # noqa: N818
    """The resource changed since it was read."""

    code = "ABORTED"


class Redirected(ApiError):  # noqa: N818
    """The server names another address. It is not followed, because it would get the credentials."""

    code = "INVALID_ARGUMENT"
    next_step = "Correct the settings of gcpx (emulatorHost, ...CustomEndpoint, universeDomain), or the proxy."


class Rejected(ApiError):  # noqa: N818
    """Google does not accept the request."""

    code = "INVALID_ARGUMENT"


class ServerError(ApiError):
    """Google failed, even after retries, or its response lacks what it must contain."""

    code = "ABORTED"
    next_step = "The problem is on Google's side; try again later."


class Unreached(ServerError):  # noqa: N818
    """Google's list is not complete, so a missing item may exist."""

    next_step = "Run the command again later; https://status.cloud.google.com shows outages."


class OperationFailed(ApiError):  # noqa: N818
    """Google accepted the request, and its operation failed."""


class Unfinished(Interrupted):
    """Google accepted the request, and its result is not known.

    Attributes:
        operation: Google's operation, as it was last read; empty if it was never read.
    """

    def __init__(self, message: str, operation: Mapping[str, Any] | None = None, next_step: str = "") -> None:
        super().__init__(message, next_step)
        self.operation = operation or {}

    def with_operation(self, operation: Mapping[str, Any] | None) -> Unfinished:
        """Return the same error with an operation."""
        return Unfinished(self.message, operation, self.next_step)


_ABOUT_GOOGLE: Final = frozenset({PermissionDenied, NotFound, Conflict, PreconditionFailed, ServerError})
"""Errors that say something about a resource, or about Google's servers.

They count only in Google's format, which repeats the status.
"""


def from_response(what: str, status: int, body: Any) -> ApiError:
    """Turn an error response into an error.

    `what` describes the call. `body` is parsed JSON in Google's or OAuth's error format, or anything else.
    """
    error = body.get("error") if isinstance(body, dict) else None
    details = error if isinstance(error, dict) else {"message": _unstructured_message(error, body)}
    items = (*objects(details.get("errors")), *objects(details.get("details")))
    reasons = [str(item["reason"]) for item in items if item.get("reason")]
    reason = reasons[0] if reasons else str(details.get("status") or "")
    said = shortened(str(details.get("message") or "no reason given"))
    message = f"{what}: {said} (HTTP {status}{f', {reason}' if reason else ''})"
    error_class = _error_class(status, details.get("status"), reasons, details.get("details"))
    if error_class in _ABOUT_GOOGLE and not _is_googles(status, body):
        return ForeignResponse(f"{message}{_NOT_GOOGLES}", status=status)
    if error_class is Rejected and not isinstance(body, dict):
        return Rejected(f"{message}{_NOT_GOOGLES}", status=status, next_step=ForeignResponse.next_step)
    message = sentences(message, *hints(details.get("details")))
    return error_class(message, status=status, reason=reason, details=objects(details.get("details")))


def is_refusal(status: int, body: Any) -> bool:
    """Return whether a response says that Google did not carry out the request; `body` is parsed JSON, or text."""
    return status in _REFUSALS and _is_googles(status, body)


_REFUSALS: Final = range(400, 500)


def _is_googles(status: int, body: Any) -> bool:
    """Return whether an error response has Google's format, which repeats the status."""
    return bool(object_of(object_of(body).get("error")).get("code") == status)


_NOT_GOOGLES: Final = ", which is not in the format of Google's APIs"
_QUOTA_REASONS: Final = frozenset({"quotaExceeded", "QUOTA_EXCEEDED", "limitExceeded", "dailyLimitExceeded"})
_CONDITION_CODE: Final = "CONDITION_NOT_MET"
"""The code of a 412 in an operation."""


def from_operation(what: str, operation: Mapping[str, Any]) -> ApiError:
    """Turn the errors of a failed operation into one error; `what` describes the operation."""
    errors = objects(object_of(operation.get("error")).get("errors"))
    codes = [str(item.get("code", "")) for item in errors]
    fields = [f" (caused by the field `{item['location']}`)" if item.get("location") else "" for item in errors]
    texts = [
        sentences(f"{without_stop(localized(item))}{field}", *hints(item.get("errorDetails")))
        for item, field in zip(errors, fields, strict=True)
    ]
    said = "; ".join(without_stop(text) for text in texts)
    said = said or str(operation.get("httpErrorMessage") or "the operation failed")
    message = f"{what}: {shortened(said)}"
    kind: type[ApiError] = PreconditionFailed if _CONDITION_CODE in codes else OperationFailed
    kind = QuotaExceeded if any(code in _QUOTA_REASONS for code in codes) else kind
    return kind(
        f"{message} ({', '.join(codes) or 'no code'})", reason=codes[0] if codes else "", operation=dict(operation)
    )


_RATE_REASONS: Final = frozenset(
    {"rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED", "concurrentOperationsQuotaExceeded",
     "CONCURRENT_OPERATIONS_QUOTA_EXCEEDED"}
)  # fmt: skip
_DISABLED_REASONS: Final = frozenset({"accessNotConfigured", "SERVICE_DISABLED"})
_SCOPE_REASONS: Final = frozenset({"insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"})
_BY_STATUS: Final[Mapping[int, type[ApiError]]] = {
    401: Unauthenticated,
    403: PermissionDenied,
    404: NotFound,
    409: Conflict,
    412: PreconditionFailed,
    429: RateLimited,
}
_CONFLICT: Final = 409
_FORBIDDEN: Final = 403
_SERVER_ERROR: Final = 500


def _error_class(status: int, state: Any, reasons: Sequence[str], details: Any) -> type[ApiError]:
    """Choose the class of an error response; `state` is the name of the error in gRPC.

    Any reason of a 403 may say that it is not about permissions. In 2020, App Engine and Dataflow gave no
    reason for a disabled API, only the link that enables it.
    """
    if not _RATE_REASONS.isdisjoint(reasons[:1]) or (status == _CONFLICT and state == "ABORTED"):
        return RateLimited  # OS Login answers 409 ABORTED to concurrent changes of one profile
    if not _QUOTA_REASONS.isdisjoint(reasons[:1]):
        return QuotaExceeded
    only_link = status == _FORBIDDEN and not reasons and disabled_api(details) is not None
    if only_link or not _DISABLED_REASONS.isdisjoint(reasons):
        return ApiDisabled
    if not _SCOPE_REASONS.isdisjoint(reasons):
        return ScopeTooNarrow
    return _BY_STATUS.get(status, ServerError if status >= _SERVER_ERROR else Rejected)


_TITLE: Final = re.compile(r"<title>([^<]+)", re.IGNORECASE)
_LONGEST_BODY: Final = 300
"""The number of characters of an unstructured body that a message quotes."""


def _unstructured_message(error: Any, body: Any) -> str:
    """Read OAuth's error format, `{"error": ..., "error_description": ...}`, or shorten any other body."""
    described = body.get("error_description") if isinstance(body, dict) else None
    text = str(f"{error}: {described}" if error and described else error or body or "no reason given")
    if text.lstrip()[:1] == "<":
        title = _TITLE.search(text[:_LONGEST])
        text = f'a page with the title "{title[1].strip()}"' if title else "a page without a title"
    return text if len(text) <= _LONGEST_BODY else f"{text[:_LONGEST_BODY]}…"  # redaction finds a cut secret by it
