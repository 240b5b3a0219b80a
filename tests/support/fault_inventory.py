"""What exists in the emulator: what others made, and what a program made beside it."""

from __future__ import annotations

import functools
import json
from collections import Counter
from typing import Any, Final

import attrs
from emulated import Emulated, running
from fault_scenarios import DISK_KEY
from programs import BUCKET, OTHER_BLOB, PROJECT, TOPICS, USER, VM, ZONE, template

_TABLES: Final = ("resources", "counters")
_CHANGED_BY_OTHERS: Final = ("disks", "fingerprint", "users", "lastAttachTimestamp", "lastDetachTimestamp")
"""What an attachment changes of the instance and the disk that others made."""


def make_surroundings(cloud: Emulated) -> None:
    """Reset the emulator, and make what the programs need and what others have."""
    cloud.reset()
    store = cloud.emulator.store
    for table, rows in _surroundings().items():
        places = ", ".join("?" * len(rows[0])) if rows else ""
        store.run_many(f"insert into {table} values ({places})", rows)


@functools.cache
def _surroundings() -> dict[str, list[tuple[Any, ...]]]:
    """Make the surroundings once, by requests; return them as rows of the emulator's tables."""
    with running() as cloud:
        store = cloud.emulator.store
        store.put(f"b/{BUCKET}", {"kind": "storage#bucket", "name": BUCKET, "id": BUCKET, "_project": PROJECT})
        cloud.make_topics()
        cloud.make_disk()
        locked = {"name": "locked", "sizeGb": "50", "diskEncryptionKey": {"rawKey": DISK_KEY}}
        cloud.post(f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/disks", locked)
        cloud.make_disk("other-data")
        cloud.make_instance()
        _make_strangers(cloud)
        return {table: [tuple(row) for row in store.run(f"select * from {table}")] for table in _TABLES}


def _make_strangers(cloud: Emulated) -> None:
    """Make a resource of each kind that is not the program's, as similar to it as it can be."""
    compute = f"/compute/v1/projects/{PROJECT}"
    cloud.change(cloud.make_instance("web-900"), lambda body: body.update(labels={"gcpx-bulk": "stranger"}))
    source = f"projects/{PROJECT}/zones/{ZONE}/disks/other-data"
    cloud.post(f"{compute}/zones/{ZONE}/instances/example-vm/attachDisk", {"source": source, "deviceName": "other"})
    cloud.post(f"{compute}/global/instanceTemplates", {"name": "stranger", **template()})
    cloud.post(f"/compute/beta/projects/{PROJECT}/global/machineImages?sourceInstance={VM}", {"name": "stranger"})
    topic = {"topic": f"//pubsub.googleapis.com/{TOPICS[0]}", "payload_format": "NONE"}
    cloud.post(f"/storage/v1/b/{BUCKET}/notificationConfigs", topic)
    cloud.post(f"/v1/users/{USER}:importSshPublicKey", {"key": f"ssh-ed25519 {OTHER_BLOB}"})


@attrs.frozen
class Inventory:
    """All that exists at a moment, by path; disks on instances are items of their own."""

    items: dict[str, Any]

    @classmethod
    def of(cls, cloud: Emulated) -> Inventory:
        """Take the inventory of an emulator, when all operations have ended."""
        cloud.emulator.operations.settle()
        rows = cloud.emulator.store.run("select path, body from resources")
        found = {row["path"]: json.loads(row["body"]) for row in rows}
        attached = {
            f"{path}/attachedDisks/{disk['deviceName']}": disk
            for path, body in found.items()
            if "/instances/" in path
            for disk in body.get("disks", ())[1:]
        }
        return cls({path: _steady(body) for path, body in found.items()} | attached)

    def added_since(self, before: Inventory) -> Counter[str]:
        """Count what is new, by kind."""
        return Counter(path.split("/")[-2] for path in self.items.keys() - before.items.keys())

    def changed_since(self, before: Inventory) -> list[str]:
        """Name what existed before, and is gone or different."""
        return sorted(path for path, body in before.items.items() if self.items.get(path) != body)


def _steady(body: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key not in _CHANGED_BY_OTHERS}
