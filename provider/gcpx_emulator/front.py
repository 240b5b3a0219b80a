"""Checks every request before it is read: web pages cannot send any, and none can be too large or too slow.

Every client that reaches the emulator controls it, and a browser on this machine reaches it on behalf of any page. So
the emulator answers only to host names that no page can point to this machine, refuses requests from pages of other
sites, and accepts commands only in a form that browsers send to other sites only with their permission.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.uploads import MOST_BYTES
from gcpx_emulator.core.validation import is_ip_address

_CONTROLS: Final = "/_emulator/"
_JSON: Final = "application/json"
_LONGEST: Final = 120.0
"""The longest time for the body of a request, in seconds from the end of its head."""
_OWN_NAMES: Final = frozenset({"", "localhost"})
"""Names of this machine; no browser leaves the name out."""
_OWN_DOMAINS: Final = (".localhost", ".internal")
"""Domains that nobody can register, so that no page comes from them."""


def by_no_name(_host: str) -> bool:
    """Let no host name of others lead to the emulator."""
    return False


class Front:
    """Refuses requests that a web page can send, and bodies that are too large or too slow.

    Args:
        app: handles all other requests.
        answers: whether clients may call the emulator by a name, in lower case, that is not its own.
        most: the largest body in bytes.
        longest: the longest time for a body, in seconds.
    """

    def __init__(
        self,
        app: ASGIApp,
        answers: Callable[[str], bool] = by_no_name,
        most: int = MOST_BYTES,
        longest: float = _LONGEST,
    ) -> None:
        self._app = app
        self._answers = answers
        self._most = most
        self._longest = longest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, and pass it on; raises ApiError to refuse it."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            self._check_host(headers.get("host", ""))
            _check_origin(headers)
            _check_command(scope["method"], scope["path"], headers)
            receive = self._limited(headers, receive)
        await self._app(scope, receive, send)

    def _check_host(self, host: str) -> None:
        """Refuse host names of others that lead here: with DNS, the owner of a page can point its name to any address.

        Networks can give such names also without a dot, in the domain in which the machine searches names.
        """
        name = _name_of(host)
        is_own = name in _OWN_NAMES or name.endswith(_OWN_DOMAINS) or is_ip_address(name)
        if not is_own and not self._answers(name):
            raise ApiError(
                403, f"The emulator does not answer for the host {name}; --allow-host {name} allows it.", "forbidden"
            )

    def _limited(self, headers: Headers, receive: Receive) -> Receive:
        """Read a body up to the largest size and the longest time."""
        length, received, is_complete = headers.get("content-length", ""), 0, False
        end = asyncio.get_running_loop().time() + self._longest
        if length.isdecimal() and (len(length) > len(str(self._most)) or int(length) > self._most):
            raise _too_large(self._most)

        async def limited() -> Message:
            nonlocal received, is_complete
            try:
                # After the body, the app waits only for the disconnection.
                async with asyncio.timeout_at(None if is_complete else end):
                    message = await receive()
            except TimeoutError:
                words = f"The emulator waits at most {self._longest:g} seconds for the body of a request."
                raise ApiError(408, words, "invalid") from None
            is_complete = not message.get("more_body")
            received += len(message.get("body", b""))
            if received > self._most:
                raise _too_large(self._most)
            return message

        return limited


def _too_large(most: int) -> ApiError:
    return ApiError(413, f"The emulator reads at most {most:,} bytes of a request.", "invalid")


def _check_origin(headers: Headers) -> None:
    """Refuse requests from pages of other sites; browsers name the site in every request that may change something."""
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2].lower() != headers.get("host", "").lower():
        raise ApiError(403, "The emulator takes no requests from web pages of other sites.", "forbidden")


def _check_command(method: str, path: str, headers: Headers) -> None:
    """Require the JSON content type of a POST to the controls: pages need permission to send it to other sites."""
    if method != "POST" or not path.startswith(_CONTROLS):
        return
    if headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
        raise ApiError(
            415,
            f"A POST to {path} must have the header Content-Type: {_JSON}, which no web page can send unasked; "
            "with curl, use --json, such as --json '{}'.",
            "invalid",
        )


def _name_of(host: str) -> str:
    """Return the name or address in a header Host, without the port."""
    name = host.rpartition("]")[0][1:] if host.startswith("[") else host.partition(":")[0]
    return name.lower().removesuffix(".")
