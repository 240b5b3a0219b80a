"""gcpx takes no more than it did: modules at a start, calls and bytes for each verb, functions and memory for a Check.

Seconds depend on the machine, and counts do not. `tests/support/records/budgets.py` counts, and `tests/budgets.json` has the
budgets.
"""

from __future__ import annotations

import pytest
from records import budgets
from samples import SAMPLES


def test_a_start_loads_few_modules():
    _within("start", budgets.at_start())


def test_an_emulator_loads_little_until_its_first_answer():
    _within("start of the emulator", budgets.at_start_of_the_emulator())


def test_a_check_of_a_large_template_calls_few_functions_and_takes_little_memory():
    _within("check", budgets.of_a_check())


@pytest.mark.parametrize("name", SAMPLES)
def test_each_verb_makes_the_calls_of_its_budget(name, cloud):
    allowed, counted = budgets.budgets().get(name, {}), budgets.of_verbs(cloud, SAMPLES[name])

    assert counted == allowed, (
        "these verbs make other calls, or send other bodies, than tests/budgets.json says. If they make more, find out "
        "why, and send fewer. If they make fewer, or more are worth it, run `make budgets`, and commit the file"
    )


def _within(name: str, counted: budgets.Counts) -> None:
    allowed = budgets.budgets()[name]
    over = {what: f"{count}, budget {allowed[what]}" for what, count in counted.items() if count > allowed[what]}
    assert not over, (
        f"{over}: find out what was added (`python -X importtime`, cProfile), and load it later or do it once. If it is "
        "worth it, run `make budgets`, and commit tests/budgets.json"
    )
