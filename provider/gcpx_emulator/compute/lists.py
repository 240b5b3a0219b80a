"""Lists, unreachable scopes (set at `/_emulator/outages`), and resources as one version of the API shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs

from gcpx_emulator.compute.call import Call
from gcpx_emulator.compute.instance_view import viewed
from gcpx_emulator.compute.locations import REGIONS, SCOPES, check_location
from gcpx_emulator.core.controls import SWITCH, ControlBody, list_of, setting
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.listing import page_of, page_of_store

_BODY: Final = ControlBody(
    "outages",
    {
        "scopes": list_of("scopes", SCOPES),
        "alwaysPartial": SWITCH,
        "quotas": list_of("regions", REGIONS),
        "requireBasicQuota": SWITCH,
    },
)
_OUTAGES: Final = setting("outages", _BODY.check)


def unreachable(call: Call, scopes: Sequence[str]) -> Json:
    """Return the warnings for those of the scopes that cannot be reached, by scope.

    Raises:
        ApiError: 503, if a scope cannot be reached, and neither the call nor the setting allows partial success.
    """
    outages = _OUTAGES.read(call.store)
    lost = [scope for scope in scopes if scope in outages.get("scopes", ())]
    is_partial = outages.get("alwaysPartial") or call.query.get("returnPartialSuccess") == "true"
    if lost and not is_partial:
        raise ApiError(
            503, f"Scope '{lost[0]}' cannot be reached. Try again, or allow partial success.", "backendError"
        )
    return {scope: scope_warning("UNREACHABLE", f"Scope '{scope}' cannot be reached.", scope) for scope in lost}


def scope_warning(code: str, message: str, scope: str) -> Json:
    """Write a warning about a scope."""
    return {"code": code, "message": message, "data": [{"key": "scope", "value": scope}]}


def without_unavailable_quotas(call: Call, region: Json) -> Json:
    """Replace the quotas of a region by a warning, if they are not available.

    Raises:
        ApiError: 503, if an organization's policy requires the quotas.
    """
    outages, name = _OUTAGES.read(call.store), region["name"]
    if name not in outages.get("quotas", ()):
        return region
    message = f"Quota information of region '{name}' is not available."
    if outages.get("requireBasicQuota"):
        raise ApiError(503, f"{message} The policy compute.requireBasicQuotaInResponse asks for it.", "backendError")
    kept = {key: value for key, value in region.items() if key != "quotas"}
    return kept | {"quotaStatusWarning": scope_warning("QUOTA_INFO_UNAVAILABLE", message, f"regions/{name}")}


def show(call: Call, resource: Json) -> Json:
    """Show a resource with the fields of the call's version only, and with links of that version.

    Partner metadata is shown only in the full view, which is not the default.
    """
    if "view" in call.method.parameters and call.query.get("view") != "FULL":
        resource = _without_partner_metadata(resource)
    if resource["kind"] == "compute#instance":
        resource = viewed(resource)
    version = call.method.version
    other = f"/compute/{'v1' if version == 'beta' else 'beta'}/"
    kind = resource["kind"].partition("#")[2]
    viewer = _Viewer(call.method.document.schemas, other, f"/compute/{version}/")
    shown: Json = viewer.show({"$ref": kind[0].upper() + kind[1:]}, resource)
    return shown


def _without_partner_metadata(resource: Json) -> Json:
    kept = {key: value for key, value in resource.items() if key != "partnerMetadata"}
    if "partnerMetadata" in resource.get("properties", {}):
        kept["properties"] = {key: value for key, value in resource["properties"].items() if key != "partnerMetadata"}
    return kept


_LINKS: Final = frozenset(
    {"acceleratorType", "commitment", "consistencyGroupPolicy", "customImage", "disk", "diskType", "firewallPolicy"}
    | {"ipCollection", "licenses", "linkedCommitments", "machineType", "network", "networkAttachment", "networkProfile"}
    | {"region", "replacement", "replicaZones", "resourcePolicies", "securityPolicy", "selfLink", "selfLinkWithId"}
    | {"source", "sourceConsistencyGroupPolicy", "sourceDisk", "sourceDiskForRecoveryCheckpoint", "sourceImage"}
    | {"sourceInstance", "sourceInstanceTemplate", "sourceInstantSnapshot", "sourceMachineImage", "sourceSnapshot"}
    | {"sourceSnapshotSchedulePolicy", "storagePool", "subnetwork", "subnetworks", "type", "users", "zone", "zones"}
)
"""The fields with links to Compute's resources, also in lists. Texts in other fields are the user's own."""


@attrs.frozen
class _Viewer:
    """Shows values in one version.

    Attributes:
        schemas: of that version.
        other: the part of links that names the other version; `wanted` replaces it.
    """

    schemas: Json
    other: str
    wanted: str

    def show(self, spec: Json, value: Any, name: str = "") -> Any:
        """Show a value of a schema; `name` is the field that has it."""
        if isinstance(value, str):
            return value.replace(self.other, self.wanted) if name in _LINKS else value
        if not isinstance(value, dict | list):
            return value
        if "$ref" in spec:
            spec = self.schemas[spec["$ref"]]
        if isinstance(value, list):
            return [self.show(spec.get("items", {}), item, name) for item in value]
        if "additionalProperties" in spec:
            return {key: self.show(spec["additionalProperties"], item, name) for key, item in value.items()}
        known = spec.get("properties")
        if known is None:
            return value
        return {key: self.show(known[key], value[key], key) for key in value if key in known}


def list_items(call: Call, kind: str, path: str, items: list[Json]) -> Json:
    """List resources that are not in the store; `path` is the path of their collection."""
    # The lists of regions and zones are those of the project, which has no scope.
    if path.startswith(call.parent) and (lost := list_of_unreachable(call, kind, path)):
        return lost
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


Page = tuple[list[tuple[str, Json]], str | None]
"""The paths and resources of a page, and the token of the next page if there is one."""


def aggregate(
    call: Call,
    collection: str,
    kind: str,
    scopes: Sequence[str],
    page_of_collections: Callable[[list[str]], Page] | None = None,
) -> Json:
    """List a collection of several scopes; of all scopes, if the call includes them.

    `page_of_collections` gets the paths of collections; without it, resources are read from the store.
    """
    if call.query.get("includeAllScopes") == "true":
        scopes = SCOPES
    lost = unreachable(call, scopes)
    paths = {f"{call.project}/{scope}/{collection}": scope for scope in scopes if scope not in lost}
    if page_of_collections is None:
        rows, token = page_of_store(call.store, list(paths), call.query)
    else:
        rows, token = page_of_collections(list(paths))
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
