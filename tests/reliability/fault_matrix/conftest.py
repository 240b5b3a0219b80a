"""Prints the closing figures of a run of the fault matrix."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

_FIGURES: Final = ("lost", "doubled", "untracked", "leaked", "touched", "drift", "stuck", "shown", "INTERNAL", "broken")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print how many cases ran, what they found, and the longest wait on the injected clock."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, ())]
    found = [dict(report.user_properties) for report in reports]
    cases = [properties for properties in found if "problems" in properties]
    if not cases:
        return
    figures = Counter(figure for case in cases for figure in set(case["problems"]))
    shown = ", ".join(f"{name} {figures[name]}" for name in _FIGURES)
    waited = max(case["waited"] for case in cases)
    terminalreporter.write_line(f"fault matrix: cases {len(cases)}, {shown}, longest wait {waited:,.0f} s")
