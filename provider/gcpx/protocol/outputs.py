"""The outputs of a creation or an update, in the protocol's form and with secrets marked."""

from __future__ import annotations

from typing import Any

import attrs

from gcpx.model import lifecycle
from gcpx.model.resource import Live, Resource
from gcpx.model.secrecy import mark_former_secrets, mark_secrets
from gcpx.model.values import reveal
from gcpx.protocol.wire import encode


@attrs.frozen
class Outputs:
    """Writes the outputs that follow from inputs.

    Attributes:
        inputs: the new inputs, with secrets marked.
        old: the inputs before an update, with secrets marked.
        last: the outputs before an update, with secrets marked.
    """

    resource: Resource
    inputs: dict[str, Any]
    old: dict[str, Any] = attrs.Factory(dict)
    last: dict[str, Any] = attrs.Factory(dict)

    def predicted(self) -> Any:
        """Write the outputs that a preview shows."""
        return self._marked(lifecycle.predict(self.resource, reveal(self.inputs), self.last))

    def state(self, live: Live) -> Any:
        """Write the outputs of what exists."""
        return self._marked(lifecycle.outputs_of(self.resource, live, reveal(self.inputs)))

    def _marked(self, values: dict[str, Any]) -> Any:
        marked = mark_secrets(self.resource.type, values, self.inputs)
        return encode(mark_former_secrets(self.resource.type, marked, self.inputs, self.old, self.last))
