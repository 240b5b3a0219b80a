"""Requests over plain http to the servers of tests; those to an emulator of this process need no connection."""

from __future__ import annotations

from typing import Any

import httpx
from engines.clock import HANGS
from servers.direct_connection import DirectConnection


def client(base_url: str = "") -> httpx.Client:
    """Return a client without certificates, which are not needed and take long to read."""
    hooks = {"request": [as_command]}
    return httpx.Client(
        base_url=base_url, trust_env=False, timeout=HANGS, event_hooks=hooks, transport=DirectConnection()
    )


def send(method: str, url: str, **more: Any) -> httpx.Response:
    """Send a request to an `http:` URL, past the proxies of the environment."""
    with client() as plain:
        return plain.request(method, url, **more)


def as_command(request: httpx.Request) -> None:
    """Give a POST to the controls of an emulator the content type that they require, also without a body."""
    if request.method == "POST" and request.url.path.startswith("/_emulator/"):
        request.headers.setdefault("Content-Type", "application/json")


def post(url: str, **more: Any) -> httpx.Response:
    """Send a POST request."""
    return send("POST", url, **more)


def get(url: str, **more: Any) -> httpx.Response:
    """Send a GET request."""
    return send("GET", url, **more)


def delete(url: str, **more: Any) -> httpx.Response:
    """Send a DELETE request."""
    return send("DELETE", url, **more)
