"""Every example, run by the real CLI through the generated SDK."""

from __future__ import annotations

import json

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
