"""The latest requests, for tests and the page."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

import attrs

from gcpx_emulator.core.json_data import Json

_MOST: Final = 10_000
_MASK: Final = "[secret]"
_SECRET_PARAMETERS: Final = frozenset({"access_token", "id_token", "key", "oauth_token"})
_SECRET_FIELDS: Final = frozenset({"rawKey", "rsaEncryptedKey", "private_key"})
"""Fields of bodies, at any depth, whose values are keys."""
_PRIVATE: Final = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY")
_KEPT_HEADERS: Final = ("user-agent", "x-goog-request-reason", "x-goog-user-project")


@attrs.define
class RequestLog:
    """The latest requests, oldest first, without tokens and keys."""

    kept: deque[Json] = attrs.Factory(lambda: deque(maxlen=_MOST))

    def add(self, http_method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str]) -> Json:
        """Add a request; return its entry, where the caller fills in `method`, `status` and what `shown_body` gives."""
        shown = {name: _MASK if name in _SECRET_PARAMETERS else value for name, value in query.items()}
        entry: Json = {"time": time.time(), "httpMethod": http_method, "path": path, "query": shown}
        entry |= {"method": "", "body": None, "status": None, "authorized": "authorization" in headers}
        entry["headers"] = {name: headers[name] for name in _KEPT_HEADERS if name in headers}
        self.kept.append(entry)
        return entry


def shown_body(body: Any) -> Any:
    """Return the JSON of a body without keys: those of customers, and private ones."""
    if isinstance(body, dict):
        return {name: _MASK if name in _SECRET_FIELDS else shown_body(value) for name, value in body.items()}
    if isinstance(body, list):
        return [shown_body(item) for item in body]
    return _MASK if isinstance(body, str) and _PRIVATE.search(body) else body
