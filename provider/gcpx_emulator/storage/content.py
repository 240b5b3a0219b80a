"""Responses with the content of an object, or with a part of it."""

from __future__ import annotations

import base64
import re
from typing import Final

from starlette.responses import Response

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json

CONTENT: Final = "_media"
"""Where the store keeps an object's content, in base64."""
DEFAULT_TYPE: Final = "application/octet-stream"
_RANGE: Final = re.compile(r"bytes=(?:(\d+)-(\d*)|-(\d+))")
_PARTIAL: Final = 206


def content_response(call: Call, stored: Json) -> Response:
    """Return an object's content, or the part that the header `Range` asks for.

    Source: RFC 9110, section 14; a header with several ranges is ignored, as it allows.
    """
    content = base64.b64decode(stored[CONTENT])
    part = _part(call.headers.get("range", ""), len(content))
    headers = {
        "X-Goog-Hash": f"crc32c={stored['crc32c']},md5={stored['md5Hash']}",
        "X-Goog-Generation": stored["generation"],
        "Accept-Ranges": "bytes",
    }
    media_type = stored.get("contentType") or DEFAULT_TYPE
    if part is None:
        return Response(content, headers=headers, media_type=media_type)
    headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{len(content)}"
    return Response(content[part.start : part.stop], _PARTIAL, headers, media_type)


def _part(header: str, size: int) -> range | None:
    """Return the numbers of the bytes that a header asks for; None if it asks for no range."""
    found = _RANGE.fullmatch(header)
    if found is None:
        return None
    part = range(max(0, size - int(found[3])), size) if found[3] else range(int(found[1]), size)
    if found[2]:
        part = range(part.start, min(int(found[2]) + 1, size))
    if not part:
        raise ApiError(416, "The requested range cannot be satisfied.", "requestedRangeNotSatisfiable")
    return part
