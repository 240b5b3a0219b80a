"""Requests to Google's APIs: each is matched with its method, checked, and passed to the method's handler."""

from __future__ import annotations

import inspect
from typing import Any

import attrs
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gcpx_emulator.core.call import HANDLERS, Call
from gcpx_emulator.core.discovery import Method, route
from gcpx_emulator.core.errors import ApiError, error_response
from gcpx_emulator.core.faults import DroppedConnection, Fault, response_before_work
from gcpx_emulator.core.json_data import Json, parse_json
from gcpx_emulator.core.listing import apply_mask, parse_mask
from gcpx_emulator.core.permissions import check_permissions
from gcpx_emulator.core.request_log import shown_body
from gcpx_emulator.core.uploads import Upload
from gcpx_emulator.core.validation import check_path, clean_body, clean_query
from gcpx_emulator.emulator import Emulator


@attrs.frozen
class _Incoming:
    """A request, its method, and the parameters in its path."""

    http: Request
    method: Method
    path: dict[str, str]
    upload: Upload
    fault: Fault | None


@attrs.frozen
class GoogleApis:
    """Answers requests to Google's APIs."""

    emulator: Emulator

    async def answer(self, request: Request) -> Response:
        """Answer a request, and log it with its response."""
        entry = self.emulator.requests.add(
            request.method, request.url.path, dict(request.query_params), request.headers
        )
        try:
            response = await self._routed(request, entry)
        except Exception as error:  # noqa: BLE001 - the log contains every response
            response = error_response(error, entry["method"] or f"{request.method} {request.url.path}")
        entry["status"] = response.status_code
        return response

    async def _routed(self, request: Request, entry: Json) -> Response:
        method, path = route(request.method, request.scope["raw_path"].decode("latin-1"))
        entry["method"] = method.id
        upload = await self._received(request)
        if isinstance(upload, Response):
            return upload
        entry["body"] = shown_body(upload.metadata)
        return await self._answer(_Incoming(request, method, path, upload, self.emulator.faults.take(method.id)))

    async def _received(self, request: Request) -> Upload | Response:
        """Read the body, which is JSON or an upload; an incomplete upload gives the response to its client."""
        raw = await request.body()
        if "/upload/" in request.url.path:
            return self.emulator.uploads.receive(request.query_params, request.headers, raw, str(request.url))
        return Upload(parse_json(raw))

    async def _answer(self, incoming: _Incoming) -> Response:
        fault, query = incoming.fault, incoming.http.query_params
        early = await response_before_work(fault) if fault else None
        if early is not None:
            return early
        # A malformed mask is refused before the call has changed anything.
        mask = parse_mask(query.get("fields") or query.get("$fields") or "")
        answer = await self._work(incoming)
        if fault and fault.drop == "after":
            return DroppedConnection()
        if answer is None:
            return Response(status_code=204)
        return answer if isinstance(answer, Response) else JSONResponse(apply_mask(answer, mask))

    async def _work(self, incoming: _Incoming) -> Any:
        """Check the request and call its handler."""
        handler = HANDLERS.get(incoming.method.id)
        if handler is None:
            raise ApiError(501, f"{incoming.method.id} is not emulated")
        self.emulator.rates.take(incoming.method, incoming.path.get("project", ""))
        call = self._call(incoming)
        check_permissions(call)
        self.emulator.operations.settle()
        answer = handler(call)
        return await answer if inspect.isawaitable(answer) else answer

    def _call(self, incoming: _Incoming) -> Call:
        method = incoming.method
        check_path(method, incoming.path)
        return Call(
            cloud=self.emulator.cloud,
            method=method,
            path=incoming.path,
            query=clean_query(method, incoming.http.query_params),
            body=clean_body(method, incoming.upload.metadata),
            media=incoming.upload.media,
            headers=incoming.http.headers,
            origin=str(incoming.http.base_url).removesuffix("/"),
            caller=self.emulator.signer.caller(incoming.http.headers.get("authorization", "")),
            failure=incoming.fault.operation if incoming.fault else None,
        )
