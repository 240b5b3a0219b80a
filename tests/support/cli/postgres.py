"""A PostgreSQL server of a test: in a folder of its own, reached by a socket in that folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import postgresql

PASSWORD = "Zt8KwP3vQ6mLx1Rd"
"""A password for URLs; the server accepts any, because only its own user reaches the socket."""


@attrs.frozen
class Server:
    """A running server.

    Attributes:
        folder: contains the data and the socket.
        programs: the folder of PostgreSQL's programs.
    """

    folder: Path
    programs: Path

    @property
    def url(self) -> str:
        """The URL of the database, with a password."""
        return f"postgres://postgres:{PASSWORD}@/postgres?host={self.folder}"

    def run(self, program: str, *arguments: str) -> str:
        """Run one of PostgreSQL's programs as the server's user; return what it prints."""
        user = "postgres" if os.geteuid() == 0 else None  # the server refuses to run as root
        done = subprocess.run(
            [str(self.programs / program), *arguments],
            cwd=self.folder,
            env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]},
            user=user,
            group=user,
            extra_groups=[] if user else None,
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
        return done.stdout

    def query(self, command: str) -> list[str]:
        """Run an SQL command; return the lines of its result."""
        return self.run(
            "psql", "-h", str(self.folder), "-U", "postgres", "-d", "postgres", "-Atc", command
        ).splitlines()


@contextmanager
def running() -> Iterator[Server]:
    """Start a server, and end it."""
    programs = postgresql.programs()
    assert programs, "PostgreSQL is missing; `make test-backends` installs it"
    folder = Path(tempfile.mkdtemp(prefix="gcpx-postgres-"))
    server, data = Server(folder, programs), str(folder / "data")
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
    settings = f"-k {folder} -c listen_addresses='' -c unix_socket_permissions=0700 -c fsync=off"
    try:
        server.run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        server.run("pg_ctl", "-D", data, "-l", str(folder / "log"), "-o", settings, "-w", "start")
        try:
            yield server
        finally:
            server.run("pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)
