"""Login profiles: the keys and POSIX accounts of users."""

from __future__ import annotations

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.handlers import handles
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.oslogin.ssh_public_keys import keys_path, new_key


@handles("oslogin.users.getLoginProfile")
def get_profile(call: Call) -> Json:
    """Read a user's profile."""
    user = call.path["usersId"]
    keys = {key["fingerprint"]: key for key in call.store.list(keys_path(call))}
    accounts = call.store.list(f"users/{user}/projects")
    return {
        "name": user,
        **({"sshPublicKeys": keys} if keys else {}),
        **({"posixAccounts": accounts} if accounts else {}),
    }


@handles("oslogin.users.importSshPublicKey")
def import_key(call: Call) -> Json:
    """Create a key or replace its expiry, and, with a project, create a POSIX account."""
    key = new_key(call)
    call.store.put(key["name"], key)
    if call.query.get("projectId"):
        _create_account(call, call.query["projectId"])
    return {"loginProfile": get_profile(call)}


def _create_account(call: Call, project: str) -> None:
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
