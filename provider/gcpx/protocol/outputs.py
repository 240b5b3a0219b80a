"""The outputs of a creation or an update, in the protocol's form and with secrets marked."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import attrs

from gcpx.model import lifecycle
from gcpx.model.naming import UNFINISHED, UNREAD, without_hidden
from gcpx.model.resource import Growing, PartialError, Resource, State
from gcpx.model.secrecy import mark_secrets
from gcpx.model.state import pack_hidden
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

    resource: Resource[Any]
    inputs: dict[str, Any]
    old: dict[str, Any] = attrs.Factory(dict)
    prior: dict[str, Any] = attrs.Factory(dict)

    def predicted(self, unchanged: Collection[str] = ()) -> Any:
        """Write the outputs that a preview shows; `unchanged` are volatile ones that the update does not change."""
        return self._marked(lifecycle.predict(self.resource, reveal(self.inputs), self.prior, unchanged))

    def written(self, state: State, partial: PartialError | None) -> Any:
        """Write the outputs of an existing resource.

        Raises InitFailed if `partial` says that work is left; the engine then keeps the resource. Its inputs are the
        new ones, or the old ones if they were restored.
        """
        unfinished = str(partial) if partial is not None else ""
        restored = partial.inputs if partial is not None else None
        inputs, given = (self.inputs, reveal(self.inputs)) if restored is None else (self.old, restored)
        try:
            is_done = partial is None
            reached = lifecycle.outputs_of(self.resource, state, given, is_reached=is_done, is_finished=is_done)
            written = self._marked(reached)
        except Exception as error:  # noqa: BLE001 - whatever it is, the engine has to learn the ID of what exists
            written, unfinished = self._unread(state), str(NotUnderstood(error))
        if unfinished:
            is_read_first = lifecycle.is_read_first(self.resource, state, is_finished=False, validates_online=False)
            raise InitFailed(state.id, written, encode(inputs), unfinished, is_read_first=is_read_first)
        return written

    def _unread(self, state: State) -> Any:
        known = {**reveal(self.prior), **without_hidden(reveal(self.inputs)), UNREAD: True}
        if isinstance(self.resource, Growing):
            known[UNFINISHED] = True
        return self._marked(known | lifecycle.hidden_outputs(state))

    def _marked(self, values: dict[str, Any]) -> Any:
        marked = mark_secrets(self.resource.type, values, self.inputs, former=(self.old, self.prior))
        return encode(pack_hidden(self.resource.type, marked))
