"""The command `gcpx-emulator`: its options, and where it listens."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from workspace import ROOT


def test_help_names_the_options():
    done = subprocess.run([sys.executable, "-m", "gcpx_emulator", "--help"], capture_output=True, text=True, check=True)

    assert all(option in done.stdout for option in ("--port", "--latency", "--data"))


def test_a_number_outside_the_range_of_ports_is_named():
    command = [sys.executable, "-m", "gcpx_emulator", "--port", "99999"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "port 99999 cannot be opened" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(("given", "port"), [((), "8095"), (("PORT=8123",), "8123")])
def test_make_emulator_takes_a_port(given, port):
    done = subprocess.run(
        ["make", "--dry-run", "--silent", "emulator", *given],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )

    assert f"gcpx-emulator --port {port}\n" in done.stdout
