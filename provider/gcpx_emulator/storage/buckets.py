"""Buckets."""

from __future__ import annotations

import base64
import re
import time
from datetime import timedelta
from typing import Any, Final

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


_MULTI_REGIONS: Final = frozenset({"ASIA", "EU", "US"})
_DUAL_REGION: Final = re.compile(r"[A-Z]+[0-9]+")
"""The form of predefined dual-regions, such as NAM4."""
_SOFT_DELETE: Final = "604800"
"""How many seconds deleted objects are kept, unless a bucket says something else."""
_UNLOCKED: Final = timedelta(days=90)
"""How long uniform access can be ended again."""


def _new_bucket(name: str, body: Json) -> Json:
    """Write a new bucket, with the defaults that Google's buckets were recorded with from 2023 to 2026."""
    moment = time.time()
    now, given = timestamp(moment), {field: value for field, value in body.items() if not _is_empty(value)}
    location = str(body.get("location", "US")).upper()
    location_type = _location_type(location)
    soft_delete = {"effectiveTime": now, "retentionDurationSeconds": _SOFT_DELETE}
    defaults = {
        "kind": "storage#bucket",
        "id": name,
        "selfLink": f"https://www.googleapis.com/storage/v1/b/{name}",
        "projectNumber": "123456789012",
        "generation": str(int(moment * 1_000_000_000)),
        **_version(1),
        "timeCreated": now,
        "updated": now,
        "storageClass": "STANDARD",
        **({} if location_type == "region" else {"rpo": "DEFAULT"}),
    }
    return (
        defaults
        | given
        | {
            "iamConfiguration": _access(body.get("iamConfiguration") or {}, moment),
            "location": location,
            "locationType": location_type,
            "softDeletePolicy": soft_delete | (body.get("softDeletePolicy") or {}),
        }
    )


def _is_empty(value: Any) -> bool:
    """Return whether a value has nothing in it, at any depth."""
    return value in (None, "", [], {}) or (isinstance(value, dict) and all(map(_is_empty, value.values())))


def _location_type(location: str) -> str:
    if location in _MULTI_REGIONS:
        return "multi-region"
    return "dual-region" if _DUAL_REGION.fullmatch(location) else "region"


def _access(given: Json, moment: float) -> Json:
    """Return who may be given access to a bucket that is created at a moment, in seconds since 1970."""
    uniform: Json = {"enabled": bool((given.get("uniformBucketLevelAccess") or {}).get("enabled"))}
    if uniform["enabled"]:
        uniform |= {"lockedTime": timestamp(moment + _UNLOCKED.total_seconds())}
    # The first is the former name of the second.
    access = {"bucketPolicyOnly": uniform, "uniformBucketLevelAccess": uniform}
    return {"publicAccessPrevention": "inherited"} | given | access


def _version(number: int) -> Json:
    """Return the fields that change with the metadata of a bucket; `number` is less than 128."""
    return {"metageneration": str(number), "etag": base64.b64encode(bytes((8, number % 128))).decode()}


def touch_bucket(call: Call) -> None:
    """Count a change of the metadata of the bucket that a call names; its notifications are part of them."""
    bucket = read_bucket(call)
    changed = {**_version(int(bucket.get("metageneration", "1")) + 1), "updated": timestamp()}
    call.store.put(bucket_path(call), bucket | changed)


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
    shown = {"items": items} if items else {}
    return {"kind": "storage#buckets"} | shown | ({"nextPageToken": token} if token else {})


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
