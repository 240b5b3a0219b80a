"""The latest requests, and the number of requests of each method, for tests, the console and measurements."""

from __future__ import annotations

import json
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.secrets import MASK, without_keys

_MOST: Final = 10_000
_MOST_CHARACTERS: Final = 64 << 20
"""The most characters of JSON in all kept bodies; the latest body is kept whole in any case."""
SIGNATURES: Final = frozenset({"Signature", "X-Goog-Signature"})
"""The parameters of signed URLs."""
_SECRET_PARAMETERS: Final = SIGNATURES | {"access_token", "id_token", "key", "oauth_token"}
_KEPT_HEADERS: Final = ("user-agent", "x-goog-request-reason", "x-goog-user-project")


@attrs.define
class Traffic:
    """The requests of one API method: how many, and the bytes of their bodies and of the responses, uncompressed."""

    calls: int = 0
    sent: int = 0
    received: int = 0


Listener = Callable[[Json, str], None]


@attrs.define
class RequestLog:
    """The requests since the log was last cleared.

    Attributes:
        kept: the latest requests, oldest first, without tokens and keys.
        traffic: the totals by method ID; requests without a method count under "".
        most_characters: of JSON in all kept bodies; the oldest bodies are replaced by a sentence.
        listeners: called with the entry of each request that is answered, and the message of its error.
    """

    kept: deque[Json] = attrs.Factory(lambda: deque(maxlen=_MOST))
    traffic: defaultdict[str, Traffic] = attrs.Factory(lambda: defaultdict(Traffic))
    listeners: list[Listener] = attrs.Factory(list)
    most_characters: int = _MOST_CHARACTERS
    _with_body: deque[tuple[Json, int]] = attrs.Factory(deque)
    _characters: int = 0

    def add(self, http_method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str]) -> Json:
        """Add a request; return its entry, to which the caller adds `method`, `sent` and `ignored`."""
        shown = {name: MASK if name in _SECRET_PARAMETERS else value for name, value in query.items()}
        entry: Json = {"time": time.time(), "httpMethod": http_method, "path": path, "query": shown}
        entry |= {"method": "", "body": None, "status": None, "authorized": "authorization" in headers, "sent": 0}
        entry["ignored"] = []
        entry["headers"] = {name: headers[name] for name in _KEPT_HEADERS if name in headers}
        self.kept.append(entry)
        return entry

    def add_body(self, entry: Json, body: Any) -> None:
        """Add the JSON of a body to a request's entry, without keys."""
        entry["body"] = without_keys(body)
        if not body:
            return
        length = len(json.dumps(entry["body"]))
        self._with_body.append((entry, length))
        self._characters += length
        while self._characters > self.most_characters and len(self._with_body) > 1:
            oldest, length = self._with_body.popleft()
            self._characters -= length
            oldest["body"] = f"{length:,} characters, left out because the bodies after it fill the log"

    def answered(self, entry: Json, status: int, received: int, reason: str = "", message: str = "") -> None:
        """Complete a request's entry with its response; `received` is the size of its body in bytes.

        `reason` is Google's short name of the error, and `message` its explanation, if it has them.
        """
        entry |= {"status": status, "received": received, "seconds": time.time() - entry["time"]}
        entry |= {"reason": reason} if reason else {}
        total = self.traffic[entry["method"]]
        total.calls += 1
        total.sent += entry["sent"]
        total.received += received
        for listener in self.listeners:
            listener(entry, message)

    def clear(self) -> None:
        """Forget all requests."""
        self.kept.clear()
        self._with_body.clear()
        self._characters = 0
        self.traffic.clear()
