"""Events that no API request causes: tests and demos trigger them at `/_emulator/NAME`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import attrs

from gcpx_emulator.core.call import Cloud
from gcpx_emulator.core.control_bodies import ControlBody
from gcpx_emulator.core.json_data import Json

Run = Callable[[Cloud, Json], Json]
"""Triggers the event; takes the checked body of the request, and returns the response."""
ACTIONS: Final[list[Action]] = []
"""Every action, in the order of registration."""


@attrs.frozen
class Action:
    """What a POST to `/_emulator/NAME` does; the body's name is NAME."""

    body: ControlBody
    run: Run


def acts(body: ControlBody) -> Callable[[Run], Run]:
    """Register a function that triggers an event."""

    def register(run: Run) -> Run:
        ACTIONS.append(Action(body, run))
        return run

    return register
