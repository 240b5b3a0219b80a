"""How Compute shows what it keeps: in the version asked for, and by scope."""

from __future__ import annotations

from typing import Any

import attrs

from gcpx_emulator.discovery import document
from gcpx_emulator.handler import Call
from gcpx_emulator.listing import page
from gcpx_emulator.store import Json


def seen(call: Call, body: Json) -> Json:
    """Show a resource in the version that is asked for: with its fields alone, and with its links."""
    schemas = document(f"compute.{call.version}").schemas
    kind = body["kind"].partition("#")[2]
    other = "/compute/v1/" if call.version == "beta" else "/compute/beta/"
    walk = _Walk(schemas, other, f"/compute/{call.version}/")
    shown: Json = walk.value({"$ref": kind[0].upper() + kind[1:]}, body)
    return shown


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


def aggregated(call: Call, collection: str, kind: str, scopes: list[str]) -> Json:
    """List a collection of every scope."""
    project = f"projects/{call.path['project']}"
    found = [(scope, item) for scope in scopes for item in call.store.list(f"{project}/{scope}/{collection}")]
    links = {item["selfLink"]: scope for scope, item in found}
    shown, token = page([item for _, item in found], call.query)
    items: Json = {scope: {"warning": _no_results(scope)} for scope in scopes}
    for item in shown:
        items[links[item["selfLink"]]].pop("warning", None)
        items[links[item["selfLink"]]].setdefault(collection, []).append(seen(call, item))
    path = f"{project}/aggregated/{collection}"
    answer = {"kind": kind, "id": path, "selfLink": f"{call.base}/{path}", "items": items}
    return answer | ({"nextPageToken": token} if token else {})


def _no_results(scope: str) -> Json:
    message = f"There are no results for scope '{scope}' on this page."
    return {"code": "NO_RESULTS_ON_PAGE", "message": message, "data": [{"key": "scope", "value": scope}]}
