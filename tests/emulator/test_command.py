"""The command `gcpx-emulator`: what it needs, where it listens and what it keeps."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from steered import HANGS
from workspace import ROOT, emulator

from gcpx_emulator.__main__ import NEEDED

INSTALL = "pip install 'pulumi-gcpx-provider[emulator]'"
SITE = Path(importlib.metadata.distribution("attrs").locate_file(""))


def _run(*folders, arguments=()):
    """Run the command where only these folders can be imported from, as in an environment that has no more."""
    path = os.pathsep.join(map(str, (ROOT / "provider", *folders)))
    command = [sys.executable, "-S", "-m", "gcpx_emulator", *arguments]
    return subprocess.run(
        command, env={"PYTHONPATH": path}, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def test_without_its_extra_the_command_says_what_to_install():
    done = _run()

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith(f"Install: {INSTALL}\n")
    assert len(done.stderr.splitlines()) == 1
    assert all(name in done.stderr for name in NEEDED)


@pytest.mark.parametrize("missing", NEEDED)
def test_each_package_of_the_extra_is_missed(tmp_path, missing):
    for entry in SITE.iterdir():
        if entry.name.split(".")[0] not in {missing, "__pycache__"}:
            (tmp_path / entry.name).symlink_to(entry)
    done = _run(tmp_path)

    assert done.returncode == 1
    assert done.stderr == f"gcpx-emulator needs packages that are not installed ({missing}). Install: {INSTALL}\n"


def test_help_needs_no_extra():
    done = _run(arguments=["--help"])

    assert done.returncode == 0
    assert "--port" in done.stdout


def test_what_the_command_needs_is_what_the_extra_brings():
    requirements = importlib.metadata.requires("pulumi-gcpx-provider") or []
    extra = {re.match(r"[\w-]+", line)[0] for line in requirements if re.search(r"extra == .emulator.", line)}
    owners = importlib.metadata.packages_distributions()

    assert {re.sub("_", "-", owner) for name in NEEDED for owner in owners[name]} == extra


def test_the_command_says_where_it_listens_and_keeps_its_data(tmp_path):
    file = str(tmp_path / "data.sqlite")
    with emulator("--data", file) as host:
        assert (
            httpx.post(
                f"http://{host}/storage/v1/b?project=p", json={"name": "kept-bucket"}, trust_env=False, timeout=HANGS
            ).status_code
            == 200
        )
    with emulator("--data", file) as host:
        assert httpx.get(f"http://{host}/storage/v1/b/kept-bucket", trust_env=False, timeout=HANGS).status_code == 200


def test_a_port_that_is_in_use_is_named():
    with emulator() as host:
        command = [sys.executable, "-m", "gcpx_emulator", "--port", host.rpartition(":")[2]]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANGS)

    assert done.returncode == 1
    assert "cannot be opened" in done.stderr
    assert "--port" in done.stderr


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
