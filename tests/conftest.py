from __future__ import annotations

import os
from collections.abc import Iterator

import driver
import emulated
import pytest
from hypothesis import settings
from programs import BUCKET, PROJECT

settings.register_profile("steady", derandomize=True)
settings.register_profile("search", derandomize=False)
settings.load_profile("search" if "GCPX_SEARCH" in os.environ else "steady")


@pytest.fixture(scope="session")
def _emulator() -> Iterator[emulated.Emulated]:
    with emulated.running() as found:
        yield found


@pytest.fixture
def cloud(_emulator: emulated.Emulated) -> emulated.Emulated:
    """An emulator with one bucket in it, and topics for its events."""
    _emulator.reset()
    bucket = {"kind": "storage#bucket", "name": BUCKET, "id": BUCKET, "_project": PROJECT}
    _emulator.emulator.store.put(f"b/{BUCKET}", bucket)
    _emulator.make_topics()
    return _emulator


@pytest.fixture
def vm(cloud: emulated.Emulated) -> str:
    """An instance with a disk beside it; gives the instance's path."""
    cloud.make_disk()
    return cloud.make_instance()


@pytest.fixture
def engine(cloud: emulated.Emulated) -> Iterator[driver.Engine]:
    """An engine whose plugin talks to the emulator."""
    with driver.engine(project=PROJECT, emulatorHost=cloud.host) as made:
        yield made
