"""The interface of a provider for the servicer, and the secrets in a request."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any, Final, Protocol

from google.protobuf import struct_pb2

from gcpx.errors import ProviderError
from gcpx.model.check import CheckResult
from gcpx.model.diff import Change
from gcpx.model.fields import ObjectType
from gcpx.model.function import Function
from gcpx.model.resource import Resource
from gcpx.model.secrecy import secret_texts
from gcpx.protocol.wire import decode


class Plugin(Protocol):
    """A provider: its settings, its resources and its functions."""

    version: str
    cancelled: threading.Event
    """Set when the engine cancels; every wait watches it."""
    clock: Callable[[], float]
    """Returns the time in seconds, from any starting point; the limits of calls use this clock."""

    @property
    def parallel(self) -> int:
        """The maximum number of concurrent requests of a call."""

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

    def check_config(self, inputs: dict[str, Any]) -> CheckResult:
        """Check the provider's configuration, together with the environment variables that add to it."""

    def diff_config(self, old: dict[str, Any], new: dict[str, Any]) -> list[Change]:
        """Compare two configurations."""

    def configure(self, args: dict[str, Any]) -> None:
        """Set the configuration, in which secrets are marked; offline."""

    def resource(self, token: str) -> Resource[Any]:
        """Find the resource of a type token."""

    def function(self, token: str) -> Function:
        """Find the function of a token."""

    def cancel(self) -> None:
        """Wake every wait."""

    def close(self) -> None:
        """Release all resources."""


def secrets_in(request: Any, plugin: Plugin) -> frozenset[str]:
    """Return the secret texts in the values of a request, marked or by declaration, and in the settings."""
    kind = _declaration(request, plugin)
    texts = plugin.secrets
    for _, value in request.ListFields():
        if isinstance(value, struct_pb2.Struct):
            texts |= secret_texts(kind, decode(value))
    return texts


def resource_token(request: Any) -> str:
    """Return the type token of the resource that a request is about; empty if its URN has none."""
    types: str = request.type or "".join(request.urn.split("::")[2:3])
    return types.rpartition("$")[2]


_OF_RESOURCES: Final = ("CheckRequest", "DiffRequest", "CreateRequest", "ReadRequest", "UpdateRequest", "DeleteRequest")


def _declaration(request: Any, plugin: Plugin) -> ObjectType | None:
    """Return the declaration of a request's values; None if there is none."""
    name = type(request).__name__
    with contextlib.suppress(ProviderError):
        if name == "InvokeRequest":
            return plugin.function(request.tok).type
        if name == "ListRequest":
            return plugin.resource(request.token).query_type
        if name in _OF_RESOURCES and "pulumi:providers:" not in request.urn:
            return plugin.resource(resource_token(request)).type
        return plugin.config_type
    return None
