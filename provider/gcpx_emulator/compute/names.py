"""Names of new resources."""

from __future__ import annotations

import re
from typing import Final

from gcpx_emulator.compute.call import Call
from gcpx_emulator.core.errors import ApiError, already_exists, invalid, required
from gcpx_emulator.core.json_data import Json

NAME: Final = re.compile(r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")
"""The form of resource names, as in RFC 1035."""
NAME_MESSAGE: Final = "Must be 1 to 63 lower-case letters, digits and hyphens (RFC 1035), beginning with a letter."


def check_name(body: Json) -> str:
    """Refuse a missing or malformed name; return the name."""
    name = body.get("name")
    if not name:
        raise required("resource.name")
    if not NAME.fullmatch(name):
        raise invalid("resource.name", name, f"Must be a match of regex '(?:{NAME.pattern})'")
    return str(name)


def check_free(call: Call, path: str) -> None:
    """Refuse to create a resource that exists, or that an operation is creating."""
    if call.store.get(path) is not None or call.operations.is_pending(path):
        raise already_exists(path)


def check_ready(call: Call, path: str) -> None:
    """Refuse to change a resource that an operation is changing."""
    if call.operations.is_pending(path):
        raise ApiError(400, f"The resource '{path}' is not ready", "resourceNotReady")
