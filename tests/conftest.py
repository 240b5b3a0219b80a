from __future__ import annotations

import gc
import os
import random
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest
from cli import forked_plugin, users_environment
from engines import driver
from engines.clocked import ClockedProvider
from hypothesis import settings
from servers import emulated, tls_proxy
from values import search
from values.programs import PROJECT
from workspace import ROOT, Workspace

pytest_plugins = ["unsteady"]

settings.register_profile("gcpx", search.examples(steady=100, searched=1000))
settings.load_profile("gcpx")


def pytest_configure() -> None:
    """Forget the user's settings; keep each worker on a processor of its own, if there is a worker for each.

    Only one thread of Python runs at a time; if the next one is on another processor, a fifth more time passes. Further
    workers use what is idle.
    """
    gc.disable()
    users_environment.forget()
    worker, workers = (os.environ.get(name, "") for name in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT"))
    if worker and hasattr(os, "sched_setaffinity"):
        processors, number = sorted(os.sched_getaffinity(0)), int(worker.removeprefix("gw"))
        if number < len(processors) <= int(workers):
            os.sched_setaffinity(0, {processors[number]})


@pytest.fixture(autouse=True)
def _alone(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail if the plugin logged an unexpected exception; a test that provokes one clears the log.

    Pauses between retries are random, but the same in every run. What a test left in cycles is found at its end, so that
    a file or a connection that it did not close fails this test, and not a later one.
    """
    random.seed(0)
    yield
    gc.collect(1)
    messages = [record.getMessage() for record in caplog.get_records("call") if record.name == "gcpx.protocol.failures"]
    assert not messages, messages


@pytest.fixture(scope="session")
def _emulator() -> Iterator[emulated.Emulated]:
    with emulated.running() as found:
        yield found


@pytest.fixture
def cloud(_emulator: emulated.Emulated) -> emulated.Emulated:
    """An emulator with one bucket, and with topics for its events."""
    _emulator.reset()
    _emulator.make_bucket()
    _emulator.make_topics()
    return _emulator


@pytest.fixture(scope="session")
def pulumi_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A PULUMI_HOME with the plugin installed, which all tests share."""
    folder = tmp_path_factory.mktemp("home")
    made = Workspace.make(ROOT / "examples" / "quickstart", folder, "127.0.0.1:1")
    home = Path(made.variables["PULUMI_HOME"])
    (plugin,) = home.glob("plugins/*/pulumi-resource-gcpx")
    with forked_plugin.forking(plugin):
        yield home


@pytest.fixture
def proxy(cloud: emulated.Emulated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tls_proxy.TlsProxy]:
    """A proxy that HTTPS_PROXY names, and that answers for every host of Google; no variable names its certificates."""
    for name in tls_proxy.VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    with tls_proxy.running(tmp_path, cloud.host) as found:
        monkeypatch.setenv("HTTPS_PROXY", found.url)
        yield found


@pytest.fixture
def vm(cloud: emulated.Emulated) -> str:
    """The path of an instance; an unattached disk exists beside it."""
    cloud.make_disk()
    return cloud.make_instance()


@pytest.fixture
def engine(cloud: emulated.Emulated) -> Iterator[driver.Engine]:
    """An engine whose plugin talks to the emulator."""
    with driver.engine(project=PROJECT, emulatorHost=cloud.host) as made:
        yield made


@pytest.fixture
def clocked_engine(cloud: emulated.Emulated) -> Iterator[driver.Engine]:
    """An engine whose plugin does not wait between retries, so that permanent faults take no time."""
    with driver.engine(ClockedProvider(), project=PROJECT, emulatorHost=cloud.host) as made:
        yield made


def pytest_sessionfinish() -> None:
    """Write the measured code coverage, if any: pytest-xdist ends a worker that takes long to exit."""
    measured = coverage.Coverage.current()
    if measured is not None:
        measured.stop()
        measured.save()


def pytest_collection_finish() -> None:
    """Let the garbage collector look at what tests make, and not again and again at modules and thousands of tests."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 50)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of the real CLI first: they take longest, so the workers finish at about the same time."""
    items.sort(key=lambda item: item.get_closest_marker("pulumi") is None)
