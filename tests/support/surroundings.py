"""What exists in the emulator beside the resources that a test makes: what they need, and what others have."""

from __future__ import annotations

import functools
from typing import Any, Final

from emulated import Emulated, running
from fault_scenarios import DISK_KEY
from inventory import Inventory
from programs import BUCKET, OTHER_BLOB, PROJECT, TOPICS, USER, VM, ZONE, template

_TABLES: Final = ("resources", "counters")


def prepare(cloud: Emulated) -> Inventory:
    """Make what single resources need beside a few of others, whose names no fleet's pattern gives; return all."""
    cloud.reset()
    cloud.make_bucket()
    cloud.make_topics()
    cloud.make_disk()
    cloud.make_instance()
    cloud.make_instance("web-stranger")
    cloud.post(f"/compute/v1/projects/{PROJECT}/global/instanceTemplates", {"name": "stranger", **template()})
    return Inventory.of(cloud)


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
        cloud.make_bucket()
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
