"""The program with gcpx and pulumi-gcp runs with the real pulumi-gcp package and a stand-in for its plugin."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from programs import PROJECT
from workspace import ROOT, Workspace

pytestmark = [pytest.mark.languages, pytest.mark.pulumi]
STAND_IN = Path(__file__).parent / "stand_in_plugin.py"
(VERSION,) = re.findall(r"^pulumi-gcp==(.*)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)


@pytest.fixture(scope="session")
def pulumi_gcp():
    """A folder with the package pulumi-gcp, installed once for each version into the cache of the user."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gcpx"
    folder = cache / f"pulumi-gcp-{VERSION}"
    if not folder.exists():
        unfinished = cache / f"{folder.name}.{os.getpid()}"
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--target", str(unfinished)]
        subprocess.run([sys.executable, "-m", "pip", "install", *options, f"pulumi-gcp=={VERSION}"], check=True)
        unfinished.rename(folder)
    return folder


@pytest.fixture
def run(pulumi_gcp, cloud, tmp_path, monkeypatch):
    """A function that runs the CLI on the program of the guide."""
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
    source, plugin = tmp_path / "source", tmp_path / "stand-in"
    source.mkdir()
    plugin.mkdir()
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "beside-pulumi-gcp.md").read_text(), re.DOTALL)
    (source / "__main__.py").write_text(code)
    (source / "Pulumi.yaml").write_text("name: beside\nruntime: python\n")
    script = plugin / "pulumi-resource-gcp"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{STAND_IN}" {VERSION}\n')
    script.chmod(0o755)
    workspace = Workspace.make(source, tmp_path / "work", cloud.host)
    workspace.run("plugin", "install", "resource", "gcp", VERSION, "--file", str(plugin))
    path = os.pathsep.join((str(pulumi_gcp), os.environ.get("PYTHONPATH", "")))
    return lambda *arguments: workspace.run(*arguments, variables={"PYTHONPATH": path})


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
