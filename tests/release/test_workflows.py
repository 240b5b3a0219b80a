"""The workflows for GitHub are well-formed, use fixed versions, and contain no secret."""

from __future__ import annotations

import importlib.util
import re
import subprocess

import pytest
import yaml
from workspace import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def _go():
    """Return the Go compiler, which the set-up finds or installs."""
    spec = importlib.util.spec_from_file_location("setup_pulumi", ROOT / "tools" / "pulumi" / "setup.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.go()


@pytest.mark.languages
def test_the_workflows_have_no_mistakes():
    command = [_go(), "tool", "actionlint", "-no-color", *map(str, WORKFLOWS)]
    done = subprocess.run(command, cwd=ROOT / "tools" / "actionlint", capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_uses_fixed_versions_and_no_secret(path):
    text = path.read_text()
    actions = re.findall(r"uses: (\S+)", text)

    assert actions
    assert all(re.search(r"@v\d+\.\d+\.\d+$", action) or action.startswith("./") for action in actions)
    assert "secrets." not in text


def test_a_release_has_an_archive_for_every_platform():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]
    targets = {row["target"] for row in jobs["archive"]["strategy"]["matrix"]["include"]}

    assert targets == {"linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64", "windows-amd64"}
    assert jobs["release"]["needs"] == ["ci", "packages", "archive"]
    assert {name for name, job in jobs.items() if job.get("permissions", {}).get("id-token") == "write"} == {
        "pypi",
        "npm",
    }
