"""SSH public keys and login profiles."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import oslogin_v1
from google.cloud.oslogin_v1.common import SshPublicKey
from google.cloud.oslogin_v1.services.os_login_service.transports.rest import OsLoginServiceRestTransport
from google.protobuf import field_mask_pb2
from values.programs import BLOB, FINGERPRINT, PROJECT, USER


def test_login_keys(cloud):
    transport = OsLoginServiceRestTransport(host=cloud.host, url_scheme="http", credentials=AnonymousCredentials())
    client = oslogin_v1.OsLoginServiceClient(transport=transport)
    name = f"users/{USER}/sshPublicKeys/{FINGERPRINT}"
    key = SshPublicKey(key=f"ssh-ed25519 {BLOB} laptop")
    made = client.create_ssh_public_key(parent=f"users/{USER}", ssh_public_key=key)

    assert (made.fingerprint, made.name) == (FINGERPRINT, name)
    with pytest.raises(exceptions.Conflict):
        client.create_ssh_public_key(parent=f"users/{USER}", ssh_public_key=key)
    changed = client.update_ssh_public_key(
        name=name,
        ssh_public_key=SshPublicKey(expiration_time_usec=1924991999000000),
        update_mask=field_mask_pb2.FieldMask(paths=["expiration_time_usec"]),
    )
    assert client.get_ssh_public_key(name=name).expiration_time_usec == changed.expiration_time_usec == 1924991999000000
    profile = client.import_ssh_public_key(parent=f"users/{USER}", ssh_public_key=key, project_id=PROJECT).login_profile
    assert list(profile.ssh_public_keys) == [FINGERPRINT]
    assert client.get_login_profile(name=f"users/{USER}").posix_accounts[0].primary
    client.delete_ssh_public_key(name=name)
    with pytest.raises(exceptions.NotFound):
        client.get_ssh_public_key(name=name)


def test_importing_a_key_without_a_project_makes_an_account_unless_there_is_one(http):
    user, body = "/v1/users/New.User@example.com", {"key": f"ssh-ed25519 {BLOB}"}
    http.post(f"{user}:importSshPublicKey", json=body)
    http.post(f"{user}:importSshPublicKey", json=body)
    (account,) = http.get(f"{user}/loginProfile").json()["posixAccounts"]

    assert (account["username"], account["homeDirectory"]) == ("new_user_example_com", "/home/new_user_example_com")
    assert "accountId" not in account
