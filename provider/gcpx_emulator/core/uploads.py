"""Uploads: metadata and contents in one request, or in a session of several."""

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
from gcpx_emulator.core.failures import parsed
from gcpx_emulator.core.store import Json

_RANGE: Final = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)")
_SESSIONS: Final = 1000


@attrs.frozen
class Upload:
    """What came in: the metadata, the contents, and their type."""

    metadata: Any
    media: bytes | None
    content_type: str


@attrs.define
class Uploads:
    """Sessions of resumable uploads."""

    _sessions: dict[str, tuple[Json, str, bytearray]] = attrs.Factory(dict)

    def take(self, query: Mapping[str, str], headers: Mapping[str, str], raw: bytes, url: str) -> Upload | Response:
        """Read an upload; a session that is not finished gets its answer instead."""
        kind = query.get("uploadType", "")
        if kind == "media":
            return Upload({}, raw, headers.get("content-type", ""))
        if kind == "multipart":
            return _multipart(headers.get("content-type", ""), raw)
        if kind == "resumable":
            session = query.get("upload_id")
            return self._continue(session, headers, raw) if session else self._begin(headers, raw, url)
        raise ApiError(400, f"Invalid upload type: '{kind}'; it must be media, multipart or resumable.")

    def _begin(self, headers: Mapping[str, str], raw: bytes, url: str) -> Response:
        session = uuid.uuid4().hex
        if len(self._sessions) >= _SESSIONS:
            self._sessions.pop(next(iter(self._sessions)))
        metadata = parsed(raw) or {}
        self._sessions[session] = (metadata, headers.get("x-upload-content-type", ""), bytearray())
        return Response(headers={"Location": f"{url}&upload_id={session}", "X-GUploader-UploadID": session})

    def _continue(self, session: str, headers: Mapping[str, str], raw: bytes) -> Upload | Response:
        if session not in self._sessions:
            raise ApiError(404, "There is no such upload session.")
        metadata, kind, so_far = self._sessions[session]
        found = _RANGE.fullmatch(headers.get("content-range", ""))
        if found and found[1] and int(found[1]) != len(so_far):
            raise ApiError(400, f"Invalid range: {len(so_far)} bytes were received so far.")
        so_far += raw
        if found and (found[3] == "*" or len(so_far) < int(found[3])):
            return Response(status_code=308, headers={"Range": f"bytes=0-{len(so_far) - 1}"} if so_far else {})
        del self._sessions[session]
        return Upload(metadata, bytes(so_far), kind)


def _multipart(content_type: str, raw: bytes) -> Upload:
    """Read two parts: the metadata as JSON, and the contents."""
    head = f"Content-Type: {content_type}\r\n\r\n".encode()
    message: Any = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + raw)
    parts = list(message.iter_parts()) if message.is_multipart() else []
    if len(parts) != 2:  # noqa: PLR2004 - metadata and contents
        raise ApiError(400, "A multipart upload has two parts: metadata and contents.")
    metadata, media = parts
    payload = media.get_payload(decode=True)
    return Upload(parsed(metadata.get_payload(decode=True)), payload, media.get_content_type())
