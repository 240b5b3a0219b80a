"""The responses of Compute Engine's list methods."""

from __future__ import annotations

from collections.abc import Sequence

from gcpx_emulator.compute.call import Call
from gcpx_emulator.compute.locations import SCOPES, check_location
from gcpx_emulator.compute.outages import scope_warning, unreachable
from gcpx_emulator.compute.version_views import show
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.listing import page_of, page_of_store


def list_items(call: Call, kind: str, path: str, items: list[Json]) -> Json:
    """List resources that are not in the store; `path` is the path of their collection."""
    shown, token = page_of(items, call.query)
    return list_head(call, kind, path, token) | ({"items": shown} if shown else {})


def list_scope(call: Call, collection: str, kind: str) -> Json:
    """List a collection of the call's scope."""
    check_location(call)
    path = f"{call.parent}/{collection}"
    if lost := list_of_unreachable(call, kind, path):
        return lost
    rows, token = page_of_store(call.store, [path], call.query)
    items = [show(call, item) for _, item in rows]
    return list_head(call, kind, path, token) | ({"items": items} if items else {})


def list_of_unreachable(call: Call, kind: str, path: str) -> Json | None:
    """Return the list of the call's scope if that cannot be reached and the list may be partial; otherwise None.

    Raises the same as `unreachable`.
    """
    scope = call.parent.removeprefix(f"{call.project}/")
    lost = unreachable(call, [scope])
    return list_head(call, kind, path, None) | {"warning": lost[scope]} if lost else None


def list_head(call: Call, kind: str, path: str, token: str | None) -> Json:
    """Return the fields that the responses of all list methods have."""
    return {"kind": kind, "id": path, "selfLink": call.url(path)} | ({"nextPageToken": token} if token else {})


def aggregate(call: Call, collection: str, kind: str, scopes: Sequence[str]) -> Json:
    """List a collection of several scopes; of all scopes, if the call includes them."""
    if call.query.get("includeAllScopes") == "true":
        scopes = SCOPES
    lost = unreachable(call, scopes)
    paths = {f"{call.project}/{scope}/{collection}": scope for scope in scopes if scope not in lost}
    rows, token = page_of_store(call.store, list(paths), call.query)
    items: Json = {scope: {"warning": lost.get(scope) or _no_results(scope)} for scope in scopes}
    for path, item in rows:
        group = items[paths[path.rpartition("/")[0]]]
        group.pop("warning", None)
        group.setdefault(collection, []).append(show(call, item))
    head = list_head(call, kind, f"{call.project}/aggregated/{collection}", token)
    return head | {"items": items} | _unreachables(kind, lost)


def _unreachables(kind: str, lost: Json) -> Json:
    """Name the unreachable scopes, in the only responses that have this field."""
    return {"unreachables": sorted(lost)} if lost and kind == "compute#instanceAggregatedList" else {}


def _no_results(scope: str) -> Json:
    return scope_warning("NO_RESULTS_ON_PAGE", f"There are no results for scope '{scope}' on this page.", scope)
