"""Messages to the user, which the engine shows; it shows nothing else that a plugin prints."""

from __future__ import annotations

import logging
from typing import Any, Final

import grpc

from gcpx.model.printable import printable, shortened
from gcpx.protocol import cli_version, proto

_DEADLINE: Final = 2.0
"""Seconds that sending a message may take; it must not delay the work that it reports."""
MESSAGE_LIMIT: Final = [("grpc.max_receive_message_length", 400 << 20), ("grpc.max_send_message_length", 400 << 20)]
_logger = logging.getLogger(__name__)


class EngineLog:
    """The engine's services for plugins: its log, and its version; messages before `connect` are dropped."""

    def __init__(self, deadline: float = _DEADLINE) -> None:
        self._deadline = deadline
        self._stub: Any = None
        self._is_new_enough = False
        self._sending: set[Any] = set()

    def connect(self, address: str) -> None:
        """Send messages to this address from now on; an empty address changes nothing."""
        if not address:
            return
        channel = grpc.insecure_channel(address, options=MESSAGE_LIMIT)
        self._stub, self._is_new_enough = proto.engine_grpc.EngineStub(channel), False

    def require_cli(self) -> None:
        """Raise UserError if the engine belongs to a CLI that is too old; the engine is asked once."""
        if self._stub is not None and not self._is_new_enough:
            cli_version.require(self._stub)
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
        request = proto.engine.LogRequest(
            severity=severity, urn=urn, message=printable(shortened(message)), ephemeral=ephemeral
        )
        try:
            if ephemeral:
                future = self._stub.Log.future(request, timeout=self._deadline)
                self._sending.add(future)  # gRPC cancels a call that nothing refers to
                future.add_done_callback(self._sending.discard)
            else:
                self._stub.Log(request, timeout=self._deadline)
        except grpc.RpcError as error:
            _logger.debug("a log message was not sent to the engine: %s", error.code())
