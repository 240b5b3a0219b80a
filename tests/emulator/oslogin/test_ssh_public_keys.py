"""SSH public keys and login profiles."""

from __future__ import annotations

import base64

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


def test_an_expired_key_leaves_the_profile(cloud, http):
    user = f"/v1/users/{USER}"
    expiry = str(int((cloud.emulator.now() + 60) * 1_000_000))
    lasting = {"key": "ssh-rsa " + base64.b64encode(b"lasting").decode()}
    body = {"key": f"ssh-ed25519 {BLOB}", "expirationTimeUsec": expiry}
    http.post(f"{user}:importSshPublicKey", json=lasting)
    http.post(f"{user}:importSshPublicKey", json=body)
    before = http.get(f"{user}/loginProfile").json()["sshPublicKeys"]
    http.post("/_emulator/clock", json={"advance": 61})
    after = http.get(f"{user}/loginProfile").json()["sshPublicKeys"]
    key = http.get(f"{user}/sshPublicKeys/{FINGERPRINT}")
    again = http.post(f"{user}/sshPublicKeys", json={"key": body["key"]})

    assert (FINGERPRINT in before, FINGERPRINT in after, len(after)) == (True, False, 1)
    assert key.status_code == 404
    assert again.status_code == 200, again.text


def test_the_keys_of_a_profile_have_32_kib(http):
    user = f"/v1/users/{USER}"
    keys = ["ssh-rsa " + base64.b64encode(bytes([index]) * 6_000).decode() for index in range(5)]
    answers = [http.post(f"{user}:importSshPublicKey", json={"key": key}) for key in keys]
    smaller = http.post(f"{user}/sshPublicKeys", json={"key": f"ssh-ed25519 {BLOB}"})
    repeated = http.post(f"{user}:importSshPublicKey", json={"key": keys[0]})
    why = "Login profile size exceeds 32 KiB. Delete profile values to make additional space."

    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 400]
    assert answers[-1].json()["error"]["message"] == why
    assert len(http.get(f"{user}/loginProfile").json()["sshPublicKeys"]) == 5
    assert (smaller.status_code, repeated.status_code) == (200, 200)
