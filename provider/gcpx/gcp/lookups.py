"""Whether things exist, asked once each: for checks at preview that a user asked for."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any, Final

import attrs

from gcpx.gcp.client import COMPUTE, Api, Google, Request
from gcpx.gcp.errors import ApiError, NotFound
from gcpx.model.call import Call

_PATIENCE: Final = 10.0
"""Seconds; a preview is not to wait long for a check."""
_Key = tuple[str, str]
_Answer = dict[str, Any] | None


@attrs.define
class Lookups:
    """Responses since the last Configure; a lookup that fails is a warning and never a failure.

    Whoever asks first for a name asks Google, and who asks for it meanwhile waits for that answer; different names are
    asked for side by side.
    """

    google: Google
    _answers: dict[_Key, Future[_Answer]] = attrs.Factory(dict)
    _lock: threading.Lock = attrs.Factory(threading.Lock)

    def forget(self) -> None:
        """Ask Google again from now on: what exists may have changed since the last run."""
        with self._lock:
            self._answers.clear()

    def get(self, call: Call, path: str, *, api: Api = COMPUTE, **query: Any) -> _Answer:
        """Read something; None where it does not exist, and nothing but `{}` where that cannot be told."""
        key = (f"{api.name}/{path}", repr(sorted(query.items())))
        with self._lock:
            first = key not in self._answers
            answer = self._answers.setdefault(key, Future())
        if first:
            self._ask(answer, key, call, Request(api=api, method="GET", path=path, query=query, patience=_PATIENCE))
        return answer.result()

    def _ask(self, answer: Future[_Answer], key: _Key, call: Call, request: Request) -> None:
        try:
            answer.set_result(self._told(call, request))
        except BaseException as error:  # noqa: BLE001 - every error is passed on to the waiting calls
            # Without this, calls would wait forever, or later calls would get this error.
            with self._lock:
                if self._answers.get(key) is answer:
                    del self._answers[key]
            answer.set_exception(error)

    def _told(self, call: Call, request: Request) -> _Answer:
        try:
            return self.google.send(request, call)
        except NotFound:
            return None
        except ApiError as error:
            call.warn(f"validateOnline could not check {request.path.partition('/')[2]}: {error}")
            return {}
