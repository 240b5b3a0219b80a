"""The command `gcpx-emulator run`: runs a program that reaches an emulator at Google's own addresses."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Final

from gcpx_emulator.seeding import HELP, Seed, SeedError

_PASSED_ON: Final = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_NOT_FOUND: Final = 127
"""The exit code of shells for a command that does not exist."""
_CANNOT_RUN: Final = 126
_KILLED: Final = 128
"""The exit code of shells for a signal, before its number is added."""


def main(arguments: Sequence[str]) -> int:
    """Run the command that the arguments name; return its exit code."""
    description = (
        "Run a command whose calls to Google reach an emulator of its own. "
        "Calls to Google's hosts that are not emulated are refused."
    )
    parser = argparse.ArgumentParser("gcpx-emulator run", "%(prog)s [OPTION]... -- COMMAND", description)
    parser.add_argument("--port", type=int, default=0, help="the emulator's port; 0, the default, picks a free one")
    project = "the project of the credentials and the default of clients, by default demo-project"
    parser.add_argument("--project", default="demo-project", help=project)
    parser.add_argument("--seed", metavar="FILE", help=HELP)
    parser.add_argument("--log", action="store_true", help="write a line for each request to stderr")
    unknown = "refuse unknown names in bodies of Compute Engine and Cloud Storage, too, which Google ignores"
    parser.add_argument("--strict", action="store_true", help=unknown)
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="the command and its arguments")
    options = parser.parse_args(arguments)
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        parser.error("no command: write it after --, such as gcpx-emulator run -- python program.py")
    return _run(command, options)


def _run(command: list[str], options: argparse.Namespace) -> int:
    from gcpx_emulator.interception.environment import ELSEWHERE  # noqa: PLC0415 - help and errors need none of this
    from gcpx_emulator.testing import EmulatorError  # noqa: PLC0415 - see above
    from gcpx_emulator.testing.background import intercepting  # noqa: PLC0415 - see above

    try:
        seed = None if options.seed is None else Seed.read(options.seed)
        with intercepting(options.port, options.project, strict=options.strict, logs=options.log) as emulator:
            if seed is not None:
                asyncio.run(_planted(seed, emulator.url))
            own = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
            return _result(command, {**own, **emulator.environment})
    except SeedError as error:
        sys.stderr.write(f"gcpx-emulator run: the seed cannot be used:\n{error}\n")
        return _CANNOT_RUN
    except EmulatorError as error:
        sys.stderr.write(f"gcpx-emulator run: {error}\n")
        return _CANNOT_RUN


async def _planted(seed: Seed, url: str) -> None:
    import httpx  # noqa: PLC0415 - see `_run`

    async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
        await seed.plant(client)


def _result(command: list[str], environment: dict[str, str]) -> int:
    """Run a command, pass signals on to it, and return its exit code as a shell gives it."""
    received: list[int] = []
    child: subprocess.Popen[bytes] | None = None

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if child is None:
            received.append(number)
        # A terminal sends ^C to the command itself, too.
        elif not (number == signal.SIGINT and sys.stdin.isatty()):
            child.send_signal(number)

    for name in _PASSED_ON:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), pass_on)
    try:
        child = subprocess.Popen(command, env=environment)  # noqa: S603 - the user's own command
    except OSError as error:
        sys.stderr.write(f"gcpx-emulator run: {command[0]} cannot be run: {error.strerror}\n")
        return _NOT_FOUND if isinstance(error, FileNotFoundError) else _CANNOT_RUN
    for number in received:
        child.send_signal(number)
    code = child.wait()
    return code if code >= 0 else _KILLED - code
