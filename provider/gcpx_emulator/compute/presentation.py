"""How Compute shows what it keeps: in the version asked for, and by scope."""

from __future__ import annotations

from typing import Any

import attrs

from gcpx_emulator.compute.catalog import check_place, every_scope
from gcpx_emulator.compute.outages import scope_warning, unreachable
from gcpx_emulator.core.discovery import document
from gcpx_emulator.core.handlers import Call
from gcpx_emulator.core.listing import answer, stored
from gcpx_emulator.core.store import Json


def seen(call: Call, body: Json) -> Json:
    """Show a resource in the version that is asked for: with its fields alone, and with its links.

    Partner metadata shows in the full view alone, which is not the default.
    """
    if "view" in call.parameters and call.query.get("view") != "FULL":
        body = _without_partner_metadata(body)
    schemas = document(f"compute.{call.version}").schemas
    kind = body["kind"].partition("#")[2]
    other = "/compute/v1/" if call.version == "beta" else "/compute/beta/"
    walk = _Walk(schemas, other, f"/compute/{call.version}/")
    shown: Json = walk.value({"$ref": kind[0].upper() + kind[1:]}, body)
    return shown


def _without_partner_metadata(body: Json) -> Json:
    kept = {key: value for key, value in body.items() if key != "partnerMetadata"}
    if "partnerMetadata" in body.get("properties", {}):
        kept["properties"] = {key: value for key, value in body["properties"].items() if key != "partnerMetadata"}
    return kept


@attrs.frozen
class _Walk:
    """One pass over a resource.

    Attributes:
        other: the version in links that is replaced by `wanted`.
    """

    schemas: Json
    other: str
    wanted: str

    def value(self, spec: Json, value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(self.other, self.wanted) if "/compute/" in value else value
        if not isinstance(value, dict | list):
            return value
        if "$ref" in spec:
            spec = self.schemas[spec["$ref"]]
        if isinstance(value, list):
            return [self.value(spec.get("items", {}), item) for item in value]
        if "additionalProperties" in spec:
            return {key: self.value(spec["additionalProperties"], item) for key, item in value.items()}
        known = spec.get("properties")
        if known is None:
            return value
        return {key: self.value(known[key], item) for key, item in value.items() if key in known}


def listed(call: Call, collection: str, kind: str) -> Json:
    """List a collection of one scope."""
    check_place(call)
    path = f"{call.parent}/{collection}"
    rows, token = stored(call.store, [path], call.query)
    items = [seen(call, item) for _, item in rows]
    return answer(kind, path, call.base, token) | ({"items": items} if items else {})


def aggregated(call: Call, collection: str, kind: str, expected: list[str]) -> Json:
    """List a collection of every scope; a scope that is out of reach ends it all, or itself alone."""
    project = f"projects/{call.path['project']}"
    scopes = every_scope() if call.query.get("includeAllScopes") == "true" else expected
    lost = unreachable(call, scopes)
    paths = {f"{project}/{scope}/{collection}": scope for scope in scopes if scope not in lost}
    rows, token = stored(call.store, list(paths), call.query)
    items: Json = {scope: {"warning": lost.get(scope) or _no_results(scope)} for scope in scopes}
    for path, item in rows:
        group = items[paths[path.rpartition("/")[0]]]
        group.pop("warning", None)
        group.setdefault(collection, []).append(seen(call, item))
    head = answer(kind, f"{project}/aggregated/{collection}", call.base, token)
    # Only some answers have the field, and all say it in each scope's warning.
    named = {"unreachables": sorted(lost)} if lost and kind == "compute#instanceAggregatedList" else {}
    return head | {"items": items} | named


def _no_results(scope: str) -> Json:
    return scope_warning("NO_RESULTS_ON_PAGE", f"There are no results for scope '{scope}' on this page.", scope)
