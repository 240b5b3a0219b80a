"""What the servicer needs from a provider."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol

from gcpx.model.check import Report
from gcpx.model.diff import Change
from gcpx.model.fields import ObjectType
from gcpx.model.function import Function
from gcpx.model.resource import Resource


class Plugin(Protocol):
    """A provider: its settings, its resources and its functions."""

    version: str
    parallel: int
    """How many requests a call may have under way at the same time."""
    cancelled: threading.Event
    """Set when the engine cancels; every wait watches it."""
    clock: Callable[[], float]
    """Gives the time in seconds, from any starting point; the limits of calls are in this time."""

    @property
    def secrets(self) -> frozenset[str]:
        """Strings in the configuration that no message may contain."""

    @property
    def validates_online(self) -> bool:
        """Whether the user wants online checks at preview."""

    def schema(self) -> str:
        """Return the package's schema as JSON."""

    @property
    def config_type(self) -> ObjectType:
        """The configuration's declaration as data."""

    def check_config(self, inputs: dict[str, Any]) -> Report:
        """Check the provider's configuration, together with the environment variables that add to it."""

    def diff_config(self, old: dict[str, Any], new: dict[str, Any]) -> list[Change]:
        """Compare two configurations."""

    def configure(self, args: dict[str, Any]) -> None:
        """Take a configuration; offline."""

    def resource(self, token: str) -> Resource:
        """Find the resource of a type token."""

    def function(self, token: str) -> Function:
        """Find the function of a token."""

    def cancel(self) -> None:
        """Wake every wait."""

    def close(self) -> None:
        """Release all resources."""
