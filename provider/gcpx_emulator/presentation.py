"""How Compute shows what it keeps: in the version asked for, and by scope."""

from __future__ import annotations

import json
from typing import Any

from gcpx_emulator.discovery import document
from gcpx_emulator.handler import Call
from gcpx_emulator.listing import page
from gcpx_emulator.store import Json


def seen(call: Call, body: Json) -> Json:
    """Show a resource in the version that is asked for."""
    text = json.dumps(body).replace("/compute/beta/", f"/compute/{call.version}/")
    return _known_to(call, json.loads(text.replace("/compute/v1/", f"/compute/{call.version}/")))


def _known_to(call: Call, body: Json) -> Json:
    schemas = document(f"compute.{call.version}").schemas
    kind = body["kind"].partition("#")[2]
    shown: Json = _pruned(schemas, {"$ref": kind[0].upper() + kind[1:]}, body)
    return shown


def _pruned(schemas: Json, spec: Json, value: Any) -> Any:
    if "$ref" in spec:
        spec = schemas[spec["$ref"]]
    if isinstance(value, list):
        return [_pruned(schemas, spec.get("items", {}), item) for item in value]
    if isinstance(value, dict) and "additionalProperties" in spec:
        return {key: _pruned(schemas, spec["additionalProperties"], item) for key, item in value.items()}
    if isinstance(value, dict) and "properties" in spec:
        known = spec["properties"]
        return {key: _pruned(schemas, known[key], item) for key, item in value.items() if key in known}
    return value


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
