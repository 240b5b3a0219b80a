"""What surrounds one call of the engine: cancellation, time limit, and how to tell the user something."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import attrs


@attrs.frozen(kw_only=True)
class Call:
    """What surrounds one engine call.

    Attributes:
        urn: the resource's URN.
        timeout: the user's custom timeout in seconds, or None.
        cancelled: set when the user asks to stop; every wait watches it.
        progress: shows a line in the engine's Info column.
        warn: prints a warning with the resource's name.
        last: the outputs of the last operation, without secrets.
    """

    urn: str
    timeout: float | None
    cancelled: threading.Event
    progress: Callable[[str], None]
    warn: Callable[[str], None]
    last: dict[str, Any] = attrs.Factory(dict)
