"""The bodies of responses, read with a limit on their size and on the time that they take.

A body is never read as a whole before its size is known, and never decompressed further than the limit.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Final

import httpx

MOST_BYTES: Final = 256 << 20
"""The largest body that is read: a page of 500 instances whose metadata have the maximum size of 512 KiB each."""
ACCEPTED_ENCODINGS: Final = "gzip"
"""The header Accept-Encoding of every request; a response in another encoding is refused."""
_PIECE: Final = 1 << 20
"""The number of bytes that are decompressed at once."""
_GZIP: Final = 31
"""What zlib calls the format of gzip with its header."""


class UnreadableBodyError(Exception):
    """A body that is too large or is compressed in an unknown way; reading it again would not help."""


def read_body(response: httpx.Response, limit: int, is_late: Callable[[], bool]) -> bytes:
    """Read the body of a response that is being streamed.

    Args:
        response: the response, of which nothing was read yet.
        limit: the largest number of bytes, after decompression.
        is_late: returns whether the time for the response is over.

    Raises:
        UnreadableBodyError: the body is larger than the limit, or is compressed in an unknown way.
        httpx.ReadTimeout: the time is over before the end of the body.
        httpx.RemoteProtocolError: the body ends too early, or is not valid gzip.
    """
    body = bytearray()
    for piece in _decoded(response):
        body += piece
        if len(body) > limit:
            raise UnreadableBodyError(f"the response is larger than {limit:,} bytes")
        if is_late():
            raise httpx.ReadTimeout("the response took too long")
    return bytes(body)


def _decoded(response: httpx.Response) -> Iterator[bytes]:
    """Yield the body in pieces, without its compression."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding in {"", "identity"}:
        return response.iter_raw()
    if encoding != ACCEPTED_ENCODINGS:
        raise UnreadableBodyError("the response is compressed in a way that gcpx did not ask for")
    return _decompressed(response)


def _decompressed(response: httpx.Response) -> Iterator[bytes]:
    stream = zlib.decompressobj(_GZIP)
    try:
        for chunk in response.iter_raw():
            rest = chunk
            while rest and not stream.eof:
                yield stream.decompress(rest, _PIECE)
                rest = stream.unconsumed_tail
    except zlib.error as error:
        raise httpx.RemoteProtocolError("the response is not valid gzip") from error
    if not stream.eof:
        raise httpx.RemoteProtocolError("the response ended too early")
