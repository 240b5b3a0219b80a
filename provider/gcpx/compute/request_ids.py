"""Request IDs that another run derives again, and by which it finds what an interrupted run inserted."""

from __future__ import annotations

import hashlib
import json
import uuid
from typing import Any, Final

import attrs

from gcpx.model.call import Call

_STACK: Final = 8
"""The hexadecimal digits of a request ID that are derived from the provider's ID."""


@attrs.frozen(kw_only=True)
class RequestIds:
    """The request IDs of one insertion, as UUIDs.

    The first 8 digits follow from the provider's ID, which is unique to a stack, and the next 7 from the URN. So the
    operations of all insertions of a stack, and of a resource, can be listed. The other digits follow from the content,
    or are random. Without a provider's ID, the whole request ID follows from the content, or is random.

    Attributes:
        call: the engine's call, which knows the provider's ID and the URN.
        namespace: the UUID that keeps inserts of different kinds apart.
        content: JSON values that distinguish this insert from all others of the resource.
    """

    call: Call
    namespace: uuid.UUID
    content: list[Any]

    def derived(self, number: int) -> str:
        """Return a request ID of the sequence, which begins at 0."""
        given = [self.call.provider_id] if self.call.provider_id else []
        content = json.dumps([*given, self.call.urn, *self.content, number], sort_keys=True)
        return self._marked(uuid.uuid5(self.namespace, content))

    def random(self) -> str:
        """Return a request ID that no other run derives; it also shows whose it is."""
        return self._marked(uuid.uuid4())

    def _marked(self, request_id: uuid.UUID) -> str:
        return f"{resource_mark(self.call)}{str(request_id)[18:]}" if self.call.provider_id else str(request_id)


def stack_mark(provider_id: str) -> str:
    """Return the digits with which all request IDs of a stack begin."""
    return hashlib.sha256(provider_id.encode()).hexdigest()[:_STACK]


def resource_mark(call: Call) -> str:
    """Return the digits with which the request IDs of a resource begin; the call must have a provider's ID."""
    of_urn = hashlib.sha256(f"{call.provider_id} {call.urn}".encode()).hexdigest()
    return f"{stack_mark(call.provider_id)}-{of_urn[:4]}-5{of_urn[4:7]}"
