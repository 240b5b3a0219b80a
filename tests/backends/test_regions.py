"""The example `regions`: 20 stacks of one program, side by side in one database."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest
from engines.clock import HANGS
from values.programs import PROJECT
from workspace import ROOT, environment, pulumi_folder

pytestmark = [pytest.mark.backends, pytest.mark.pulumi]
SCRIPT = ROOT / "examples" / "regions" / "regions.py"
COUNT = ("--count", "1")
UNREACHABLE = "postgres://u:SeCret@127.0.0.1:1/db"


@pytest.fixture
def folders(tmp_path):
    """Where the script makes temporary folders."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


@pytest.fixture
def begin(tmp_path, cloud, pulumi_home, database, folders):
    """Start the script in a process group of its own, as a shell does."""

    @contextmanager
    def begun(*words, backend=database.url):
        variables = {**os.environ, **environment(pulumi_folder(), pulumi_home, tmp_path)}
        variables |= {
            "PULUMI_BACKEND_URL": backend,
            "TMPDIR": str(folders),
            "GCPX_EMULATOR_HOST": cloud.host,
            "GOOGLE_PROJECT": PROJECT,
        }
        if backend == database.url:  # two CLIs that create the table at the same moment fail
            subprocess.run(["pulumi", "whoami"], cwd=tmp_path, env=variables, check=True, timeout=HANGS)
        with subprocess.Popen(
            ["env", "--default-signal=HUP", sys.executable, str(SCRIPT), *words],  # whatever runs the tests ignores
            cwd=tmp_path,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    return begun


@pytest.fixture
def run(begin):
    """Run the script; gives its exit status and its output."""

    def ran(*words, **settings):
        with begin(*words, **settings) as process:
            said, _ = process.communicate(timeout=2 * HANGS)
        return process.returncode, said

    return ran


def _instances(cloud):
    cloud.emulator.operations.settle()
    return cloud.emulator.store.counts().get("instances", 0)


def _results(folder):
    results = json.loads((folder / "results.json").read_text())["results"]
    return {result["region"]: result for result in results}


def _limit(cloud, limits):
    cloud.post("/_emulator/limits", limits)


def test_a_region_that_fails_leaves_the_others_and_is_repeated_alone(run, cloud, tmp_path, folders):
    _limit(cloud, {"instances": {"europe-west4": 0}})
    status, said = run("up", *COUNT, "--at-once", "4")
    results = _results(tmp_path)
    failed = [region for region, result in results.items() if result["outcome"] == "failed"]

    assert (status, len(results), failed) == (1, 20, ["europe-west4"]), said
    assert "\n19 of 20 regions are done\neurope-west4 " in said
    assert "quota" in results["europe-west4"]["detail"].lower()
    assert _instances(cloud) == 19
    assert list(folders.glob("automation-*")) + list(folders.glob("regions-*")) == []

    _limit(cloud, {})
    status, said = run("up", *COUNT, "--failed")
    assert (status, said.count(" s  ")) == (0, 1), said
    assert said.endswith("\n1 of 1 regions are done\n")
    assert _instances(cloud) == 20


@pytest.mark.parametrize(
    ("send", "number"),
    [
        pytest.param(os.killpg, signal.SIGINT, id="^C"),
        pytest.param(os.killpg, signal.SIGTERM, id="timeout"),
        pytest.param(os.killpg, signal.SIGHUP, id="closed terminal"),
        pytest.param(os.kill, signal.SIGTERM, id="kill"),
    ],
)
def test_a_cancelled_run_begins_no_further_stack_and_is_finished_later(begin, run, cloud, database, send, number):
    regions = ("us-east1", "us-west1", "us-east1", *COUNT, "--at-once", "1")
    with cloud.held_creations(1) as created, begin("up", *regions) as process:
        assert created()
        send(process.pid, number)
        said, _ = process.communicate(timeout=HANGS)
    cloud.finish_operations()
    (stored,) = [text for key, text in database.contents().items() if key.endswith("/stacks/regions/us-east1.json")]
    state = json.loads(stored)["checkpoint"]["latest"]

    assert process.returncode == 1, said
    assert "us-east1                  cancelled" in said
    assert "us-west1                  not begun" in said
    assert "python regions.py up --failed" in said
    assert not state.get("pending_operations"), "the CLI has waited for its plugin, so it got one signal only"
    status, said = run("up", *COUNT, "--failed")
    assert status == 0, said
    assert "2 of 2 regions are done" in said
    assert _instances(cloud) == 2, "the creation that was cancelled is not repeated"


def test_a_run_that_is_killed_leaves_its_results(begin, run, cloud, tmp_path):
    cloud.post("/_emulator/faults", {"method": "compute.regionInstances.bulkInsert", "status": 403})  # the first
    with cloud.held_creations(1) as created, begin("up", "us-east1", "us-west1", *COUNT, "--at-once", "1") as process:
        while not (line := process.stdout.readline()).startswith("us-east1"):
            assert line
        assert created()
        results = _results(tmp_path)  # what a kill would leave now
        cloud.finish_operations()
        process.communicate(timeout=HANGS)

    assert {region: result["outcome"] for region, result in results.items()} == {
        "us-east1": "failed",
        "us-west1": "not begun",
    }
    status, said = run("destroy", "--failed")
    assert (status, said) == (1, "regions.py: the last run was `up`; repeat that with --failed, or omit --failed\n")


def test_a_result_has_the_reason_and_no_password(run, tmp_path):
    status, said = run("up", "us-east1", backend=UNREACHABLE)
    (result,) = _results(tmp_path).values()

    assert status == 1
    assert result["detail"].startswith('error: unable to open state database "postgres://****@127.0.0.1:1/db": ')
    assert "SeCret" not in said + json.dumps(result)
    _, said = run("up", "us-east1", backend="postgres://127.0.0.1:1/db?password=SeCret&connect_timeout=9")
    assert '?password=****&connect_timeout=9"' in said


def test_the_cli_prints_a_password_as_the_page_says(tmp_path, pulumi_home):
    variables = {**environment(pulumi_folder(), pulumi_home, tmp_path), "PULUMI_BACKEND_URL": UNREACHABLE}
    command = ["pulumi", "stack", "ls", "--all", "--non-interactive"]
    ran = subprocess.run(command, check=False, env={**os.environ, **variables}, stderr=subprocess.PIPE, text=True)
    message, _, _ = ran.stderr.partition(": failed to ping")
    page = (ROOT / "docs" / "scaling.md").read_text()

    assert f"{message}: ..." in re.sub(r"\s+", " ", page)


@pytest.mark.parametrize("url", ["postgresql://u:p@127.0.0.1:1/db", "postgres://u:p#p@127.0.0.1:1/db"])
def test_a_url_with_a_mistake_is_taken_for_pulumi_cloud(run, url):
    _, said = run("up", "us-east1", backend=url)

    assert "PULUMI_ACCESS_TOKEN must be set for login" in said


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("up", "europe-west99"), "unknown region europe-west99; fleet.py names those that it knows"),
        (("up", "--at-once", "0"), "--at-once must be at least 1"),
        (("up", "us-east1", "--failed"), "--failed chooses the regions itself; omit it, or the regions"),
        (("up", "--failed"), "there is no results.json of an earlier run in this folder; omit --failed"),
    ],
)
def test_a_mistake_in_the_command_is_told(run, words, expected):
    status, said = run(*words)

    assert status
    assert expected in said
