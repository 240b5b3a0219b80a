"""A call of a custom method that creates something on a resource: made once, as insertions are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from gcpx.compute.collection import NAMESPACE, Collection
from gcpx.compute.idempotent_insert import Fate, IdempotentInsert, Inserted
from gcpx.compute.lost_responses import refusing_what_others_created
from gcpx.compute.operation_outcome import Outcome
from gcpx.compute.request_ids import RequestIds, resource_mark
from gcpx.gcp.apis import COMPUTE
from gcpx.gcp.request import Request
from gcpx.model.call import Call
from gcpx.model.naming import UNREAD


@attrs.frozen(kw_only=True)
class MethodCall:
    """A call of a custom method of one resource, such as `attachDisk`.

    Attributes:
        collection: where the resource is.
        name: the resource's name.
        body: the JSON of the body.
        query: parameters beside the request ID.
        inverse: the method that undoes it.
        exists: tells whether what it creates exists.
    """

    collection: Collection
    name: str
    method: str
    body: Any
    query: Mapping[str, Any]
    inverse: str
    exists: Callable[[], bool]

    def run_once(self, call: Call) -> Inserted:
        """Make the call, once across retries and further runs; return how it ended.

        Raises the same as `Collection.insert`.
        """
        path, operations = f"{self.collection.url_of(self.name)}/{self.method}", self.collection.operations
        wait = self.collection.wait(f"{self.method} of {self.collection.path}/{self.name}")

        def send(request_id: str) -> dict[str, Any]:
            query = {**self.query, "requestId": request_id}
            request = Request(api=COMPUTE, method="POST", path=path, query=query, body=self.body)
            with refusing_what_others_created(operations, call, self.collection.scope, request_id, self.exists):
                return self.collection.google.send(request, call)

        inserted = IdempotentInsert(
            request_ids=RequestIds(call=call, namespace=NAMESPACE, content=[path, self.body, {**self.query}]),
            send=send,
            wait=lambda operation: operations.outcome(call, operation, wait),
            fate=lambda outcome: self._fate(call, outcome),
            was_known=lambda operation: bool(call.last.get(UNREAD)) or self._may_be_undone(call, operation),
        ).run()
        inserted.outcome.result()
        return inserted

    def _fate(self, call: Call, outcome: Outcome) -> Fate:
        """Tell whether what an operation was to create exists and is to be used.

        If it was undone since, and somebody else may have created it again, it is not to be used, even if it exists.
        Operations do not say what on the resource they undo, unless by their request IDs they are this resource's own.
        """
        if outcome.error is not None:
            return Fate.GONE
        live, operation, target = (
            self.collection.get(call, self.name),
            outcome.operation,
            str(outcome.operation.get("targetId")),
        )
        operations, scope = self.collection.operations, self.collection.scope
        if live is None or str(live["id"]) != target:
            return Fate.GONE if target in operations.deleted_since(call, scope, operation) else Fate.UNSEEN
        if self.exists():
            was_repeated = operations.were_begun_in_turn(call, scope, operation, (self.inverse, self.method))
            return Fate.GONE if was_repeated else Fate.FOUND
        is_undone = call.provider_id and self._may_be_undone(call, operation, resource_mark(call))
        return Fate.GONE if is_undone else Fate.UNSEEN

    def _may_be_undone(self, call: Call, operation: Mapping[str, Any], beginning: str = "") -> bool:
        """Return whether something on the resource was undone since, by a request whose ID begins with given digits."""
        operations, scope = self.collection.operations, self.collection.scope
        undone = operations.changed_since(call, scope, operation, {self.inverse}, beginning)
        return str(operation.get("targetId")) in undone
