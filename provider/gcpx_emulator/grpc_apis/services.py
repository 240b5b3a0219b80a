"""The server of gRPC: it answers Pub/Sub's calls as their REST methods do, and streaming pulls."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator
from contextlib import aclosing
from http import HTTPStatus
from typing import Any, Final

import attrs
import grpc
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from google.protobuf.message import Message
from google.pubsub_v1 import types
from google.rpc import error_details_pb2, status_pb2  # noqa: F401 - details are of the types of the first one
from starlette.responses import Response

from gcpx_emulator.core.discovery import error_form
from gcpx_emulator.core.errors import ApiError, ErrorForm, error_of, error_response
from gcpx_emulator.core.faults import DroppedConnection, response_before_work
from gcpx_emulator.core.json_data import Json, parse_json
from gcpx_emulator.core.uploads import MOST_BYTES
from gcpx_emulator.emulator import Emulator
from gcpx_emulator.google_apis import GoogleApis
from gcpx_emulator.grpc_apis.transcoding import METHODS, Transcoded
from gcpx_emulator.pubsub.streaming import StreamingPull
from gcpx_emulator.server import LOOPBACK

_STREAMING_PULL: Final = "google.pubsub.v1.Subscriber/StreamingPull"
_PULL: Final = "pubsub.projects.subscriptions.pull"
"""The method as which the log and faults count a streaming pull."""
_OPTIONS: Final = (
    ("grpc.max_receive_message_length", MOST_BYTES),
    ("grpc.max_send_message_length", -1),
    ("grpc.so_reuseport", 0),
)


@attrs.define(eq=False)
class Services(grpc.GenericRpcHandler):  # type: ignore[misc]
    """A running server.

    Attributes:
        port: its port on this machine.
    """

    emulator: Emulator
    port: int = 0
    _server: Any = None

    @classmethod
    async def started(cls, emulator: Emulator) -> Services:
        """Start a server on a free port."""
        services = cls(emulator)
        services._server = grpc.aio.server(handlers=[services], options=_OPTIONS)
        services.port = services._server.add_insecure_port(f"{LOOPBACK}:0")
        await services._server.start()
        return services

    async def stop(self) -> None:
        """End all calls."""
        await self._server.stop(grace=None)

    def service(self, call: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        """Return the handler of a call; every call has one."""
        name = call.method.removeprefix("/")
        method = METHODS.get(name)
        if name == _STREAMING_PULL:
            read, write = types.StreamingPullRequest.pb().FromString, types.StreamingPullResponse.pb().SerializeToString
            return grpc.stream_stream_rpc_method_handler(self._stream, read, write)
        if method is None:
            return grpc.stream_stream_rpc_method_handler(functools.partial(_refuse, name))
        return grpc.unary_unary_rpc_method_handler(
            functools.partial(self._answer, method), method.request.FromString, method.response.SerializeToString
        )

    async def _answer(self, method: Transcoded, message: Message, context: grpc.aio.ServicerContext) -> Message:
        """Answer a call as the REST method does."""
        try:
            request = method.request_of(message, _headers(context))
        except ApiError as error:
            response = error_response(error, method.name, error_form("pubsub"))
        else:
            response = await GoogleApis(self.emulator).answer(request)
        body = await _body_of(response, context)
        try:
            answer: Message = ParseDict(body, method.response(), ignore_unknown_fields=True)
        except ParseError:  # a fault may answer with anything
            await context.abort(grpc.StatusCode.INTERNAL, f"The response is not a {method.response.DESCRIPTOR.name}.")
        return answer

    async def _stream(self, messages: AsyncIterator[Message], context: grpc.aio.ServicerContext) -> None:
        """Answer a streaming pull; the log has one entry for it, and a fault of pulls fails it."""
        log, faults, headers = self.emulator.requests, self.emulator.faults, _headers(context)
        entry = log.add("POST", f"/{_STREAMING_PULL}", {}, headers)
        entry["method"] = _PULL
        fault = faults.take(_PULL)
        response = await response_before_work(fault, error_form("pubsub")) if fault else None
        try:
            if response is None:
                pull = StreamingPull(self.emulator.cloud, self.emulator.changes)
                requests = (MessageToDict(message) async for message in messages)
                async with aclosing(pull.responses(requests)) as responses:
                    async for answer in responses:
                        await context.write(ParseDict(answer, types.StreamingPullResponse.pb()()))
        except Exception as error:  # noqa: BLE001 - the log contains every response
            response = error_response(error, _PULL, error_form("pubsub"))
        finally:
            response = response or Response()
            log.answered(entry, response.status_code, len(response.body), *error_of(response))
        await _body_of(response, context)


def _headers(context: grpc.aio.ServicerContext) -> dict[str, str]:
    """Return the metadata of a call as headers."""
    return {name: value for name, value in context.invocation_metadata() or () if isinstance(value, str)}


async def _refuse(name: str, _messages: AsyncIterator[bytes], context: grpc.aio.ServicerContext) -> None:
    """Say that a method is not emulated."""
    is_pubsub = name.startswith("google.pubsub.v1.")
    how = "is not emulated" if is_pubsub else "is not emulated over gRPC, use the client with REST"
    await context.abort(grpc.StatusCode.UNIMPLEMENTED, f"{name} {how}")


async def _body_of(response: Response, context: grpc.aio.ServicerContext) -> Json:
    """Return the JSON of a response; an error ends the call with the status of the same name."""
    if isinstance(response, DroppedConnection):
        await context.abort(grpc.StatusCode.UNAVAILABLE, "The connection was dropped.")
    try:
        body = parse_json(bytes(response.body)) or {}
        given = body.get("error")
    except (ApiError, AttributeError):  # a fault may answer with anything
        await context.abort(grpc.StatusCode.INTERNAL, "The response is not a JSON object.")
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        plain = ApiError(response.status_code, f"The response has the status {response.status_code}.")
        error = plain.body(ErrorForm.STATUS)["error"]
        error |= given if isinstance(given, dict) else {"message": given} if given else {}
        code = grpc.StatusCode.__members__.get(str(error["status"]), grpc.StatusCode.OK)
        code = grpc.StatusCode.UNKNOWN if code is grpc.StatusCode.OK else code  # nothing can be aborted with OK
        message = str(error["message"])
        await context.abort(code, message, _trailer(code, message, error.get("details")))
    return body


def _trailer(code: grpc.StatusCode, message: str, details: Any) -> tuple[tuple[str, bytes], ...]:
    """Write an error's details as clients of gRPC read them; a fault may have details that no client can read."""
    if not details:
        return ()
    try:
        status = ParseDict({"code": code.value[0], "message": message, "details": details}, status_pb2.Status())
    except ParseError:
        return ()
    return (("grpc-status-details-bin", status.SerializeToString()),)
