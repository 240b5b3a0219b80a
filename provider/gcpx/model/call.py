"""What belongs to one call of the engine: cancellation, time limit, and messages to the user."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from typing import Any

import attrs

from gcpx.model.values import Path


@attrs.frozen(kw_only=True)
class Call:
    """One call of the engine.

    Attributes:
        urn: the resource's URN.
        timeout: the user's custom timeout in seconds; None without one.
        cancelled: set when the user asks to stop; every wait watches it.
        progress: shows a line in the engine's Info column; the next line replaces it.
        inform: prints a line with the resource's name, which stays in the output.
        warn: prints a warning with the resource's name.
        last: the outputs in state before this call, with secrets revealed.
        changed: in an update, the paths of the inputs that differ.
        autonamed: whether the resource's name was generated.
        provider_id: the ID of the provider's resource in the stack, which no other stack has; empty if there is none.
        shown: what the engine has shown of this resource's state since Configure: IDs, numeric IDs, generated names.
        in_state: the IDs of all resources that the engine has shown or that were created since Configure.
    """

    urn: str
    timeout: float | None
    cancelled: threading.Event
    progress: Callable[[str], None]
    inform: Callable[[str], None]
    warn: Callable[[str], None]
    last: dict[str, Any] = attrs.Factory(dict)
    changed: tuple[Path, ...] = ()
    autonamed: bool = False
    provider_id: str = ""
    shown: frozenset[str] = frozenset()
    in_state: Collection[str] = frozenset()

    @property
    def token(self) -> str:
        """The resource's type token."""
        return self.urn.split("::")[2].rpartition("$")[2]
