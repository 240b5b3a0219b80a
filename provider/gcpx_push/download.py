"""One bounded download: a server can neither send without end nor take its time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Final

import httpx

MOST_BYTES: Final = 1 << 20
"""The largest document."""


def download(url: str, timeout: float, now: Callable[[], float] = time.monotonic) -> tuple[Mapping[str, str], bytes]:
    """Return the headers and the body of a page, which must be complete within `timeout` seconds.

    The page is asked for without compression, and refused with it, so that what is read is what was sent. `now` gives
    the time in seconds, from any starting point.

    Raises:
        httpx.HTTPError: no response, none in time, or another status than 2xx.
        httpx.InvalidURL: the URL is malformed.
        OSError: the environment names certificates that cannot be read.
        ValueError: the document is compressed or too long.
    """
    until, body = now() + timeout, bytearray()
    with httpx.stream("GET", url, headers={"Accept-Encoding": "identity"}, timeout=timeout) as response:
        response.raise_for_status()
        if response.headers.get("content-encoding", "identity") != "identity":
            raise ValueError("the document is compressed")
        for piece in response.iter_raw():
            body += piece
            if len(body) > MOST_BYTES:
                raise ValueError("the document is too long")
            if now() > until:
                raise httpx.ReadTimeout("the document was not complete in time")
    return response.headers, bytes(body)
