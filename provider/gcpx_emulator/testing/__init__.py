"""A running emulator for tests of programs: start it, seed it, inject faults, and read what a program created.

The pytest plugin gives tests a `RunningEmulator`; other test runners can use `running`.
"""

from gcpx_emulator.testing.background import running
from gcpx_emulator.testing.control import EmulatorError
from gcpx_emulator.testing.running_emulator import RunningEmulator
from gcpx_emulator.testing.seed import Seed

__all__ = ["EmulatorError", "RunningEmulator", "Seed", "running"]
