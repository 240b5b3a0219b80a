"""The command `gcpx-emulator`."""

from __future__ import annotations

import argparse
import math
import socket
import sqlite3
import sys
from importlib.metadata import version
from typing import NoReturn

from gcpx_emulator import run
from gcpx_emulator.core.store import Store
from gcpx_emulator.seeding import HELP, Seed, SeedError
from gcpx_emulator.server import LOOPBACK, listen, port_problem

_MISUSE = 2
"""The exit code of argparse for wrong options."""
_MANY = frozenset({"", "<broadcast>"})
"""Hosts that sockets take for all addresses; `--host "$UNSET"` must not listen on all."""


def main() -> None:
    """Read the options and serve, or run a command. The first line of a server on stdout is the address."""
    if sys.argv[1:2] == ["run"]:
        sys.exit(run.main(sys.argv[2:]))
    parser = argparse.ArgumentParser(
        "gcpx-emulator",
        description="Emulate Google Cloud's REST APIs on this machine.",
        epilog="gcpx-emulator run -- COMMAND runs a command whose calls to Google reach an emulator of its own.",
    )
    parser.add_argument("--port", type=int, default=0, help="the port to listen on; 0, the default, picks a free one")
    address = "the address to listen on; whoever reaches it controls the emulator, so use 0.0.0.0 only in containers"
    parser.add_argument("--host", default=LOOPBACK, metavar="ADDRESS", help=address)
    names = "a name by which clients may call the emulator, besides addresses and localhost; repeatable"
    parser.add_argument("--allow-host", action="append", type=str.lower, default=[], metavar="NAME", help=names)
    parser.add_argument(
        "--latency", type=_seconds, default=0.0, metavar="SECONDS", help="how long each operation takes"
    )
    parser.add_argument("--data", default=":memory:", metavar="FILE", help="keep all state in this file, not in memory")
    parser.add_argument("--seed", metavar="FILE", help=HELP)
    parser.add_argument("--log", action="store_true", help="write a line for each request to stderr")
    unknown = "refuse unknown names in bodies of Compute Engine and Cloud Storage, too, which Google ignores"
    parser.add_argument("--strict", action="store_true", help=unknown)
    parser.add_argument("--version", action="version", version=f"gcpx-emulator {version('gcpx-emulator')}")
    options = parser.parse_args()
    seed = _seed(options.seed)
    store = _read(options.data)
    listener = _open(options.host, options.port)
    # Not before: help and errors need none of this.
    from gcpx_emulator.serving import serve  # noqa: PLC0415

    try:
        serve(*(listener, store, options.latency, options.allow_host, seed), strict=options.strict, logs=options.log)
    except SeedError as error:
        _refuse(error)


def _seconds(words: str) -> float:
    """Read a duration."""
    try:
        seconds = float(words)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{words} is not a number of seconds")
    return seconds


def _read(file: str) -> Store:
    """Open the file of `--data`, or exit with the reason why that is impossible."""
    try:
        return Store(file)
    except (OSError, sqlite3.Error) as error:
        is_busy = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
        problem = "another emulator uses it" if is_busy else error
        sys.stderr.write(f"gcpx-emulator: {file} cannot be used: {problem}; choose another file with --data\n")
        sys.exit(_MISUSE)


def _seed(file: str | None) -> Seed | None:
    """Read the file of `--seed`, or exit with everything that is wrong in it."""
    try:
        return None if file is None else Seed.read(file)
    except SeedError as error:
        _refuse(error)


def _refuse(error: SeedError) -> NoReturn:
    sys.stderr.write(f"gcpx-emulator: the seed cannot be used:\n{error}\n")
    sys.exit(_MISUSE)


def _open(host: str, port: int) -> socket.socket:
    """Open a port, or exit with the reason why that is impossible."""
    no_address = f"gcpx-emulator: {host!r} is not an address of this machine; choose another with --host"
    if host in _MANY:
        sys.exit(no_address)
    try:
        return listen(port, host)
    except socket.gaierror:
        sys.exit(no_address)
    except (OSError, OverflowError) as error:
        problem = f"port {port} cannot be opened on {host}: {port_problem(error)}"
        sys.exit(f"gcpx-emulator: {problem}; choose others with --port and --host")


if __name__ == "__main__":
    main()
