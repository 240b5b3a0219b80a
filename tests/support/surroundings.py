"""What exists in the emulator besides the resources that a test makes: what they need, and what others have."""

from __future__ import annotations

import functools
from typing import Any, Final

from emulated import Emulated, running
from inventory import Inventory
from programs import PROJECT, template
from samples import SAMPLES

_TABLES: Final = ("resources", "counters")


def prepare(cloud: Emulated) -> Inventory:
    """Make what single resources need, and a few resources of others, whose names fit no fleet's pattern."""
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
    """Let each sample make its surroundings once, by requests; return them as rows of the emulator's tables."""
    with running() as cloud:
        for sample in SAMPLES.values():
            sample.surround(cloud)
        store = cloud.emulator.store
        return {table: [tuple(row) for row in store.run(f"select * from {table}")] for table in _TABLES}
