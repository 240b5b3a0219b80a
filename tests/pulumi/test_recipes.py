"""The recipes for users' tests and CI: the example with its own tests, and the workflow that previews a pull request."""

from __future__ import annotations

import json
import os
import re
import runpy
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress

import pytest
import yaml
from cli.documented import commands
from engines.clock import HANGS
from values.programs import IMAGE, PROJECT, image
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
    (command,) = re.findall(r"```sh\n(\s*set -o pipefail.*?)```", (CI / "README.md").read_text(), re.DOTALL)
    _run(["bash", "-c", command], deployed.program, deployed.variables)
    return (folder / "prod.json").read_text()


class StepError(Exception):
    pass


@contextmanager
def _runner(deployed, folder):
    """Run steps as a runner of GitHub Actions does: with its variables and files, and in processes that it ends."""
    workflow = yaml.safe_load((CI / ".github" / "workflows" / "preview.yml").read_text())
    holding = socket.socket()  # so that nobody else gets the port before the emulator, which may listen beside it
    holding.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holding.bind(("127.0.0.1", 0))
    host = f"127.0.0.1:{holding.getsockname()[1]}"
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
        holding.close()


def _preview(deployed, folder):
    with _runner(deployed, folder) as (steps, run):
        for step in steps:
            if "run" in step and not step["name"].startswith("Install"):
                run(step["run"])


def test_the_workflow_previews_a_pull_request_without_credentials(deployed, tmp_path):
    kept = _keep_state(deployed)
    deployed.run("config", "set", "size", "5")  # the pull request
    with (deployed.program / "__main__.py").open("a") as program:
        program.write('pulumi.log.warn("5 < 10 are few", web)\n')
    assert "hunter2" not in kept
    assert "ciphertext" not in kept
    _preview(deployed, tmp_path)
    summary = (tmp_path / "summary.md").read_text()

    warned = "<pre>\n<b>example:web:WebTier web</b>\nwarning: 5 &lt; 10 are few\n</pre>\n"
    announced = "<pre>\n<b>gcpx:compute:BulkInstances web</b>\nwhat this update does: 2 instances are created\n</pre>\n"
    assert summary.startswith("## Preview of prod\n<pre>\n")
    assert warned in summary
    assert announced in summary
    assert summary.index(announced) < summary.index("\n```diff\n")
    assert re.search(r"^!.* gcpx:compute:BulkInstances: \(update\)", summary, re.MULTILINE), summary
    assert re.search(r"^! +count *: 3 => 5", summary, re.MULTILINE), summary
    assert re.search(r"^! +1 to update$", summary, re.MULTILINE), summary
    assert "to create" not in summary
    assert "hunter2" not in summary
    assert "apiKey" not in summary, "a secret that has not changed is no change"


def test_a_preview_that_fails_fails_the_step_and_has_its_error_in_the_summary(deployed, tmp_path):
    _keep_state(deployed)
    with (deployed.program / "__main__.py").open("a") as program:
        program.write(
            'raise SystemExit("no such bucket\\n```\\n# not a heading" + 2_000_000 * "!")\n'
        )  # the pull request
    with pytest.raises(StepError, match="no such bucket"):
        _preview(deployed, tmp_path)
    summary = (tmp_path / "summary.md").read_text()

    assert re.match(r"## Preview of prod\nThe preview failed, with exit status \d+\.\n```diff\n", summary), summary
    assert "no such bucket" in summary
    assert "\n    ```\n" in summary
    assert "\n```\n" not in summary, "the program's output ends the block"
    assert len(summary) == 1_000_000, "GitHub shows no summary of more than 1 MiB"


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


def test_messages_without_a_resource_or_for_debugging_are_told_apart():
    markdown = runpy.run_path(str(CI / "messages.py"))["markdown"]
    events = [
        {"preludeEvent": {}},
        {"diagnosticEvent": {"message": "registering", "severity": "debug"}},
        {"diagnosticEvent": {"message": "2/3", "severity": "info", "urn": "u", "ephemeral": True}},
        {"diagnosticEvent": {"prefix": "warning: ", "message": "old\n", "severity": "warning"}},
        {"diagnosticEvent": {"message": "one\n", "severity": "info", "urn": "urn:pulumi:dev::p::a:b:C$d:e:F::g::h"}},
        {"diagnosticEvent": {"message": "two\n", "severity": "info", "urn": "urn:pulumi:dev::p::a:b:C$d:e:F::g::h"}},
    ]

    assert markdown([]) == ""
    assert markdown(map(json.dumps, events)) == (
        "<pre>\n<b>the program</b>\nwarning: old\n</pre>\n\n<pre>\n<b>d:e:F g::h</b>\none\ntwo\n</pre>\n\n"
    )


def test_no_text_of_a_program_becomes_markup_or_ends_the_summary(tmp_path):
    log = tmp_path / "events.jsonl"
    urn = "urn:pulumi:dev::p::a:b:C::x\n# y </pre>![z](https://evil.example)"
    event = {"diagnosticEvent": {"message": "one\x85two\u2028</pre><img src=x>\n", "severity": "warning", "urn": urn}}
    log.write_text(json.dumps(event, ensure_ascii=False) + "\n", encoding="utf-8")
    done = subprocess.run([sys.executable, CI / "messages.py", log], capture_output=True, check=True, timeout=HANGS)
    text = done.stdout.decode()

    assert text.startswith("<pre>\n")
    assert text.count("<") == text.count(">") == len(("<pre>", "<b>", "</b>", "</pre>"))
    assert text.endswith("\none\x85two\u2028&lt;/pre&gt;&lt;img src=x&gt;\n</pre>\n\n")


@pytest.mark.parametrize("has_drifted", [False, True])
def test_the_command_for_a_schedule_fails_with_the_change_if_something_has_drifted(stack, cloud, has_drifted):
    command = commands("examples/ci/README.md", "Drift on a schedule").strip()
    stack.write(web={"type": IMAGE, "properties": {"name": "web", **image(labels={"team": "web"})}})
    cloud.make_instance()
    stack.up()
    path = f"projects/{PROJECT}/global/machineImages/web"
    if has_drifted:
        cloud.emulator.store.put(path, {**cloud.get(path), "labels": {"team": "other"}})
    done = stack.workspace.run(*shlex.split(command)[1:], check=False)

    assert (done.returncode != 0) is has_drifted, done.stdout
    assert ("team" in done.stdout) is has_drifted
