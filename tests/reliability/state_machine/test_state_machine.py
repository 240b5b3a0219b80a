"""Two stacks with all resources keep what is theirs, whatever happens.

Holds reliability.md: "Nothing is lost"; "Nothing is created twice"; "Only what belongs to the stack"; "gcpx deletes,
detaches and changes only"; "The work is finished"; "When the faults have stopped".
"""

from __future__ import annotations

import random
import time
from collections import Counter
from itertools import takewhile

import pytest
import soak
from engines.stacks_machine import StacksMachine
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from servers import emulated
from values import search

pytestmark = pytest.mark.search


def test_two_stacks_keep_what_is_theirs_whatever_happens(cloud: emulated.Emulated) -> None:
    figures = Counter[str]()
    if search.SEARCHING:
        first, ends = random.randrange(2**32), time.monotonic() + search.SECONDS
        numbers = takewhile(lambda _: time.monotonic() < ends, range(first, first + 2000))
        found = soak.search(cloud, numbers, figures)
        assert not (broken := next(found, None)), str(broken)
    else:
        machine = type("Machine", (StacksMachine,), {"cloud": cloud, "figures": figures, "waits": []})
        run_state_machine_as_test(machine, settings=settings(search.examples(10, 10), stateful_step_count=8))
