"""Nulls of a program are sent to Google, and a warning reports nulls that a language has dropped."""

from __future__ import annotations

import pytest
from values.programs import FLEET, PROJECT, TEMPLATE, template
from workspace import Workspace

pytestmark = pytest.mark.pulumi
LINK = f"projects/{PROJECT}/global/instanceTemplates/base"
PROGRAM = f"""
import pulumi_gcpx as gcpx

gcpx.compute.BulkInstances(
    "workers",
    region="us-east1",
    count=1,
    name_pattern="p-#",
    source_instance_template="{LINK}",
    instance_properties={{"can_ip_forward": None, "labels": {{"a": None}}, "tags": None}},
)
"""


@pytest.fixture
def base(engine):
    engine.create(TEMPLATE, "base", {"name": "base", **template(labels={"a": "1"}, canIpForward=True)})


def test_nulls_in_a_python_dict_are_sent_and_cause_no_change(cloud, base, tmp_path, pulumi_home):
    source = tmp_path / "source"
    source.mkdir()
    (source / "Pulumi.yaml").write_text("name: test\nruntime: python\n")
    (source / "__main__.py").write_text(PROGRAM)
    workspace = Workspace.make(source, tmp_path / "work", cloud.host, pulumi_home)
    workspace.run("up", "--yes", "--skip-preview")
    sent = cloud.requests("compute.regionInstances.bulkInsert")[0]["body"]["instanceProperties"]

    assert (sent["canIpForward"], sent["tags"], sent["labels"]["a"]) == (None, None, None)
    workspace.run("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    workspace.run("preview", "--expect-no-changes")
    workspace.run("destroy", "--yes", "--skip-preview")


def test_a_warning_reports_nulls_that_yaml_drops(base, stack):
    properties = {
        "region": "us-east1",
        "count": 1,
        "namePattern": "y-#",
        "sourceInstanceTemplate": LINK,
        "instanceProperties": {"labels": {"a": None}},
    }
    stack.write(workers={"type": FLEET, "properties": properties})
    said = stack.workspace.run("preview").stdout

    assert "instanceProperties.labels is empty" in said
    assert "drop nulls" in said
