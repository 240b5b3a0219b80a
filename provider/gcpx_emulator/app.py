"""The application: Google's APIs, the controls and the console of one emulator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import gcpx_emulator.services  # noqa: F401 - registers what the application serves
from gcpx_emulator.console.routes import Console
from gcpx_emulator.controls import Controls
from gcpx_emulator.core.errors import ApiError, ErrorMiddleware
from gcpx_emulator.emulator import Emulator
from gcpx_emulator.front import Front, by_no_name
from gcpx_emulator.google_apis import GoogleApis
from gcpx_emulator.sign_in import SignIn

DEFAULT_PROJECT: Final = "demo-project"
_METHODS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def application(
    emulator: Emulator, answers: Callable[[str], bool] = by_no_name, project: str = DEFAULT_PROJECT
) -> Starlette:
    """Return the application of an emulator, which also answers to the host names that `answers` is true for.

    Its metadata server names the project.
    """
    routes = [
        *SignIn(emulator, project).routes(),
        *Console.of(emulator).routes(),
        *Controls(emulator).routes(),
        Route("/{path:path}", GoogleApis(emulator).answer, methods=_METHODS),
    ]
    handlers = {HTTPException: _answer_unrouted}
    middleware = [Middleware(ErrorMiddleware), Middleware(Front, answers=answers)]
    return Starlette(routes=routes, middleware=middleware, exception_handlers=handlers)


async def _answer_unrouted(request: Request, error: Exception) -> Response:
    """Refuse an HTTP method that no API has, or a path that no Google API can have."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    message = f"{request.method} {request.url.path} is not a call of any API that is emulated"
    return JSONResponse(ApiError(status, message).body(), status)
