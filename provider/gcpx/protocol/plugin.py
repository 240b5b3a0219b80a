"""What the servicer serves."""

from __future__ import annotations

from typing import Any, Protocol

from gcpx.model.call import Call
from gcpx.model.check import Report
from gcpx.model.diff import Change
from gcpx.model.fields import ObjectType
from gcpx.model.function import Function
from gcpx.model.resource import Resource


class Plugin(Protocol):
    """A provider, as the protocol needs it."""

    version: str

    @property
    def secrets(self) -> frozenset[str]:
        """Texts that no message may hold."""

    @property
    def validates_online(self) -> bool:
        """Whether the user wants Google asked at preview."""

    def schema(self) -> str:
        """Give the package's schema as JSON."""

    @property
    def config_type(self) -> ObjectType:
        """The configuration's declaration as data."""

    def check_config(self, inputs: dict[str, Any]) -> Report:
        """Check the provider's configuration, and what the environment adds to it."""

    def diff_config(self, old: dict[str, Any], new: dict[str, Any]) -> list[Change]:
        """Compare two configurations."""

    def configure(self, args: dict[str, Any]) -> None:
        """Take a configuration; no network."""

    def resource(self, token: str) -> Resource:
        """Find the resource of a type token."""

    def function(self, token: str) -> Function:
        """Find the function of a token."""

    def cancel(self) -> None:
        """Wake every wait."""

    def close(self) -> None:
        """Release all resources."""

    def call(self, **surroundings: Any) -> Call:
        """Bundle what surrounds one call."""
