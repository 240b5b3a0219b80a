"""The programs with gcpx and pulumi-gcp run with the real pulumi-gcp package and a stand-in for its plugin."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import program_types
import pytest
from cli.documented import program
from values.programs import PROJECT
from workspace import ROOT, Workspace

pytestmark = [pytest.mark.languages, pytest.mark.pulumi]
STAND_IN = Path(__file__).parent / "stand_in_plugin.py"
LOCK = Path(__file__).parent / "requirements.txt"
(VERSION,) = re.findall(r"^pulumi-gcp==(\S+)", LOCK.read_text())


@pytest.fixture(scope="session")
def pulumi_gcp():
    """A folder with the package pulumi-gcp, installed once for each version into the cache of the user."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gcpx"
    folder = cache / f"pulumi-gcp-{VERSION}"
    if not folder.exists():
        unfinished = cache / f"{folder.name}.{os.getpid()}"
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--target", str(unfinished)]
        locked = ["--require-hashes", "--requirement", str(LOCK)]
        subprocess.run([sys.executable, "-m", "pip", "install", *options, *locked], check=True)
        unfinished.rename(folder)
    return folder


@pytest.fixture
def prepare(pulumi_gcp, cloud, tmp_path, monkeypatch):
    """A function that makes a workspace of a program, and returns a function that runs the CLI there."""
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
    path = os.pathsep.join((str(pulumi_gcp), os.environ.get("PYTHONPATH", "")))

    def prepared(source):
        plugin = tmp_path / "stand-in"
        plugin.mkdir()
        script = plugin / "pulumi-resource-gcp"
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{STAND_IN}" {VERSION}\n')
        script.chmod(0o755)
        workspace = Workspace.make(source, tmp_path / "work", cloud.host)
        workspace.run("plugin", "install", "resource", "gcp", VERSION, "--file", str(plugin))
        return lambda *arguments: workspace.run(*arguments, variables={"PYTHONPATH": path})

    return prepared


@pytest.fixture
def run(prepare, tmp_path):
    """A function that runs the CLI on the program of the guide."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "__main__.py").write_text(program("docs/beside-pulumi-gcp.md", "python"))
    (source / "Pulumi.yaml").write_text("name: beside\nruntime: python\n")
    return prepare(source)


def test_both_providers_pass_their_outputs_to_each_other(cloud, run):
    cloud.make_instance("base")
    cloud.make_disk("data")
    bucket = {"kind": "storage#bucket", "name": "uploads", "id": "uploads", "_project": PROJECT}
    cloud.emulator.store.put("b/uploads", bucket)
    base, network = f"/compute/v1/projects/{PROJECT}", "global/networks/workers"
    cloud.post(f"{base}/global/networks", {"name": "workers", "autoCreateSubnetworks": False})
    subnetwork = {"name": "workers", "network": network, "ipCidrRange": "10.0.0.0/20"}
    cloud.post(f"{base}/regions/us-east1/subnetworks", subnetwork)
    before = cloud.emulator.store.counts()

    assert "+ 13 to create" in run("preview").stdout, "the plan is complete although the self links are unknown"
    run("up", "--yes", "--skip-preview")
    run("preview", "--expect-no-changes")
    resources = json.loads(run("stack", "export").stdout)["deployment"]["resources"]
    inputs = {resource["type"]: resource.get("inputs") for resource in resources}
    member = cloud.get(f"projects/{PROJECT}/zones/us-east1-b/instances/worker-001")
    assert member["networkInterfaces"][0]["subnetwork"].endswith("/regions/us-east1/subnetworks/workers")
    assert inputs["gcpx:compute:MachineImage"]["sourceInstance"].endswith("/instances/base")
    assert inputs["gcpx:compute:DiskAttachment"]["disk"].endswith("/disks/data")
    assert inputs["gcpx:storage:NotificationConfig"]["topic"] == f"projects/{PROJECT}/topics/uploads"
    group = [link.rpartition("/")[2] for link in inputs["gcp:compute/instanceGroup:InstanceGroup"]["instances"]]
    assert group == ["worker-001", "worker-002", "worker-003"]
    run("destroy", "--yes", "--skip-preview")
    assert cloud.emulator.store.counts() == before


GROUP = "gcp:compute/regionInstanceGroupManager:RegionInstanceGroupManager"
EXAMPLE = ROOT / "examples" / "managed-group"


def test_workers_move_from_a_managed_group_to_a_fleet_with_the_same_template_and_back(cloud, prepare):
    run = prepare(EXAMPLE)

    def up(**settings):
        """Change settings; return what `pulumi up` prints, the size of the group and the members of the fleet."""
        for name, value in settings.items():
            run("config", "set", name, str(value))
        said = run("up", "--yes").stdout
        exported = json.loads(run("stack", "export").stdout)["deployment"]["resources"]
        (group,) = [resource["inputs"] for resource in exported if resource["type"] == GROUP]
        link = json.loads(run("stack", "output", "--json").stdout)["template"]
        assert [version["instanceTemplate"] for version in group["versions"]] == [link]
        instances = [body for _, body in cloud.emulator.store.of_kind("instances")]
        made = [path for path, _ in cloud.emulator.store.of_kind("instanceTemplates")]
        assert [link.partition("?")[0].endswith(path) for path in made] == [True], "the old template is deleted"
        return said, group["targetSize"], instances

    before = cloud.emulator.store.counts()
    _, size, members = up()
    assert (size, members) == (3, [])
    said, size, members = up(fleetSize=3)
    assert "what this update does: 3 instances are created" in said
    assert (size, [member["labels"]["app"] for member in members]) == (3, ["worker"] * 3)
    assert len({member["zone"] for member in members}) == 3

    said, size, rolled = up(image="family/debian-13")
    assert "at most 3 members are replaced" in said
    assert "at least 3 of 3 members run at any time" in said
    run("preview", "--expect-no-changes")
    assert len(rolled) == 3
    assert not {member["id"] for member in members} & {member["id"] for member in rolled}
    _, size, kept = up(groupSize=0)
    assert (size, {member["id"] for member in kept}) == (0, {member["id"] for member in rolled})

    said, size, members = up(groupSize=3, fleetSize=0)
    assert "what this update does: 3 members are deleted" in said
    assert (size, members) == (3, [])
    run("destroy", "--yes", "--skip-preview")
    assert cloud.emulator.store.counts() == before


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_the_types_of_the_example_are_right(pulumi_gcp, checker):
    findings = getattr(program_types, checker)([EXAMPLE / "__main__.py"], pulumi_gcp)

    assert [str(finding) for finding in findings] == []
