"""Requests without TLS: most of the time of a request would be for reading certificates, which they do not need."""

from __future__ import annotations

from typing import Any

import httpx
from clock import HANGS


def send(method: str, url: str, **more: Any) -> httpx.Response:
    """Send a request to an `http:` URL, past the proxies of the environment."""
    hooks = {"request": [as_command]}
    with httpx.Client(trust_env=False, verify=False, timeout=HANGS, event_hooks=hooks) as client:
        return client.request(method, url, **more)


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
