"""Collections of resources that are created, read, listed and deleted in the same way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import attrs

from gcpx_emulator.compute.call import Call, check_free, check_name, check_ready, handles
from gcpx_emulator.compute.lists import list_head, list_items, scope_warning, show
from gcpx_emulator.compute.locations import REGIONS, check_location
from gcpx_emulator.core.clock import pacific_timestamp
from gcpx_emulator.core.errors import ApiError, already_exists, not_found
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.listing import page_of

_SCOPES: Final = tuple(f"regions/{region}" for region in REGIONS)


def _none(_call: Call) -> list[Json]:
    return []


def _as_stored(_call: Call, resource: Json) -> Json:
    return resource


def _without_users(_call: Call, _path: str) -> list[str]:
    return []


@attrs.frozen(kw_only=True)
class Collection:
    """Resources of one kind.

    Attributes:
        name: the name of the collection, such as `firewalls`.
        singular: what one of them is called in the path and in `kind`, such as `firewall`.
        create: starts the operation that creates one. Gets the call, the path, and the fields that all resources have.
        predefined: lists those that exist from the start in the scope of a call; they cannot be deleted.
        complete: adds the fields that follow from other resources.
        users: lists the paths of what uses the one at a path, which therefore cannot be deleted.
    """

    name: str
    singular: str
    create: Callable[[Call, str, Json], Json]
    predefined: Callable[[Call], list[Json]] = _none
    complete: Callable[[Call, Json], Json] = _as_stored
    users: Callable[[Call, str], list[str]] = _without_users

    def register(self, *verbs: str) -> None:
        """Register the handlers of these methods."""
        handlers = {
            "aggregatedList": self.aggregate,
            "delete": self.delete,
            "get": self.get,
            "insert": self.insert,
            "list": self.list_scope,
        }
        for verb in verbs:
            handles(f"compute.{self.name}.{verb}")(handlers[verb])

    def insert(self, call: Call) -> Json:
        """Create one."""
        check_location(call)
        name = check_name(call.body)
        path = f"{self._path(call)}/{name}"
        if any(item["name"] == name for item in self.predefined(call)):
            raise already_exists(path)
        check_free(call, path)
        head = {
            "kind": f"compute#{self.singular}",
            "id": call.store.new_id(),
            "creationTimestamp": pacific_timestamp(),
            "selfLink": call.url(path),
            **({"region": call.url(call.parent)} if "region" in call.path else {}),
        }
        return self.create(call, path, head)

    def get(self, call: Call) -> Json:
        """Read one by its name or numeric ID."""
        check_location(call)
        wanted = call.path[self.singular]
        for item in self.predefined(call):
            if wanted in {item["name"], item["id"]}:
                return show(call, self.complete(call, item))
        return show(call, self.complete(call, call.read(f"{self._path(call)}/{wanted}")))

    def list_scope(self, call: Call) -> Json:
        """List those of a scope."""
        check_location(call)
        kind = f"compute#{self.singular}List"
        return list_items(call, kind, self._path(call), self._items(call))

    def aggregate(self, call: Call) -> Json:
        """List those of every region."""
        items: list[Json] = []
        for region in REGIONS:
            items += self._items(attrs.evolve(call, path={**call.path, "region": region}))
        shown, token = page_of(items, call.query)
        groups: Json = {scope: {} for scope in _SCOPES}
        for item in shown:
            scope = f"regions/{item['region'].rpartition('/')[2]}"
            groups[scope].setdefault(self.name, []).append(item)
        for scope, group in groups.items():
            if not group:
                message = f"There are no results for scope '{scope}' on this page."
                group["warning"] = scope_warning("NO_RESULTS_ON_PAGE", message, scope)
        kind, path = f"compute#{self.singular}AggregatedList", f"{call.project}/aggregated/{self.name}"
        return list_head(call, kind, path, token) | {"items": groups}

    def delete(self, call: Call) -> Json:
        """Delete one that nothing uses."""
        path = self.deletable(call)
        if users := self.users(call, path):
            raise ApiError(400, in_use(self.singular, path, users[0]), "resourceInUseByAnotherResource")
        return call.delete(path)

    def deletable(self, call: Call) -> str:
        """Return the path of the one that a call deletes."""
        name = call.path[self.singular]
        path = f"{self._path(call)}/{name}"
        if any(item["name"] == name for item in self.predefined(call)):
            raise ApiError(501, f"The emulator does not delete '{path}', which every project has from the start.")
        if call.store.get(path) is None:
            raise not_found(path)
        check_ready(call, path)
        return path

    def _items(self, call: Call) -> list[Json]:
        found = [*self.predefined(call), *call.store.list(self._path(call))]
        return [show(call, self.complete(call, item)) for item in found]

    def _path(self, call: Call) -> str:
        return f"{call.parent}/{self.name}"


def in_use(kind: str, path: str, user: str) -> str:
    """Say that a resource cannot be deleted because another one uses it; both are named by their paths."""
    return f"The {kind} resource '{path}' is already being used by '{user}'"
