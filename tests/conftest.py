from __future__ import annotations

from collections.abc import Iterator

import driver
import emulated
import pytest
import search
from hypothesis import settings
from programs import BUCKET, PROJECT

settings.register_profile("gcpx", search.examples(steady=100, searched=1000))
settings.load_profile("gcpx")


@pytest.fixture(autouse=True)
def _nothing_unexpected(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail where the plugin met an exception that is not its own; a test that provokes one clears the log."""
    yield
    found = [record.getMessage() for record in caplog.get_records("call") if record.name == "gcpx.protocol.failures"]
    assert not found, found


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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests of the real CLI, which take longest, so that no worker ends long after the other."""
    items.sort(key=lambda item: item.get_closest_marker("pulumi") is None)
