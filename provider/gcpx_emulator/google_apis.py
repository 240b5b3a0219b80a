"""Requests to Google's APIs: each is matched with its method, checked, and passed to the method's handler."""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import attrs
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gcpx_emulator.core import batches
from gcpx_emulator.core.call import HANDLERS, TAKES_KEYS, Call
from gcpx_emulator.core.discovery import Method, error_form, is_xml, route
from gcpx_emulator.core.errors import ApiError, ErrorForm, error_of, error_response
from gcpx_emulator.core.faults import DroppedConnection, Fault, response_before_work
from gcpx_emulator.core.json_data import Json, parse_json
from gcpx_emulator.core.listing import check_filter
from gcpx_emulator.core.masks import Mask, apply_mask, check_mask, parse_mask
from gcpx_emulator.core.permissions import check_permissions
from gcpx_emulator.core.request_log import SIGNATURES
from gcpx_emulator.core.uploads import KEY_HEADERS, Upload
from gcpx_emulator.core.validation import clean_body, clean_query
from gcpx_emulator.emulator import Emulator


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
            form = _error_form(request, entry)
            response = error_response(error, entry["method"] or f"{request.method} {request.url.path}", form)
        _add_headers(response, _api(entry), request.method)
        _warn_of_ignored(response, entry)
        self.emulator.requests.answered(entry, response.status_code, len(response.body), *error_of(response))
        return response

    async def _batch_answered(self, request: Request, entry: Json) -> Response:
        """Answer the requests of a batch one after another; each is logged as if it had come alone."""
        raw = await request.body()
        entry["sent"] = len(raw)
        parts = batches.parts_of(request, raw)
        answers = [(part, await self.answer(part.request)) for part in parts]
        dropped = [response for _, response in answers if isinstance(response, DroppedConnection)]
        return dropped[0] if dropped else batches.response_to(answers)

    async def _routed(self, request: Request, entry: Json) -> Response:
        """Find the method, read the body, and carry the call out, unless a fault prevents that."""
        if batches.is_batch(request):
            return await self._batch_answered(request, entry)
        method, path = route(request.method, request.scope["raw_path"].decode("latin-1"))
        entry["method"] = method.id
        has_key = any(name.startswith(KEY_HEADERS) for name in request.headers)
        if has_key and method.id not in TAKES_KEYS:
            raise ApiError(501, f"{method.id} with a customer-supplied encryption key in a header is not emulated")
        if request.method == "POST" and _LENGTHS.isdisjoint(request.headers):
            raise ApiError(411, "POST requests require a Content-length header.", "badRequest")
        raw, query = await request.body(), request.query_params
        is_read = method.id.startswith(_XML_API) and self.emulator.signer.knows_programs
        if not SIGNATURES.isdisjoint(query) and not is_read:
            raise ApiError(501, f"{method.id} with a signed URL is not emulated")
        entry["sent"] = len(raw)
        if "/upload/" in request.url.path:
            upload = self.emulator.uploads.receive(query, request.headers, raw, str(request.url))
            if isinstance(upload, Response):  # the upload continues
                return upload
        else:
            upload = Upload(parse_json(raw))
        self.emulator.requests.add_body(entry, upload.metadata)
        fault = self.emulator.faults.take(method.id)
        early = await response_before_work(fault, error_form(method.api)) if fault else None
        if early is not None:
            return early
        # A wrong mask is refused before the call has changed anything.
        mask = _mask(method, query)
        answer = await self._carried_out(request, method, path, upload, fault, entry["ignored"])
        if fault and fault.drop == "after":
            return DroppedConnection()
        if answer is None:
            return Response(status_code=204)
        if isinstance(answer, Response):
            return answer
        return (_Indented if _is_indented(query) else JSONResponse)(apply_mask(answer, mask))

    async def _carried_out(
        self,
        request: Request,
        method: Method,
        path: dict[str, str],
        upload: Upload,
        fault: Fault | None,
        ignored: list[str],
    ) -> Any:
        """Check the request, and call the method's handler; `ignored` gets the names that the API does not know."""
        may_ignore = method.document.ignores_unknown and not self.emulator.strict
        handler, cloud = HANDLERS.get(method.id), self.emulator
        if handler is None:
            raise ApiError(501, f"{method.id} is not emulated")
        cloud.rates.take(method, path.get("project", ""))
        call = Call(
            cloud=cloud.cloud,
            store=cloud.store,
            method=method,
            path=path,
            query=clean_query(method, path, _query(method, request)),
            body=clean_body(method, upload.metadata, ignored if may_ignore else None),
            media=upload.media,
            headers={**upload.headers, **request.headers},
            origin=str(request.base_url).removesuffix("/"),
            caller=cloud.signer.caller(request.headers.get("authorization", "")),
            failure=fault.operation if fault else None,
        )
        check_filter(method, call.query.get("filter", ""))
        check_permissions(call)
        cloud.operations.settle()
        with cloud.store.transaction():  # a process that is killed has carried out all of a call, or nothing
            answer = handler(call)
        return await answer if inspect.isawaitable(answer) else answer


