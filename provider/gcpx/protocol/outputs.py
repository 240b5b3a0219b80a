"""The outputs of a resource as messages of the protocol, with secrets marked."""

from __future__ import annotations

from typing import Any

from gcpx.model import lifecycle
from gcpx.model.resource import Live, Resource
from gcpx.model.secrecy import mark_secrets
from gcpx.model.values import reveal
from gcpx.protocol.wire import encode


def outputs_message(resource: Resource, live: Live, inputs: dict[str, Any]) -> Any:
    """Write the outputs of a resource; the inputs, which may hold secrets, tell which values are secret."""
    return encode(mark_secrets(resource.type, lifecycle.outputs_of(resource, live, reveal(inputs)), inputs))


def predicted_outputs(resource: Resource, inputs: dict[str, Any], last: dict[str, Any]) -> Any:
    """Write what a preview predicts; inputs and last outputs may hold secrets."""
    return encode(mark_secrets(resource.type, lifecycle.predict(resource, reveal(inputs), last), inputs))
