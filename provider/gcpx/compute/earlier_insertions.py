"""What earlier runs of a resource inserted, and what no state has because these runs were interrupted."""

from __future__ import annotations

import re
import threading
from typing import Any

import attrs

from gcpx.compute.collection import Collection, inserted_name
from gcpx.compute.operations import Operations
from gcpx.compute.request_ids import resource_mark, stack_mark
from gcpx.errors import CancelledError, OutOfTimeError, ProviderError
from gcpx.model.call import Call
from gcpx.model.import_command import separate_import_command

Operation = dict[str, Any]
"""An operation as the API returns it (REST JSON)."""


@attrs.define
class EarlierInsertions:
    """The insertions of earlier runs, by the request IDs of their operations.

    The operations of a scope are listed once in a process, for all resources of a stack. Without a provider's ID, which
    tells stacks apart, nothing is listed.

    Attributes:
        token: the type token of the resources, for messages.
    """

    token: str
    _lists: dict[str, list[Operation]] = attrs.Factory(dict)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, eq=False)

    def warn(self, call: Call, collection: Collection, own: Operation) -> None:
        """Warn of resources that earlier runs inserted and that no state has.

        Args:
            call: the engine's call, which creates a resource with a generated name.
            collection: where the resource is.
            own: the operation that created it.
        """
        if not call.autonamed or not call.provider_id:
            return
        for operation in self.of_resource(call, collection.operations, collection.scope):
            name = inserted_name(operation, "")
            if operation.get("targetId") != own.get("targetId") and not {name, operation.get("targetId")} & call.shown:
                self._warn_if_it_exists(call, collection, name, operation)

    def of_resource(self, call: Call, operations: Operations, scope: str) -> list[Operation]:
        """Return the operations by which earlier runs of a resource inserted something, without those that failed.

        There are none after a cancellation, because only a warning depends on them.
        """
        place = f"{call.provider_id} {operations.path}/{scope}"
        try:
            with call.holding(self._lock, f"GET {operations.path}/{scope}/operations", reading=True):
                if place not in self._lists:
                    self._lists[place] = _listed(call, operations, scope)
                found = self._lists[place]
        except (CancelledError, OutOfTimeError):
            return []
        mark = resource_mark(call)
        return [item for item in found if str(item.get("clientOperationId", "")).startswith(mark)]

    def _warn_if_it_exists(self, call: Call, collection: Collection, name: str, operation: Operation) -> None:
        resource_id = collection.id_of(name)
        if call.urn_of(resource_id) is not None:
            return
        try:
            found = collection.get_inserted(call, name, operation)
        except ProviderError:
            return
        if found is not None:
            call.warn(orphan_warning(call, resource_id, _deletion(collection, name)))


def orphan_warning(call: Call, resource_id: str, deletion: str) -> str:
    """Return the warning about something that an interrupted run of this resource created; `deletion` is a command."""
    return (
        f"{resource_id} exists, and an earlier run of this resource created it. Unless this run deletes it, or another "
        f"resource or stack has taken it over, it is in no state: delete it with `{deletion}`, or keep it as one more "
        f"resource: run {separate_import_command(call, resource_id)}, and add the code that this prints to the program"
    )


def _listed(call: Call, operations: Operations, scope: str) -> list[Operation]:
    """List the operations of a stack; none if they cannot be listed, because only a warning depends on them."""
    try:
        return operations.begun_by_requests(call, scope, f"{stack_mark(call.provider_id)}-", patience=0.0)
    except ProviderError:
        return []


def _deletion(collection: Collection, name: str) -> str:
    """Return the command that deletes a resource of a collection."""
    scope, kind = collection.scope, collection.path.rpartition("/")[2]
    words = re.sub("[A-Z]", lambda found: f"-{found[0].lower()}", kind)
    region = f" --region={scope.rpartition('/')[2]}" if scope.startswith("regions/") else ""
    return f"gcloud compute {words} delete {name} --project={collection.project}{region}"
