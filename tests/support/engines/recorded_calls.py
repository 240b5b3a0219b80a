"""The calls that an engine makes about resources, as words: the method, and the name of the resource."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from engines import driver
from engines.clocked import ClockedProvider
from engines.driver import Engine


class _Recorder:
    """A connection to a plugin that notes each call about a resource."""

    def __init__(self, stub: Any, calls: list[str]) -> None:
        self._stub, self._calls = stub, calls

    def __getattr__(self, method: str) -> Callable[[Any], Any]:
        def call(request: Any) -> Any:
            if "::gcpx:" in getattr(request, "urn", ""):
                olds = method == "Check" and bool(request.olds.fields)
                self._calls.append(words(method, request.urn, olds=olds, preview=getattr(request, "preview", False)))
            return getattr(self._stub, method)(request)

        return call


def words(method: str, urn: str, *, olds: bool, preview: bool) -> str:
    """Describe a call."""
    return " ".join([method, *["olds"] * olds, *["preview"] * preview, urn.rpartition("::")[2]])


def recording(calls: list[str]) -> Callable[[], AbstractContextManager[Engine]]:
    """Return what starts plugins whose calls are recorded."""

    @contextmanager
    def start() -> Iterator[Engine]:
        with driver.connected(ClockedProvider()) as engine:
            engine.stub = _Recorder(engine.stub, calls)
            yield engine

    return start
