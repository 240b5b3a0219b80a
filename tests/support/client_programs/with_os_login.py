"""SSH keys of users with google-cloud-os-login by REST."""

import time

from google.cloud import oslogin_v1
from steps import PROJECT, step

USER = "users/me@example.com"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO6TXgl5Uhnu1EPPFJiEgBYyGnqb4ggEqZZGPPAvUgHT me"
client = oslogin_v1.OsLoginServiceClient(transport="rest")

with step("import a key"):
    expires = (int(time.time()) + 3600) * 1_000_000
    request = {"parent": USER, "ssh_public_key": {"key": KEY, "expiration_time_usec": expires}, "project_id": PROJECT}
    profile = client.import_ssh_public_key(request).login_profile
    (fingerprint,) = profile.ssh_public_keys
with step("read a profile with its POSIX account"):
    assert client.get_login_profile(name=USER).posix_accounts
with step("read and update a key"):
    name = f"{USER}/sshPublicKeys/{fingerprint}"
    client.get_ssh_public_key(name=name)
    client.update_ssh_public_key(
        name=name,
        ssh_public_key={"expiration_time_usec": expires + 1_000_000},
        update_mask={"paths": ["expiration_time_usec"]},
    )
with step("delete a key"):
    client.delete_ssh_public_key(name=name)
