"""Prints the closing figures of the generated matrices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

Recorded = Callable[..., list[Any]]
"""Returns what the tests of a run recorded under a name; those with an outcome, if one is given."""


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print a line for each matrix of which a case has run."""

    def recorded(name: str, *outcomes: str) -> list[Any]:
        reports = (
            report for kind in outcomes or ("passed", "failed") for report in terminalreporter.stats.get(kind, ())
        )
        return [value for report in reports for given, value in report.user_properties if given == name]

    for name, describe in _MATRICES.items():
        if recorded(name):
            terminalreporter.write_line(describe(recorded))


def _faults(recorded: Recorded) -> str:
    """Say how many cases ran, what they found, and the longest wait on the injected clock."""
    waits, broken = recorded("waited"), recorded("broken")
    shown = ", ".join(f"{name} {number}" for name, number in Counter(broken).items()) or "nothing broken"
    return f"fault matrix: cases {len(waits) + len(broken)}, {shown}, longest wait {max(waits, default=0):,.0f} s"


def _crashes(recorded: Recorded) -> str:
    """Say how often the plugin was killed, and how many verbs did not recover from that."""
    killed, failed = recorded("crashes"), recorded("crashes", "failed")
    return f"crash matrix: {len(killed)} verbs, {sum(killed)} crashes, {len(failed)} verbs that failed"


def _stops(recorded: Recorded) -> str:
    """Say how many cases ran, and the longest time from a cancellation or timeout to the end of its call."""
    figures = recorded("stopped")
    cases, longest = sum(item["cases"] for item in figures), max(item["longest"] for item in figures)
    return f"cancel matrix: cases {cases}, longest wait {longest:.2f} s"


def _secrets(recorded: Recorded) -> str:
    """Say how many calls were made with a planted secret, and how many showed it."""
    cases, leaked = (sum(numbers) for numbers in zip(*recorded("secrets"), strict=True))
    return f"planted secrets: cases {cases:,}, leaked {leaked}"


def _wrong_values(recorded: Recorded) -> str:
    """Say how many wrong values were tried, and how many did harm."""
    cases, failures = (sum(numbers) for numbers in zip(*recorded("wrong_values"), strict=True))
    return f"wrong values: cases {cases:,}, failures {failures}"


_MATRICES: Final = {
    "waited": _faults,
    "crashes": _crashes,
    "stopped": _stops,
    "secrets": _secrets,
    "wrong_values": _wrong_values,
}
"""What describes the figures of a matrix, by what its tests record."""
