"""Exceptions as gRPC statuses, in one place."""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import grpc
from google.protobuf import any_pb2, struct_pb2
from google.rpc import status_pb2

from gcpx.errors import ProviderError
from gcpx.model.printable import shortened
from gcpx.model.redaction import redact
from gcpx.model.resource import PartialError
from gcpx.protocol import proto
from gcpx.protocol.request_secrets import secrets_in

_logger = logging.getLogger(__name__)
_DETAILS = "grpc-status-details-bin"
_LONGEST = 9000
"""Characters of an error; only the names in a broken response, or very many mistakes, need more."""


class InitFailed(ProviderError):  # noqa: N818 - the protocol's own word
    """A resource that exists, or may exist, but is not finished; the engine keeps it in state with the reason."""

    def __init__(self, resource_id: str, properties: struct_pb2.Struct, inputs: struct_pb2.Struct, why: str) -> None:
        super().__init__(why)
        self.resource_id = resource_id
        self.properties = properties
        self.inputs = inputs


class NotUnderstood(ProviderError):  # noqa: N818 - it names the outcome
    """An unexpected exception, most likely caused by an unusual response; its own text may contain a secret."""

    def __init__(self, error: Exception) -> None:
        _logger.error("unexpected %s", type(error).__name__)
        super().__init__(
            f"gcpx could not process a response from Google: {type(error).__name__} {_origin(error)}. "
            "Run the command again; if the error remains, please report it"
        )


def guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    """Turn every exception of an RPC into a status that the engine understands, without secrets."""

    @functools.wraps(method)
    def rpc(servicer: Any, request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return method(servicer, request, context)
        except Exception as error:  # noqa: BLE001 - the border: a bare exception would read as a corrupt state
            _abort(error, secrets_in(request, servicer.plugin), context)

    return rpc


def guarded_stream(method: Callable[..., Any]) -> Callable[..., Any]:
    """Do what `guarded` does, for an RPC that responds with a stream."""

    @functools.wraps(method)
    def rpc(servicer: Any, request: Any, context: grpc.ServicerContext) -> Any:
        try:
            yield from method(servicer, request, context)
        except Exception as error:  # noqa: BLE001 - as above
            _abort(error, secrets_in(request, servicer.plugin), context)

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


def _abort(error: Exception, texts: frozenset[str], context: grpc.ServicerContext) -> NoReturn:
    message = shortened(redact(str(error), texts), _LONGEST) if isinstance(error, ProviderError) else ""
    if isinstance(error, InitFailed):
        context.set_trailing_metadata(((_DETAILS, _init_failed(error, message)),))
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, message)
    if isinstance(error, ProviderError):
        context.abort(grpc.StatusCode[error.code], message)
    _logger.error("unexpected %s", type(error).__name__)
    context.abort(
        grpc.StatusCode.INTERNAL,
        # The message of an error that is not ours may quote anything, including secrets.
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
    detail = any_pb2.Any()
    detail.Pack(
        proto.provider.ErrorResourceInitFailed(
            id=error.resource_id, properties=error.properties, inputs=error.inputs, reasons=[message]
        )
    )
    status = status_pb2.Status(code=grpc.StatusCode.FAILED_PRECONDITION.value[0], message=message, details=[detail])
    return bytes(status.SerializeToString())
