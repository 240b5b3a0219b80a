"""Turns exceptions into responses in Google's format, and logs those that are not refusals."""

from __future__ import annotations

import json
import logging
from typing import Any, Final

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gcpx_emulator.core.errors import ApiError

_LOG: Final = logging.getLogger("gcpx_emulator")
_WORDS: Final = "The emulator failed with an internal error; see its log."


def parsed(raw: bytes, what: str = "the body") -> Any:
    """Read JSON that can be written again: its texts are Unicode, its numbers finite. Nothing at all is None."""
    try:
        found = json.loads(raw) if raw else None
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
        return found  # noqa: TRY300 - what was just written has to be what is given
    except (ValueError, RecursionError) as error:
        raise ApiError(400, f"Parse Error: {what} must be JSON: {error}", "parseError") from None


def answer_to(error: Exception, doing: str) -> Response:
    """Answer an exception; one that is not a refusal is a bug, and is logged with its traceback."""
    if not isinstance(error, ApiError):
        _LOG.error("%s failed", doing, exc_info=error)
        error = ApiError(500, _WORDS)
    return JSONResponse(error.body(), error.status)


class Answering:
    """Lets an application answer every exception."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        try:
            await self._app(scope, receive, send)
        except Exception as error:  # noqa: BLE001 - the client gets a response to every error
            await answer_to(error, f"{scope.get('method')} {scope.get('path')}")(scope, receive, send)
