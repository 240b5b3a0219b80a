"""What exists in the emulator besides the resources that a test makes: what they need, and what others have.

It is made once by requests, and put into the emulator as rows of its tables for each test.
"""

from __future__ import annotations

import functools
from typing import Any, Final

from engines.inventory import Inventory
from samples import SAMPLES
from servers.emulated import Emulated, running
from values.programs import PROJECT, template
from values.sample import Change

_TABLES: Final = ("resources", "counters")


def prepare(cloud: Emulated) -> Inventory:
    """Reset the emulator; make what single resources need, and things of others, whose names fit no fleet's pattern."""
    _put(cloud, _neighbours)
    return Inventory.of(cloud)


def make_surroundings(cloud: Emulated) -> None:
    """Reset the emulator, and make what the programs need and what others have."""
    _put(cloud, _surroundings)


def _neighbours(cloud: Emulated) -> None:
    cloud.make_bucket()
    cloud.make_topics()
    cloud.make_disk()
    cloud.make_instance()
    cloud.make_instance("web-stranger")
    cloud.post(f"/compute/v1/projects/{PROJECT}/global/instanceTemplates", {"name": "stranger", **template()})


def _surroundings(cloud: Emulated) -> None:
    for sample in SAMPLES.values():
        sample.surround(cloud)


def _put(cloud: Emulated, make: Change) -> None:
    cloud.reset()
    for table, rows in _made_by(make).items():
        places = ", ".join("?" * len(rows[0])) if rows else ""
        cloud.emulator.store.run_many(f"insert into {table} values ({places})", rows)


@functools.cache
def _made_by(make: Change) -> dict[str, list[tuple[Any, ...]]]:
    """Return what a function makes, as rows of the emulator's tables."""
    with running() as cloud:
        make(cloud)
        store = cloud.emulator.store
        return {table: [tuple(row) for row in store.run(f"select * from {table}")] for table in _TABLES}
