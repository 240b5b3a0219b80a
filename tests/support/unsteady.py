"""A plugin of pytest: with `--rerun-alone`, each test that failed runs again after the run, alone in a new process.

A test that passes then is unsteady: it failed because of chance, load or the tests before it. It does not make the run
fail, but the run ends with its name, its log and the command that repeats what its process had run until then.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

import attrs
import pytest

_MOST: Final = 10
"""If more tests fail, none runs again: that is no accident, and each takes seconds."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the option."""
    parser.addoption(
        "--rerun-alone", action="store_true", help="run each failed test again alone; see tests/support/unsteady.py"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Observe the run, but not in the workers of pytest-xdist, which report to the process that has started them."""
    if config.getoption("rerun_alone") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Failures(config))


@attrs.define(eq=False)
class _Failures:
    """The tests of a run that failed.

    Attributes:
        failed: their reports, by their IDs.
        ran: the IDs of the tests that each process has run, in its order.
        process: the process of each test that failed.
    """

    config: pytest.Config
    failed: dict[str, list[pytest.TestReport]] = attrs.Factory(dict)
    ran: dict[str, dict[str, None]] = attrs.Factory(dict)
    process: dict[str, str] = attrs.Factory(dict)
    uncollected: bool = False

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note that a file cannot be collected; that tests pass alone does not make up for it."""
        self.uncollected |= report.failed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note which process has run a test, and whether it failed."""
        process = report.node.gateway.id if hasattr(report, "node") else ""
        self.ran.setdefault(process, {})[report.nodeid] = None
        if report.failed:
            self.failed.setdefault(report.nodeid, []).append(report)
            self.process[report.nodeid] = process

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        """Run the failed tests again when everything else has ended, and say what came of it."""
        result = yield
        if self.failed and session.exitstatus == pytest.ExitCode.TESTS_FAILED:
            unsteady = self._judge()
            is_whole = not (session.shouldfail or session.shouldstop or self.uncollected)
            if is_whole and len(unsteady) == len(self.failed):
                session.exitstatus = pytest.ExitCode.OK
        return result

    def _judge(self) -> list[str]:
        """Run each failed test again; say which are unsteady, and return them."""
        unsteady = []
        if len(self.failed) > _MOST:
            self._section("FAILED", [f"{len(self.failed)} tests failed, too many to run each again alone"])
        else:
            unsteady = [test for test in self.failed if self._passes(test)]
            again = [test for test in self.failed if test not in unsteady]
            self._section(
                "FAILS AGAIN ALONE", [line for test in again for line in (test, f"  repeat: {_command(test)}")]
            )
            self._section("UNSTEADY", list(self._shown(unsteady)))
        self._write(f"the whole run: {_command(*self.config.invocation_params.args)}")
        return unsteady

    def _passes(self, test: str) -> bool:
        """Run a test alone, in this environment; return whether it passes.

        One that is skipped, or whose process ends before it, does not pass, although pytest's status may say so.
        """
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder, "report.xml")
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junit-xml={report}", test]
            done = subprocess.run(command, cwd=self.config.rootpath, capture_output=True, check=False)
            return done.returncode == pytest.ExitCode.OK and report.exists() and _has_only_passed(report)

    def _shown(self, unsteady: list[str]) -> Iterator[str]:
        """Yield lines about unsteady tests, and keep their logs."""
        if unsteady:
            yield f"{_tests(len(unsteady))} alone: another run may have another result"
        for test in unsteady:
            folder = self.config.rootpath / "build" / "unsteady"
            folder.mkdir(parents=True, exist_ok=True)
            name = re.sub(r"[^\w.-]+", "-", test)[-80:] + "-" + hashlib.sha256(test.encode()).hexdigest()[:8]
            log, before = folder / f"{name}.log", folder / f"{name}.tests"
            ran = list(self.ran[self.process[test]])
            before.write_text("".join(f"{one}\n" for one in ran[: ran.index(test) + 1]))
            log.write_text(f"{test}\n{''.join(_log(report) for report in self.failed[test])}")
            yield test
            yield f"  log: {log.relative_to(self.config.rootpath)}"
            yield f"  repeat: {_command('-p', 'no:randomly', f'@{before.relative_to(self.config.rootpath)}')}"

    def _section(self, heading: str, lines: list[str]) -> None:
        if lines:
            self._terminal.section(heading, sep="=", red=True, bold=True)
            for line in lines:
                self._write(line)

    def _write(self, line: str) -> None:
        self._terminal.write_line(line)

    @property
    def _terminal(self) -> pytest.TerminalReporter:
        found = self.config.pluginmanager.get_plugin("terminalreporter")
        assert isinstance(found, pytest.TerminalReporter)
        return found


def _has_only_passed(report: Path) -> bool:
    """Return whether a report in the format of JUnit has tests, all of which have passed."""
    suites = ET.parse(report).findall("testsuite")
    ran, others = (
        sum(int(suite.get(name, 0)) for suite in suites for name in names)
        for names in (("tests",), ("failures", "errors", "skipped"))
    )
    return ran > 0 and not others


def _tests(count: int) -> str:
    return "1 test failed, and passes" if count == 1 else f"{count} tests failed, and pass"


def _command(*arguments: str) -> str:
    """Write the command that runs pytest in this environment; hashes decide the order of sets."""
    seed = os.environ.get("PYTHONHASHSEED")
    variables = f"PYTHONHASHSEED={shlex.quote(seed)} " if seed else ""
    return variables + shlex.join([sys.executable, "-m", "pytest", *arguments])


def _log(report: pytest.TestReport) -> str:
    """Write all that is known of a failure."""
    parts = [(f"{report.when}", report.longreprtext), *report.sections]
    return "".join(f"\n--- {title} ---\n{text}\n" for title, text in parts)
