"""Prints the closing figures of a run of the cancel matrix."""

from __future__ import annotations

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print how many cases ran, and the longest time from a cancellation or timeout to the end of its call."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, ())]
    figures = [value for report in reports for name, value in report.user_properties if name == "stopped"]
    if figures:
        cases, longest = sum(item["cases"] for item in figures), max(item["longest"] for item in figures)
        terminalreporter.write_line(f"cancel matrix: cases {cases}, longest wait {longest:.2f} s")
