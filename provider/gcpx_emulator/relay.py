"""Copies bytes between two connections."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

_CHUNK: Final = 65_536


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy bytes until their end; a connection that breaks ends them, too."""
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
