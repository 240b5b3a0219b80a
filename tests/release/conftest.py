from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import attrs
import lock
import pytest
from bare_cli import BareCli
from emulated import Emulated

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
    """The files of a release, on a server from which the CLI can download them.

    Attributes:
        asked: the paths of the requests to the server.
    """

    folder: Path
    url: str
    asked: list[str]

    @property
    def archive(self) -> Path:
        return plugin_archive.path_in(self.folder)


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Release]:
    """A release that names the server which it is on."""
    folder, asked = tmp_path_factory.mktemp("release"), []
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, asked, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        dist.dist(folder, url)
        yield Release(folder, url, asked)
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
