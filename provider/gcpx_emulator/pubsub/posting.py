"""One request to a push endpoint, and the status of its response."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Final

import h11
import httpx

_CHUNK: Final = 1 << 16


class BrokenAnswerError(Exception):
    """The response is not HTTP, or it ended too early."""


async def post(endpoint: str, headers: Mapping[str, str], body: bytes, final: Collection[int]) -> int:
    """Post a body to a URL; return the status of the response as soon as it is known.

    `final` are the informational statuses that are the response; after any other one, the response follows.

    Raises:
        BrokenAnswerError: when the response is not HTTP.
        OSError: when the endpoint cannot be reached.
    """
    url = httpx.URL(endpoint)
    all_headers = {"Host": url.netloc.decode(), "Content-Length": str(len(body)), "Connection": "close", **headers}
    connection = h11.Connection(h11.CLIENT)
    request = h11.Request(method="POST", target=url.raw_path, headers=list(all_headers.items()))
    raw = b"".join(connection.send(event) or b"" for event in (request, h11.Data(data=body), h11.EndOfMessage()))
    async with _connected(url) as (reader, writer):
        writer.write(raw)
        try:
            return await _status(connection, reader, final)
        except h11.RemoteProtocolError as error:
            raise BrokenAnswerError(str(error)) from error


@asynccontextmanager
async def _connected(url: httpx.URL) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Open a connection; at the end it is closed without waiting for the endpoint."""
    secure = ssl.create_default_context() if url.scheme == "https" else None
    port = url.port or (443 if secure else 80)
    reader, writer = await asyncio.open_connection(url.host, port, ssl=secure)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def _status(connection: h11.Connection, reader: asyncio.StreamReader, final: Collection[int]) -> int:
    """Read until the status of the response is known."""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(_CHUNK))
        elif isinstance(event, h11.Response) or (
            isinstance(event, h11.InformationalResponse) and event.status_code in final
        ):
            return event.status_code
        elif not isinstance(event, h11.InformationalResponse):
            raise BrokenAnswerError("the connection was closed without a response")
