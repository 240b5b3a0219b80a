"""The Pulumi CLI, which gets each signal once."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping

from pulumi import automation
from pulumi.automation.errors import create_command_error


class Cli(automation.PulumiCommand):
    """The Pulumi CLI, whose commands run in process groups of their own.

    A command ends safely at the first signal, and at once at the second. ^C and `timeout` send a signal to a whole
    process group. Commands that belonged to our group would get that one and ours; these get only the one that
    `interrupt` sends.
    """

    def __init__(self) -> None:
        super().__init__()
        self.interrupted = False
        self._running: set[subprocess.Popen[str]] = set()

    def interrupt(self) -> None:
        """Send SIGINT to every command that is running, and begin no other."""
        self.interrupted = True
        with contextlib.suppress(KeyError):  # until the set is empty
            while True:
                self._running.pop().send_signal(signal.SIGINT)

    def run(
        self,
        args: list[str],
        cwd: str,
        additional_env: Mapping[str, str],
        on_output: automation.OnOutput | None = None,
        on_error: automation.OnOutput | None = None,
    ) -> automation.CommandResult:
        """Run a command for the Automation API."""
        if on_output or on_error:
            raise NotImplementedError("output is returned when the command has ended, and not passed on before")
        if self.interrupted:
            raise InterruptedError("cancelled before the CLI was started")
        result = self._run([self.command, "--non-interactive", *args], cwd, additional_env)
        if result.code:
            raise create_command_error(result)
        return result

    def _run(self, words: list[str], folder: str, variables: Mapping[str, str]) -> automation.CommandResult:
        with subprocess.Popen(
            words,
            cwd=folder,
            env={**os.environ, **variables, "PULUMI_AUTOMATION_API": "true"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            process_group=0,
        ) as process:
            self._running.add(process)
            if self.interrupted:  # since the check above
                self.interrupt()
            stdout, stderr = process.communicate()
        self._running.discard(process)
        return automation.CommandResult(stdout, stderr, process.returncode)
