"""The engine that started the plugin: its log, its version, and its end."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, Final

import grpc

from gcpx.errors import UserError
from gcpx.protocol import proto

OLDEST_CLI: Final = "3.217.0"
"""The first version that has RequirePulumiVersion. gcpx is tested with the version in tools/pulumi."""
_VERSION_DEADLINE: Final = 2.0
"""The longest wait for the answer in seconds; without one, the plugin continues."""
_ANSWERS: Final = {grpc.StatusCode.UNIMPLEMENTED: "this one is older", grpc.StatusCode.UNKNOWN: ""}
"""The answers of engines that are too old; an empty text stands for the engine's own, which has its version."""
_MESSAGE: Final = (
    f"gcpx needs the Pulumi CLI {OLDEST_CLI} or later: {{}}. `pulumi version` prints the version; "
    "https://www.pulumi.com/docs/install says how to upgrade"
)


def require(engine: Any) -> None:
    """Raise UserError if an engine, given by its stub, belongs to a CLI that is too old; without an answer, return."""
    request = proto.engine.RequirePulumiVersionRequest(pulumi_version_range=f">={OLDEST_CLI}")
    try:
        engine.RequirePulumiVersion(request, timeout=_VERSION_DEADLINE)
    except grpc.RpcError as error:
        if error.code() in _ANSWERS:
            raise UserError(_MESSAGE.format(_ANSWERS[error.code()] or error.details())) from error


_DEADLINE: Final = 30.0
"""Seconds after which an unsent message is dropped, so that the work continues; busy machines need some."""
CHANNEL_OPTIONS: Final = [
    ("grpc.max_receive_message_length", 400 << 20),
    ("grpc.max_send_message_length", 400 << 20),
    # The engine is on this machine; otherwise, gRPC would call it through a proxy that the environment names.
    ("grpc.enable_http_proxy", 0),
]
"""The options of connections between plugin and engine: messages of at most 400 MiB, and no proxy."""
_logger = logging.getLogger(__name__)


class EngineLog:
    """The engine's services for plugins: its log, and its version; messages before `connect` are dropped."""

    def __init__(self, deadline: float = _DEADLINE) -> None:
        self._deadline = deadline
        self._stub: Any = None
        self._is_new_enough = False
        self._sending: set[Any] = set()

    def connect(self, address: str) -> None:
        """Send further messages to this address; an empty address changes nothing."""
        if not address:
            return
        channel = grpc.insecure_channel(address, options=CHANNEL_OPTIONS)
        self._stub, self._is_new_enough = proto.engine_grpc.EngineStub(channel), False

    def require_cli(self) -> None:
        """Raise UserError if the engine belongs to a CLI that is too old; ask the engine once."""
        if self._stub is not None and not self._is_new_enough:
            require(self._stub)
            self._is_new_enough = True

    def progress(self, urn: str, message: str) -> None:
        """Show a line in the resource's Info column; the next line replaces it."""
        self._send(proto.engine.LogSeverity.INFO, urn, message, ephemeral=True)

    def inform(self, urn: str, message: str) -> None:
        """Print a line with the resource's name, which stays in the output."""
        self._send(proto.engine.LogSeverity.INFO, urn, message, ephemeral=False)

    def warn(self, urn: str, message: str) -> None:
        """Print a warning with the resource's name."""
        self._send(proto.engine.LogSeverity.WARNING, urn, message, ephemeral=False)

    def _send(self, severity: int, urn: str, message: str, *, ephemeral: bool) -> None:
        if self._stub is None:
            return
        from gcpx.model.redaction import printable, shortened  # noqa: PLC0415 - not before the process serves

        request = proto.engine.LogRequest(
            severity=severity, urn=urn, message=printable(shortened(message)), ephemeral=ephemeral
        )
        try:
            if ephemeral:
                future = self._stub.Log.future(request, timeout=self._deadline)
                self._sending.add(future)  # gRPC cancels a call without references
                future.add_done_callback(self._sending.discard)
            else:
                self._stub.Log(request, timeout=self._deadline)
        except grpc.RpcError as error:
            _logger.debug("a log message was not sent to the engine: %s", error.code())


def when_ended(engine_address: str, act: Callable[[], None]) -> None:
    """Call `act` in a thread of its own once nothing listens any more at an engine's address.

    A plugin that outlives its engine would conflict with the user's next command.

    Args:
        engine_address: host and port. An address at which nothing has ever listened is not watched.
        act: called at most once.
    """
    threading.Thread(target=_watch, args=(engine_address, act), name="engine watch", daemon=True).start()


_WATCH_DEADLINE: Final = 10.0
"""The longest time in which an engine on this machine accepts a connection, in seconds."""
_PAUSE: Final = 1.0
"""Seconds until the next attempt, if it is not clear whether the engine still listens."""


def _watch(engine_address: str, act: Callable[[], None]) -> None:
    host, _, port = engine_address.rpartition(":")
    address, was_there = (host.strip("[]"), int(port) if port.isdecimal() else 0), False
    while True:
        try:
            connection = socket.create_connection(address, timeout=_WATCH_DEADLINE, all_errors=True)
        except (OSError, OverflowError, ExceptionGroup) as error:
            if _is_refusal(error) or not was_there:
                break
            time.sleep(_PAUSE)
        else:
            was_there = True
            _wait_for_end(connection)
    if was_there:
        act()


def _is_refusal(error: Exception) -> bool:
    """Return whether nothing listens at an address; other errors, such as too many open files, do not mean that."""
    errors = error.exceptions if isinstance(error, ExceptionGroup) else (error,)
    return any(isinstance(one, ConnectionRefusedError) for one in errors)


def _wait_for_end(connection: socket.socket) -> None:
    """Wait until the other end closes a connection; a running engine does so some minutes after opening it, too."""
    with connection:
        connection.settimeout(None)
        try:
            while connection.recv(1024):
                pass
        except OSError:
            return
