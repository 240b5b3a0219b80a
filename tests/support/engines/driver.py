"""A stand-in for Pulumi's engine, which calls the plugin over gRPC with messages in the engine's own form.

It is written from the description of the protocol and not with our codec, so that it finds mistakes in the codec.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import attrs
import grpc
from engines.clock import HANGS
from google.protobuf import empty_pb2, json_format, struct_pb2
from google.rpc import status_pb2
from servers.direct_connection import DirectProvider

from gcpx.protocol import proto
from gcpx.protocol.engine import CHANNEL_OPTIONS
from gcpx.protocol.engine import EngineLog as Sender
from gcpx.protocol.server import LazyServicer, listen
from gcpx.provider import Provider

SIGNATURE = "4dabf18193072939515e22adb298388d"
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
rpc = proto.provider
_LEADING_PATH = re.compile(r'((?:\.?[\w-]+|\[\d+\]|\["(?:[^"\\]|\\.)*"\])+): ')
"""The path that a reason begins with if its failure names no property."""


def secret(value: Any) -> dict[str, Any]:
    """Return a secret in the form in which the engine sends it."""
    return {SIGNATURE: "1b47061264138c4ac30d75fd1eb44270", "value": value}


def struct(values: dict[str, Any]) -> struct_pb2.Struct:
    """Convert a property map to a message of the protocol."""
    return json_format.ParseDict(values, struct_pb2.Struct())


def plain(message: struct_pb2.Struct) -> dict[str, Any]:
    """Convert a message of the protocol to a property map."""
    return json_format.MessageToDict(message)


def without_hidden(outputs: dict[str, Any]) -> dict[str, Any]:
    """Leave out the outputs that the engine hides."""
    return {name: value for name, value in outputs.items() if not name.startswith("__")}


def reasons(failures: Any) -> dict[str, str]:
    """Return reasons by path: the path is the property that a failure names, or else what its reason begins with."""
    found = {}
    for failure in failures:
        path = None if failure.property else _LEADING_PATH.match(failure.reason)
        found[path[1] if path else failure.property] = failure.reason[path.end() if path else 0 :]
    return found


class EngineLog(proto.engine_grpc.EngineServicer):  # type: ignore[misc]
    """Records the messages that the plugin logs.

    Attributes:
        lasting: the messages that stay in the CLI's output; the others only show progress.
        address: where the plugin reaches it.
        too_old: the status with which the engine answers if the plugin asks for a newer one.
    """

    def __init__(self, address: str = "") -> None:
        self.messages: list[tuple[str, str, str]] = []
        self.lasting: list[str] = []
        self.address = address
        self.too_old: tuple[grpc.StatusCode, str] | tuple[()] = ()
        self._arrived = threading.Condition()

    def Log(self, request: Any, _: Any) -> Any:  # noqa: N802 - the protocol's name
        severity = proto.engine.LogSeverity.Name(request.severity)
        with self._arrived:
            self.messages.append((severity, request.urn, request.message))
            self.lasting += [] if request.ephemeral else [request.message]
            self._arrived.notify_all()
        return empty_pb2.Empty()

    def RequirePulumiVersion(self, request: Any, context: Any) -> Any:  # noqa: N802 - the protocol's name
        if self.too_old:
            context.abort(*self.too_old)
        return proto.engine.RequirePulumiVersionResponse()

    def wait_for(self, count: int, urn: str) -> list[str]:
        """Wait until `count` messages about a resource have arrived; return them sorted.

        The plugin sends progress asynchronously, so messages may arrive in any order.
        """

        def arrived() -> list[str]:
            return sorted(message for _, about, message in self.messages if about == urn)

        with self._arrived:
            assert self._arrived.wait_for(lambda: len(arrived()) >= count, timeout=HANGS), arrived()
        return arrived()

    def wait_until_said(self, words: str) -> None:
        """Wait until a message has arrived that contains some words."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: any(words in said for _, _, said in self.messages), timeout=HANGS)


