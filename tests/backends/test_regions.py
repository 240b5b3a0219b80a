"""The example `regions`: 20 stacks of one program, side by side in one database."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest
from held_creations import held_creations
from programs import PROJECT
from steered import HANGS
from workspace import ROOT, environment, pulumi_folder

pytestmark = [pytest.mark.backends, pytest.mark.pulumi]
SCRIPT = ROOT / "examples" / "regions" / "regions.py"
COUNT = ("--count", "1")


@pytest.fixture
def begin(tmp_path, cloud, pulumi_home, database):
    """Start the script in a process group of its own, as a shell does."""

    @contextmanager
    def begun(*words):
        variables = {**os.environ, **environment(pulumi_folder(), pulumi_home, tmp_path)}
        variables |= {"PULUMI_BACKEND_URL": database.url, "GCPX_EMULATOR_HOST": cloud.host, "GOOGLE_PROJECT": PROJECT}
        with subprocess.Popen(
            [sys.executable, str(SCRIPT), *words],
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

    def ran(*words):
        with begin(*words) as process:
            said, _ = process.communicate(timeout=2 * HANGS)
        return process.returncode, said

    return ran


def _instances(cloud):
    cloud.emulator.operations.settle()
    return cloud.emulator.store.counts().get("instances", 0)


def _limit(cloud, limits):
    cloud.post("/_emulator/limits", limits)


def test_a_region_that_fails_leaves_the_others_and_is_repeated_alone(run, cloud, tmp_path):
    _limit(cloud, {"instances": {"europe-west4": 0}})
    status, said = run("up", *COUNT, "--at-once", "4")
    results = {result["region"]: result for result in json.loads((tmp_path / "results.json").read_text())}
    failed = [region for region, result in results.items() if result["outcome"] == "failed"]

    assert (status, len(results), failed) == (1, 20, ["europe-west4"]), said
    assert "\n19 of 20 regions are done\neurope-west4 " in said
    assert "quota" in results["europe-west4"]["detail"].lower()
    assert _instances(cloud) == 19

    _limit(cloud, {})
    status, said = run("up", *COUNT, "--failed")
    assert (status, said.count(" s  ")) == (0, 1), said
    assert said.endswith("\n1 of 1 regions are done\n")
    assert _instances(cloud) == 20


@pytest.mark.parametrize("how", ["^C", "SIGTERM"])
def test_a_cancelled_run_begins_no_further_stack_and_is_finished_later(begin, run, cloud, how):
    one_region = ("us-east1", "us-west1", *COUNT, "--at-once", "1")
    with held_creations(cloud, 1) as created, begin("up", *one_region) as process:
        assert created()
        if how == "^C":
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.terminate()
        said, _ = process.communicate(timeout=HANGS)
    cloud.finish_operations()

    assert process.returncode == 1, said
    assert "us-east1                  cancelled" in said
    assert "us-west1                  not begun" in said
    assert "python regions.py up --failed" in said
    status, said = run("up", *COUNT, "--failed")
    assert status == 0, said
    assert "2 of 2 regions are done" in said
    assert _instances(cloud) == 2, "the creation that was cancelled is not repeated"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("up", "europe-west99"), "unknown region europe-west99; fleet.py names those that it knows"),
        (("up", "--at-once", "0"), "--at-once must be at least 1"),
        (("up", "--failed"), "there is no results.json of an earlier run in this folder; omit --failed"),
    ],
)
def test_a_mistake_in_the_command_is_told(run, words, expected):
    status, said = run(*words)

    assert status
    assert expected in said
