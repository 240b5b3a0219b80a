"""What topics and subscriptions have in common; both are kept under their full names."""

from __future__ import annotations

import re
from typing import Final

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.listing import page_of
from gcpx_emulator.core.store import Store

_NAME: Final = re.compile(r"(?!goog)[a-zA-Z][-a-zA-Z0-9_.~+%]{2,254}")
_IMMUTABLE: Final = frozenset({"name", "topic", "enableMessageOrdering", "filter"})


def read(store: Store, name: str) -> Json:
    """Read a topic or subscription, which must exist."""
    resource = store.get(name)
    if resource is None:
        raise ApiError(404, f"Resource not found (resource={name.rpartition('/')[2]}).")
    return resource


def create(store: Store, name: str, body: Json) -> Json:
    """Create a topic or subscription."""
    short_name = name.rpartition("/")[2]
    if not _NAME.fullmatch(short_name):
        form = "Names begin with a letter, have 3 to 255 characters and do not begin with goog."
        raise ApiError(400, f"Invalid resource name given (name={name}). {form}")
    if store.get(name) is not None:
        raise ApiError(409, f"Resource already exists in the project (resource={short_name}).")
    resource = body | {"name": name}
    store.put(name, resource)
    return resource


def list_resources(call: Call, field: str, items: list[Json]) -> Json:
    """Answer a list method, whose items are in this field."""
    shown, token = page_of(items, {**call.query, "maxResults": call.query.get("pageSize", "")})
    return ({field: shown} if shown else {}) | ({"nextPageToken": token} if token else {})


def patch(call: Call, kind: str, resource: Json, change: Json) -> Json:
    """Replace the fields in the call's update mask by those of a change; `kind` is the schema of both."""
    fields = [field for field in str(call.body.get("updateMask") or "").split(",") if field]
    if not fields:
        raise ApiError(400, "The update_mask in the request is empty.")
    for field in fields:
        name = re.sub(r"_(\w)", lambda match: match[1].upper(), field.partition(".")[0])
        if name not in call.method.document.schemas[kind]["properties"]:
            raise ApiError(400, f"Invalid update_mask provided: '{field}' is not a known {kind} field.")
        if name in _IMMUTABLE:
            raise ApiError(400, f"Invalid update_mask provided: {field} cannot be changed.")
        resource.pop(name, None)
        if name in change:
            resource[name] = change[name]
    call.store.put(resource["name"], resource)
    return resource


def subscriptions_of(store: Store, topic: str) -> list[Json]:
    """Find the subscriptions of a topic, in all projects."""
    return [item for item in all_subscriptions(store) if item["topic"] == topic]


def all_subscriptions(store: Store) -> list[Json]:
    """Read the subscriptions of all projects."""
    return [item for path in store.collections("projects/", "/subscriptions") for item in store.list(path)]
