"""Each resource works under the real CLI through its whole life, from creation to deletion."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
from programs import (
    ATTACHMENT,
    BUCKET,
    EXPIRY,
    FINGERPRINT,
    FLEET,
    IMAGE,
    KEY,
    NOTIFICATION,
    PROJECT,
    TEMPLATE,
    TOPICS,
    USER,
    VM,
    ZONE,
    attachment,
    fleet,
    image,
    key,
    notification,
    template,
)

from gcpx.provider import RESOURCES

pytestmark = pytest.mark.pulumi


@attrs.frozen(kw_only=True)
class Life:
    """The life of one resource as data.

    Attributes:
        path: where the emulator stores the resource.
        drift: a change made outside of Pulumi, and the path at which a refresh shows it.
        edits: changed inputs, the step that they cause, and the paths that change.
        imports: all forms of the resource's ID.
    """

    token: str
    inputs: dict[str, Any]
    path: str
    drift: tuple[Any, str]
    edits: list[tuple[dict[str, Any], str, set[str]]]
    imports: list[str]


def _change_machine_type(body: dict[str, Any]) -> None:
    body["properties"]["machineType"] = "e2-medium"


def _change_labels(body: dict[str, Any]) -> None:
    body["properties"]["labels"] = {"app": "web", "drift.ed/x": "yes"}


LIVES = {
    "template": Life(
        token=TEMPLATE,
        inputs={"name": "web", **template(labels={"app": "web"}, tags={"items": ["b", "a"]}, metadata={"items": [{"key": "k", "value": "v"}]})},
        path=f"projects/{PROJECT}/global/instanceTemplates/web",
        drift=(_change_machine_type, "properties.machineType"),
        edits=[
            ({"description": "new"}, "replace", {"description"}),
            ({"name": "web", **template(labels={"app": "api"})}, "replace", {"properties.labels.app", "properties.tags", "properties.metadata"}),
        ],
        imports=["web", f"{PROJECT}/web", f"projects/{PROJECT}/global/instanceTemplates/web",
                 f"https://www.googleapis.com/compute/v1/projects/{PROJECT}/global/instanceTemplates/web"],
    ),
    "regional": Life(
        token=TEMPLATE,
        inputs={"name": "web", "region": "us-east1", **template(labels={"app": "web"})},
        path=f"projects/{PROJECT}/regions/us-east1/instanceTemplates/web",
        drift=(_change_labels, 'properties.labels["drift.ed/x"]'),
        edits=[({"region": "us-central1"}, "replace", {"region"})],
        imports=[f"{PROJECT}/us-east1/web", f"projects/{PROJECT}/regions/us-east1/instanceTemplates/web"],
    ),
    "notification": Life(
        token=NOTIFICATION,
        inputs=notification(topic="uploads", eventTypes=["OBJECT_FINALIZE", "OBJECT_DELETE"], customAttributes={"a": "b"}),
        path=f"b/{BUCKET}/notificationConfigs/1",
        drift=(lambda body: body["custom_attributes"].update(a="c"), "customAttributes.a"),
        edits=[({"objectNamePrefix": "in/"}, "replace", {"objectNamePrefix"}), ({"payloadFormat": "NONE"}, "replace", {"payloadFormat"})],
        imports=[f"{BUCKET}/notificationConfigs/1", f"projects/_/buckets/{BUCKET}/notificationConfigs/1",
                 f"https://www.googleapis.com/storage/v1/b/{BUCKET}/notificationConfigs/1"],
    ),
    "key": Life(
        token=KEY,
        inputs=key(expirationTimeUsec=EXPIRY),
        path=f"users/{USER}/sshPublicKeys/{FINGERPRINT}",
        drift=(lambda body: body.update(expirationTimeUsec="1900000000000000"), "expirationTimeUsec"),
        edits=[({"expirationTimeUsec": "1930000000000000"}, "update", {"expirationTimeUsec"}),
               ({"expirationTimeUsec": None}, "update", {"expirationTimeUsec"}),
               ({"user": "another@example.com"}, "replace", {"user"})],
        imports=[f"users/{USER}/sshPublicKeys/{FINGERPRINT}", f"{USER}/{FINGERPRINT}"],
    ),
    "image": Life(
        token=IMAGE,
        inputs=image(name="golden", labels={"a": "1"}, storageLocations=["us"], guestFlush=True),
        path=f"projects/{PROJECT}/global/machineImages/golden",
        drift=(lambda body: body["labels"].update(a="2"), "labels.a"),
        edits=[({"labels": {"a": "1", "b": "2"}}, "update", {"labels.b"}), ({"labels": None}, "update", {"labels"}),
               ({"description": "new"}, "replace", {"description"})],
        imports=["golden", f"{PROJECT}/golden", f"projects/{PROJECT}/global/machineImages/golden",
                 f"https://www.googleapis.com/compute/beta/projects/{PROJECT}/global/machineImages/golden"],
    ),
    "attachment": Life(
        token=ATTACHMENT,
        inputs=attachment(deviceName="data", mode="READ_WRITE", autoDelete=False),
        path=VM,
        drift=(lambda body: body["disks"][1].update(autoDelete=True), "autoDelete"),
        edits=[({"autoDelete": True}, "update", {"autoDelete"}), ({"mode": "READ_ONLY"}, "replace", {"mode"})],
        imports=[f"{VM}/data", f"{PROJECT}/{ZONE}/example-vm/data", f"{ZONE}/example-vm/data",
                 f"https://www.googleapis.com/compute/beta/{VM}/data"],
    ),
    "fleet": Life(
        token=FLEET,
        inputs=fleet(fleetId="workers", labels={"role": "worker"}),
        path=f"projects/{PROJECT}/zones/{ZONE}/instances/web-003",
        drift=(None, "count"),
        edits=[({"count": 5}, "update", {"count"}), ({"count": 2}, "update", {"count"}),
               (fleet(count=2, labels={"role": "boss"}), "update", {"instanceProperties.labels.role"}),
               (fleet(count=2, labels={"role": "boss"}, machineType="e2-medium"), "replace", {"instanceProperties.machineType"})],
        imports=[f"projects/{PROJECT}/regions/us-east1/bulkInstances/workers"],
    ),
}  # fmt: skip


def test_every_resource_has_a_life():
    assert {life.token for life in LIVES.values()} == set(RESOURCES)


def _program(inputs):
    """Return a program with all resources, so that one run of the CLI covers them all."""
    return {name: {"type": LIVES[name].token, "properties": values} for name, values in inputs.items()}


@pytest.fixture
def lives(stack, vm):
    """A stack in which every resource has been created."""
    stack.write(**_program({name: life.inputs for name, life in LIVES.items()}))
    stack.up()
    return stack


def _changes(steps):
    return {name: set(step.changes) for name, step in steps.items()}


def _delete_outside_pulumi(cloud, life):
    """Delete a resource outside of Pulumi."""
    if life.token == FLEET:
        for number in (1, 2, 3):
            _delete_instance(cloud, f"projects/{PROJECT}/zones/{ZONE}/instances/web-00{number}")
    elif life.token == ATTACHMENT:
        cloud.change(life.path, lambda body: body.update(disks=body["disks"][:1]))
        cloud.change(f"projects/{PROJECT}/zones/{ZONE}/disks/example-data", lambda body: body.update(users=[]))
    else:
        cloud.emulator.store.delete(life.path)


def _delete_instance(cloud, path):
    cloud.emulator.store.delete(path)
    cloud.emulator.store.delete(path.replace("/instances/", "/disks/"))


def _are_gone(cloud):
    """Tell for each resource whether it no longer exists."""
    found = {name: cloud.get(life.path) for name, life in LIVES.items()}
    return {
        name: len(body["disks"]) == 1 if LIVES[name].token == ATTACHMENT else body is None
        for name, body in found.items()
    }


ALL_GONE = dict.fromkeys(LIVES, True)


def test_every_resource_is_created_repaired_edited_and_destroyed(lives, cloud):
    lives.assert_no_changes()
    _drift_and_repair(lives, cloud)
    inputs = {name: life.inputs for name, life in LIVES.items()}
    for number in range(max(len(life.edits) for life in LIVES.values())):
        _edit(lives, inputs, {name: life.edits[number] for name, life in LIVES.items() if len(life.edits) > number})
    lives.destroy()

    assert _are_gone(cloud) == ALL_GONE
    # Only the instance and the disks that existed before are left.
    assert cloud.emulator.store.counts() == {"b": 1, "instances": 1, "disks": 2, "topics": len(TOPICS)}


def _drift_and_repair(stack, cloud):
    drifted = {}
    for name, life in LIVES.items():
        change, path = life.drift
        drifted[name] = {path}
        if change is None:
            _delete_instance(cloud, life.path)
        else:
            cloud.change(life.path, change)
    assert _changes(stack.preview_refresh()) == drifted
    stack.workspace.run("refresh", "--yes", "--skip-preview")
    assert _changes(stack.preview()) == drifted
    stack.up()
    stack.assert_no_changes()


def _edit(stack, inputs, edits):
    """Edit several resources at once; each takes the expected step and changes at the expected paths."""
    for name, (edit, _, _) in edits.items():
        inputs[name] = {key: value for key, value in {**inputs[name], **edit}.items() if value is not None}
    stack.write(**_program(inputs))
    found = stack.preview()
    assert _changes(found) == {name: paths for name, (_, _, paths) in edits.items()}
    for name, (_, step, _) in edits.items():
        assert found[name].op in {step, f"create-{step}ment", "delete-replaced"}, found[name]
    stack.up()
    stack.assert_no_changes()


def test_a_preview_shows_no_change_after_an_import_by_every_form_of_id(lives, cloud, tmp_path):
    for number in range(max(len(life.imports) for life in LIVES.values())):
        ids = {name: life.imports[number] for name, life in LIVES.items() if len(life.imports) > number}
        lives.workspace.run("state", "delete", *(lives.resource(name)["urn"] for name in ids), "--yes")
        generated = _import(lives, ids, tmp_path)
        lives.assert_no_changes()

        named = {LIVES[name].inputs["name"] for name in ids if "name" in LIVES[name].inputs}
        assert {name for name in named if f"name: {name}\n" in generated} == named
        assert "compute#" not in generated, "no output appears as an input"
    lives.destroy()
    assert _are_gone(cloud) == ALL_GONE


def _import(stack, ids, folder):
    """Import resources at once; return the program that the CLI generates."""
    wanted = [{"type": LIVES[name].token, "name": name, "id": found} for name, found in ids.items()]
    order, out = folder / "import.json", folder / "imported.yaml"
    order.write_text(json.dumps({"resources": wanted}))
    stack.workspace.run("import", "--file", str(order), "--yes", "--skip-preview", "--protect=false", "--out", str(out))
    return out.read_text()


def test_a_resource_deleted_outside_pulumi_is_created_again(lives, cloud):
    for life in LIVES.values():
        _delete_outside_pulumi(cloud, life)

    assert {name: step.op for name, step in lives.preview_refresh().items()} == dict.fromkeys(LIVES, "delete")
    lives.workspace.run("refresh", "--yes", "--skip-preview")
    assert {name: step.op for name, step in lives.preview().items()} == dict.fromkeys(LIVES, "create")
    lives.up()
    lives.destroy()


def test_destroying_resources_that_are_already_gone_succeeds(lives, cloud):
    for life in LIVES.values():
        _delete_outside_pulumi(cloud, life)

    lives.destroy()
