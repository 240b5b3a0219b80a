"""Copies of objects, which are made inside Cloud Storage."""

from __future__ import annotations

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.handlers import handles
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.storage.objects import (
    SETTABLE,
    check_generation,
    checked_type,
    metadata_of,
    new_identity,
    object_path,
    write_object,
)


@handles("storage.objects.rewrite")
def rewrite_object(call: Call) -> Json:
    """Copy an object, at once and as a whole."""
    copied = _copy(call)
    size = {"objectSize": copied["size"], "totalBytesRewritten": copied["size"]}
    return {"kind": "storage#rewriteResponse", "done": True, **size, "resource": copied}


def _copy(call: Call) -> Json:
    """Copy an object; metadata in the body replaces that of the source."""
    source = _read(call, call.path["sourceBucket"], call.path["sourceObject"])
    bucket, name = call.path["destinationBucket"], call.path["destinationObject"]
    if call.store.get(f"b/{bucket}") is None:
        raise ApiError(404, "The specified bucket does not exist.")
    replaced = call.store.get(object_path(bucket, name))
    check_generation(call, replaced)
    given = {field: call.body[field] for field in SETTABLE if field in call.body}
    checked_type(given.get("contentType") or "")
    times = dict.fromkeys(("timeCreated", "updated", "timeFinalized", "timeStorageClassUpdated"), timestamp())
    copy = source | given | times | new_identity(call, bucket, name)
    write_object(call, copy, replaced)
    return metadata_of(copy)


def _read(call: Call, bucket: str, name: str) -> Json:
    stored = call.store.get(object_path(bucket, name))
    if stored is None:
        raise ApiError(404, f"No such object: {bucket}/{name}")
    return stored
