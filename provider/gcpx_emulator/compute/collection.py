"""Collections of resources that are created, read, listed, changed and deleted in the same way."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Final

import attrs

from gcpx_emulator.compute.call import (
    COLLECTIONS,
    COLLECTIONS_OF_METHODS,
    Call,
    check_free,
    check_name,
    check_ready,
    collection_of,
    handles,
)
from gcpx_emulator.compute.fingerprints import with_label_fingerprint
from gcpx_emulator.compute.lists import aggregate, list_page, show
from gcpx_emulator.compute.locations import REGIONAL, check_location
from gcpx_emulator.core.clock import pacific_timestamp
from gcpx_emulator.core.errors import ApiError, already_exists
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.listing import Page, age, page_of

USUAL: Final = ("delete", "get", "insert", "list")
"""The verbs that nearly all collections have."""
_NOT_KEPT: Final = frozenset({"gatewayIPv4", "params", "routeStatus", "subnetworks", "users"})
"""Input-only fields, and fields that only Google sets although the API's description does not say so."""


def _none(_call: Call) -> list[Json]:
    return []


def _position(row: tuple[str, Json]) -> tuple[int, str]:
    """Return the place of a row in a list of the newest resources."""
    return age(row[1]), row[0]


def _without_users(_call: Call, _path: str) -> list[str]:
    return []


