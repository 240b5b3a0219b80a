from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cli.git_host import GitHost, git_host
from cli.new_user import copy_checkout, make_user, with_variables
from servers.emulated import Emulated
from values.programs import TEMPLATE, template
from workspace import Workspace

from gcpx import __version__

PROGRAM = {"resources": {"web": {"type": TEMPLATE, "properties": {"name": "web", **template()}}}}
ADDRESS = "git.example.com/acme/gcpx.git"


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this checkout."""
    return copy_checkout(tmp_path_factory.mktemp("checkout") / "gcpx")


@pytest.fixture(scope="session")
def user_of_checkout(checkout: Path, _emulator: Emulated, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Someone with a program in YAML, who has added the checkout."""
    user = make_user(tmp_path_factory.mktemp("checkout-user"), _emulator.host, PROGRAM)
    user.run("package", "add", str(checkout))
    return user


@pytest.fixture(scope="session")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHost]:
    """This checkout on a git host, with the tag of its version."""
    folder = tmp_path_factory.mktemp("hosted")
    with git_host(folder, copy_checkout(folder / "source"), __version__) as found:
        yield found


@pytest.fixture(scope="session")
def user_of_address(hosted: GitHost, _emulator: Emulated, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Someone with a program in YAML, who has added the address of the git repository."""
    user = make_user(tmp_path_factory.mktemp("address-user"), _emulator.host, PROGRAM)
    networked = with_variables(user, **hosted.variables)
    networked.run("package", "add", f"{ADDRESS}@v{__version__}")
    return networked


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
