"""Refuses calls to those of Google's hosts that an application does not answer for."""

from __future__ import annotations

from collections.abc import Callable

from starlette.datastructures import URL
from starlette.types import ASGIApp, Receive, Scope, Send

from gcpx_emulator.core.errors import ApiError, error_response
from gcpx_emulator.interception.hosts import is_of_google, is_served


class Refusal:
    """Passes on calls to hosts that `answers` is true for, and to hosts that are not Google's."""

    def __init__(self, app: ASGIApp, answers: Callable[[str], bool]) -> None:
        self._app, self._answers = app, answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a call to another host with the reason."""
        host = (URL(scope=scope).hostname or "").lower() if scope["type"] == "http" else ""
        if not is_of_google(host) or self._answers(host):
            await self._app(scope, receive, send)
            return
        how = "emulated only with https" if is_served(host) else "not emulated"
        error = ApiError(501, f"{host} is {how}; no call to Google leaves this machine.")
        await error_response(error, host)(scope, receive, send)
