"""Copies of objects, which are made inside Cloud Storage."""

from __future__ import annotations

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.handlers import handles
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.storage.conditions import check_conditions
from gcpx_emulator.storage.objects import (
    given_metadata,
    metadata_of,
    new_identity,
    object_path,
    read_stored,
    write_object,
)


@handles("storage.objects.rewrite")
def rewrite_object(call: Call) -> Json:
    """Copy an object, at once and as a whole."""
    copied = copy_object(call)
    size = {"objectSize": copied["size"], "totalBytesRewritten": copied["size"]}
    return {"kind": "storage#rewriteResponse", "done": True, **size, "resource": copied}


@handles("storage.objects.copy")
def copy_object(call: Call) -> Json:
    """Copy an object; metadata in the body replaces that of the source."""
    generation = call.query.get("sourceGeneration")
    source = read_stored(call, call.path["sourceBucket"], call.path["sourceObject"], generation)
    check_conditions(call, source, "ifSource")
    bucket, name = call.path["destinationBucket"], call.path["destinationObject"]
    if call.store.get(f"b/{bucket}") is None:
        raise ApiError(404, "The specified bucket does not exist.")
    replaced = call.store.get(object_path(bucket, name))
    check_conditions(call, replaced)
    copy = source | given_metadata(call) | new_identity(call, bucket, name)
    write_object(call, copy, replaced)
    return metadata_of(call, copy)
