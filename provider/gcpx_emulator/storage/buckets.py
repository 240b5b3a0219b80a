"""Buckets, with preconditions, access controls and IAM policies."""

from __future__ import annotations

import re
from typing import Any, Final

from gcpx_emulator.core.call import Call, handles
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.errors import ApiError, invalid, required
from gcpx_emulator.core.iam import new_policy, shown_policy
from gcpx_emulator.core.json_data import Json, merge
from gcpx_emulator.core.listing import in_order, page_of
from gcpx_emulator.core.permissions import held_permissions
from gcpx_emulator.core.projects import project_number
from gcpx_emulator.core.validation import is_ip_address
from gcpx_emulator.storage.access_lists import (
    LISTS,
    WRITE_BUCKET,
    Entries,
    bucket_owner,
    chosen,
    is_uniform,
    predefined_of_bucket,
    predefined_of_objects,
    project_private,
    refuse_uniform,
    shown_entry,
)
from gcpx_emulator.storage.conditions import check_conditions, etag, failed_condition

_EXISTS: Final = "Your previous request to create the named bucket succeeded and you already own it."
_SOFT_DELETION: Final = "604800"
_NO_SOFT_DELETION: Final = "0"
_MULTI_REGIONS: Final = frozenset({"ASIA", "EU", "US"})
_DUAL_REGIONS: Final = frozenset({"ASIA1", "EUR4", "EUR5", "EUR7", "EUR8", "NAM4"})
_POLICY: Final = "_policy"
"""The stored fields with the bindings and the version of a bucket's IAM policy."""
_GIVEN_BY_THE_SERVICE: Final = frozenset(
    {"etag", "generation", "hardDeleteTime", "id", "kind", "locationType", "metageneration", "owner", "projectNumber",
     "satisfiesPZI", "satisfiesPZS", "selfLink", "softDeleteTime", "timeCreated", "updated"}
)  # fmt: skip
"""Fields of buckets that requests may have and that only the service sets."""
_FIXED: Final = ("customPlacementConfig", "hierarchicalNamespace", "location", "name", "objectRetention")
"""Fields that never change."""


NEW: Final[Json] = {
    "metageneration": "1",
    "etag": etag("1"),
    "storageClass": "STANDARD",
    "location": "US",
    "iamConfiguration": {"uniformBucketLevelAccess": {"enabled": False}},
}
"""The fields of every bucket, besides the number of its project."""


_LINK: Final = "https://www.googleapis.com/storage/v1"


def _whole(bucket: Json) -> Json:
    """Complete a bucket; one that was stored without the API may lack fields that every bucket has."""
    name, number = bucket["name"], project_number(bucket["_project"])
    return NEW | {"id": name, "selfLink": f"{_LINK}/b/{name}", "projectNumber": number} | bucket


def bucket_path(call: Call) -> str:
    """Return the path of the bucket that a call names."""
    return f"b/{call.path['bucket']}"


def read_bucket(call: Call) -> Json:
    """Read the bucket that a call names, which must exist."""
    return find_bucket(call, call.path["bucket"])


def find_bucket(call: Call, name: str) -> Json:
    """Read the bucket of a name, which must exist."""
    bucket = call.store.get(f"b/{name}")
    if bucket is None:
        raise ApiError(404, "The specified bucket does not exist.")
    return _whole(bucket)


def write_changed(call: Call, bucket: Json) -> Json:
    """Store a changed bucket, with its next metageneration and etag."""
    metageneration = str(int(bucket["metageneration"]) + 1)
    changed = bucket | {"metageneration": metageneration, "etag": etag(metageneration), "updated": timestamp()}
    call.store.put(f"b/{bucket['name']}", changed)
    return changed


_NAME: Final = re.compile(r"[a-z0-9](?:[-_.a-z0-9]{1,220}[a-z0-9])")
_LONGEST_PART: Final = 63


def _check_name(name: str) -> None:
    """Refuse a name that no bucket can have.

    Source: https://cloud.google.com/storage/docs/buckets#naming
    """
    parts = name.split(".")
    is_long = len(name) > _LONGEST_PART and len(parts) == 1
    is_wrong = not _NAME.fullmatch(name) or is_long or any(not 0 < len(part) <= _LONGEST_PART for part in parts)
    if is_wrong or name.startswith("goog") or "google" in name or "g00gle" in name or is_ip_address(name):
        raise ApiError(400, f"Invalid bucket name: '{name}'", "invalid")


