"""Prints the closing figures of a run of planted secrets."""

from __future__ import annotations

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print how many calls were made with a planted secret, and how many showed it."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, ())]
    found = [dict(report.user_properties).get("secrets") for report in reports]
    tried = [figures for figures in found if figures is not None]
    if tried:
        cases, leaked = (sum(numbers) for numbers in zip(*tried, strict=True))
        terminalreporter.write_line(f"planted secrets: cases {cases:,}, leaked {leaked}")
