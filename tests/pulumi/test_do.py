"""The guide's commands with `pulumi do`, which reads no stack configuration, work as documented."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from cli.documented import commands
from engines import driver
from servers import plain_http
from values.programs import FLEET, KEY, NOTIFICATION, PROJECT, TEMPLATE, USER, fleet, key, notification, template
from workspace import ROOT, Workspace

pytestmark = pytest.mark.pulumi


@pytest.fixture
def plain(cloud, tmp_path, pulumi_home):
    """A workspace of the example in the guide, and a function that runs commands there without settings of gcpx."""
    workspace = Workspace.make(ROOT / "examples" / "adopt", tmp_path, cloud.host, pulumi_home)
    ours = {"GCPX_EMULATOR_HOST", "GOOGLE_PROJECT"}
    variables = {name: value for name, value in {**os.environ, **workspace.variables}.items() if name not in ours}

    def run(*command, **more):
        return subprocess.run(
            command, cwd=workspace.program, env={**variables, **more}, capture_output=True, text=True, check=False
        )

    return workspace, run


def test_the_list_commands_of_the_guide_work(cloud, plain):
    with driver.engine(project="my-project", emulatorHost=cloud.host) as engine:
        bucket = {"name": "my-uploads"}
        plain_http.post(f"http://{cloud.host}/storage/v1/b?project=my-project", json=bucket)
        made = [
            engine.create(TEMPLATE, "web", {**template(), "name": "web-1"}),
            engine.create(NOTIFICATION, "uploads", notification(bucket="my-uploads")),
            engine.create(KEY, "laptop", key()),
        ]
        engine.create(TEMPLATE, "db", {**template(), "name": "db-1"})
    script = commands("docs/adopting.md", "List what exists")
    done = plain[1]("bash", "-ec", script, GCPX_EMULATOR_HOST=cloud.host)

    assert done.returncode == 0, done.stderr
    assert script.count("pulumi do") == len(made)
    assert re.findall(r'"id": "(.*)"', done.stdout) == [resource.id for resource in made]


def test_adopt_uses_the_settings_of_the_stack(cloud, engine, plain):
    workspace, run = plain
    made = [
        engine.create(TEMPLATE, "web", {**template(), "name": "web"}),
        engine.create(TEMPLATE, "web", {**template(), "name": "web", "region": "us-east1"}),
        engine.create(TEMPLATE, "web", {**template(), "name": "web-2"}),
        engine.create(FLEET, "workers", fleet(2)),
    ]
    settings = {"project": PROJECT, "emulatorHost": cloud.host, "validateOnline": "true", "requestTimeout": "30s"}
    for name, value in settings.items():
        run("pulumi", "config", "set", f"gcpx:{name}", value)
    run("pulumi", "config", "set", "--path", "gcpx:scopes[0]", "https://www.googleapis.com/auth/compute")
    run("pulumi", "config", "set", "--secret", "gcpx:accessToken", "ya29.secret")
    done = run(sys.executable, "adopt.py", USER)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 resources are in the stack" in done.stdout
    adopted = {item["id"] for item in workspace.state()["deployment"]["resources"] if item["type"].startswith("gcpx:")}
    assert adopted == {resource.id for resource in made}
    assert "ya29.secret" not in done.stdout + done.stderr


def test_adopt_reports_an_error_and_stops(plain):
    done = plain[1](sys.executable, "adopt.py", GCPX_EMULATOR_HOST="127.0.0.1:9")

    assert done.returncode
    assert "project: is required" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["gcpx:compute:listRegions"], ["project: is required", "GOOGLE_PROJECT", "--gcpx:project"]),
        (["gcpx:compute:InstanceTemplate", "list"], ["project: is required", "GOOGLE_PROJECT", "--gcpx:project"]),
        (["gcpx:oslogin:SshKey", "list"], ["required", '"user"']),
        (["gcpx:compute:listRegions", "--project", "p", "--filter", "name="], ["filter: ", "character 6"]),
    ],
)
def test_missing_and_malformed_arguments_are_reported(cloud, plain, command, words):
    done = plain[1]("pulumi", "do", *command, GCPX_EMULATOR_HOST=cloud.host)

    assert done.returncode
    assert all(word in done.stderr for word in words), done.stderr
    assert done.stdout == ""


def test_flags_replace_environment_variables(cloud, plain):
    place = [f"--gcpx:emulator-host={cloud.host}", f"--gcpx:project={PROJECT}"]
    regions = json.loads(plain[1]("pulumi", "do", "gcpx:compute:listRegions", "--omit-quotas", *place).stdout)

    assert "us-east1" in {region["name"] for region in regions["items"]}
