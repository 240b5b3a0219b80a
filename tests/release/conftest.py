from __future__ import annotations

import contextlib
import random
import re
import socket
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import attrs
import lock
import pytest
from cli import run_wide
from cli.bare_cli import BareCli
from servers.emulated import Emulated

from release import archive_check, dist, plugin_archive


class _Handler(SimpleHTTPRequestHandler):
    """Serves a folder, and remembers what was asked for."""

    def __init__(self, asked: list[str], *arguments: object, directory: str) -> None:
        self._asked = asked
        super().__init__(*arguments, directory=directory)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        self._asked.append(self.path)
        super().do_GET()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@attrs.frozen
class Release:
    """The files of a release, and the URL of this machine from which the CLI downloads them while they are `served`."""

    folder: Path
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def archive(self) -> Path:
        return plugin_archive.path_in(self.folder)


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """A release, built once in a run."""

    def built() -> tuple[Path, int]:
        made = Release(tmp_path_factory.mktemp("release"), _free_port())
        dist.dist(made.folder, made.url)
        return made.folder, made.port

    return Release(*run_wide.once_in_a_run(tmp_path_factory, "release", built))


def _free_port() -> int:
    """Return a free port of which no system makes the port of a server or a client that asks for any."""
    for port in random.SystemRandom().sample(range(20_000, 30_000), 100):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise OSError("no port is free")


@pytest.fixture
def asked(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Serve a release at its URL; gives the paths of the requests. The wheels and the archive have only this one URL."""
    paths: list[str] = []
    handler = partial(_Handler, paths, directory=str(release.folder))
    with (
        run_wide.one_at_a_time(tmp_path_factory, "served-release"),
        ThreadingHTTPServer(("127.0.0.1", release.port), handler) as server,
    ):
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield paths
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def constraints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The locked versions without their hashes: with hashes, pip refuses wheels that were just built."""
    path = tmp_path_factory.mktemp("constraints") / "constraints.txt"
    path.write_text(re.sub(r" \\\n +--hash=\S+", "", lock.PACKAGES.read_text()))
    return path


@pytest.fixture(scope="session")
def unpacked(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the plugin's archive."""
    folder = tmp_path_factory.mktemp("unpacked")
    archive_check.unpack(release.archive, folder)
    return folder


@pytest.fixture
def cli(tmp_path: Path, cloud: Emulated) -> BareCli:
    """The CLI on a machine without Python and without plugins."""
    return BareCli.make(tmp_path, cloud.host)
