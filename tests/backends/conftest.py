"""Stacks whose state is in a database or a bucket."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import attrs
import pytest
from cli import postgres
from cli.yaml_program import Stack
from servers.emulated import Emulated
from values.programs import PROJECT
from workspace import Workspace, environment, pulumi_folder


@attrs.frozen
class Backend:
    """Where Pulumi stores state.

    Attributes:
        contents: gives everything that is stored, by key.
        variables: what the CLI needs to reach it.
    """

    url: str
    contents: Callable[[], dict[str, bytes]]
    variables: Mapping[str, str] = {}


@pytest.fixture(scope="session")
def _server() -> Iterator[postgres.Server]:
    with postgres.running() as server:
        yield server


@pytest.fixture
def database(_server: postgres.Server) -> Backend:
    """PostgreSQL, without states."""
    _server.query("drop table if exists pulumi_state")

    def contents() -> dict[str, bytes]:
        assert _server.query("select tablename from pg_tables where schemaname = 'public'") == ["pulumi_state"]
        rows = map(json.loads, _server.query("select json_build_array(key, data) from pulumi_state"))
        return {key: base64.b64decode(data["data"]) for key, data in rows}

    return Backend(_server.url, contents)


@pytest.fixture
def bucket(cloud: Emulated) -> Backend:
    """A bucket of the emulator's Cloud Storage, without states."""
    cloud.post(f"/storage/v1/b?project={PROJECT}", {"name": "states"})
    variables = {"STORAGE_EMULATOR_HOST": cloud.host, "GOOGLE_OAUTH_ACCESS_TOKEN": "none"}

    def contents() -> dict[str, bytes]:
        stored = cloud.emulator.store.list("b/states/o")
        return {item["name"]: base64.b64decode(item["_media"]) for item in stored}

    return Backend("gs://states", contents, variables)


@pytest.fixture(params=["database", "bucket"])
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each of the backends."""
    found: Backend = request.getfixturevalue(request.param)
    return found


@attrs.frozen
class Stacks:
    """Stacks of one project in a backend."""

    root: Path
    host: str
    home: Path

    def make(self, backend: Backend, name: str, settings: Mapping[str, str] | None = None) -> Stack:
        """Create a stack, with a program of its own that declares nothing yet, and settings of the CLI."""
        folder = self.root / name
        folder.mkdir()
        variables = {
            **environment(pulumi_folder(), self.home, folder),
            **backend.variables,
            **(settings or {}),
            "PULUMI_BACKEND_URL": backend.url,
            "GCPX_EMULATOR_HOST": self.host,
            "GOOGLE_PROJECT": PROJECT,
        }
        stack = Stack(Workspace(folder, variables))
        stack.write()
        stack.workspace.run("stack", "init", name)
        return stack


@pytest.fixture
def stacks(tmp_path: Path, cloud: Emulated, pulumi_home: Path) -> Stacks:
    """What creates stacks whose plugin calls the emulator."""
    return Stacks(tmp_path, cloud.host, pulumi_home)


@pytest.fixture
def begin() -> Callable[[Stack], contextmanager]:
    """Run `up` of a stack in the background; the block gets the process, which has to end in it."""

    @contextmanager
    def begun(stack: Stack) -> Iterator[subprocess.Popen[bytes]]:
        command = ["pulumi", "up", "--yes", "--skip-preview", "--non-interactive", "--color", "never"]
        variables = {**os.environ, **stack.workspace.variables}
        with subprocess.Popen(
            command, cwd=stack.workspace.program, env=variables, stdout=subprocess.DEVNULL
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    return begun
