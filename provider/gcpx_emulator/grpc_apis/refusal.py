"""Refuses calls by gRPC where its packages are missing, so that clients need not wait until they give up."""

from __future__ import annotations

import asyncio
from typing import Final, cast

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
"""The first bytes of a client that speaks HTTP/2, as all clients of gRPC do."""
_HEAD: Final = 9
_HEADERS, _SETTINGS, _PING = 1, 4, 6
_ACKNOWLEDGED: Final = 1
_LAST: Final = 5
"""The flags of a frame with all headers of a stream, which ends it."""
_STATUS_200: Final = b"\x88"
"""The entry `:status: 200` of HPACK's static table."""
_MESSAGE: Final = b"gRPC needs more packages: pip install 'gcpx-emulator[grpc]', or use the client with REST"


def _frame(kind: int, flags: int, stream: bytes, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream + payload


def _header(name: bytes, value: bytes) -> bytes:
    """Write a header in HPACK: a literal without indexing, with lengths below 127."""
    return b"\x00%c%b%c%b" % (len(name), name, len(value), value)


_REFUSAL: Final = _STATUS_200 + b"".join(
    _header(name, value)
    for name, value in [(b"content-type", b"application/grpc"), (b"grpc-status", b"12"), (b"grpc-message", _MESSAGE)]
)


class Refusing(asyncio.Protocol):
    """Speaks as much HTTP/2 as the refusal of every call needs."""

    def __init__(self) -> None:
        self._received, self._skipped = b"", 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the connection with settings, as HTTP/2 requires."""
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(_frame(_SETTINGS, 0, bytes(4)))
        self._skipped = len(PREFACE)

    def data_received(self, data: bytes) -> None:
        """Answer every whole frame that has arrived."""
        self._received += data
        while len(self._received) >= self._skipped + _HEAD:
            head = self._received[self._skipped :][:_HEAD]
            end = self._skipped + _HEAD + int.from_bytes(head[:3], "big")
            if len(self._received) < end:
                return
            payload = self._received[self._skipped + _HEAD : end]
            self._received, self._skipped = self._received[end:], 0
            self._transport.write(_answer(head[3], head[4], head[5:], payload))


def _answer(kind: int, flags: int, stream: bytes, payload: bytes) -> bytes:
    """Return the answer to a frame; most have none."""
    if kind == _HEADERS:
        return _frame(_HEADERS, _LAST, stream, _REFUSAL)
    if kind == _SETTINGS and not flags & _ACKNOWLEDGED:
        return _frame(_SETTINGS, _ACKNOWLEDGED, stream)
    if kind == _PING and not flags & _ACKNOWLEDGED:
        return _frame(_PING, _ACKNOWLEDGED, stream, payload)
    return b""
