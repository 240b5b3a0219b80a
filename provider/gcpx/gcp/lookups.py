"""Cached reads for the checks at preview: whether a resource exists, and its properties."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any, Final

import attrs

from gcpx.gcp.apis import COMPUTE, Api
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.errors import ApiError, NotFound
from gcpx.gcp.request import Request
from gcpx.model.call import Call

_PATIENCE: Final = 10.0
"""Seconds of retries; few, so that a check does not hold up a preview for long."""
_Key = tuple[str, str]
_Found = dict[str, Any] | None


@attrs.define
class Lookups:
    """The responses since the last Configure.

    The first thread that looks up a path sends the request, and other threads wait for its response. Lookups of
    different paths run in parallel.
    """

    google: GoogleClient
    _found: dict[_Key, Future[_Found]] = attrs.Factory(dict)
    _lock: threading.Lock = attrs.Factory(threading.Lock)

    def forget(self) -> None:
        """Drop all responses, because what exists may have changed since the last run."""
        with self._lock:
            self._found.clear()

    def get(self, call: Call, path: str, *, api: Api = COMPUTE, **query: Any) -> _Found:
        """Read a resource by its path with the version, below the API's own: `v1/projects/p`.

        Returns None if it does not exist, and `{}` with a warning if Google cannot be asked, as without permission.
        """
        return self._once(call, Request(api=api, method="GET", path=path, query=query, patience=_PATIENCE))

    def ask(self, call: Call, path: str, body: dict[str, Any]) -> _Found:
        """Send a POST to Compute that only asks and changes nothing; returns what `get` does."""
        return self._once(
            call, Request(api=COMPUTE, method="POST", path=path, body=body, patience=_PATIENCE, only_reads=True)
        )

    def _once(self, call: Call, request: Request) -> _Found:
        """Send a request, unless the same one was sent before."""
        key = (f"{request.api.name}/{request.path}", repr((sorted(request.query.items()), request.body)))
        with self._lock:
            is_first = key not in self._found
            found = self._found.setdefault(key, Future())
        if is_first:
            self._fill(found, key, call, request)
        return found.result()

    def _fill(self, found: Future[_Found], key: _Key, call: Call, request: Request) -> None:
        try:
            found.set_result(self._send(call, request))
        except BaseException as error:  # noqa: BLE001 - every error is passed on to the waiting threads
            # An entry that stays would give this error to later lookups, too.
            with self._lock:
                if self._found.get(key) is found:
                    del self._found[key]
            found.set_exception(error)

    def _send(self, call: Call, request: Request) -> _Found:
        try:
            return self.google.send(request, call)
        except NotFound:
            return None
        except ApiError as error:
            call.warn(f"validateOnline could not check {request.path.partition('/')[2]}: {error}")
            return {}
