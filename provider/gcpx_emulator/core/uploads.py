"""Media uploads: a resource's metadata and content, in one request or in a resumable session."""

from __future__ import annotations

import email.parser
import email.policy
import re
import uuid
from collections.abc import Mapping
from typing import Any, Final

import attrs
from starlette.responses import Response

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json, parse_json

_RANGE: Final = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)")
_QUOTED_BOUNDARY: Final = re.compile(r"boundary='([^']*)'")
_MOST_SESSIONS: Final = 1000
MOST_BYTES: Final = 128 << 20
"""The largest body and the largest upload, in bytes."""


KEY_HEADERS: Final = ("x-goog-encryption-", "x-goog-copy-source-encryption-")
"""The beginnings of the headers with customer-supplied keys of objects."""


@attrs.frozen
class Media:
    """Uploaded content, and its media type if the client gave one."""

    content: bytes = b""
    content_type: str = ""


@attrs.frozen
class Upload:
    """A complete upload: the metadata as JSON, and the content.

    Attributes:
        headers: those of the first request of a resumable upload that hold for the whole upload.
    """

    metadata: Any
    media: Media = attrs.Factory(Media)
    headers: Mapping[str, str] = attrs.Factory(dict)


@attrs.define
class _Session:
    """A resumable upload, and the content that has been received."""

    metadata: Json
    content_type: str
    headers: Mapping[str, str]
    received: bytearray = attrs.Factory(bytearray)


@attrs.define
class Uploads:
    """The incomplete resumable uploads."""

    _sessions: dict[str, _Session] = attrs.Factory(dict)

    def receive(self, query: Mapping[str, str], headers: Mapping[str, str], raw: bytes, url: str) -> Upload | Response:
        """Read a request: return the upload or, for an incomplete session, the response."""
        kind = query.get("uploadType", "")
        if kind == "media":
            return Upload({}, Media(raw, headers.get("content-type", "")))
        if kind == "multipart":
            return _multipart(headers.get("content-type", ""), raw)
        if kind == "resumable":
            session = query.get("upload_id")
            return self._continue(session, headers, raw) if session else self._begin(headers, raw, url)
        raise ApiError(400, f"Invalid upload type: '{kind}'; it must be media, multipart or resumable.")

    def _begin(self, headers: Mapping[str, str], raw: bytes, url: str) -> Response:
        session = uuid.uuid4().hex
        if len(self._sessions) >= _MOST_SESSIONS:
            self._sessions.pop(next(iter(self._sessions)))
        keys = {name: value for name, value in headers.items() if name.startswith(KEY_HEADERS)}
        self._sessions[session] = _Session(parse_json(raw) or {}, headers.get("x-upload-content-type", ""), keys)
        return Response(headers={"Location": f"{url}&upload_id={session}", "X-GUploader-UploadID": session})

    def _continue(self, name: str, headers: Mapping[str, str], raw: bytes) -> Upload | Response:
        session = self._sessions.get(name)
        if session is None:
            raise ApiError(404, "There is no such upload session.")
        received, sent = session.received, _RANGE.fullmatch(headers.get("content-range", ""))
        if sent and sent[1] and int(sent[1]) != len(received):
            raise ApiError(400, f"Invalid range: {len(received)} bytes were received so far.")
        if len(received) + len(raw) > MOST_BYTES:
            raise ApiError(413, f"The emulator keeps at most {MOST_BYTES:,} bytes of an upload.", "invalid")
        received += raw
        if sent and (sent[3] == "*" or len(received) < int(sent[3])):
            return Response(status_code=308, headers={"Range": f"bytes=0-{len(received) - 1}"} if received else {})
        del self._sessions[name]
        return Upload(session.metadata, Media(bytes(received), session.content_type), session.headers)


def _multipart(content_type: str, raw: bytes) -> Upload:
    """Read a body of two parts: the metadata as JSON, and the content."""
    # gcloud writes the boundary between single quotes.
    head = b"Content-Type: " + _QUOTED_BOUNDARY.sub(r'boundary="\1"', content_type).encode() + b"\r\n\r\n"
    message: Any = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + raw)
    parts = list(message.iter_parts()) if message.is_multipart() else []
    if len(parts) != 2:  # noqa: PLR2004 - metadata and content
        raise ApiError(400, "A multipart upload has two parts: metadata and contents.")
    metadata, media = parts
    content = Media(media.get_payload(decode=True), media.get_content_type())
    return Upload(parse_json(metadata.get_payload(decode=True)), content)