@handles("storage.buckets.insert")
def insert_bucket(call: Call) -> Json:
    """Create a bucket."""
    name = call.body.get("name")
    if not name:
        raise required("name")
    _check_name(name)
    _refuse_other_soft_deletion(call, call.body)
    if call.store.get(f"b/{name}") is not None:
        raise ApiError(409, _EXISTS, "conflict")
    now = timestamp()
    retention = {"objectRetention": {"mode": "Enabled"}} if call.query.get("enableObjectRetention") == "true" else {}
    bucket = _whole(
        {
            "kind": "storage#bucket",
            "name": name,
            "generation": str(10**15 + call.store.next("generations")),
            "timeCreated": now,
            "updated": now,
            "_project": call.query["project"],
            **_settings(call.body, now),
            **retention,
        }
    )
    bucket = _with_lists(call, bucket)
    call.store.put(f"b/{name}", bucket)
    is_full = bool(call.body.get("acl") or call.body.get("defaultObjectAcl"))
    return _shown(call, bucket, "full" if is_full else "noAcl")


def _refuse_other_soft_deletion(call: Call, settings: Json) -> None:
    """Refuse a soft delete policy other than none and the default one, since the emulator keeps no deleted objects."""
    policy = settings.get("softDeletePolicy") or {}
    seconds = str(policy.get("retentionDurationSeconds") or _NO_SOFT_DELETION)
    if seconds not in {_NO_SOFT_DELETION, _SOFT_DELETION} or (policy.get("hardDeletePause") or {}).get("enabled"):
        raise ApiError(
            501, f"{call.method.id} with a 'softDeletePolicy' other than {_SOFT_DELETION} or 0 seconds is not emulated"
        )


def _settings(body: Json, now: str) -> Json:
    """Return the settings of a new or updated bucket, with defaults for those that the request omits."""
    unset = _GIVEN_BY_THE_SERVICE | LISTS.keys()
    given = {name: value for name, value in body.items() if name not in unset and value not in _EMPTY}
    location = str(body.get("location") or "US").upper()
    kind = "multi-region" if location in _MULTI_REGIONS else "dual-region" if location in _DUAL_REGIONS else "region"
    if "customPlacementConfig" in given:
        kind = "dual-region"
    return {
        "storageClass": "STANDARD",
        **({} if kind == "region" else {"rpo": "DEFAULT"}),
        **given,
        "location": location,
        "locationType": kind,
    } | _derived(given, now)


_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {}, {"rule": []})


def _derived(settings: Json, now: str) -> Json:
    """Return the settings to which the service adds parts."""
    access = settings.get("iamConfiguration") or {}
    uniform = access.get("uniformBucketLevelAccess") or access.get("bucketPolicyOnly") or {}
    enabled = {"enabled": bool(uniform.get("enabled"))}
    iam = {
        "bucketPolicyOnly": enabled,
        "uniformBucketLevelAccess": enabled,
        "publicAccessPrevention": access.get("publicAccessPrevention") or "inherited",
    }
    policies = {"softDeletePolicy": {"retentionDurationSeconds": _SOFT_DELETION}, **settings}
    timed: Json = {
        name: {"effectiveTime": now, **policies[name]}
        for name in ("retentionPolicy", "softDeletePolicy")
        if name in policies
    }
    return {"iamConfiguration": iam, **timed}


def _shown(call: Call, bucket: Json, default_projection: str) -> Json:
    """Show a bucket, with its owner and access controls if the request asks for the full projection."""
    shown = {name: value for name, value in bucket.items() if not name.startswith("_")}
    if call.query.get("projection", default_projection) == "noAcl" or is_uniform(bucket):
        return shown
    lists = {name: [shown_control(bucket, name, entry) for entry in list_of_bucket(bucket, name)] for name in LISTS}
    return shown | {"owner": {"entity": bucket_owner(bucket)}} | lists


def list_of_bucket(bucket: Json, name: str) -> Entries:
    """Return the entries of a bucket's list, which a request has in this field of the bucket."""
    stored: Entries | None = bucket.get(f"_{name}")
    return project_private(bucket) if stored is None else stored


