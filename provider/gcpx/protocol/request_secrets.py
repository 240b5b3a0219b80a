"""The secrets in the engine's requests, which no message about a request may contain."""

from __future__ import annotations

import contextlib
from typing import Any, Final

from google.protobuf import struct_pb2

from gcpx.errors import ProviderError, UserError
from gcpx.model.fields import ObjectType
from gcpx.model.secrecy import secret_texts
from gcpx.protocol.plugin import Plugin
from gcpx.protocol.wire import decode

_OF_RESOURCES: Final = ("CheckRequest", "DiffRequest", "CreateRequest", "ReadRequest", "UpdateRequest", "DeleteRequest")


def secrets_in(request: Any, plugin: Plugin) -> frozenset[str]:
    """Return the texts that are secret in the values of a request, marked or by declaration, and in the settings."""
    kind = _declaration(request, plugin)
    texts = plugin.secrets
    for _, value in request.ListFields():
        if isinstance(value, struct_pb2.Struct):
            with contextlib.suppress(UserError):  # an unsupported value; usually that is the error to be reported
                texts |= secret_texts(kind, decode(value))
    return texts


def resource_token(request: Any) -> str:
    """Return the type token of the resource that a request is about."""
    return str(request.type or request.urn.split("::")[2].rpartition("$")[2])


def _declaration(request: Any, plugin: Plugin) -> ObjectType | None:
    """Return what declares the values of a request; None if nothing does."""
    name = type(request).__name__
    with contextlib.suppress(ProviderError, IndexError):
        if name == "InvokeRequest":
            return plugin.function(request.tok).type
        if name == "ListRequest":
            return plugin.resource(request.token).query_type
        if name in _OF_RESOURCES and "pulumi:providers:" not in request.urn:
            return plugin.resource(resource_token(request)).type
        return plugin.config_type
    return None
