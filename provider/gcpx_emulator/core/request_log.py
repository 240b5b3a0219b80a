"""The latest requests, for tests and the page."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from typing import Final

import attrs

from gcpx_emulator.core.json_data import Json

_MOST: Final = 10_000
_SECRET_PARAMETERS: Final = frozenset({"access_token", "id_token", "key", "oauth_token"})
_KEPT_HEADERS: Final = ("user-agent", "x-goog-request-reason", "x-goog-user-project")


@attrs.define
class RequestLog:
    """The latest requests, oldest first, without tokens."""

    kept: deque[Json] = attrs.Factory(lambda: deque(maxlen=_MOST))

    def add(self, http_method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str]) -> Json:
        """Add a request; return its entry, where the caller fills in `method`, `body` and `status` when it has them."""
        shown = {name: "[secret]" if name in _SECRET_PARAMETERS else value for name, value in query.items()}
        entry: Json = {"time": time.time(), "httpMethod": http_method, "path": path, "query": shown}
        entry |= {"method": "", "body": None, "status": None, "authorized": "authorization" in headers}
        entry["headers"] = {name: headers[name] for name in _KEPT_HEADERS if name in headers}
        self.kept.append(entry)
        return entry
