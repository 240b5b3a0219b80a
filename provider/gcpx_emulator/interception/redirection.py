"""Leads a Python program from Google's hosts to an emulator, also by clients that ignore variables.

httplib2, for example, uses proxies only if another package is installed, and reads which certificates to trust when it
is imported. The program may run in an environment without this package, so this file imports only what Python has.
"""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Callable, Mapping
from typing import Any

Replacement = tuple[Any, str, Callable[..., Any]]


def replacements(variables: Mapping[str, str]) -> list[Replacement]:
    """Return functions that lead calls of Google's hosts to an emulator, with their owners and names."""
    names = ("HOST", "GOOGLE", "AUTHORITY", "INTERCEPTED")
    plain, secure, authority, intercepted = (variables[f"GCPX_EMULATOR_{name}"] for name in names)
    look_up, connect, connect_ex = socket.getaddrinfo, socket.socket.connect, socket.socket.connect_ex
    load = ssl.SSLContext.load_verify_locations

    def led(host: Any, port: Any) -> Any:
        """Return where a host's port is."""
        name = host.decode("latin-1") if isinstance(host, bytes) else host
        if not isinstance(name, str) or not re.fullmatch(intercepted, name.lower().rstrip(".")):
            return host, port
        address, _, number = (plain if str(port) in {"80", "http"} else secure).rpartition(":")
        return address, int(number)

    def getaddrinfo(host: Any, port: Any, family: int = 0, *args: Any, **options: Any) -> Any:
        where, service = led(host, port)
        return look_up(where, service, family if where == host else socket.AF_UNSPEC, *args, **options)

    def address(given: Any) -> Any:
        return (*led(*given[:2]), *given[2:]) if isinstance(given, tuple) and len(given) > 1 else given

    def load_verify_locations(self: ssl.SSLContext, *args: Any, **options: Any) -> None:
        load(self, *args, **options)
        load(self, authority)

    return [
        (socket, "getaddrinfo", getaddrinfo),
        # Some clients connect to a name without a look-up of their own.
        (socket.socket, "connect", lambda self, given: connect(self, address(given))),
        (socket.socket, "connect_ex", lambda self, given: connect_ex(self, address(given))),
        (ssl.SSLContext, "load_verify_locations", load_verify_locations),
    ]
