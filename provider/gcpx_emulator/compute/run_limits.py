"""Run limits: when an instance ends by itself, after `maxRunDuration` or at `terminationTime`.

Source: the page "Limit the run time of a VM". The moment is decided when the instance begins to run, is shown as
`resourceStatus.scheduling.terminationTimestamp`, and is cleared when the instance is stopped or suspended.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.store import DUE

NO_LIMIT: Final[Json] = {DUE: None, "resourceStatus": None}
"""The fields of an instance that is not running, for which no end is planned."""


def run_limit(scheduling: Json, moment: float) -> Json:
    """Return the fields with the planned end of an instance that begins to run at a moment, in seconds since 1970."""
    end = _end(scheduling, moment)
    if end is None:
        return {}
    return {DUE: end, "resourceStatus": {"scheduling": {"terminationTimestamp": timestamp(end)}}}


def _end(scheduling: Json, moment: float) -> float | None:
    duration = scheduling.get("maxRunDuration")
    if duration:
        return moment + int(duration.get("seconds", 0)) + int(duration.get("nanos", 0)) / 1e9
    time = scheduling.get("terminationTime")
    return datetime.fromisoformat(time.upper()).timestamp() if time else None
