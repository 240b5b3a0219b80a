"""What protects objects: holds, the retention policy of their bucket, and keys that are kept or refused.

Source: the descriptions of `Object` and `Bucket` in the API, and messages in public reports.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json

HOLDS: Final = {"eventBasedHold": "Event-Based", "temporaryHold": "Temporary"}
"""The fields with the holds of an object, each with its word in messages."""
_RELEASED: Final = "_released"
"""The stored field with the time at which an event-based hold ended; the retention period begins again then."""
NOT_INHERITED: Final = frozenset({*HOLDS, _RELEASED, "kmsKeyName"})
"""The fields of a protection, which a copy does not take over from its source."""
_NOT_EMULATED: Final = ("contexts", "retention")


def refuse_other_protections(call: Call) -> None:
    """Refuse fields of an object that the emulator would not enforce or keep."""
    for name in _NOT_EMULATED:
        if call.body.get(name):
            raise ApiError(501, f"{call.method.id} with '{name}' is not emulated")


def refuse_new_key(call: Call, stored: Json) -> None:
    """Refuse to change the key of an object, for which it would have to be encrypted anew."""
    key = call.body.get("kmsKeyName")
    if key and key.partition(_VERSIONS)[0] != stored.get("kmsKeyName", "").partition(_VERSIONS)[0]:
        raise ApiError(501, f"{call.method.id} with another 'kmsKeyName' is not emulated; a rewrite changes it")


_VERSIONS: Final = "/cryptoKeyVersions/"
"""What is between the name of a key and that of its version."""


def protections_of_new(call: Call, bucket: Json) -> Json:
    """Return what protects a new object in a bucket unless the request says otherwise."""
    own = call.query.get("kmsKeyName") or call.query.get("destinationKmsKeyName") or call.body.get("kmsKeyName")
    key = (own or bucket.get("encryption", {}).get("defaultKmsKeyName") or "").partition(_VERSIONS)[0]
    hold = {"eventBasedHold": True} if bucket.get("defaultEventBasedHold") else {}
    return hold | ({"kmsKeyName": f"{key}{_VERSIONS}1"} if key else {})


def released(before: Json, after: Json) -> Json:
    """Return the time at which a change ended an event-based hold, if it did."""
    return {_RELEASED: timestamp()} if before.get("eventBasedHold") and not after.get("eventBasedHold") else {}


def expiration(call: Call, stored: Json) -> Json:
    """Return the time at which an object's retention ends; nothing without a policy, or while an event is awaited."""
    policy = (call.store.get(f"b/{stored['bucket']}") or {}).get("retentionPolicy")
    if not policy or stored.get("eventBasedHold"):
        return {}
    begin = datetime.fromisoformat(stored.get(_RELEASED) or stored["timeCreated"])
    end = begin + timedelta(seconds=int(policy["retentionPeriod"]))
    return {"retentionExpirationTime": timestamp(end.timestamp())}


def check_unprotected(call: Call, stored: Json, *, is_kept: bool) -> None:
    """Refuse to delete or replace a protected object; `is_kept`: as a noncurrent version, which retention permits."""
    name = f"Object '{stored['bucket']}/{stored['name']}'"
    for field, word in HOLDS.items():
        if stored.get(field):
            words = f"{name} is under active {word} hold and cannot be deleted, overwritten or archived"
            raise ApiError(403, f"{words} until hold is removed.", "objectUnderActiveHold")
    end = expiration(call, stored).get("retentionExpirationTime")
    if end and not is_kept and datetime.fromisoformat(end).timestamp() > call.cloud.now():
        words = (
            f"{name} is subject to bucket's retention policy or object retention and cannot be deleted or overwritten"
        )
        raise ApiError(403, f"{words} until {end}", "retentionPolicyNotMet")
