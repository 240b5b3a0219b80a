"""OS Login: users' profiles and their SSH public keys; the same in v1, v1beta and v1alpha."""

from __future__ import annotations

import base64
import binascii
import hashlib
import time
from typing import Final

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.handlers import Call, handles
from gcpx_emulator.core.store import Json

_MICROSECONDS: Final = 1_000_000


def _collection(call: Call) -> str:
    return f"users/{call.path['usersId']}/sshPublicKeys"


def _fingerprint(key: str) -> str:
    parts = key.split()
    try:
        return hashlib.sha256(base64.b64decode(parts[1], validate=True)).hexdigest()
    except (IndexError, binascii.Error, ValueError):
        raise ApiError(400, f"Invalid SSH public key: {key[:40]}") from None


def _made(call: Call) -> Json:
    key = call.body.get("key")
    if not key:
        raise ApiError(400, "The SSH public key must not be empty.")
    _check_expiry(call.body)
    fingerprint = _fingerprint(key)
    name = f"{_collection(call)}/{fingerprint}"
    expiry = {"expirationTimeUsec": call.body["expirationTimeUsec"]} if call.body.get("expirationTimeUsec") else {}
    return {"key": key, "fingerprint": fingerprint, "name": name, **expiry}


def _check_expiry(body: Json) -> None:
    expiry = int(body.get("expirationTimeUsec") or 0)
    if expiry and expiry < time.time() * _MICROSECONDS:
        raise ApiError(400, "The expiration time must be in the future.")


@handles("oslogin.users.sshPublicKeys.create")
def create_key(call: Call) -> Json:
    """Add a key that is not there yet."""
    made = _made(call)
    if call.store.get(made["name"]) is not None:
        raise ApiError(409, f"SSH public key {made['name']} already exists.")
    call.store.put(made["name"], made)
    return made


@handles("oslogin.users.importSshPublicKey")
def import_key(call: Call) -> Json:
    """Add a key, or set the expiry of one that is there; with a project, also its POSIX account."""
    made = _made(call)
    call.store.put(made["name"], made)
    if call.query.get("projectId"):
        _provision(call, call.query["projectId"])
    return {"loginProfile": _profile(call)}


def _provision(call: Call, project: str) -> None:
    user = call.path["usersId"]
    account = {
        "primary": True,
        "username": user.replace("@", "_").replace(".", "_"),
        "uid": "1000",
        "gid": "1000",
        "homeDirectory": f"/home/{user.partition('@')[0]}",
        "operatingSystemType": "LINUX",
        "accountId": project,
        "name": f"users/{user}/projects/{project}",
    }
    call.store.put(f"users/{user}/projects/{project}", account)


def _profile(call: Call) -> Json:
    user = call.path["usersId"]
    keys = {key["fingerprint"]: key for key in call.store.list(_collection(call))}
    accounts = call.store.list(f"users/{user}/projects")
    return (
        {"name": user} | ({"sshPublicKeys": keys} if keys else {}) | ({"posixAccounts": accounts} if accounts else {})
    )


@handles("oslogin.users.getLoginProfile")
def get_profile(call: Call) -> Json:
    """Read a user's profile."""
    return _profile(call)


def _key(call: Call) -> Json:
    name = f"{_collection(call)}/{call.path['sshPublicKeysId']}"
    found = call.store.get(name)
    if found is None:
        raise ApiError(404, f"SSH public key {name} not found.")
    return found


@handles("oslogin.users.sshPublicKeys.get")
def get_key(call: Call) -> Json:
    """Read a key."""
    return _key(call)


@handles("oslogin.users.sshPublicKeys.patch")
def patch_key(call: Call) -> Json:
    """Set or clear what the update mask names; the key itself never changes."""
    found = _key(call)
    default = ",".join(name for name in ("key", "expirationTimeUsec") if name in call.body)
    mask = (call.query.get("updateMask") or default).replace("expiration_time_usec", "expirationTimeUsec")
    fields = [name for name in mask.split(",") if name]
    for name in fields:
        if name not in {"key", "expirationTimeUsec"}:
            raise ApiError(400, f"Invalid update mask: {name}")
    if "key" in fields and _fingerprint(call.body.get("key", "")) != found["fingerprint"]:
        raise ApiError(400, "The key of an SSH public key cannot be changed.")
    _check_expiry(call.body)
    if "expirationTimeUsec" in fields:
        found.pop("expirationTimeUsec", None)
        if int(call.body.get("expirationTimeUsec") or 0):
            found["expirationTimeUsec"] = call.body["expirationTimeUsec"]
    call.store.put(found["name"], found)
    return found


@handles("oslogin.users.sshPublicKeys.delete")
def delete_key(call: Call) -> Json:
    """Delete a key."""
    call.store.delete(_key(call)["name"])
    return {}
