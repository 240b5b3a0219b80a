"""Two stacks with all resources keep what is theirs, whatever happens."""

from __future__ import annotations

from collections import Counter

import emulated
import pytest
import search
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from stacks_machine import StacksMachine

pytestmark = pytest.mark.search


def test_two_stacks_keep_what_is_theirs_whatever_happens(cloud: emulated.Emulated) -> None:
    machine = type("Machine", (StacksMachine,), {"cloud": cloud, "figures": Counter(), "waits": []})
    run_state_machine_as_test(
        machine, settings=settings(search.examples(steady=10, searched=2000), stateful_step_count=8)
    )
