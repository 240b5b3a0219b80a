"""The Python SDK says how to write an object if a program has a list in its place, which Pulumi's SDK cannot send."""

from __future__ import annotations

import os
import subprocess
import sys

import pulumi
import pytest
from pulumi_gcpx import compute, oslogin, storage
from workspace import Workspace

FLEET = {"count": 1, "name_pattern": "web-#", "region": "us-east1"}
OBJECT = "must be a dict with the properties of {}Args, not a list"
WRONG = {
    "tags": (
        lambda: compute.InstanceTemplate("web", properties={"tags": ["http", "https"]}),
        'InstanceTemplate web: properties.tags must be written {"items": ["http", "https"]}, not a list',
    ),
    "tags in a class": (
        lambda: compute.InstanceTemplate("web", properties=compute.InstancePropertiesArgs(tags=["http"])),
        'InstanceTemplate web: properties.tags must be written {"items": ["http"]}, not a list',
    ),
    "tags in a tuple with an output": (
        lambda: compute.InstanceTemplate("web", compute.InstanceTemplateArgs(properties={"tags": ("http", pulumi.Output.from_input("x"))})),
        'InstanceTemplate web: properties.tags must be written {"items": ["http", ...]}, not a list',
    ),
    "labels": (
        lambda: compute.MachineImage("golden", source_instance="zones/z/instances/i", labels=["web"]),
        'MachineImage golden: labels must be a dict, such as {"key": "value"}, not a list',
    ),
    "within a list": (
        lambda: compute.BulkInstances("web", instance_properties={"disks": [{}, {"initialize_params": ["x"]}]}, **FLEET),
        f"BulkInstances web: instance_properties.disks[1].initialize_params {OBJECT.format('AttachedDiskInitializeParams')}",
    ),
    "within a map": (
        lambda: compute.BulkInstances("web", per_instance_properties={"web-a": ["x"]}, region="us-east1"),
        f'BulkInstances web: per_instance_properties["web-a"] {OBJECT.format("PerInstanceProperties")}',
    ),
}  # fmt: skip


def run(*names):
    """Run programs of this module in another process, because Pulumi leaves event loops behind; return what it prints."""
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, __file__, *names]
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
    return done.stdout.splitlines() or done.stderr


def test_a_list_in_place_of_an_object_is_refused_with_the_right_form():
    assert run(*WRONG) == [words for _, words in WRONG.values()]


class _Nothing(pulumi.runtime.Mocks):
    """Accepts every resource."""

    def new_resource(self, args):
        return args.name, args.inputs

    def call(self, args):
        return {}


def _right_forms():
    pulumi.runtime.set_mocks(_Nothing())
    tags = {"items": ["http"]}
    compute.InstanceTemplate("a", properties={"tags": tags, "labels": {"a": "b"}, "disks": [{"boot": True}]})
    compute.InstanceTemplate("b", properties=compute.InstancePropertiesArgs(tags=compute.TagsArgs(items=["http"])))
    compute.InstanceTemplate("c", properties=pulumi.Output.from_input({"tags": tags}))
    compute.InstanceTemplate("d", properties={"tags": pulumi.Output.from_input(tags), "metadata": None})
    compute.InstanceTemplate("e", properties={"partner_metadata": {"p": {"entries": {"a": [1, {"b": []}]}}}})
    compute.InstanceTemplate.get("f", "projects/p/global/instanceTemplates/f")
    oslogin.SshKey("g", user="me@example.com", key="k", project_id="p", regions=["us-east1"])
    storage.NotificationConfig("h", bucket="b", topic="t", custom_attributes={"a": "b"}, event_types=["OBJECT_DELETE"])


def test_right_forms_and_values_that_are_not_known_yet_are_accepted():
    assert run("right") == ["accepted"]


@pytest.mark.pulumi
def test_a_program_with_a_wrong_form_ends_without_a_traceback(cloud, tmp_path, pulumi_home):
    source = tmp_path / "source"
    source.mkdir()
    (source / "Pulumi.yaml").write_text("name: wrong\nruntime: python\n")
    (source / "__main__.py").write_text(
        "import pulumi_gcpx as gcpx\n\ngcpx.compute.InstanceTemplate('web', properties={'tags': ['http']})\n"
    )
    done = Workspace.make(source, tmp_path / "made", cloud.host, pulumi_home).run("preview", check=False)
    said = done.stdout + done.stderr

    assert done.returncode != 0
    assert 'InstanceTemplate web: properties.tags must be written {"items": ["http"]}, not a list' in said
    assert "Traceback" not in said


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        try:
            WRONG.get(argument, (_right_forms, ""))[0]()
            print("accepted")
        except pulumi.RunError as error:
            print(error)
