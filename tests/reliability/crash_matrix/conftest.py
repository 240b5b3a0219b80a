from __future__ import annotations

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print how often the plugin was killed, and how many verbs did not recover from that."""
    reports = [*terminalreporter.stats.get("passed", ()), *terminalreporter.stats.get("failed", ())]
    killed = [value for report in reports for name, value in report.user_properties if name == "crashes"]
    if killed:
        failed = sum(
            any(name == "crashes" for name, _ in report.user_properties) for report in reports if report.failed
        )
        terminalreporter.write_line(
            f"crash matrix: {len(killed)} verbs, {sum(killed)} crashes, {failed} verbs that failed"
        )