@attrs.frozen(kw_only=True)
class Collection:
    """Resources of one kind.

    Attributes:
        name: the name of the collection in paths, such as `firewalls`.
        singular: the resource's word in parameters and in `kind`, such as `firewall`.
        create: starts the operation of an insertion. Gets the call, the path, and the fields that all resources have.
        scopes: the scopes of the aggregated list, if there is one.
        list_kind: the `kind` of a list, if it is not `compute#SINGULARList`.
        predefined: lists the resources that exist from the start in the scope of a call; they cannot be deleted.
        complete: reads other resources in a scope, and returns what adds the fields that follow from them to one.
        users: lists the paths of the resources that use the one at a path; it cannot be deleted while there are any.
    """

    name: str
    singular: str
    create: Callable[[Call, str, Json], Json]
    scopes: Sequence[str] = REGIONAL
    list_kind: str = ""
    predefined: Callable[[Call], list[Json]] = _none
    complete: Callable[[Call], Callable[[Json], Json]] | None = None
    users: Callable[[Call, str], list[str]] = _without_users

    def register(self, *verbs: str, methods: str = "") -> None:
        """Register the handlers of these methods; `methods` is the collection in their IDs, by default its name."""
        handlers = {
            "aggregatedList": self.aggregate,
            "delete": self.delete,
            "get": self.get,
            "insert": self.insert,
            "list": self.list_scope,
            "setLabels": _set_labels,
        }
        COLLECTIONS[self.singular] = self.name
        if methods:
            COLLECTIONS_OF_METHODS[methods] = self.name
        for verb in verbs:
            handles(f"compute.{methods or self.name}.{verb}")(handlers[verb])

    def insert(self, call: Call) -> Json:
        """Create a resource."""
        check_location(call)
        path = f"{call.parent}/{self.name}/{check_name(call.body)}"
        if path in self._predefined(call):
            raise already_exists(path)
        check_free(call, path)
        kind = call.scope.partition("/")[0].removesuffix("s")
        return self.create(
            call, path, self.head(call, path) | ({} if kind == "global" else {kind: call.url(call.parent)})
        )

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
        for path, item in self._predefined(call).items():
            if wanted in {item["name"], item["id"]}:
                return path, call.store.get(path) or item
        path = f"{call.parent}/{self.name}/{wanted}"
        return path, call.read(path)

    def get(self, call: Call) -> Json:
        """Read a resource."""
        _, item = self.find(call)
        return show(call, self.complete(call)(item) if self.complete else item)

    def list_scope(self, call: Call) -> Json:
        """List the resources of a scope."""
        check_location(call)
        path = f"{call.parent}/{self.name}"
        kind = self.list_kind or f"compute#{self.singular}List"
        return list_page(call, kind, path, lambda: self._page(call, [path], [call.scope]))

    def aggregate(self, call: Call) -> Json:
        """List the resources of several scopes."""
        kind = f"compute#{self.singular}AggregatedList"
        return aggregate(call, self.name, kind, self.scopes, lambda paths: self._page(call, paths, self.scopes))

    def _page(self, call: Call, collections: list[str], scopes: Sequence[str]) -> Page:
        """Read a page of resources in several scopes; `collections` are the paths of their collections."""
        own = {f"{one.parent}/{self.name}": one for one in map(call.within, scopes)}
        own = {path: one for path, one in own.items() if path in collections}
        paths = list(own)

        def rows_after(last: str) -> Iterator[tuple[str, Json]]:
            unstored = (row for row in self._unstored(own) if row[0] > last)
            return self._completed(own, heapq.merge(unstored, call.store.scan(paths, last), key=itemgetter(0)))

        def newest_after(last_age: int, last: str) -> Iterator[tuple[str, Json]]:
            unstored = (row for row in sorted(self._unstored(own), key=_position) if _position(row) > (last_age, last))
            stored = call.store.newest(paths, last_age, last)
            return self._completed(own, heapq.merge(unstored, stored, key=_position))

        rows, token = page_of(rows_after, call.query, newest_after)
        return [(path, show(call, item)) for path, item in rows], token

    def _unstored(self, own: dict[str, Call]) -> list[tuple[str, Json]]:
        """Return the predefined resources that nobody has changed, by path; `own` are the calls in their scopes."""
        if self.predefined is _none:
            return []
        rows = (row for path in sorted(own) for row in sorted(self._predefined(own[path]).items(), key=itemgetter(0)))
        return [(path, item) for path, item in rows if own[path.rpartition("/")[0]].store.get(path) is None]

    def _completed(self, own: dict[str, Call], rows: Iterable[tuple[str, Json]]) -> Iterator[tuple[str, Json]]:
        """Complete resources as they are read; `own` are the calls in the scopes of their collections."""
        completes: dict[str, Callable[[Json], Json]] = {}
        for path, item in rows:
            collection = path.rpartition("/")[0]
            if self.complete and collection not in completes:
                completes[collection] = self.complete(own[collection])
            yield path, completes[collection](item) if self.complete else item

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
            kind = re.sub("([A-Z])", r"_\1", self.singular).lower()
            raise ApiError(400, in_use(kind, path, users[0]), "resourceInUseByAnotherResource")
        return call.delete(path)

    def deletable(self, call: Call) -> str:
        """Return the path of the resource that a call deletes."""
        path, _ = self.find(call)
        if path in self._predefined(call):
            raise ApiError(501, f"The emulator does not delete '{path}', which every project has from the start.")
        check_ready(call, path)
        return path

    def _predefined(self, call: Call) -> dict[str, Json]:
        return {f"{call.parent}/{self.name}/{item['name']}": item for item in self.predefined(call)}


def _set_labels(call: Call) -> Json:
    """Replace the labels of a resource of any collection."""
    name = call.path.get("resource") or call.path["instance"]
    path = f"{call.parent}/{collection_of(call.method.id)}/{name}"
    current = call.ready(path)
    if call.body.get("labelFingerprint") != current["labelFingerprint"]:
        why = "Labels fingerprint either invalid or resource labels have changed"
        raise ApiError(412, why, "conditionNotMet")
    return call.update("setLabels", path, with_label_fingerprint(current | {"labels": call.body.get("labels") or {}}))


def given(call: Call) -> Json:
    """Return the fields of a request for a new resource that the resource keeps."""
    return {name: value for name, value in call.body.items() if name not in _NOT_KEPT}


def in_use(kind: str, path: str, user: str) -> str:
    """Say that a resource cannot be deleted because another one uses it; both are named by their paths."""
    return f"The {kind} resource '{path}' is already being used by '{user}'"
