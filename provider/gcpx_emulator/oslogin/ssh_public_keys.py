"""SSH public keys of users, and their login profiles; the same in every version of the API."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import Final

from gcpx_emulator.core.call import Call, handles
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json

_MICROSECONDS: Final = 1_000_000
_NO_PROJECT: Final = "default"
"""Stands for the project in the name of an account that was made without one."""
_FIELDS: Final = ("key", "expirationTimeUsec")
_MOST_BYTES: Final = 32 * 1024
"""The size of the keys that a profile can hold. Only the size and the message are known, from public reports."""


def keys_path(call: Call) -> str:
    """Return the path of a user's keys."""
    return f"users/{call.path['usersId']}/sshPublicKeys"


def new_key(call: Call) -> Json:
    """Write the key in the call's body, whether or not it exists already."""
    key = call.body.get("key")
    if not key:
        raise ApiError(400, "The SSH public key must not be empty.")
    _check_expiry(call)
    fingerprint, expiry = _fingerprint(key), call.body.get("expirationTimeUsec")
    name = f"{keys_path(call)}/{fingerprint}"
    others = sum(len(other["key"].encode()) for other in _kept_keys(call) if other["name"] != name)
    if others + len(key.encode()) > _MOST_BYTES:
        raise ApiError(400, "Login profile size exceeds 32 KiB. Delete profile values to make additional space.")
    return {"key": key, "fingerprint": fingerprint, "name": name, **({"expirationTimeUsec": expiry} if expiry else {})}


def _kept_keys(call: Call) -> list[Json]:
    """List the keys of a user that have not expired; the service removes the others from the profile."""
    return [key for key in call.store.list(keys_path(call)) if not _has_expired(call, key)]


def _has_expired(call: Call, key: Json) -> bool:
    expiry = str(key.get("expirationTimeUsec") or "")  # not a number if it was written without the API
    return expiry.isdecimal() and 0 < int(expiry) < call.cloud.now() * _MICROSECONDS


def _fingerprint(key: str) -> str:
    """Return the SHA-256 hash of a key in the format of OpenSSH, without its comment."""
    parts = key.split()
    try:
        return hashlib.sha256(base64.b64decode(parts[1], validate=True)).hexdigest()
    except (IndexError, binascii.Error, ValueError):
        raise ApiError(400, f"Invalid SSH public key: {key[:40]}") from None


def _check_expiry(call: Call) -> None:
    expiry = str(call.body.get("expirationTimeUsec") or "0")
    if not expiry.isdecimal():
        raise ApiError(400, f"Invalid value at 'expiration_time_usec' (TYPE_INT64): {expiry[:40]}")
    if _has_expired(call, call.body):
        raise ApiError(400, "The expiration time must be in the future.")


@handles("oslogin.users.sshPublicKeys.create")
def create_key(call: Call) -> Json:
    """Create a key, which must be new."""
    key = new_key(call)
    stored = call.store.get(key["name"])
    if stored is not None and not _has_expired(call, stored):
        raise ApiError(409, f"SSH public key {key['name']} already exists.")
    call.store.put(key["name"], key)
    return key


@handles("oslogin.users.sshPublicKeys.get")
def get_key(call: Call) -> Json:
    """Read a key."""
    name = f"{keys_path(call)}/{call.path['sshPublicKeysId']}"
    key = call.store.get(name)
    if key is None or _has_expired(call, key):
        raise ApiError(404, f"SSH public key {name} not found.")
    return key


@handles("oslogin.users.sshPublicKeys.patch")
def patch_key(call: Call) -> Json:
    """Set or remove the fields in the update mask; the key itself cannot change."""
    key = get_key(call)
    fields = _update_mask(call)
    if "key" in fields and _fingerprint(call.body.get("key", "")) != key["fingerprint"]:
        raise ApiError(400, "The key of an SSH public key cannot be changed.")
    _check_expiry(call)
    if "expirationTimeUsec" in fields:
        key.pop("expirationTimeUsec", None)
        if int(call.body.get("expirationTimeUsec") or 0):
            key["expirationTimeUsec"] = call.body["expirationTimeUsec"]
    call.store.put(key["name"], key)
    return key


def _update_mask(call: Call) -> list[str]:
    """Return the fields to change: those in the update mask or, without one, in the body."""
    default = ",".join(name for name in _FIELDS if name in call.body)
    mask = (call.query.get("updateMask") or default).replace("expiration_time_usec", "expirationTimeUsec")
    fields = [name for name in mask.split(",") if name]
    for name in fields:
        if name not in _FIELDS:
            raise ApiError(400, f"Invalid update mask: {name}")
    return fields


@handles("oslogin.users.sshPublicKeys.delete")
def delete_key(call: Call) -> Json:
    """Delete a key."""
    call.store.delete(get_key(call)["name"])
    return {}


@handles("oslogin.users.getLoginProfile")
def get_profile(call: Call) -> Json:
    """Read a user's profile."""
    user = call.path["usersId"]
    keys = {key["fingerprint"]: key for key in _kept_keys(call)}
    accounts = call.store.list(f"users/{user}/projects")
    return {
        "name": user,
        **({"sshPublicKeys": keys} if keys else {}),
        **({"posixAccounts": accounts} if accounts else {}),
    }


@handles("oslogin.users.importSshPublicKey")
def import_key(call: Call) -> Json:
    """Create a key or replace its expiry; create a POSIX account for the project, or if the user has none."""
    key = new_key(call)
    call.store.put(key["name"], key)
    user, project = call.path["usersId"], call.query.get("projectId")
    if project or not call.store.list(f"users/{user}/projects"):
        username = re.sub(r"[^a-z0-9_-]", "_", user.lower())
        account: Json = {
            "primary": True,
            "username": username,
            "uid": "1000",
            "gid": "1000",
            "homeDirectory": f"/home/{username}",
            "operatingSystemType": "LINUX",
            **({"accountId": project} if project else {}),
            "name": f"users/{user}/projects/{project or _NO_PROJECT}",
        }
        call.store.put(account["name"], account)
    return {"loginProfile": get_profile(call)}
