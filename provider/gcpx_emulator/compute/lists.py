"""Lists, unreachable scopes (set at `/_emulator/outages`), and resources as one version of the API shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs

from gcpx_emulator.compute.call import Call
from gcpx_emulator.compute.instance_view import viewed
from gcpx_emulator.compute.locations import REGIONS, SCOPES
from gcpx_emulator.core.controls import SWITCH, ControlBody, list_of, setting
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.listing import Page

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
    | {"instance", "instanceGroup", "instanceTemplate", "nextHopGateway", "nextHopInstance"}
    | {"region", "replacement", "replicaZones", "resourcePolicies", "securityPolicy", "selfLink", "selfLinkWithId"}
    | {"source", "sourceConsistencyGroupPolicy", "sourceDisk", "sourceDiskForRecoveryCheckpoint", "sourceImage"}
    | {"sourceInstance", "sourceInstanceTemplate", "sourceInstantSnapshot", "sourceMachineImage", "sourceSnapshot"}
    | {
        "sourceSnapshotSchedulePolicy",
        "storagePool",
        "storagePoolType",
        "subnetwork",
        "subnetworks",
        "type",
        "users",
        "zone",
        "zones",
    }
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


def list_page(call: Call, kind: str, path: str, page: Callable[[], Page]) -> Json:
    """List a page of the collection at a path; its items are as they are shown."""
    scope, lost = call.scope, {}
    if path.startswith(call.parent):  # the lists of regions and zones are those of the project, which has no scope
        lost = unreachable(call, [scope])
    rows, token = ([], None) if lost else page()
    head = _list_head(call, kind, path, token)
    return head | ({"warning": lost[scope]} if lost else {}) | ({"items": [item for _, item in rows]} if rows else {})


def _list_head(call: Call, kind: str, path: str, token: str | None) -> Json:
    """Return the fields that the responses of all list methods have."""
    return {"kind": kind, "id": path, "selfLink": call.url(path)} | ({"nextPageToken": token} if token else {})


def aggregate(call: Call, collection: str, kind: str, scopes: Sequence[str], page: Callable[[list[str]], Page]) -> Json:
    """List a collection of several scopes; of all scopes, if the call includes them.

    `page` gets the paths of the scopes' collections; its items are as they are shown.
    """
    if call.query.get("includeAllScopes") == "true":
        scopes = SCOPES
    lost = unreachable(call, scopes)
    paths = {f"{call.project}/{scope}/{collection}": scope for scope in scopes if scope not in lost}
    rows, token = page(list(paths))
    items: Json = {scope: {"warning": lost.get(scope) or _no_results(scope)} for scope in scopes}
    for path, item in rows:
        group = items[paths[path.rpartition("/")[0]]]
        group.pop("warning", None)
        group.setdefault(collection, []).append(item)
    found = _list_head(call, kind, f"{call.project}/aggregated/{collection}", token) | {"items": items}
    if lost and kind == "compute#instanceAggregatedList":  # the only such response with this field
        found["unreachables"] = sorted(lost)
    return found


def _no_results(scope: str) -> Json:
    return scope_warning("NO_RESULTS_ON_PAGE", f"There are no results for scope '{scope}' on this page.", scope)
