"""The workflows for GitHub are well-formed, use fixed versions, and contain no secret."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess

import pytest
import yaml
from workspace import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
OF_USERS = ROOT / "examples" / "ci" / ".github" / "workflows" / "preview.yml"


def _setup():
    """Load the set-up of the Pulumi CLI."""
    spec = importlib.util.spec_from_file_location("setup_pulumi", ROOT / "tools" / "pulumi" / "setup.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.languages
def test_the_workflows_have_no_mistakes():
    command = [_setup().go(), "tool", "actionlint", "-no-color", *map(str, WORKFLOWS)]
    done = subprocess.run(command, cwd=ROOT / "tools" / "actionlint", capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", [*WORKFLOWS, OF_USERS], ids=lambda path: path.stem)
def test_a_workflow_names_actions_by_commit_and_uses_no_secret(path):
    text = path.read_text()
    actions = re.findall(r"uses: (.+)", text)

    assert actions
    for action in actions:
        assert action.startswith("./") or re.search(r"@[0-9a-f]{40} +# v\d+\.\d+\.\d+(;|$)", action), action
    assert not re.search(r"\bsecrets\.", text)


def test_an_action_has_the_same_commit_everywhere():
    texts = [path.read_text() for path in (*WORKFLOWS, OF_USERS)]
    used = {found for text in texts for found in re.findall(r"uses: ([^.@]+)@(\w+) +# (v[\d.]+)", text)}

    assert len(used) == len({name for name, _, _ in used}), sorted(used)


def test_a_release_has_an_archive_for_every_platform():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]
    targets = {row["target"] for row in jobs["archive"]["strategy"]["matrix"]["include"]}

    assert targets == {"linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64", "windows-amd64"}
    assert jobs["release"]["needs"] == ["ci", "packages", "npm-package", "archive"]
    permissions = {name: set(job.get("permissions", {})) for name, job in jobs.items()}
    assert {name for name, names in permissions.items() if "id-token" in names} == {"release", "pypi", "npm"}
    assert {name for name, names in permissions.items() if "attestations" in names} == {"release"}


def test_packages_from_npm_run_in_no_job_that_makes_other_files_of_a_release():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]
    commands = {name: "\n".join(step.get("run", "") for step in job.get("steps", ())) for name, job in jobs.items()}
    building = {name for name, text in commands.items() if re.search(r"\bnpm (?!publish )", text)}
    uploaded = [
        step["with"]["name"] for name in building for step in jobs[name]["steps"] if "upload" in step.get("uses", "")
    ]

    assert building == {"npm-package"}
    assert uploaded == ["npm"]


def test_every_file_of_a_release_is_attested_before_it_is_published():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]
    *_, attestation, _, publication = jobs["release"]["steps"]

    assert attestation["uses"].startswith("actions/attest-build-provenance@")
    assert attestation["with"] == {"subject-path": "dist/*"}
    assert "gh release create" in publication["run"]
    assert publication["run"].endswith(" dist/*")


def test_an_interrupted_set_up_leaves_no_program_that_the_next_one_takes(tmp_path, monkeypatch):
    scripts, compiler = tmp_path / "python" / "cmd", tmp_path / "path" / "go"
    for folder in (scripts, compiler.parent):
        folder.mkdir(parents=True)
    compiler.write_text(f"#!/bin/sh\necho {tmp_path}\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(compiler.parent))
    name = "pulumi-language-python-exec"
    (scripts / name).symlink_to("/proc/self/mem")  # a file that can be opened, but not read
    with pytest.raises(OSError, match="Input/output error"):
        _setup().build(tmp_path / "bin", [name])
    assert not (tmp_path / "bin" / name).exists()

    (scripts / name).unlink()
    (scripts / name).write_text("#!/usr/bin/env python3\n")
    _setup().build(tmp_path / "bin", [name])
    assert os.access(tmp_path / "bin" / name, os.X_OK)
