"""Failures in the engine's form: check failures of inputs, and exceptions as gRPC statuses."""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn

import attrs
import grpc
from google.protobuf import struct_pb2

from gcpx.errors import MalformedResponse, ProviderError, UserError, without_stop
from gcpx.model.fields import Failure, ObjectType
from gcpx.model.redaction import printable, redact, shortened
from gcpx.model.resource import PartialError
from gcpx.model.secrecy import is_secret_at, mark_secrets, secret_texts
from gcpx.model.values import format_path
from gcpx.protocol import proto
from gcpx.protocol.plugin import secrets_in

_REPORT: Final = "Run the command again; if the error remains, please report it"
_LONGEST: Final = 100
"""Values with more characters are not printed."""


@attrs.frozen
class FailureWriter:
    """Writes failures of inputs.

    The engine prints the value of the property that a failure names. It prints secrets in clear, and `{<nil>}` for
    nested paths. So a failure names a property only if its value is known, plain and short; otherwise the reason begins
    with the path.

    Attributes:
        kind: declares the inputs.
        inputs: the inputs, with secrets marked.
        secrets: additional strings that no message may contain.
        marked: whether the engine marked the secrets; if it did not, no value is shown.
    """

    kind: ObjectType
    inputs: dict[str, Any]
    secrets: frozenset[str]
    marked: bool = True

    @classmethod
    def of(
        cls, kind: ObjectType, inputs: dict[str, Any], secrets: frozenset[str], *, marked: bool = True
    ) -> FailureWriter:
        """Mark secrets by declaration, place or content; `inputs` are the engine's."""
        protected = mark_secrets(kind, inputs, inputs)
        return cls(kind, protected, secrets | secret_texts(kind, protected), marked)

    def failures(self, failures: list[Failure]) -> list[Any]:
        """Write failures as check failures."""
        written = []
        for failure in failures:
            name = str(failure.path[0]) if len(failure.path) == 1 else ""
            if name in self.kind.inputs and self._printable(self.inputs.get(name)):
                written.append(proto.provider.CheckFailure(property=name, reason=redact(failure.reason, self.secrets)))
            else:
                written.append(proto.provider.CheckFailure(reason=self.sentence(failure)))
        return written

    def sentence(self, failure: Failure, separator: str = ": ") -> str:
        """Write a failure as one string: the path and the reason."""
        value = failure.with_value if self.marked and not is_secret_at(self.inputs, failure.path) else None
        reason = failure.reason if value is None else value
        return redact(separator.join(filter(None, (format_path(failure.path), reason))), self.secrets)

    def _printable(self, value: Any) -> bool:
        """Return whether the engine may print a value, and whether it is short enough to help."""
        if not self.marked or not isinstance(value, str | bool | int | float) or value == "":
            return False
        text = str(value)
        return len(text) <= _LONGEST and text.isprintable() and redact(text, self.secrets) == text

    def refusal(self, what: str, failures: list[Failure]) -> UserError:
        """Write failures as an error, for RPCs with responses in which some users would not see all failures."""
        return UserError(f"{what}: " + "\n  ".join(map(self.sentence, failures)))


_logger = logging.getLogger(__name__)


class InitFailed(ProviderError):  # noqa: N818 - the protocol's own word
    """A resource that exists, or may exist, but is not finished; the engine keeps it in state with the reason."""

    def __init__(
        self,
        resource_id: str,
        properties: struct_pb2.Struct,
        inputs: struct_pb2.Struct,
        why: str,
        *,
        is_read_first: bool = False,
    ) -> None:
        super().__init__(why)
        self.resource_id = resource_id
        self.properties = properties
        self.inputs = inputs
        self.is_read_first = is_read_first


class NotUnderstood(ProviderError):  # noqa: N818 - it names the outcome
    """An unexpected exception, most likely caused by an unusual response; its own text may contain a secret."""

    def __init__(self, error: Exception) -> None:
        _logger.error("unexpected %s", type(error).__name__)
        super().__init__(
            f"gcpx could not process a response from Google: {type(error).__name__} {_origin(error)}. {_REPORT}"
        )


def guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    """Turn every exception of an RPC into a status that the engine understands, without secrets."""

    @functools.wraps(method)
    def rpc(servicer: Any, request: Any, rpc_context: grpc.ServicerContext) -> Any:
        try:
            return method(servicer, request, rpc_context)
        except Exception as error:  # noqa: BLE001 - the border: a bare exception would read as a corrupt state
            _abort(error, secrets_in(request, servicer.plugin), rpc_context)

    return rpc


def guarded_stream(method: Callable[..., Any]) -> Callable[..., Any]:
    """Do the same as `guarded`, for an RPC that responds with a stream."""

    @functools.wraps(method)
    def rpc(servicer: Any, request: Any, rpc_context: grpc.ServicerContext) -> Any:
        try:
            yield from method(servicer, request, rpc_context)
        except Exception as error:  # noqa: BLE001 - as above
            _abort(error, secrets_in(request, servicer.plugin), rpc_context)

    return rpc


@contextlib.contextmanager
def wrapping_unexpected_errors() -> Iterator[None]:
    """Turn an unexpected exception into a ProviderError: the engine reads any other status as a corrupt state."""
    try:
        yield
    except (ProviderError, PartialError):
        raise
    except Exception as error:
        raise NotUnderstood(error) from error


_DETAILS = "grpc-status-details-bin"
_LONGEST_STATUS = 9000
"""The maximum number of characters of an error; only a broken response, or very many mistakes, need more."""


def _abort(error: Exception, texts: frozenset[str], rpc_context: grpc.ServicerContext) -> NoReturn:
    text = f"{without_stop(str(error))}. {_REPORT}" if isinstance(error, MalformedResponse) else str(error)
    message = printable(shortened(redact(text, texts), _LONGEST_STATUS)) if isinstance(error, ProviderError) else ""
    if isinstance(error, InitFailed):
        rpc_context.set_trailing_metadata(((_DETAILS, _init_failed(error, message)),))
        rpc_context.abort(grpc.StatusCode.FAILED_PRECONDITION, message)
    if isinstance(error, ProviderError):
        rpc_context.abort(grpc.StatusCode[error.code], message)
    _logger.error("unexpected %s", type(error).__name__)
    rpc_context.abort(
        grpc.StatusCode.INTERNAL,
        # The message of an unexpected error may quote anything, including secrets.
        f"unexpected error in gcpx: {type(error).__name__} {_origin(error)}; please report it",
    )
    raise AssertionError("abort always raises")


def _origin(error: Exception) -> str:
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return "no traceback"
    code = traceback.tb_frame.f_code
    return f"in {code.co_qualname}, line {traceback.tb_lineno}"


def _init_failed(error: InitFailed, message: str) -> bytes:
    from google.protobuf import any_pb2  # noqa: PLC0415 - few runs need it
    from google.rpc import status_pb2  # noqa: PLC0415 - as above

    detail = any_pb2.Any()
    detail.Pack(
        proto.provider.ErrorResourceInitFailed(
            id=error.resource_id,
            properties=error.properties,
            inputs=error.inputs,
            reasons=[message],
            refresh_before_update=error.is_read_first,
        )
    )
    status = status_pb2.Status(code=grpc.StatusCode.FAILED_PRECONDITION.value[0], message=message, details=[detail])
    return bytes(status.SerializeToString())
