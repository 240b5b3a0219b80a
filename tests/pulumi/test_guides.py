"""The commands of the guides do what the guides say, with the real CLI."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap

import pytest
from cli.documented import commands, run_commands
from values.programs import (
    ATTACHMENT,
    EXPIRY,
    FLEET,
    IMAGE,
    KEY,
    NOTIFICATION,
    PROJECT,
    TEMPLATE,
    attachment,
    image,
    key,
    notification,
    template,
)  # fmt: skip
from workspace import ROOT, Workspace

pytestmark = [pytest.mark.pulumi, pytest.mark.languages]


def _members(cloud, color):
    """Return the label `live` of each instance of a color."""
    zones = [f"projects/{PROJECT}/zones/us-east1-{zone}/instances" for zone in "bcd"]
    found = [instance for zone in zones for instance in cloud.emulator.store.list(zone)]
    return [instance["labels"]["live"] for instance in found if instance["name"].startswith(f"web-{color}-")]


def test_blue_green_releases_beside_the_live_one_and_switches(cloud, tmp_path, pulumi_home):
    workspace = Workspace.make(ROOT / "examples" / "blue-green", tmp_path, cloud.host, pulumi_home)
    found = []
    for step in commands("docs/templates.md", "Blue/green: two releases side by side").strip().split("\n\n"):
        run_commands(workspace, step)
        found.append([_members(cloud, color) for color in ("blue", "green")])
    yes, no = ["yes"] * 3, ["no"] * 3

    assert found == [[yes, []], [yes, no], [no, yes], [[], yes]]
    cloud.emulator.requests.kept.clear()
    workspace.run("config", "set", "blueImage", "family/debian-13")
    assert "+- gcpx:compute:InstanceTemplate blue replace [diff: ~properties]" in workspace.run("preview").stdout
    assert cloud.calls("compute.instanceTemplates") == [], "a preview of templates sends no request"


def _state_of_terraform(made):
    """Return what `terraform show -json` prints about resources, one of them in a module."""
    kinds = {
        TEMPLATE: "google_compute_instance_template",
        IMAGE: "google_compute_machine_image",
        ATTACHMENT: "google_compute_attached_disk",
        NOTIFICATION: "google_storage_notification",
        KEY: "google_os_login_ssh_public_key",
    }
    resources = []
    for number, resource in enumerate(made):
        token = resource.urn.split("::")[2]
        values = {"id": resource.id}
        if token == ATTACHMENT:
            values = {"id": f"{resource.id.rpartition('/')[0]}/example-data", "device_name": "data"}
        resources.append({"mode": "managed", "type": kinds[token], "name": "web", "index": number, "values": values})
    other = {"mode": "managed", "type": "google_compute_network", "name": "web", "values": {"id": "x"}}
    data = {"mode": "data", "type": "google_compute_instance_template", "name": "web", "values": {"id": "y"}}
    module = {"resources": [other, data, *resources[1:]]}
    return {"values": {"root_module": {"resources": resources[:1], "child_modules": [module]}}}


@pytest.fixture
def existing(engine, vm):
    """A resource of each type that Terraform has, too."""
    del vm
    return [
        engine.create(TEMPLATE, "web", {**template(), "name": "web-1"}),
        engine.create(TEMPLATE, "web", {**template(), "name": "web-1", "region": "us-east1"}),
        engine.create(IMAGE, "golden", image()),
        engine.create(ATTACHMENT, "data", attachment(deviceName="data")),
        engine.create(NOTIFICATION, "uploads", notification()),
        engine.create(KEY, "laptop", key(expirationTimeUsec=EXPIRY)),
    ]


def test_resources_move_from_terraform(cloud, existing, tmp_path, pulumi_home):
    workspace = Workspace.make(ROOT / "examples" / "adopt", tmp_path, cloud.host, pulumi_home)
    (workspace.program / "state.json").write_text(json.dumps(_state_of_terraform(existing)))
    first, *others = commands("docs/adopting.md", "Move from Terraform").splitlines()
    run_commands(workspace, "\n".join(others))
    imported = [item["id"] for item in workspace.state()["deployment"]["resources"] if item["type"].startswith("gcpx:")]

    assert first.startswith("terraform show -json > state.json")
    assert sorted(imported) == sorted(resource.id for resource in existing)
    program = workspace.program / "Main.yaml"
    unnamed, count = re.subn(r"^ +name: web-1\n", "", program.read_text(), flags=re.MULTILINE)
    assert count == 2
    program.write_text(unnamed)
    workspace.run("preview", "--expect-no-changes")


def test_the_first_steps_in_a_real_project_work_in_the_emulator(cloud, tmp_path, pulumi_home):
    workspace = Workspace.make(ROOT / "examples" / "instance-template", tmp_path, cloud.host, pulumi_home)
    steps = re.findall(r"   ```sh\n(.*?)   ```", (ROOT / "docs" / "verified.md").read_text(), re.DOTALL)
    before = cloud.emulator.store.counts()
    regions, template_steps = (textwrap.dedent(step) for step in steps[:2])

    assert '"us-east1"' in run_commands(workspace, regions)
    run_commands(workspace, template_steps)
    assert "compute.instanceTemplates.insert" in cloud.calls()
    assert cloud.emulator.store.counts() == before


def test_instances_become_a_fleet_by_the_ids_in_the_guide(cloud, engine):
    for number in (1, 2):
        path = cloud.make_instance(f"worker-00{number}")
        cloud.change(path, lambda instance: instance.update(labels={"app": "worker"}))
    guide = (ROOT / "docs" / "adopting.md").read_text()
    ids = re.findall(r"^pulumi import gcpx:compute:BulkInstances workers (\S+)$", guide, re.MULTILINE)
    imported = [engine.import_(FLEET, "workers", resource_id.replace("my-project", PROJECT)) for resource_id in ids]

    assert [fleet.outputs["memberCount"] for fleet in imported] == [2, 2]


def _moved(state):
    command = [sys.executable, "moved.py"]
    return subprocess.run(
        command, cwd=ROOT / "examples" / "adopt", input=state, capture_output=True, text=True, check=False
    )


def test_resources_of_pulumi_gcp_are_found_in_a_stack():
    instance = "projects/p/zones/us-east1-b/instances/vm"
    resources = [
        {"urn": "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev", "type": "pulumi:pulumi:Stack"},
        {
            "urn": "urn:pulumi:dev::p::gcp:compute/attachedDisk:AttachedDisk::data",
            "custom": True,
            "type": "gcp:compute/attachedDisk:AttachedDisk",
            "id": f"{instance}/data-disk",
            "outputs": {"deviceName": "persistent-disk-1"},
        },
        {
            "urn": "urn:pulumi:dev::p::gcp:storage/notification:Notification::uploads",
            "custom": True,
            "type": "gcp:storage/notification:Notification",
            "id": "b/notificationConfigs/1",
        },
        {"urn": "urn::bucket", "custom": True, "type": "gcp:storage/bucket:Bucket", "id": "b"},
    ]
    done = _moved(json.dumps({"version": 3, "deployment": {"resources": resources}}))

    assert json.loads(done.stdout)["resources"] == [
        {"type": ATTACHMENT, "name": "diskAttachment-data", "id": f"{instance}/persistent-disk-1"},
        {"type": NOTIFICATION, "name": "notificationConfig-uploads", "id": "b/notificationConfigs/1"},
    ]


@pytest.mark.parametrize("mark", ["external", "delete", "pendingReplacement"])
def test_what_a_stack_only_reads_or_is_to_delete_is_not_imported(mark):
    kept = {"urn": "urn::kept", "custom": True, "type": "gcp:storage/notification:Notification", "id": "b/1"}
    other = {**kept, "urn": "urn::other", "id": "b/2", mark: True}
    done = _moved(json.dumps({"version": 3, "deployment": {"resources": [kept, other]}}))

    assert [found["id"] for found in json.loads(done.stdout)["resources"]] == ["b/1"]


def test_what_terraform_is_to_delete_or_has_not_created_is_not_imported():
    kept = {"mode": "managed", "type": "google_storage_notification", "name": "kept", "values": {"id": "b/1"}}
    deposed = {**kept, "deposed_key": "00000000", "values": {"id": "b/2"}}
    failed = {**kept, "name": "failed", "tainted": True, "values": {"id": None}}
    done = _moved(
        json.dumps({"format_version": "1.0", "values": {"root_module": {"resources": [kept, deposed, failed]}}})
    )

    assert [found["id"] for found in json.loads(done.stdout)["resources"]] == ["b/1"]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("", "This is not JSON"),
        ("No state.", "This is not JSON"),
        ('{"format_version": "1.0"}', "There are no resources"),
        ('{"version": 4, "resources": []}', "There are no resources"),
        ('{"version": 3, "deployment": {"resources": null}}', "There is nothing to import"),
        ('{"format_version": "1.0", "values": {}}', "There is nothing to import"),
    ],
)
def test_a_state_without_resources_is_refused_with_a_reason(state, words):
    done = _moved(state)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(words)
