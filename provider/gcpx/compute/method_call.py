"""A call of a custom method that creates something on a resource: made once, as insertions are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from gcpx.compute.collection import NAMESPACE, Collection
from gcpx.compute.idempotent_insert import Fate, IdempotentInsert
from gcpx.compute.lost_responses import refusing_what_others_created
from gcpx.compute.operation_outcome import Outcome
from gcpx.compute.request_ids import RequestIds
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

    def run_once(self, call: Call) -> bool:
        """Make the call, once across retries and further runs; return whether an earlier run may have made it.

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
            was_known=lambda _: bool(call.last.get(UNREAD)),
        ).run()
        inserted.outcome.result()
        return inserted.earlier

    def _fate(self, call: Call, outcome: Outcome) -> Fate:
        """Tell whether what an operation was to create exists and is to be used.

        If it was undone since, it is not to be used, even if it exists: somebody else may have created it again.
        """
        if outcome.error is not None:
            return Fate.GONE
        live, operation, operations = (
            self.collection.get(call, self.name),
            outcome.operation,
            self.collection.operations,
        )
        if live is None or str(live["id"]) != str(operation.get("targetId")):
            return Fate.GONE
        if self.exists():
            was_undone = operations.were_begun_after(call, self.collection.scope, operation, self.inverse)
            return Fate.GONE if was_undone else Fate.FOUND
        undone = operations.changed_since(call, self.collection.scope, operation, {self.inverse})
        return Fate.GONE if str(live["id"]) in undone else Fate.UNSEEN
