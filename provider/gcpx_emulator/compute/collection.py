"""Collections of resources that are created, read, listed, changed and deleted in the same way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import attrs

from gcpx_emulator.compute.call import Call, check_free, check_name, check_ready, handles
from gcpx_emulator.compute.lists import Page, aggregate, list_items, show
from gcpx_emulator.compute.locations import REGIONS, check_location
from gcpx_emulator.core.clock import pacific_timestamp
from gcpx_emulator.core.errors import ApiError, already_exists, not_found
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.listing import page_with_keys

REGIONAL: Final = tuple(f"regions/{region}" for region in REGIONS)
_NOT_KEPT: Final = frozenset({"gatewayIPv4", "params", "subnetworks", "users"})
"""Input-only fields, and fields that only Google sets although the API's description does not say so."""


def _none(_call: Call) -> list[Json]:
    return []


def _as_stored(_call: Call, resources: list[Json]) -> list[Json]:
    return resources


def _without_users(_call: Call, _path: str) -> list[str]:
    return []


@attrs.frozen(kw_only=True)
class Collection:
    """Resources of one kind.

    Attributes:
        name: the name of the collection in paths, such as `firewalls`.
        singular: the resource's word in parameters and in `kind`, such as `firewall`.
        create: starts the operation of an insertion. Gets the call, the path, and the fields that all resources have.
        methods: the name of the collection in the IDs of methods, if it differs from `name`.
        scopes: the scopes of the aggregated list, if there is one.
        predefined: lists the resources that exist from the start in the scope of a call; they cannot be deleted.
        complete: adds to resources in a call's scope the fields that follow from other resources.
        users: lists the paths of the resources that use the one at a path; it cannot be deleted while there are any.
    """

    name: str
    singular: str
    create: Callable[[Call, str, Json], Json]
    methods: str = ""
    scopes: Sequence[str] = REGIONAL
    predefined: Callable[[Call], list[Json]] = _none
    complete: Callable[[Call, list[Json]], list[Json]] = _as_stored
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
            handles(f"compute.{self.methods or self.name}.{verb}")(handlers[verb])

    def insert(self, call: Call) -> Json:
        """Create a resource."""
        check_location(call)
        name = check_name(call.body)
        path = f"{self._path(call)}/{name}"
        if any(item["name"] == name for item in self.predefined(call)):
            raise already_exists(path)
        check_free(call, path)
        region = {"region": call.url(call.parent)} if "region" in call.path else {}
        return self.create(call, path, self.head(call, path) | region)

    def head(self, call: Call, path: str) -> Json:
        """Write the fields that every new resource has."""
        return {
            "kind": f"compute#{self.singular}",
            "id": call.store.new_id(),
            "creationTimestamp": pacific_timestamp(),
            "selfLink": call.url(path),
        }

    def find(self, call: Call) -> tuple[str, Json]:
        """Return the path and the resource that a call names by its name or numeric ID; it must exist."""
        check_location(call)
        wanted = call.path[self.singular]
        for item in self.predefined(call):
            if wanted in {item["name"], item["id"]}:
                path = f"{self._path(call)}/{item['name']}"
                return path, call.store.get(path) or item
        path = f"{self._path(call)}/{wanted}"
        return path, call.read(path)

    def get(self, call: Call) -> Json:
        """Read a resource."""
        _, item = self.find(call)
        return show(call, self.complete(call, [item])[0])

    def list_scope(self, call: Call) -> Json:
        """List the resources of a scope."""
        check_location(call)
        items = [show(call, item) for item in self._items(call).values()]
        return list_items(call, f"compute#{self.singular}List", self._path(call), items)

    def aggregate(self, call: Call) -> Json:
        """List the resources of several scopes."""
        kind = f"compute#{self.singular}AggregatedList"
        return aggregate(call, self.name, kind, self.scopes, lambda paths: self._page(call, paths))

    def _page(self, call: Call, collections: list[str]) -> Page:
        """Read a page of resources in several scopes; `collections` are the paths of their collections."""
        items: dict[str, Json] = {}
        for scope in self.scopes:
            kind, _, place = scope.partition("/")
            own = attrs.evolve(call, path={**call.path, "region": place}) if kind == "regions" else call
            if self._path(own) in collections:
                items |= self._items(own)
        return page_with_keys(lambda last: (row for row in sorted(items.items()) if row[0] > last), call.query)

    def change(self, call: Call, kind: str, fields: Json) -> Json:
        """Start the operation that sets fields of a resource; None removes a field. `kind` is the operation's type."""
        path, current = self.find(call)
        check_ready(call, path)
        if call.store.get(path) is None:
            call.store.put(path, current)  # a predefined resource
        return call.update(kind, path, current | fields)

    def delete(self, call: Call) -> Json:
        """Delete a resource that nothing uses."""
        path = self.deletable(call)
        if users := self.users(call, path):
            raise ApiError(400, in_use(self.singular, path, users[0]), "resourceInUseByAnotherResource")
        return call.delete(path)

    def deletable(self, call: Call) -> str:
        """Return the path of the resource that a call deletes."""
        name = call.path[self.singular]
        path = f"{self._path(call)}/{name}"
        if any(name in {item["name"], item["id"]} for item in self.predefined(call)):
            raise ApiError(501, f"The emulator does not delete '{path}', which every project has from the start.")
        if call.store.get(path) is None:
            raise not_found(path)
        check_ready(call, path)
        return path

    def _items(self, call: Call) -> dict[str, Json]:
        """Read the resources of a scope, by path."""
        collection = self._path(call)
        found = {f"{collection}/{item['name']}": item for item in self.predefined(call)}
        found |= dict(call.store.scan([collection]))
        return dict(zip(found, self.complete(call, list(found.values())), strict=True)) if found else {}

    def _path(self, call: Call) -> str:
        return f"{call.parent}/{self.name}"


def given(call: Call) -> Json:
    """Return the fields of a request for a new resource that the resource keeps."""
    return {name: value for name, value in call.body.items() if name not in _NOT_KEPT}


def in_use(kind: str, path: str, user: str) -> str:
    """Say that a resource cannot be deleted because another one uses it; both are named by their paths."""
    return f"The {kind} resource '{path}' is already being used by '{user}'"
