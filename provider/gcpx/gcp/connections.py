"""The HTTP connections of one configuration, with the proxies and certificates that the environment names."""

from __future__ import annotations

import logging
import os
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import attrs
import httpx

from gcpx.errors import UserError
from gcpx.gcp.hosts import is_nearby
from gcpx.gcp.request import MOST_AT_ONCE
from gcpx.gcp.response_body import ACCEPTED_ENCODINGS, MOST_BYTES, read_body

logging.getLogger("httpx").setLevel(logging.WARNING)  # at lower levels it logs whole URLs, including tokens
_LIMITS: Final = httpx.Limits(max_connections=MOST_AT_ONCE, max_keepalive_connections=32)
_BUNDLES: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
"""Environment variables that name trusted certificates, as files or folders; the first that is set counts."""


@attrs.frozen
class Received:
    """A response that was read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Connections:
    """Two pools of connections: one to nearby hosts, and one to all others, which proxies may lie before.

    The second is opened with the first request that needs it, because loading the trusted certificates takes time.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pools: dict[tuple[bool, bool], httpx.Client] = {}
        self._lock = threading.Lock()

    def exchange(self, method: str, url: str, *, timeout: httpx.Timeout, **content: Any) -> Received:
        """Send a request, and read its response; redirects are not followed.

        Args:
            method: the HTTP method.
            url: the URL.
            timeout: the longest waits; the response must be complete after its `read` seconds.
            content: the arguments `headers`, `params`, `json` and `content` of httpx.

        Raises:
            UserError: the environment names a proxy or certificates that cannot be used.
            UnreadableBodyError: the body is too large, or compressed in an unknown way.
            Exception: one of `connection_errors.CONNECTION_EXCEPTIONS`, if no complete response came.
        """
        httpx.URL(url)  # raises InvalidURL before any other code reads the URL
        content["headers"] = {"Accept-Encoding": ACCEPTED_ENCODINGS, **(content.get("headers") or {})}
        until = self._clock() + (timeout.read or 0.0)
        with self._pool(url).stream(method, url, timeout=timeout, **content) as response:
            body = read_body(response, MOST_BYTES, lambda: self._clock() > until)
            return Received(response.status_code, response.headers, body)

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            for pool in self._pools.values():
                pool.close()

    def _pool(self, url: str) -> httpx.Client:
        nearby = is_nearby(urlsplit(url).hostname)
        # A nearby server over plain http has no certificate.
        verified = not nearby or url.startswith("https:")
        key = (nearby, verified)
        with self._lock:
            if key not in self._pools:
                self._pools[key] = _client(proxied=not nearby, verified=verified)
            return self._pools[key]


def _client(*, proxied: bool, verified: bool) -> httpx.Client:
    verify = _trusted() if verified else False
    try:
        return httpx.Client(limits=_LIMITS, trust_env=proxied, verify=verify)
    except (ValueError, ImportError, httpx.InvalidURL) as error:
        # The text of the error quotes the URL, which may contain a password.
        raise UserError(
            "the proxies in HTTPS_PROXY, HTTP_PROXY and ALL_PROXY must be URLs that begin with http:// or https://"
        ) from error


def _trusted() -> ssl.SSLContext:
    """Trust the certificates that the environment names or, without any, those that httpx brings."""
    name = next((name for name in _BUNDLES if os.environ.get(name)), None)
    if name is None:
        return httpx.create_ssl_context(trust_env=False)
    path = Path(os.environ[name])
    try:
        is_folder = path.is_dir()
        return ssl.create_default_context(cafile=None if is_folder else path, capath=path if is_folder else None)
    except (OSError, ValueError) as error:
        raise UserError(
            f"the environment variable {name} must be the path of a file with certificates (PEM), or of their folder"
        ) from error
