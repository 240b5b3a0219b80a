"""The set-up of the Pulumi CLI, where it is built from Go modules."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from workspace import ROOT

SETUP = ROOT / "tools" / "pulumi" / "setup.py"
COMPILER = '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\necho built > "$2"\n'
BUILT_BEFORE = ("pulumi", "pulumi-language-python", "pulumi-language-python-exec", "pulumi-language-yaml")


def run_setup(tmp_path):
    """Run the set-up with a compiler that writes the file that it is asked for."""
    (tmp_path / "tools").mkdir(exist_ok=True)
    (tmp_path / "tools" / "go").write_text(COMPILER)
    (tmp_path / "tools" / "go").chmod(0o755)
    variables = {**os.environ, "PATH": str(tmp_path / "tools"), "XDG_CACHE_HOME": str(tmp_path)}
    return subprocess.run([sys.executable, SETUP], env=variables, capture_output=True, text=True, check=True)


def test_a_cli_that_is_built_here_comes_with_what_it_cannot_do(tmp_path):
    version = re.findall(r"pulumi/pkg/v3 v([\d.]+)", (SETUP.parent / "cli" / "go.mod").read_text())[0]
    folder = tmp_path / "gcpx" / f"pulumi-{version}" / "bin"
    folder.mkdir(parents=True)
    for name in BUILT_BEFORE:
        (folder / name).touch()
    first, second = run_setup(tmp_path), run_setup(tmp_path)

    assert first.stdout == second.stdout == f"{folder}\n"
    assert "`pulumi package add` fails for a checkout" in first.stderr
    assert "https://www.pulumi.com/docs/install" in first.stderr
    assert second.stderr == ""