def _query(method: Method, request: Request) -> dict[str, str]:
    """Return the parameters of the query; the values of a repeatable parameter are joined with commas."""
    given = request.query_params
    repeated = [name for name in given if method.parameters.get(name, {}).get("repeated")]
    return {**given, **{name: ",".join(given.getlist(name)) for name in repeated}}


def _mask(method: Method, query: Mapping[str, str]) -> Mask:
    """Read the mask of a request; refuse a malformed one, or one with fields that the response cannot have."""
    mask = parse_mask(query.get("fields") or query.get("$fields") or "")
    if method.response is not None:
        check_mask(mask, {"$ref": method.response}, method.document.schemas)
    return mask


def _is_indented(query: Mapping[str, str]) -> bool:
    """Return whether a request asks for indentation; Google indents by default, which would take much time."""
    return "true" in {query.get(name, "").lower() for name in ("prettyPrint", "$prettyPrint")}


class _Indented(JSONResponse):
    """JSON with line breaks and indentation."""

    def render(self, content: Any) -> bytes:
        """Write the content as Google does."""
        return f"{json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2)}\n".encode()


def _error_form(request: Request, entry: Json) -> ErrorForm:
    """Return the form of the error that answers a request."""
    method, path = str(entry["method"]), request.scope["raw_path"].decode("latin-1")
    if method.startswith(_XML_API) or (not method and is_xml(request.method, path)):
        return ErrorForm.XML
    return error_form(_api(entry))


def _api(entry: Json) -> str:
    """Return the name of the API of a logged request, such as `compute`; empty if it has none."""
    return str(entry["method"] or "").partition(".")[0]


def _warn_of_ignored(response: Response, entry: Json) -> None:
    """Say in the log and in a header which names of a request's body the API ignored; clients may misspell a field."""
    if not entry["ignored"]:
        return
    names = ", ".join(name.encode("unicode_escape").decode() for name in entry["ignored"][:_MOST_IGNORED])
    response.headers[_IGNORED] = names
    _LOG.warning("%s ignored unknown names in the body, as Google does: %s", entry["method"], names)


_LOG: Final = logging.getLogger("gcpx_emulator")
_XML_API: Final = "storage.xml."
"""The beginning of the IDs of the XML API's methods."""
_IGNORED: Final = "X-Emulator-Ignored"
"""The header with the paths of names that were ignored."""
_MOST_IGNORED: Final = 20
_LENGTHS: Final = frozenset({"content-length", "transfer-encoding"})
"""The headers that say where a body ends, one of which Google requires even without a body."""
_JSON: Final = "application/json"
_UNCACHED: Final = "no-cache, no-store, max-age=0, must-revalidate"
_VALIDATED: Final = "private, max-age=0, must-revalidate, no-transform"


def _add_headers(response: Response, api: str, http_method: str) -> None:
    """Add the headers that Google's responses have, as recorded for Compute, Cloud Storage and Pub/Sub."""
    headers, is_empty = response.headers, response.status_code == HTTPStatus.NO_CONTENT
    if is_empty and api == "storage":
        headers["Content-Type"] = _JSON
    elif headers.get("content-type") == _JSON:
        headers["Content-Type"] = f"{_JSON}; charset=UTF-8"
    else:
        return
    if api == "storage":
        is_read = http_method == "GET" and response.status_code < HTTPStatus.BAD_REQUEST
        headers["Cache-Control"] = _VALIDATED if is_read else _UNCACHED
    elif api:
        headers.setdefault("Cache-Control", "private")
