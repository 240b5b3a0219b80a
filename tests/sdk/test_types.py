"""What `make types` needs to find the mistakes of programs that use the SDK."""

from __future__ import annotations

from pathlib import Path

import program_types

import pulumi_gcpx


def test_a_mistake_that_no_checker_reports_and_a_report_without_a_mistake_are_told(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("right\nboth  # wrong: a typo\none  # wrong (mypy): another\n")
    found = [program_types.Finding(program, 1, "bad"), program_types.Finding(program, 2, "worse")]
    told = {name: program_types.surprises(name, [program], found) for name in ("mypy", "pyright")}

    assert [line.rpartition("program.py")[2] for line in told["mypy"]] == [":3: nothing is reported", ":1: bad"]
    assert [line.rpartition("program.py")[2] for line in told["pyright"]] == [":1: bad"]


def test_the_sdk_says_that_it_has_types():
    assert (Path(pulumi_gcpx.__file__).parent / "py.typed").exists()
