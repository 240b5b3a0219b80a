from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from emulated import Emulated
from git_host import GitHost, git_host
from new_user import copy_checkout, make_user
from programs import TEMPLATE, template
from workspace import Workspace

from gcpx import __version__

PROGRAM = {"resources": {"web": {"type": TEMPLATE, "properties": {"name": "web", **template()}}}}


@pytest.fixture
def user(tmp_path: Path, cloud: Emulated) -> Workspace:
    """Someone with an empty home and a program in YAML that uses gcpx."""
    return make_user(tmp_path / "user", cloud.host, PROGRAM)


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this checkout; the first test that adds it installs what it needs."""
    return copy_checkout(tmp_path_factory.mktemp("checkout") / "gcpx")


@pytest.fixture(scope="session")
def added_checkout(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy that `pulumi package add` has made ready to run."""
    make_user(tmp_path_factory.mktemp("first"), "127.0.0.1:1", {}).run("package", "add", str(checkout))
    return checkout


@pytest.fixture(scope="session")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHost]:
    """This checkout on a git host, with the tag of its version."""
    folder = tmp_path_factory.mktemp("hosted")
    with git_host(folder, copy_checkout(folder / "source"), __version__) as found:
        yield found


@pytest.fixture
def live(cloud: Emulated) -> Callable[[Workspace], None]:
    """Create and delete the resource of the program with the CLI."""

    def run(user: Workspace) -> None:
        user.run("stack", "init", "dev")
        assert "+ 2 to create" in user.run("preview").stdout
        user.run("up", "--yes", "--skip-preview")
        assert cloud.emulator.store.counts()["instanceTemplates"] == 1
        user.run("preview", "--expect-no-changes")
        user.run("destroy", "--yes", "--skip-preview")
        assert "instanceTemplates" not in cloud.emulator.store.counts()

    return run