def with_list(bucket: Json, name: str, entries: Entries) -> Json:
    """Return a bucket with other entries in one of its lists."""
    return bucket | {f"_{name}": entries}


def shown_control(bucket: Json, name: str, entry: Json) -> Json:
    """Show an entry of a bucket's list."""
    own = {field: bucket[field] for field in ("id", "selfLink")} | {"bucket": bucket["name"]} if name == "acl" else {}
    return shown_entry(entry, LISTS[name], own | {"etag": bucket["etag"]})


def _with_lists(call: Call, bucket: Json) -> Json:
    """Return a bucket, which has its other settings already, with the lists that a request gives it."""
    query, body = call.query, call.body
    names = {"acl": query.get("predefinedAcl"), "defaultObjectAcl": query.get("predefinedDefaultObjectAcl")}
    if any(names.values()) or any(body.get(name) for name in LISTS):
        refuse_uniform(bucket, WRITE_BUCKET)
    of_bucket = predefined_of_bucket(bucket, names["acl"]) if names["acl"] else None
    of_objects = predefined_of_objects(bucket, names["defaultObjectAcl"]) if names["defaultObjectAcl"] else None
    found = {
        "acl": chosen(bucket, body.get("acl"), of_bucket, LISTS["acl"], bucket_owner(bucket)),
        "defaultObjectAcl": chosen(bucket, body.get("defaultObjectAcl"), of_objects, LISTS["defaultObjectAcl"]),
    }
    for name, entries in found.items():
        bucket = bucket if entries is None else with_list(bucket, name, entries)
    return bucket


@handles("storage.buckets.get")
def get_bucket(call: Call) -> Json:
    """Read a bucket."""
    bucket = read_bucket(call)
    check_conditions(call, bucket)
    return _shown(call, bucket, "noAcl")


@handles("storage.buckets.getStorageLayout")
def get_layout(call: Call) -> Json:
    """Read where and how a bucket stores objects."""
    bucket = read_bucket(call)
    fields = ("customPlacementConfig", "hierarchicalNamespace", "location", "locationType")
    layout = {name: bucket[name] for name in fields if name in bucket}
    return {"kind": "storage#storageLayout", "bucket": bucket["name"], **layout}


@handles("storage.managedFolders.list")
def list_managed_folders(call: Call) -> Json:
    """List no managed folders, because none can be created here; gcloud asks for them before it deletes a bucket."""
    read_bucket(call)
    return {"kind": "storage#managedFolders"}


@handles("storage.buckets.list")
def list_buckets(call: Call) -> Json:
    """List the buckets of a project."""
    refuse_soft_deleted(call)
    prefix = call.query.get("prefix", "")
    of_project = (item for item in call.store.list("b") if item["_project"] == call.query["project"])
    buckets = {item["name"]: _whole(item) for item in of_project if item["name"].startswith(prefix)}
    rows, token = page_of(in_order(buckets), call.query)
    shown = [_shown(call, item, "noAcl") for _, item in rows]
    found = {"items": shown} if shown else {}
    return {"kind": "storage#buckets"} | found | ({"nextPageToken": token} if token else {})


def refuse_soft_deleted(call: Call) -> None:
    """Refuse to list soft-deleted items, which the emulator does not keep."""
    if call.query.get("softDeleted") == "true":
        raise ApiError(501, "soft-deleted buckets and objects are not emulated")


@handles("storage.buckets.patch")
def patch_bucket(call: Call) -> Json:
    """Change a bucket by a JSON Merge Patch: omitted fields stay, and null removes a field."""
    bucket = read_bucket(call)
    return _changed(call, bucket, merge({name: bucket.get(name) for name in bucket}, call.body))


@handles("storage.buckets.update")
def update_bucket(call: Call) -> Json:
    """Replace the settings of a bucket; omitted ones get their defaults."""
    bucket = read_bucket(call)
    fixed = {name: bucket[name] for name in _FIXED if name in bucket}
    return _changed(call, bucket, fixed | call.body)


