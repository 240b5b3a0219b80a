"""The list of mutations fits the sources and the tests; `make mutations` runs it."""

from __future__ import annotations

import re

import mutations
import pytest
from workspace import ROOT

LIST = mutations.mutations()


@pytest.mark.parametrize("mutation", LIST, ids=lambda one: one.file)
def test_a_mutation_can_be_made_and_its_test_exists(mutation):
    path, _, name = mutation.test.partition("::")
    function = name.partition("[")[0]

    assert mutation.problem() == ""
    assert mutation.file.startswith("provider/")
    assert re.search(rf"^def {function}\(", (ROOT / path).read_text(), re.MULTILINE)


def test_no_mutation_is_listed_twice():
    assert len({(one.file, one.old, one.new) for one in LIST}) == len(LIST)


@pytest.mark.parametrize(("old", "new", "words"), [
    ("def verify", "x", "the old text is 2 times in the file"),
    ("def unknown(", "x", "the old text is 0 times in the file"),
    ("_CACHE_SIZE: Final = 1024", "_CACHE_SIZE: Final = 1025", "survives"),
    ("def verify_headers(", "def verify_headers:(", "pytest ends with 4"),
    ("    if len(token) > _MAX_TOKEN:", "    if token:", ""),
])  # fmt: skip
def test_a_mutation_is_killed_or_named(old, new, words):
    test = "tests/push/test_tampering.py::test_a_valid_push_is_accepted"
    made = mutations.Mutation("provider/gcpx_push/verifier.py", old, new, test)

    assert mutations.outcome(made) == words
