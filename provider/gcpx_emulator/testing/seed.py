"""Creates, through the emulated APIs, the resources that a program refers to but does not create."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import attrs

from gcpx_emulator.core.json_data import Json
from gcpx_emulator.testing.control import Control

_ZONE = "us-east1-b"
_IMAGE = "projects/debian-cloud/global/images/family/debian-12"
_NETWORK = {"network": "global/networks/default"}


@attrs.frozen
class Seed:
    """Creates resources in one project of an emulator. All methods return the path of the new resource.

    `more` holds properties of the API's request body, with the API's names.

    Raises:
        EmulatorError: if the emulator refuses the request, with the reason.
    """

    control: Control
    project: str

    def bucket(self, name: str, **more: Any) -> str:
        """Create a bucket."""
        self.control.send("POST", "/storage/v1/b", {"name": name, **more}, project=self.project)
        return f"b/{name}"

    def topic(self, name: str, **more: Any) -> str:
        """Create a topic."""
        return self._put("topics", name, more)

    def push_subscription(self, name: str, topic: str, endpoint: str, **more: Any) -> str:
        """Create a subscription that pushes the messages of a topic to an endpoint on this machine."""
        body = {"topic": f"projects/{self.project}/topics/{topic}", "pushConfig": {"pushEndpoint": endpoint}}
        return self._put("subscriptions", name, {**body, **more})

    def disk(self, name: str, zone: str = _ZONE, **more: Any) -> str:
        """Create a disk, of 10 GB if `more` gives no size."""
        return self._insert(f"zones/{zone}/disks", {"name": name, "sizeGb": "10", **more})

    def instance(self, name: str, zone: str = _ZONE, **more: Any) -> str:
        """Create a running instance with a boot disk."""
        machine_type = f"zones/{zone}/machineTypes/e2-small"
        body = {"name": name, "machineType": machine_type, "disks": [_boot_disk()], "networkInterfaces": [_NETWORK]}
        return self._insert(f"zones/{zone}/instances", {**body, **more})

    def template(self, name: str, **properties: Any) -> str:
        """Create a global instance template; `properties` are those of its instances."""
        small = {"machineType": "e2-small", "disks": [_boot_disk()], "networkInterfaces": [_NETWORK]}
        return self._insert("global/instanceTemplates", {"name": name, "properties": {**small, **properties}})

    def ssh_key(self, user: str, key: str) -> str:
        """Give a user a public key, in the form `ssh-ed25519 AAAA... comment`. Every user has a profile."""
        answer = self.control.send("POST", f"/v1/users/{quote(user, safe='')}:importSshPublicKey", {"key": key})
        (added,) = (found for found in _keys(answer) if found["key"].split()[1] == key.split()[1])
        return str(added["name"])

    def _put(self, collection: str, name: str, body: Json) -> str:
        """Create a resource of Pub/Sub; its name may contain `%`."""
        parent = f"projects/{self.project}/{collection}"
        self.control.send("PUT", f"/v1/{parent}/{quote(name, safe='')}", body)
        return f"{parent}/{name}"

    def _insert(self, collection: str, body: Json) -> str:
        """Create a resource of Compute Engine; the emulator does it at once."""
        self.control.send("POST", f"/compute/v1/projects/{self.project}/{collection}", body)
        return f"projects/{self.project}/{collection}/{body['name']}"


def _boot_disk() -> Json:
    return {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": _IMAGE}}


def _keys(answer: Json) -> list[Json]:
    return list(answer["loginProfile"]["sshPublicKeys"].values())
