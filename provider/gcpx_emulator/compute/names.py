"""Names that clients give."""

from __future__ import annotations

import re
from typing import Final

from gcpx_emulator.core.errors import ApiError, exists, invalid, required
from gcpx_emulator.core.handlers import Call
from gcpx_emulator.core.store import Json

_NAME: Final = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")


def check_name(body: Json) -> str:
    """Refuse a missing or malformed name."""
    name = body.get("name")
    if not name:
        raise required("resource.name")
    if not _NAME.fullmatch(name):
        raise invalid("resource.name", name, "Must be a match of regex '(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)'")
    return str(name)


def check_free(call: Call, path: str) -> None:
    """Refuse a name that is taken, or will be in a moment."""
    if call.store.get(path) is not None or call.operations.pending(path):
        raise exists(path)


def check_ready(call: Call, path: str) -> None:
    """Refuse a change of a resource that another operation is still changing."""
    if call.operations.pending(path):
        raise ApiError(400, f"The resource '{path}' is not ready", "resourceNotReady")
