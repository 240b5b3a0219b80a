"""`accepted.json`: the accepted differences between recorded responses of Google and those of the emulator."""

from __future__ import annotations

import json
import re
from pathlib import Path

ENTRIES = json.loads((Path(__file__).parent / "accepted.json").read_text())
ONE_GROUP = re.compile(r"\^(?:[^\\.\[\]*+?(){}|^$]|\\[.\[\]*+?(){}|^$\\])+\$")
"""An expression that matches one text only."""


def test_each_entry_names_one_group_and_its_reason():
    assert [entry for entry in ENTRIES if set(entry) != {"match", "reason"}] == []
    assert [entry["match"] for entry in ENTRIES if not ONE_GROUP.fullmatch(entry["match"])] == []
    assert [entry["match"] for entry in ENTRIES if not entry["reason"].endswith(".")] == []


def test_no_group_is_named_twice():
    assert len({entry["match"] for entry in ENTRIES}) == len(ENTRIES)
