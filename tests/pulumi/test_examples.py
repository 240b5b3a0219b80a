"""Every example, run by the real CLI through the generated SDK."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from programs import PROJECT
from workspace import ROOT, Workspace

pytestmark = pytest.mark.pulumi
EXAMPLES = sorted(path.parent.name for path in (ROOT / "examples").glob("*/Pulumi.yaml"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_comes_up_stays_and_goes(name, cloud, tmp_path, pulumi_home):
    for bucket in ("demo-uploads", "example-uploads"):
        cloud.emulator.store.put(
            f"b/{bucket}", {"kind": "storage#bucket", "name": bucket, "id": bucket, "_project": PROJECT}
        )
    cloud.make_disk()
    cloud.make_regional_disk()
    cloud.make_instance()
    before = cloud.emulator.store.counts()
    workspace = Workspace.make(ROOT / "examples" / name, tmp_path, cloud.host, pulumi_home)
    said = workspace.run("up", "--yes", "--skip-preview").stdout
    workspace.run("preview", "--expect-no-changes")
    workspace.run("refresh", "--yes", "--skip-preview", "--expect-no-changes")

    assert "warning" not in said
    assert all(json.loads(workspace.run("stack", "output", "--json").stdout).values())
    workspace.run("destroy", "--yes", "--skip-preview")
    assert cloud.emulator.store.counts() == before


def _workspace(name, cloud, tmp_path, pulumi_home):
    return Workspace.make(ROOT / "examples" / name, tmp_path, cloud.host, pulumi_home)


def test_the_fleet_is_scaled_by_its_script(cloud, tmp_path, pulumi_home):
    workspace = _workspace("fleet", cloud, tmp_path, pulumi_home)
    script = [sys.executable, str(workspace.program / "scale.py")]
    done = subprocess.run(
        script,
        cwd=workspace.program,
        env={**os.environ, **workspace.variables},
        capture_output=True,
        text=True,
        check=True,
    )

    for count in (20, 50, 10):
        assert f"asked for {count}, there are {count}" in done.stdout
    assert [entry["body"]["count"] for entry in cloud.requests("compute.regionInstances.bulkInsert")] == ["20", "30"]
    assert len(cloud.calls("compute.instances.delete")) == 40
    workspace.run("config", "set", "release", "two")
    said = workspace.run("up", "--yes", "--skip-preview").stdout
    assert "~ 1 updated" in said
    workspace.run("preview", "--expect-no-changes")
    workspace.run("destroy", "--yes", "--skip-preview")


def test_the_disk_moves_to_another_instance(cloud, tmp_path, pulumi_home):
    cloud.make_regional_disk()
    first, second = cloud.make_instance(), cloud.make_instance("standby-vm")
    workspace = _workspace("data-disk", cloud, tmp_path, pulumi_home)
    workspace.run("up", "--yes", "--skip-preview")
    workspace.run("config", "set", "instance", "standby-vm")
    workspace.run("up", "--yes", "--skip-preview")

    assert [len(cloud.get(path)["disks"]) for path in (first, second)] == [1, 2]
    workspace.run("destroy", "--yes", "--skip-preview")
    assert len(cloud.get(second)["disks"]) == 1


def test_the_label_of_a_golden_image_changes_in_place(cloud, tmp_path, pulumi_home):
    cloud.make_instance()
    workspace = _workspace("golden-image", cloud, tmp_path, pulumi_home)
    workspace.run("up", "--yes", "--skip-preview")
    workspace.run("config", "set", "release", "two")

    assert "~ 1 updated" in workspace.run("up", "--yes", "--skip-preview").stdout
    assert len(cloud.requests("compute.machineImages.insert")) == 1
    workspace.run("destroy", "--yes", "--skip-preview")
