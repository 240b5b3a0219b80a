"""Whether things exist, asked once each: for checks at preview that a user asked for."""

from __future__ import annotations

import threading
from typing import Any, Final

import attrs

from gcpx.google.client import COMPUTE, Api, Google, Request
from gcpx.google.errors import ApiError, NotFound
from gcpx.google.operations import Surroundings

_PATIENCE: Final = 10.0
"""Seconds; a preview is not to wait long for a check."""


@attrs.define
class Existing:
    """Answers of one process; what could not be told is warned about and never a failure."""

    google: Google
    _answers: dict[tuple[str, str], dict[str, Any] | None] = attrs.Factory(dict)
    _unable: set[tuple[str, str]] = attrs.Factory(set)
    _lock: threading.RLock = attrs.Factory(threading.RLock)

    def found(self, call: Surroundings, path: str, *, api: Api = COMPUTE, **query: Any) -> dict[str, Any] | None:
        """Read something; None where it does not exist, and nothing but `{}` where that cannot be told."""
        key = (f"{api.name}/{path}", repr(sorted(query.items())))
        with self._lock:
            if key in self._unable:
                return {}
            if key not in self._answers:
                try:
                    self._answers[key] = self._ask(call, api, path, query)
                except ApiError as error:
                    self._unable.add(key)
                    call.warn(f"validateOnline could not check {path.partition('/')[2]}: {error}")
                    return {}
            return self._answers[key]

    def _ask(self, call: Surroundings, api: Api, path: str, query: dict[str, Any]) -> dict[str, Any] | None:
        try:
            return self.google.send(Request(api=api, method="GET", path=path, query=query, patience=_PATIENCE), call)
        except NotFound:
            return None
