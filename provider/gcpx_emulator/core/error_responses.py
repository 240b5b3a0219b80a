"""Responses to exceptions, in Google's format."""

from __future__ import annotations

import logging
import traceback
from typing import Final

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gcpx_emulator.core.errors import ApiError

_LOG: Final = logging.getLogger("gcpx_emulator")
_NOT_MODIFIED: Final = 304
"""A status whose response has no body."""
_INTERNAL_ERROR: Final = "The emulator failed with an internal error; see its log."


def error_response(error: Exception, request: str) -> Response:
    """Turn an exception into a response; any but an ApiError is a bug, and is logged with where it was raised.

    Its text is not logged, because it may quote a key or a token of the request. `request` says in the log what was
    asked for: the method's ID, or the HTTP method and path.
    """
    if not isinstance(error, ApiError):
        places = "".join(traceback.format_tb(error.__traceback__))
        _LOG.error("%s failed: %s\n%s", request, type(error).__name__, places)
        error = ApiError(500, _INTERNAL_ERROR)
    if error.status == _NOT_MODIFIED:
        return Response(status_code=error.status)
    return JSONResponse(error.body(), error.status)


class ErrorMiddleware:
    """Turns every exception of an application into a response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application."""
        try:
            await self._app(scope, receive, send)
        except Exception as error:  # noqa: BLE001 - the client gets a response to every error
            response = error_response(error, f"{scope.get('method')} {scope.get('path')}")
            await response(scope, receive, send)
