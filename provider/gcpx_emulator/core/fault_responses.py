"""The responses of faults."""

from __future__ import annotations

import asyncio

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.faults import Fault


class DroppedConnection(Response):
    """A connection that ends in the middle of its response."""

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Send a shorter body than the headers announce."""
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]})
        await send({"type": "http.response.body", "body": b"", "more_body": True})


async def response_before_work(fault: Fault) -> Response | None:
    """Wait for a fault's delay; return the response that it sends without doing the work, if it does."""
    await asyncio.sleep(fault.delay)
    if fault.drop == "before":
        return DroppedConnection()
    if fault.body is not None:
        return Response(fault.body, fault.status or 200, media_type="application/json")
    if fault.status is None:
        return None
    headers = {"Retry-After": str(fault.retry_after)} if fault.retry_after is not None else {}
    return JSONResponse(ApiError(fault.status, fault.message, fault.reason).body(), fault.status, headers)
