"""HMAC keys of service accounts, which sign nothing here: requests that they have signed are not emulated.

Source: the page "Manage HMAC keys", and the messages that tests of public clients quote from Google.
"""

from __future__ import annotations

import base64
import secrets
import string
from typing import Final

from gcpx_emulator.core.call import Call, handles
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.listing import in_order, page_of

_ACTIVE, _INACTIVE, _DELETED = "ACTIVE", "INACTIVE", "DELETED"
_MOST: Final = 10
"""The number of keys of an account that are not deleted."""
_LETTERS: Final = string.ascii_uppercase + "234567"
_VERSION: Final = "_version"
"""The stored field with the number of changes, from which the etag follows."""


def _path(call: Call) -> str:
    return f"projects/{call.path['projectId']}/hmacKeys"


def _shown(stored: Json) -> Json:
    etag = base64.b64encode(f"{stored[_VERSION]:08x}".encode()).decode()
    return {name: value for name, value in stored.items() if not name.startswith("_")} | {"etag": etag}


def _read(call: Call) -> Json:
    found = call.store.get(f"{_path(call)}/{call.path['accessId']}")
    if found is None:
        raise ApiError(404, "Access ID not found in project.")
    return found


@handles("storage.projects.hmacKeys.create")
def create_key(call: Call) -> Json:
    """Create a key of a service account; only this response has its secret."""
    account, project = call.query["serviceAccountEmail"], call.path["projectId"]
    if "@" not in account:
        raise ApiError(400, "Invalid argument.")
    if account.endswith("@gs-project-accounts.iam.gserviceaccount.com"):
        raise ApiError(403, f"The service account {account} is not in the project.")
    if sum(key["state"] != _DELETED for key in _of_account(call, account)) >= _MOST:
        raise ApiError(400, "Service account HMAC key limit reached")
    access_id, now = "GOOG1E" + "".join(secrets.choice(_LETTERS) for _ in range(55)), timestamp()
    key = {
        "kind": "storage#hmacKeyMetadata",
        "id": f"{project}/{access_id}",
        "selfLink": f"https://www.googleapis.com/storage/v1/projects/{project}/hmacKeys/{access_id}",
        "accessId": access_id,
        "projectId": project,
        "serviceAccountEmail": account,
        "state": _ACTIVE,
        "timeCreated": now,
        "updated": now,
        _VERSION: 1,
    }
    call.store.put(f"{_path(call)}/{access_id}", key)
    secret = base64.b64encode(secrets.token_bytes(30)).decode()
    return {"kind": "storage#hmacKey", "metadata": _shown(key), "secret": secret}


def _of_account(call: Call, account: str) -> list[Json]:
    """List the keys of an account, or of all if it is empty; deleted ones, too."""
    return [key for key in call.store.list(_path(call)) if account in {"", key["serviceAccountEmail"]}]


@handles("storage.projects.hmacKeys.get")
def get_key(call: Call) -> Json:
    """Read a key, which may be deleted."""
    return _shown(_read(call))


@handles("storage.projects.hmacKeys.list")
def list_keys(call: Call) -> Json:
    """List the keys of a project or an account; deleted ones only if the request asks for them."""
    keys = _of_account(call, call.query.get("serviceAccountEmail", ""))
    is_all = call.query.get("showDeletedKeys") == "true"
    shown = {key["accessId"]: key for key in keys if is_all or key["state"] != _DELETED}
    rows, token = page_of(in_order(shown), call.query)
    items = [_shown(key) for _, key in rows]
    found = {"items": items} if items else {}
    return {"kind": "storage#hmacKeysMetadata"} | found | ({"nextPageToken": token} if token else {})


@handles("storage.projects.hmacKeys.update")
def update_key(call: Call) -> Json:
    """Change the state of a key that is not deleted to the other one."""
    key, body = _read(call), call.body
    if body.get("accessId") not in (None, key["accessId"]):
        raise ApiError(400, "The accessId supplied in request body does not match the accessId in the URL.")
    if key["state"] == _DELETED:
        raise ApiError(400, "Deleted keys cannot be updated.")
    if body.get("etag") not in (None, _shown(key)["etag"]):
        raise ApiError(412, "Cannot update keys. Etag does not match expected value.")
    state = body.get("state")
    if state == _DELETED:
        raise ApiError(400, "Cannot set state to 'DELETED'.")
    if state not in {_ACTIVE, _INACTIVE}:
        raise ApiError(400, "Must specify resource.state.")
    if state == key["state"]:
        raise ApiError(400, "Update must modify the credential.")
    return _shown(_changed(call, key, state))


def _changed(call: Call, key: Json, state: str) -> Json:
    """Store a key in another state."""
    changed = key | {"state": state, "updated": timestamp(), _VERSION: key[_VERSION] + 1}
    call.store.put(f"{_path(call)}/{key['accessId']}", changed)
    return changed


@handles("storage.projects.hmacKeys.delete")
def delete_key(call: Call) -> None:
    """Delete an inactive key, which can still be read."""
    key = _read(call)
    if key["state"] == _ACTIVE:
        raise ApiError(400, "Cannot delete keys in ACTIVE state.  Update state to 'INACTIVE' first.")
    if key["state"] == _DELETED:
        raise ApiError(400, "Key is already deleted.")
    _changed(call, key, _DELETED)
