"""Batches: several requests in the body of one, and their responses in the body of its response."""

from __future__ import annotations

import email
import re
import uuid
from collections.abc import Iterable
from email.message import Message
from http.client import responses
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

import attrs
from starlette.requests import Request
from starlette.responses import Response

from gcpx_emulator.core.discovery import APIS
from gcpx_emulator.core.errors import ApiError

_MOST: Final = 1000
"""The number of requests in a batch, as documented for Compute."""
_MOST_OF_STORAGE: Final = 100
_PATH: Final = re.compile(r"/batch(?:/(?P<api>\w+)/(?P<version>\w+))?/?")
_REQUEST_LINE: Final = re.compile(r"([A-Z]+) (\S+)(?: HTTP/1\.[01])?")
_BLANK_LINE: Final = re.compile(rb"\r?\n\r?\n")
_LINE_END: Final = re.compile(r"\r?\n")
_FOLD: Final = re.compile(r"\r?\n[ \t]+")
"""Where a header continues on the next line."""


def is_batch(request: Request) -> bool:
    """Return whether a request has the path of batches: of one API, as its document says, or of all."""
    match = _PATH.fullmatch(request.url.path)
    return request.method == "POST" and match is not None and (not match["api"] or _document_of(request) in APIS)


def _document_of(request: Request) -> str:
    """Return the name of the document of the API that a batch is for; empty if it is for all."""
    match = _PATH.fullmatch(request.url.path)
    return f"{match['api']}.{match['version']}" if match and match["api"] else ""


@attrs.frozen
class Part:
    """One request of a batch.

    Attributes:
        content_id: the header Content-ID, which the response repeats.
        request: the request, with the headers of the batch that it does not have itself.
    """

    content_id: str
    request: Request


def parts_of(batch: Request, raw: bytes) -> list[Part]:
    """Read the requests in the body `raw` of a batch.

    Raises:
        ApiError: 400, if the body is not multipart/mixed with parts of application/http, or if it has too many.
    """
    head = f"Content-Type: {batch.headers.get('content-type', '')}\r\n\r\n".encode("latin-1")
    message = email.message_from_bytes(head + raw)
    if message.get_content_type() != "multipart/mixed" or not message.is_multipart():
        raise ApiError(400, "The body of a batch must be multipart/mixed, with a part for each request.", "badRequest")
    document = _document_of(batch)
    most = _MOST_OF_STORAGE if document.startswith("storage.") else _MOST
    parts = [_part(batch, part) for part in message.get_payload() if isinstance(part, Message)]
    if len(parts) > most:
        raise ApiError(400, f"A batch has at most {most:,} requests, not {len(parts):,}.", "badRequest")
    prefixes = APIS[document].prefixes if document else ()
    for part in parts:
        _check(part.request, prefixes)
    return parts


def _part(batch: Request, part: Message) -> Part:
    """Read one part of a batch: an HTTP request without a connection."""
    content_id = _FOLD.sub(" ", str(part["Content-ID"] or ""))
    raw = part.get_payload(decode=True)
    if part.get_content_type() != "application/http" or not isinstance(raw, bytes):
        raise ApiError(400, f"The part {content_id} of the batch must be application/http.", "badRequest")
    head, *rest = _BLANK_LINE.split(raw.lstrip(), maxsplit=1)
    line, *headers = _LINE_END.split(_FOLD.sub(" ", head.decode("latin-1")))
    match = _REQUEST_LINE.fullmatch(line.strip())
    if match is None:
        raise ApiError(400, f"The part {content_id} of the batch must begin like: GET /path HTTP/1.1", "badRequest")
    try:
        url = urlsplit(match[2])
    except ValueError:
        raise ApiError(400, f"The part {content_id} of the batch has a malformed URL.", "badRequest") from None
    return Part(content_id, _request(batch, match[1], url, headers, b"".join(rest)))


def _request(batch: Request, method: str, url: SplitResult, lines: Iterable[str], body: bytes) -> Request:
    """Make a request of a batch; the headers of the batch apply to it, but for those of the body."""
    own = [line.partition(":") for line in lines if line]
    headers = {name: value for name, value in batch.headers.items() if not name.startswith("content-")}
    headers |= {name.strip().lower(): value.strip() for name, _, value in own if name.strip().lower() != "host"}

    headers.setdefault("content-length", str(len(body)))

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    scope = {
        **batch.scope,
        "method": method,
        "path": unquote(url.path),
        "raw_path": url.path.encode("latin-1"),
        "query_string": url.query.encode("latin-1"),
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()],
        "path_params": {},
        "state": {},
    }
    return Request(scope, receive)


def _check(request: Request, prefixes: tuple[str, ...]) -> None:
    """Refuse a request that no batch, or not this one, may have."""
    path = request.url.path
    if is_batch(request):
        raise ApiError(400, "A batch contains no batches.", "badRequest")
    if path.startswith("/upload/") or request.query_params.get("alt") == "media":
        raise ApiError(400, f"{request.method} {path}: a batch transfers no media.", "badRequest")
    if prefixes and not path.lstrip("/").startswith(tuple(f"{prefix}/" for prefix in prefixes)):
        words = f"{request.method} {path}: a batch of this path has only requests to /{prefixes[0]}/."
        raise ApiError(400, words, "badRequest")


def response_to(answers: Iterable[tuple[Part, Response]]) -> Response:
    """Return the response to a batch."""
    boundary = f"batch_{uuid.uuid4().hex}"
    parts = [_written(part.content_id, response) for part, response in answers]
    content = b"".join(b"--%s\r\n%s\r\n" % (boundary.encode(), part) for part in parts)
    return Response(b"%s--%s--\r\n" % (content, boundary.encode()), media_type=f"multipart/mixed; boundary={boundary}")


def _written(content_id: str, response: Response) -> bytes:
    """Write a response as a part."""
    named = f"<response-{content_id[1:]}" if content_id.startswith("<") else f"response-{content_id}"
    lines = ["Content-Type: application/http", f"Content-ID: {named}", ""]
    lines += [f"HTTP/1.1 {response.status_code} {responses.get(response.status_code, '')}"]
    lines += [f"{name.title()}: {value}" for name, value in response.headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + bytes(response.body)
