"""Google's own clients, connected to an emulator by REST."""

from __future__ import annotations

import importlib
from typing import Any, TypeVar

from gcpx_emulator.testing.control import EmulatorError

_Client = TypeVar("_Client")
_OPERATIONS = {
    "global_operations": "GlobalOperationsClient",
    "region_operations": "RegionOperationsClient",
    "zone_operations": "ZoneOperationsClient",
}
"""The clients of Compute Engine that follow operations, by the attribute of other clients that holds them."""


def connect(kind: type[_Client], host: str, project: str, credentials: Any = None) -> _Client:
    """Return a client of this class for the emulator at `host`, by default without credentials.

    Raises:
        EmulatorError: if the class is not a Google client that can use REST.
    """
    from google.auth.credentials import AnonymousCredentials  # noqa: PLC0415 - only who has Google's clients needs it

    made: Any = kind
    credentials = credentials or AnonymousCredentials()
    if kind.__module__.startswith("google.cloud.storage"):
        client: _Client = made(
            project=project, credentials=credentials, client_options={"api_endpoint": f"http://{host}"}
        )
        return client
    options = {"host": host, "url_scheme": "http", "credentials": credentials}
    try:
        transport = made.get_transport_class("rest")(**options)
    except (AttributeError, KeyError):
        raise EmulatorError(f"{kind.__module__}.{kind.__qualname__} is not a Google client with REST") from None
    # A client itself creates the clients that follow its operations, for Google's host.
    if hasattr(transport, "_extended_operations_services"):
        compute = importlib.import_module("google.cloud.compute_v1")
        for name, class_name in _OPERATIONS.items():
            operations = getattr(compute, class_name)
            polling = operations.get_transport_class("rest")(**options)
            transport._extended_operations_services[name] = operations(transport=polling)  # noqa: SLF001 - no public way
    connected: _Client = made(transport=transport)
    return connected
