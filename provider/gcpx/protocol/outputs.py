"""The outputs of a creation or an update, in the protocol's form and with secrets marked."""

from __future__ import annotations

from typing import Any

import attrs

from gcpx.model import lifecycle
from gcpx.model.naming import UNREAD, without_hidden
from gcpx.model.resource import PartialError, Resource, State
from gcpx.model.secrecy import mark_secrets
from gcpx.model.values import reveal
from gcpx.protocol.failures import InitFailed, NotUnderstood
from gcpx.protocol.wire import encode


@attrs.frozen
class Outputs:
    """Writes outputs for given inputs.

    Attributes:
        inputs: the new inputs, with secrets marked.
        old: the inputs before an update, with secrets marked.
        prior: the outputs before an update, with secrets marked.
    """

    resource: Resource
    inputs: dict[str, Any]
    old: dict[str, Any] = attrs.Factory(dict)
    prior: dict[str, Any] = attrs.Factory(dict)

    def predicted(self) -> Any:
        """Write the outputs of a preview."""
        return self._marked(lifecycle.predict(self.resource, reveal(self.inputs), self.prior))

    def written(self, state: State, partial: PartialError | None) -> Any:
        """Write the outputs of an existing resource.

        Raises InitFailed if `partial` says that work is left; the engine then keeps the resource. Its inputs are the
        new ones, or the old ones if they were restored.
        """
        unfinished = str(partial) if partial is not None else ""
        restored = partial.inputs if partial is not None else None
        inputs, given = (self.inputs, reveal(self.inputs)) if restored is None else (self.old, restored)
        try:
            written = self._marked(lifecycle.outputs_of(self.resource, state, given))
        except Exception as error:  # noqa: BLE001 - whatever it is, the engine has to learn the ID of what exists
            written, unfinished = self._unread(state), str(NotUnderstood(error))
        if unfinished:
            raise InitFailed(state.id, written, encode(inputs), unfinished)
        return written

    def _unread(self, state: State) -> Any:
        known = {**reveal(self.prior), **without_hidden(reveal(self.inputs)), UNREAD: True}
        return self._marked(known | lifecycle.hidden_outputs(state))

    def _marked(self, values: dict[str, Any]) -> Any:
        return encode(mark_secrets(self.resource.type, values, self.inputs, former=(self.old, self.prior)))