def _changed(call: Call, bucket: Json, wanted: Json) -> Json:
    """Change the settings of a bucket, if the conditions of the call hold; the response has the access controls."""
    check_conditions(call, bucket)
    for name in _FIXED:
        given = wanted.get(name)
        if given != bucket.get(name) and str(given).upper() != str(bucket.get(name)).upper():
            raise invalid(name, given, "It cannot be changed.")
    _check_lock(bucket, wanted)
    _refuse_other_soft_deletion(call, wanted)
    own = {name: value for name, value in bucket.items() if name in _GIVEN_BY_THE_SERVICE or name.startswith("_")}
    wanted = {name: value for name, value in wanted.items() if not name.startswith("_")}
    changed = own | _settings(wanted, timestamp())
    return _shown(call, write_changed(call, _with_lists(call, changed)), "full")


def _check_lock(bucket: Json, wanted: Json) -> None:
    """Refuse to remove or shorten a locked retention policy, as the description of `retentionPolicy` says."""
    kept, given = bucket.get("retentionPolicy") or {}, wanted.get("retentionPolicy") or {}
    if kept.get("isLocked") and int(given.get("retentionPeriod") or 0) < int(kept["retentionPeriod"]):
        raise ApiError(403, f"The retention policy of bucket '{bucket['name']}' is locked.")


@handles("storage.buckets.lockRetentionPolicy")
def lock_retention_policy(call: Call) -> Json:
    """Lock the retention policy of a bucket, which must have one; from then on it can only become longer."""
    bucket = read_bucket(call)
    check_conditions(call, bucket)
    if not bucket.get("retentionPolicy"):
        raise invalid("retentionPolicy", "", "The bucket has no retention policy to lock.")
    return _shown(
        call, write_changed(call, bucket | {"retentionPolicy": bucket["retentionPolicy"] | {"isLocked": True}}), "full"
    )


@handles("storage.buckets.delete")
def delete_bucket(call: Call) -> None:
    """Delete an empty bucket and its notification configurations, which are numbered from 1 in a later bucket."""
    check_conditions(call, read_bucket(call))
    path = bucket_path(call)
    if call.store.list(f"{path}/o") or call.store.list(f"{path}/versions"):
        raise ApiError(409, "The bucket you tried to delete is not empty.", "conflict")
    configs = f"{path}/notificationConfigs"
    for config in call.store.list(configs):
        call.store.delete(f"{configs}/{config['id']}")
    call.store.restart(configs)
    call.store.delete(path)


@handles("storage.buckets.getIamPolicy")
def get_policy(call: Call) -> Json:
    """Read the IAM policy of a bucket."""
    return _shown_policy(read_bucket(call), call.query.get("optionsRequestedPolicyVersion"))


def _shown_policy(bucket: Json, version: str | None) -> Json:
    """Show a policy, whose etag is that of the bucket, sorted by roles and members."""
    project = bucket["_project"]
    first = [  # the project's owners, editors and viewers, as recorded
        {"role": "roles/storage.legacyBucketOwner", "members": [f"projectEditor:{project}", f"projectOwner:{project}"]},
        {"role": "roles/storage.legacyBucketReader", "members": [f"projectViewer:{project}"]},
    ]
    policy = shown_policy(bucket.get(_POLICY) or {"version": 1, "bindings": first}, version)
    bindings = [item | {"members": sorted(item["members"])} for item in policy.get("bindings") or ()]
    bindings.sort(key=lambda item: (item["role"], str(item.get("condition"))))
    head = {"kind": "storage#policy", "resourceId": f"projects/_/buckets/{bucket['name']}"}
    return head | {"version": policy["version"], "etag": bucket["etag"], "bindings": bindings}


@handles("storage.buckets.setIamPolicy")
def set_policy(call: Call) -> Json:
    """Replace the IAM policy of a bucket, if the etag in the request is that of the bucket."""
    bucket, policy = read_bucket(call), new_policy(call.body)
    if call.body.get("etag") not in (None, "", bucket["etag"]):
        raise failed_condition()
    return _shown_policy(write_changed(call, bucket | {_POLICY: policy}), "3")


@handles("storage.buckets.testIamPermissions")
def test_permissions(call: Call) -> Json:
    """Return the permissions of the request that the caller has on a bucket."""
    read_bucket(call)
    held = held_permissions(call, bucket_path(call), call.query["permissions"].split(","))
    return {"kind": "storage#testIamPermissionsResponse"} | ({"permissions": held} if held else {})
