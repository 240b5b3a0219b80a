"""The recipes for users' tests and CI: the example with its own tests, and the workflow that previews a pull request."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress

import pytest
import yaml
from clock import HANGS
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
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    options = ["-p", "gcpx_emulator.pytest_plugin", "-p", "no:cacheprovider", "-q"]
    # Other plugins, such as that of Hypothesis, take long to load.
    said = _run(
        [sys.executable, "-m", "pytest", *options],
        tmp_path / "example",
        {**variables, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "TMPDIR": str(temporary)},
    )

    assert "2 passed" in said
    assert not list(temporary.glob("automation-*"))


NOTHING = "http://127.0.0.1:9"
"""A proxy that does not answer."""
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
    for script in CI.glob("*.py"):
        shutil.copy(script, made.program)
    return made


def _keep_state(deployed):
    """Write the state as `examples/ci/README.md` says."""
    folder = deployed.program / "state"
    folder.mkdir()
    (command,) = re.findall(r"```sh\n(.*?)```", (CI / "README.md").read_text(), re.DOTALL)
    _run(["bash", "-c", command], deployed.program, deployed.variables)
    return (folder / "prod.json").read_text()


class StepError(Exception):
    pass


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
    variables |= {"GCPX_EMULATOR_HOST": host, "HTTP_PROXY": NOTHING, "http_proxy": NOTHING}
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
        if process.returncode != 0:
            raise StepError(f"{command}\n{said}")

    try:
        yield workflow["jobs"]["preview"]["steps"], step
    finally:
        for group in groups:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)


def _preview(deployed, folder):
    with _runner(deployed, folder) as (steps, run):
        for step in steps:
            if "run" in step and not step["name"].startswith("Install"):
                run(step["run"])


def test_the_workflow_previews_a_pull_request_without_credentials(deployed, tmp_path):
    kept = _keep_state(deployed)
    deployed.run("config", "set", "size", "5")  # the pull request
    assert "hunter2" not in kept
    assert "ciphertext" not in kept
    _preview(deployed, tmp_path)
    summary = (tmp_path / "summary.md").read_text()

    assert summary.startswith("## Preview of prod\n```diff\n")
    assert re.search(r"^!.* gcpx:compute:BulkInstances: \(update\)", summary, re.MULTILINE), summary
    assert re.search(r"^! +count *: 3 => 5", summary, re.MULTILINE), summary
    assert re.search(r"^! +1 to update$", summary, re.MULTILINE), summary
    assert "to create" not in summary
    assert "hunter2" not in summary


def test_a_preview_that_fails_fails_the_step_and_has_its_error_in_the_summary(deployed, tmp_path):
    _keep_state(deployed)
    with (deployed.program / "__main__.py").open("a") as program:
        program.write('raise SystemExit("no such bucket")\n')  # the pull request
    with pytest.raises(StepError, match="no such bucket"):
        _preview(deployed, tmp_path)
    summary = (tmp_path / "summary.md").read_text()

    assert re.match(r"## Preview of prod\nThe preview failed, with exit status \d+\.\n```diff\n", summary), summary
    assert "no such bucket" in summary
    assert summary.endswith("\n```\n")


def test_a_preview_that_cannot_start_has_its_error_in_the_summary(deployed, tmp_path):
    _keep_state(deployed)
    settings = deployed.program / "Pulumi.yaml"
    with _runner(deployed, tmp_path) as (steps, run):
        *before, preview = [step for step in steps if "run" in step and not step["name"].startswith("Install")]
        for step in before:
            run(step["run"])
        settings.unlink()
        with pytest.raises(StepError, match=r"no Pulumi\.yaml"):
            run(preview["run"])

    assert "error: no Pulumi.yaml project file found" in (tmp_path / "summary.md").read_text()
