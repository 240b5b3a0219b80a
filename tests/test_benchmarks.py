"""Every benchmark works: each is tried with as little as it can take; the figures mean nothing then."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from workspace import ROOT


def _run(program, *words, **variables):
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("tools", "tests/support"))
    command = [sys.executable, ROOT / "benchmarks" / program, *words]
    return subprocess.run(
        command, env={**os.environ, "PYTHONPATH": paths, **variables}, capture_output=True, text=True, check=False
    )


@pytest.mark.languages  # one part builds an archive of the plugin, another runs many commands of the CLI
def test_every_part_can_be_measured_and_shown(tmp_path):
    done = _run("bench.py", GCPX_BENCH_SMALL=str(tmp_path))

    assert done.returncode == 0, done.stdout + done.stderr
    assert "not measured" not in done.stdout
    results = json.loads((tmp_path / "bench.json").read_text())
    assert all(part["rows"] for part in results.values()), results
    page = (tmp_path / "benchmarks.md").read_text()
    assert all(f"| {row['name']} |" in page for part in results.values() for row in part["rows"])
    shown = {path.name for path in (tmp_path / "images").iterdir()}
    images = {path.name for path in (ROOT / "docs" / "images").glob("benchmark-*")}
    assert images - shown == {f"benchmark-stacks-calls-{theme}.svg" for theme in ("dark", "light")}  # one size is tried


@pytest.mark.parametrize("setting", [
    pytest.param("gzip", marks=pytest.mark.languages),
    pytest.param("state in memory (tmpfs)", marks=pytest.mark.languages),
    pytest.param("PostgreSQL, no checkpoints", marks=pytest.mark.backends),
])  # fmt: skip
def test_a_setting_of_the_engine_can_be_measured(setting):
    done = _run("engine_settings.py", "1", "1", setting)

    assert done.returncode == 0, done.stdout + done.stderr
    assert f"| {setting} |" in done.stdout
