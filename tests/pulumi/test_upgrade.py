"""The states of earlier versions show no change in a preview of this version."""

from __future__ import annotations

import json

import pytest
from workspace import ROOT

pytestmark = pytest.mark.pulumi
RECORDED = sorted((ROOT / "tests" / "recorded").glob("*/state.json"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.parent.name)
def test_a_recorded_state_shows_no_change(stack, cloud, path, tmp_path):
    program = json.loads((path.parent / "program.json").read_text())
    stack.write(**program["resources"])
    stack.workspace.run("stack", "import", "--file", str(path))
    done = stack.workspace.run("preview", "--expect-no-changes", "--json").stdout

    assert json.loads(done)["changeSummary"] == {"same": len(program["resources"]) + 1}
    assert cloud.calls() == [], "a preview sends no request"


def test_a_recorded_state_exists():
    assert RECORDED
