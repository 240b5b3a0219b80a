"""The program with gcpx and pulumi-gcp runs with the real pulumi-gcp package, and gcpx accepts what that gives it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from programs import ATTACHMENT, FLEET, IMAGE, NOTIFICATION
from workspace import ROOT

pytestmark = pytest.mark.languages
HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def pulumi_gcp():
    """A folder with the package pulumi-gcp, installed once per version into the cache of the user."""
    constraints = ROOT / "constraints.txt"
    (version,) = re.findall(r"^pulumi-gcp==(.*)$", constraints.read_text(), re.MULTILINE)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "gcpx" / f"pulumi-gcp-{version}"
    if not folder.exists():
        unfinished = folder.with_name(f"{folder.name}.{os.getpid()}")
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile", "-c", str(constraints)]
        command = [sys.executable, "-m", "pip", "install", *options, "--target", str(unfinished), "pulumi-gcp"]
        subprocess.run(command, check=True)
        unfinished.rename(folder)
    return folder


@pytest.fixture(scope="session")
def declared(pulumi_gcp, tmp_path_factory):
    """The resources that the program in the guide declares: their types, names and inputs."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "beside-pulumi-gcp.md").read_text(), re.DOTALL)
    program = tmp_path_factory.mktemp("beside") / "__main__.py"
    program.write_text(code)
    path = os.pathsep.join((str(pulumi_gcp), os.environ.get("PYTHONPATH", "")))
    command = [sys.executable, str(HERE / "mocked_program.py"), str(program)]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _inputs(declared, token):
    (found,) = [resource["inputs"] for resource in declared if resource["type"] == token]
    return found


def test_gcpx_creates_its_part_from_the_outputs_of_pulumi_gcp(declared, cloud, engine):
    cloud.make_instance("base")
    cloud.make_disk("data")
    cloud.emulator.store.put(
        "b/uploads", {"kind": "storage#bucket", "name": "uploads", "id": "uploads", "_project": "demo-project"}
    )
    made = {token: engine.create(token, "x", _inputs(declared, token)) for token in (FLEET, IMAGE, ATTACHMENT, NOTIFICATION)}  # fmt: skip
    member = cloud.get("projects/demo-project/zones/us-east1-b/instances/worker-001")

    assert made[FLEET].outputs["createdCount"] == 3
    assert member["networkInterfaces"][0]["subnetwork"].endswith("/regions/us-east1/subnetworks/workers")
    assert made[IMAGE].outputs["sourceInstance"].endswith("/instances/base")
    assert made[ATTACHMENT].outputs["disk"].endswith("/disks/data")
    assert made[NOTIFICATION].outputs["topic"].endswith("projects/demo-project/topics/uploads")


def test_pulumi_gcp_receives_the_members_of_the_fleet(declared):
    group = _inputs(declared, "gcp:compute/instanceGroup:InstanceGroup")

    assert [link.rpartition("/")[2] for link in group["instances"]] == ["workers-1"]
