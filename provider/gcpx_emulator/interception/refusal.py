"""Refuses calls to those of Google's hosts that an application does not answer for."""

from __future__ import annotations

from collections.abc import Collection

from starlette.datastructures import URL
from starlette.types import ASGIApp, Receive, Scope, Send

from gcpx_emulator.core.errors import ApiError, error_response
from gcpx_emulator.interception.hosts import SERVED, is_of_google


class Refusal:
    """Passes on calls to the hosts `served`, and to hosts that are not Google's."""

    def __init__(self, app: ASGIApp, served: Collection[str]) -> None:
        self._app, self._served = app, served

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a call to another host with the reason."""
        host = (URL(scope=scope).hostname or "").lower() if scope["type"] == "http" else ""
        if not is_of_google(host) or host in self._served:
            await self._app(scope, receive, send)
            return
        how = "emulated only with https" if host in SERVED else "not emulated"
        error = ApiError(501, f"{host} is {how}; no call to Google leaves this machine.")
        await error_response(error, host)(scope, receive, send)
