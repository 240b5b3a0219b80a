"""Prints the closing figures of a run of wrong values in responses."""

from __future__ import annotations

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print how many wrong values were tried, and how many did harm."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, ())]
    found = [dict(report.user_properties).get("wrong_values") for report in reports]
    tried = [figures for figures in found if figures is not None]
    if tried:
        cases, failures = (sum(numbers) for numbers in zip(*tried, strict=True))
        terminalreporter.write_line(f"wrong values: cases {cases:,}, failures {failures}")
