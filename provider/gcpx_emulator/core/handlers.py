"""The handlers of methods: functions that get a call and give the response."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from gcpx_emulator.core.call import Call

Handler = Callable[[Call], Any]
"""Gives the JSON of the response, None for an empty one, a Response, or a coroutine that gives one of these."""
HANDLERS: Final[dict[str, Handler]] = {}
"""Every handler, by method ID."""
_H = TypeVar("_H", bound=Handler)


def handles(*methods: str) -> Callable[[_H], _H]:
    """Register the handler of one or more methods, by their IDs."""

    def register(handler: _H) -> _H:
        HANDLERS.update(dict.fromkeys(methods, handler))
        return handler

    return register