@attrs.frozen
class Resource:
    """A resource as the engine's state holds it."""

    urn: str
    id: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]


@attrs.define
class Engine:
    """Calls a plugin in the order in which the engine calls it.

    Attributes:
        provider_id: the ID of the provider's resource in the state; empty as from an engine that attaches to a plugin.
        run: the number of the run, if there are several: as in the engine, each has random seeds of its own.
    """

    stub: Any
    log: EngineLog
    stack: str = "dev"
    timeout: float = 0
    """The custom timeout of every operation, in seconds; 0 for none."""
    run: int = 0
    provider_id: str = ""
    _config: dict[str, Any] = attrs.Factory(dict)

    def urn(self, token: str, name: str) -> str:
        return f"urn:pulumi:{self.stack}::test::{token}::{name}"

    def configure(self, **config: Any) -> None:
        self._config = config
        args = struct(config)
        self.stub.CheckConfig(rpc.CheckRequest(urn="urn:pulumi:dev::test::pulumi:providers:gcpx::p", news=args))
        request = rpc.ConfigureRequest(args=args, acceptSecrets=True, sends_old_inputs=True, id=self.provider_id)
        self.stub.Configure(request)

    def next_run(self) -> None:
        """Configure the plugin for another run; it forgets what the engine has shown in the one before."""
        self.configure(**self._config)

    def check(
        self, token: str, name: str, news: dict[str, Any], olds: dict[str, Any] | None = None, **more: Any
    ) -> Any:
        run = f"{self.stack} {self.run}" if self.run else ""
        seed = hashlib.sha256(f"{name}{run}".encode()).digest()
        request = rpc.CheckRequest(
            urn=self.urn(token, name), news=struct(news), olds=struct(olds or {}), randomSeed=seed, name=name, type=token,
            **more,
        )  # fmt: skip
        return self.stub.Check(request)

    def failures(self, token: str, news: dict[str, Any]) -> dict[str, str]:
        """Check invalid inputs; return the reasons by path."""
        return reasons(self.check(token, "x", news).failures)

    def checked(
        self, token: str, name: str, news: dict[str, Any], olds: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        response = self.check(token, name, news, olds)
        assert not response.failures, response.failures
        return plain(response.inputs)

    def create(self, token: str, name: str, news: dict[str, Any], *, timeout: float | None = None) -> Resource:
        inputs = self.checked(token, name, news)
        self.preview(token, name, inputs)
        return self._create(token, name, inputs, timeout)

    def create_as_kept(
        self, token: str, name: str, news: dict[str, Any], *, timeout: float | None = None
    ) -> tuple[Resource | None, str]:
        """Create a resource; return what the state has of it, also after an error, and the message of the error."""
        inputs = self.checked(token, name, news)
        try:
            return self._create(token, name, inputs, timeout), ""
        except grpc.RpcError as error:
            left = failed(error)
        if left.partial is None:
            return None, left.message
        kept = Resource(self.urn(token, name), left.partial.id, inputs, plain(left.partial.properties))
        return kept, left.message

    def _create(self, token: str, name: str, inputs: dict[str, Any], timeout: float | None) -> Resource:
        urn = self.urn(token, name)
        done = self.stub.Create(
            rpc.CreateRequest(
                urn=urn,
                properties=struct(inputs),
                name=name,
                type=token,
                timeout=self.timeout if timeout is None else timeout,
            )
        )
        return Resource(urn, done.id, inputs, plain(done.properties))

    def preview(self, token: str, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
        request = rpc.CreateRequest(
            urn=self.urn(token, name), properties=struct(inputs), name=name, type=token, preview=True
        )
        return plain(self.stub.Create(request).properties)

    def diff(self, resource: Resource, news: dict[str, Any]) -> Any:
        """Check new inputs against a resource and compare them; return the response of Diff."""
        _, token, name = resource.urn.rsplit("::", 2)
        return self.diff_checked(resource, self.checked(token, name, news, resource.inputs))

    def diff_checked(self, resource: Resource, inputs: dict[str, Any]) -> Any:
        return self.stub.Diff(
            rpc.DiffRequest(
                id=resource.id, urn=resource.urn, olds=struct(resource.outputs), old_inputs=struct(resource.inputs),
                news=struct(inputs),
            )
        )  # fmt: skip

    def preview_update(self, resource: Resource, news: dict[str, Any]) -> dict[str, Any]:
        """Preview an update; return the predicted outputs."""
        _, token, name = resource.urn.rsplit("::", 2)
        inputs = self.checked(token, name, news, resource.inputs)
        olds, old_inputs = struct(resource.outputs), struct(resource.inputs)
        request = rpc.UpdateRequest(
            id=resource.id, urn=resource.urn, olds=olds, old_inputs=old_inputs, news=struct(inputs), preview=True
        )
        return plain(self.stub.Update(request).properties)

    def update(self, resource: Resource, news: dict[str, Any]) -> Resource:
        _, token, name = resource.urn.rsplit("::", 2)
        inputs = self.checked(token, name, news, resource.inputs)
        done = self.stub.Update(
            rpc.UpdateRequest(
                id=resource.id, urn=resource.urn, olds=struct(resource.outputs), old_inputs=struct(resource.inputs),
                news=struct(inputs), timeout=self.timeout,
            )
        )  # fmt: skip
        return attrs.evolve(resource, inputs=inputs, outputs=plain(done.properties))

    def refresh(self, resource: Resource) -> Resource | None:
        done = self.stub.Read(
            rpc.ReadRequest(
                id=resource.id, urn=resource.urn, properties=struct(resource.outputs), inputs=struct(resource.inputs),
                timeout=self.timeout,
            )
        )  # fmt: skip
        if not done.id:
            return None
        return Resource(resource.urn, done.id, plain(done.inputs), plain(done.properties))

    def is_gone(self, resource: Resource) -> bool:
        """Return whether a refresh finds nothing of a resource: it is gone, or a fleet that has lost all its members."""
        found = self.refresh(resource)
        return found is None or found.outputs.get("members") == []

    def drift(self, resource: Resource) -> set[str]:
        """Refresh a resource; return the paths that drifted.

        As in the engine, the refreshed state is the old side of the comparison, and the stored inputs are the new side.
        """
        live = self.refresh(resource)
        assert live is not None
        return set(self.diff_checked(live, resource.inputs).detailedDiff)

    def invoke(self, token: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a function; return its result."""
        done = self.stub.Invoke(rpc.InvokeRequest(tok=token, args=struct(arguments)))
        assert not done.failures, done.failures
        return plain(getattr(done, "return"))

    def refusals(self, token: str, /, **arguments: Any) -> dict[str, str]:
        """Call a function with invalid arguments; return the reasons by path."""
        try:
            self.stub.Invoke(rpc.InvokeRequest(tok=token, args=struct(arguments)))
        except grpc.RpcError as error:
            head, refused, said = error.details().partition(" was not called: ")
            if not refused or (head, error.code()) != (token, grpc.StatusCode.INVALID_ARGUMENT):
                raise
            return dict(line.split(": ", 1) for line in said.split("\n  "))
        return {}

    def list(
        self, token: str, query: dict[str, Any] | None = None, *, limit: int = 0, size: int = 0, after: str = ""
    ) -> tuple[list[str], str]:
        """List existing resources; return their IDs and the token of the next page."""
        request = rpc.ListRequest(
            token=token, query=struct(query or {}), limit=limit, page_size=size, continuation_token=after
        )
        answers = list(self.stub.List(request))
        kinds = [answer.WhichOneof("response") for answer in answers]
        assert kinds == ["result"] * (len(kinds) - 1) + kinds[-1:], kinds
        ids = [answer.result.id for answer in answers if answer.WhichOneof("response") == "result"]
        return ids, answers[-1].continuation.continuation_token if answers else ""

    def import_(self, token: str, name: str, resource_id: str) -> Resource | None:
        urn = self.urn(token, name)
        done = self.stub.Read(rpc.ReadRequest(id=resource_id, urn=urn, name=name, type=token, timeout=self.timeout))
        if not done.id:
            return None
        return Resource(self.urn(token, name), done.id, plain(done.inputs), plain(done.properties))

    def delete(self, resource: Resource) -> None:
        self.stub.Delete(
            rpc.DeleteRequest(
                id=resource.id,
                urn=resource.urn,
                properties=struct(resource.outputs),
                old_inputs=struct(resource.inputs),
                timeout=self.timeout,
            )
        )


@contextmanager
def engine(provider: Provider | None = None, /, **config: Any) -> Iterator[Engine]:
    """Start a plugin and an engine's log service, connect them, and configure the plugin."""
    with connected(provider) as made:
        made.configure(**config)
        yield made


@contextmanager
def connected(provider: Provider | None = None) -> Iterator[Engine]:
    """Start a plugin and an engine's log service, and connect them."""
    line = _IDLE.pop() if _IDLE else _Line.open()
    log, sender, provider = EngineLog(line.address), _Sender(line), provider or DirectProvider()
    line.engine.log, line.plugin.servicer = log, LazyServicer(provider, sender)
    try:
        made = Engine(proto.provider_grpc.ResourceProviderStub(line.channel), log)
        made.stub.Handshake(rpc.ProviderHandshakeRequest(engine_address=log.address))
        yield made
    finally:
        if line.plugin.calls:
            line.close()
        sender.end()
        line.engine.log = None
        provider.close()
        if not line.is_closed:
            _IDLE.append(line)


@contextmanager
def direct(provider: Provider | None = None, /, **config: Any) -> Iterator[Engine]:
    """Give an engine that calls a plugin directly: most of the time of tens of thousands of calls is for connections.

    Messages are written and read as on a connection. Without an emulator in the configuration, requests fail.
    """
    provider = provider or DirectProvider()
    made = Engine(_Direct(LazyServicer(provider, Sender())), EngineLog())
    made.configure(**{"emulatorHost": "127.0.0.1:1"} | config)
    try:
        yield made
    finally:
        provider.close()


@attrs.frozen
class _Direct:
    """Calls the methods of a servicer in the caller's thread, and raises what they abort with."""

    _servicer: LazyServicer

    def __getattr__(self, name: str) -> Any:
        def call(request: Any) -> Any:
            return _sent(getattr(self._servicer, name)(_sent(request), _Aborting()))

        return call


def _sent(message: Any) -> Any:
    return type(message).FromString(message.SerializeToString())


class _Aborting:
    """What a servicer sees of a call."""

    def __init__(self) -> None:
        self._metadata: tuple[Any, ...] = ()

    def set_trailing_metadata(self, metadata: tuple[Any, ...]) -> None:
        self._metadata = metadata

    def abort(self, code: grpc.StatusCode, details: str) -> None:
        raise _Aborted(code, details, self._metadata)


class _Aborted(grpc.RpcError):
    """A call that a servicer has aborted."""

    def __init__(self, code: grpc.StatusCode, details: str, metadata: tuple[Any, ...]) -> None:
        super().__init__(f"{code}: {details}")
        self.code, self.details, self.trailing_metadata = (lambda: code), (lambda: details), (lambda: metadata)


class _Sender(Sender):
    """Sends the messages of one plugin, by a connection that is open already."""

    def __init__(self, line: _Line) -> None:
        super().__init__(HANGS)
        self._line = line

    def connect(self, address: str) -> None:
        super().connect("" if address == self._line.address else address)
        if address == self._line.address:
            self._stub, self._is_new_enough = proto.engine_grpc.EngineStub(self._line.back), False

    def end(self) -> None:
        """Wait for what is on its way, and send nothing more."""
        self._stub = None
        for sent in tuple(self._sending):
            with contextlib.suppress(grpc.RpcError, grpc.FutureCancelledError):
                sent.result()


class _Plugin:
    """Passes calls on to the servicer of the plugin that runs now, and counts those under way."""

    def __init__(self) -> None:
        self.servicer: LazyServicer | None = None
        self.calls = 0
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        def call(request: Any, context: Any) -> Any:
            self._count(1)
            try:
                return getattr(self.servicer, name)(request, context)
            finally:
                self._count(-1)

        vars(call).update(vars(getattr(LazyServicer, name, call)))  # its thread, if it has one of its own
        return call

    def _count(self, more: int) -> None:
        with self._lock:
            self.calls += more


class _Engine(proto.engine_grpc.EngineServicer):  # type: ignore[misc]
    """Passes messages on to the log of the engine that runs now; without any, nobody reads them."""

    log: EngineLog | None = None

    def Log(self, request: Any, context: Any) -> Any:  # noqa: N802 - the protocol's name
        return self.log.Log(request, context) if self.log is not None else empty_pb2.Empty()

    def RequirePulumiVersion(self, request: Any, context: Any) -> Any:  # noqa: N802 - the protocol's name
        assert self.log is not None
        return self.log.RequirePulumiVersion(request, context)


@attrs.define(eq=False)
class _Line:
    """The servers of a plugin and of an engine, which serve one after the other: to start them takes long.

    Attributes:
        address: where the plugin reaches the engine.
        channel: by which the engine reaches the plugin.
        back: by which the plugin reaches the engine.
    """

    plugin: _Plugin
    engine: _Engine
    address: str
    channel: grpc.Channel
    back: grpc.Channel
    _servers: tuple[grpc.Server, ...]
    is_closed: bool = False

    @classmethod
    def open(cls) -> _Line:
        plugin, engine, host = _Plugin(), _Engine(), grpc.server(ThreadPoolExecutor(4))
        proto.engine_grpc.add_EngineServicer_to_server(engine, host)
        address = f"127.0.0.1:{host.add_insecure_port('127.0.0.1:0')}"
        host.start()
        server, port = listen(plugin)
        channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=ENGINE_LIMITS)
        back = grpc.insecure_channel(address, options=CHANNEL_OPTIONS)
        return cls(plugin, engine, address, channel, back, (server, host))

    def close(self) -> None:
        """End all calls."""
        self.is_closed = True
        self.channel.close()
        self.back.close()
        for server in self._servers:
            server.stop(None).wait()


_IDLE: list[_Line] = []


@atexit.register
def _close_idle() -> None:
    while _IDLE:
        _IDLE.pop().close()


_METADATA_LIMIT = 16 << 20
ENGINE_LIMITS = (
    ("grpc.max_metadata_size", _METADATA_LIMIT),
    ("grpc.absolute_max_metadata_size", _METADATA_LIMIT),
    ("grpc.max_receive_message_length", -1),
    ("grpc.enable_http_proxy", 0),
)
"""What the engine's client takes: it is written in Go, whose gRPC has a higher limit for metadata, which hold partial states,
and reaches this machine without a proxy."""


@attrs.frozen
class Failed:
    """The error of a failed call.

    Attributes:
        partial: the partial state, if the plugin reports that the resource exists despite the error.
    """

    code: grpc.StatusCode
    message: str
    partial: Any = attrs.field(repr=False)


def failed(error: grpc.RpcError) -> Failed:
    """Read an error of the plugin."""
    partial = None
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            status = status_pb2.Status.FromString(value)
            partial = rpc.ErrorResourceInitFailed()
            status.details[0].Unpack(partial)
    return Failed(error.code(), error.details(), partial)


@contextmanager
def failing() -> Iterator[list[Failed]]:
    """Expect a call to fail; yield a list that holds the error afterwards."""
    found: list[Failed] = []
    try:
        yield found
    except grpc.RpcError as error:
        found.append(failed(error))
    else:
        raise AssertionError("the call succeeded")
