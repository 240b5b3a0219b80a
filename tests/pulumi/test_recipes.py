"""The recipes for users' tests and CI: the example with its own tests, and the workflow that previews a pull request."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress

import pytest
import yaml
from steered import HANGS
from workspace import ROOT, Workspace, environment, pulumi_folder

pytestmark = [pytest.mark.pulumi, pytest.mark.languages]
EXAMPLE = ROOT / "examples" / "testing"
CI = ROOT / "examples" / "ci"


def _run(command, folder, variables):
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=HANGS,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_tests_of_the_example_pass(tmp_path, pulumi_home):
    shutil.copytree(EXAMPLE, tmp_path / "example")
    variables = environment(pulumi_folder("python"), pulumi_home, tmp_path)
    options = ["-p", "gcpx_emulator.pytest_plugin", "-p", "no:cacheprovider", "-q"]
    # Other plugins, such as that of Hypothesis, take long to load.
    said = _run(
        [sys.executable, "-m", "pytest", *options],
        tmp_path / "example",
        {**variables, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )

    assert "2 passed" in said


EXPORTS = """
pulumi.export("apiKey", config.get_secret("apiKey"))
"""


@pytest.fixture
def deployed(cloud, tmp_path, pulumi_home):
    """The example, deployed as the stack `prod`, with a secret in its configuration and in its state."""
    made = Workspace.make(EXAMPLE, tmp_path, cloud.host, pulumi_home)
    with (made.program / "__main__.py").open("a") as program:
        program.write(EXPORTS)
    made.run("stack", "rename", "prod")
    made.run("config", "set", "--secret", "apiKey", "hunter2")
    made.run("up", "--yes", "--skip-preview")
    return made


def _keep_state(deployed):
    """Write the state as `examples/ci/README.md` says."""
    folder = deployed.program / "state"
    folder.mkdir()
    command = f"pulumi stack export --stack prod | {sys.executable} {CI / 'remove_secrets.py'} > state/prod.json"
    _run(["bash", "-o", "pipefail", "-c", command], deployed.program, deployed.variables)
    return (folder / "prod.json").read_text()


@contextmanager
def _runner(deployed, folder):
    """Run steps as a runner of GitHub Actions does: with its variables and files, and in processes that it ends."""
    workflow = yaml.safe_load((CI / ".github" / "workflows" / "preview.yml").read_text())
    with socket.create_server(("127.0.0.1", 0)) as free:
        host = f"127.0.0.1:{free.getsockname()[1]}"
    files = {"GITHUB_ENV": folder / "env", "GITHUB_STEP_SUMMARY": folder / "summary.md", "RUNNER_TEMP": folder}
    variables = {name: value for name, value in deployed.variables.items() if name.startswith(("PATH", "PULUMI_"))}
    del variables["PULUMI_BACKEND_URL"]
    variables |= workflow["env"] | {name: str(path) for name, path in files.items()}
    variables |= {"GCPX_EMULATOR_HOST": host, "NO_PROXY": "127.0.0.1"}
    groups = []

    def step(command):
        (folder / "env").touch()
        kept = dict(line.split("=", 1) for line in (folder / "env").read_text().splitlines())
        with subprocess.Popen(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command],
            cwd=deployed.program,
            env={**os.environ, **variables, **kept},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            groups.append(process.pid)
            said, _ = process.communicate(timeout=HANGS)
        assert process.returncode == 0, f"{command}\n{said}"

    try:
        yield workflow["jobs"]["preview"]["steps"], step
    finally:
        for group in groups:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)


def test_the_workflow_previews_a_pull_request_without_credentials(deployed, tmp_path):
    kept = _keep_state(deployed)
    deployed.run("config", "set", "size", "5")  # the pull request
    assert "hunter2" not in kept
    assert "ciphertext" not in kept
    with _runner(deployed, tmp_path) as (steps, run):
        for step in steps:
            if "run" in step and not step["name"].startswith("Install"):
                run(step["run"])
    summary = (tmp_path / "summary.md").read_text()

    assert summary.startswith("## Preview of prod\n```diff\n")
    assert re.search(r"^!.* gcpx:compute:BulkInstances: \(update\)", summary, re.MULTILINE), summary
    assert re.search(r"^! +count *: 3 => 5", summary, re.MULTILINE), summary
    assert re.search(r"^! +1 to update$", summary, re.MULTILINE), summary
    assert "to create" not in summary
    assert "hunter2" not in summary


def test_secrets_are_replaced_wherever_they_are():
    script = runpy.run_path(str(CI / "remove_secrets.py"))
    secret = {script["SIGNATURE"]: script["SECRET"], "ciphertext": "v1:abc"}
    given, expected = ({"a": [found, {"b": found}], "c": 1} for found in (secret, "removed"))

    assert json.loads(json.dumps(given), object_hook=script["without_secret"]) == expected
