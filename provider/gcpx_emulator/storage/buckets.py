"""Buckets."""

from __future__ import annotations

import re
from typing import Final

from gcpx_emulator.core.call import Call, handles
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.errors import ApiError, required
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.listing import page_of

_NAME: Final = re.compile(r"[a-z0-9][-_.a-z0-9]{1,220}[a-z0-9]")
_EXISTS: Final = "Your previous request to create the named bucket succeeded and you already own it."


def bucket_path(call: Call) -> str:
    """Return the path of the bucket that a call names."""
    return f"b/{call.path['bucket']}"


def read_bucket(call: Call) -> Json:
    """Read the bucket that a call names, which must exist."""
    bucket = call.store.get(bucket_path(call))
    if bucket is None:
        raise ApiError(404, "The specified bucket does not exist.")
    return bucket


@handles("storage.buckets.insert")
def insert_bucket(call: Call) -> Json:
    """Create a bucket."""
    name = call.body.get("name")
    if not name:
        raise required("name")
    if not _NAME.fullmatch(name):
        raise ApiError(400, f"Invalid bucket name: '{name}'")
    if call.store.get(f"b/{name}") is not None:
        raise ApiError(409, _EXISTS, "conflict")
    bucket = _new_bucket(name, call.body) | {"_project": call.query["project"]}
    call.store.put(f"b/{name}", bucket)
    return _shown(bucket)


def _new_bucket(name: str, body: Json) -> Json:
    now = timestamp()
    defaults = {
        "kind": "storage#bucket",
        "id": name,
        "selfLink": f"https://www.googleapis.com/storage/v1/b/{name}",
        "projectNumber": "123456789012",
        "metageneration": "1",
        "etag": "CAE=",
        "timeCreated": now,
        "updated": now,
        "storageClass": "STANDARD",
    }
    return defaults | body | {"location": str(body.get("location", "US")).upper()}


def _shown(bucket: Json) -> Json:
    return {name: value for name, value in bucket.items() if not name.startswith("_")}


@handles("storage.buckets.get")
def get_bucket(call: Call) -> Json:
    """Read a bucket."""
    return _shown(read_bucket(call))


@handles("storage.buckets.list")
def list_buckets(call: Call) -> Json:
    """List the buckets of a project."""
    prefix = call.query.get("prefix", "")
    of_project = [_shown(item) for item in call.store.list("b") if item["_project"] == call.query["project"]]
    items, token = page_of([item for item in of_project if item["name"].startswith(prefix)], call.query)
    return {"kind": "storage#buckets", "items": items} | ({"nextPageToken": token} if token else {})


@handles("storage.buckets.delete")
def delete_bucket(call: Call) -> None:
    """Delete an empty bucket and its notification configurations, which are numbered from 1 in a later bucket."""
    read_bucket(call)
    path = bucket_path(call)
    if call.store.list(f"{path}/o"):
        raise ApiError(409, "The bucket you tried to delete is not empty.", "conflict")
    configs = f"{path}/notificationConfigs"
    for config in call.store.list(configs):
        call.store.delete(f"{configs}/{config['id']}")
    call.store.restart(configs)
    call.store.delete(path)
