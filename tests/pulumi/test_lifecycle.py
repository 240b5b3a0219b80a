"""Each resource under the real CLI: made, seen unchanged, drifted, repaired, replaced or updated, imported, gone."""

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
    """One resource's life as data.

    Attributes:
        path: where the emulator keeps it, by the outputs.
        drift: a change behind the engine's back, and the path at which a refresh shows it.
        edit: inputs that differ, the step that follows, and the paths.
    """

    token: str
    inputs: dict[str, Any]
    path: str
    drift: tuple[Any, str]
    edits: list[tuple[dict[str, Any], str, set[str]]]
    imports: list[str]


def _bigger(body: dict[str, Any]) -> None:
    body["properties"]["machineType"] = "e2-medium"


def _labelled(body: dict[str, Any]) -> None:
    body["properties"]["labels"] = {"app": "web", "drift.ed/x": "yes"}


LIVES = {
    "template": Life(
        token=TEMPLATE,
        inputs={"name": "web", **template(labels={"app": "web"}, tags={"items": ["b", "a"]}, metadata={"items": [{"key": "k", "value": "v"}]})},
        path=f"projects/{PROJECT}/global/instanceTemplates/web",
        drift=(_bigger, "properties.machineType"),
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
        drift=(_labelled, 'properties.labels["drift.ed/x"]'),
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


@pytest.fixture(params=LIVES)
def life(request, vm):
    return LIVES[request.param]


def _take_away(cloud, life):
    """Remove what the resource stands for behind everyone's back."""
    if life.token == FLEET:
        for number in (1, 2, 3):
            cloud.emulator.store.delete(f"projects/{PROJECT}/zones/{ZONE}/instances/web-00{number}")
            cloud.emulator.store.delete(f"projects/{PROJECT}/zones/{ZONE}/disks/web-00{number}")
    elif life.token == ATTACHMENT:
        cloud.change(life.path, lambda body: body.update(disks=body["disks"][:1]))
        cloud.change(f"projects/{PROJECT}/zones/{ZONE}/disks/example-data", lambda body: body.update(users=[]))
    else:
        cloud.emulator.store.delete(life.path)


def _is_gone(cloud, life):
    found = cloud.get(life.path)
    return len(found["disks"]) == 1 if life.token == ATTACHMENT else found is None


def test_a_whole_life(stack, cloud, life):
    before = cloud.emulator.store.counts()
    stack.write(thing={"type": life.token, "properties": life.inputs})
    stack.up()
    stack.is_clean()

    change, path = life.drift
    if change is None:
        cloud.emulator.store.delete(life.path)
        cloud.emulator.store.delete(life.path.replace("/instances/", "/disks/"))
    else:
        cloud.change(life.path, change)
    drifted = stack.preview_refresh()["thing"]
    assert set(drifted.changes) == {path}
    stack.workspace.run("refresh", "--yes", "--skip-preview")
    assert set(stack.preview()["thing"].changes) == {path}
    stack.up()
    stack.is_clean()

    inputs = life.inputs
    for edit, step, paths in life.edits:
        inputs = {name: value for name, value in {**inputs, **edit}.items() if value is not None}
        stack.write(thing={"type": life.token, "properties": inputs})
        found = stack.preview()["thing"]
        assert found.op in {step, f"create-{step}ment", "delete-replaced"}, found
        assert set(found.changes) == paths
        stack.up()
        stack.is_clean()

    stack.destroy()
    assert _is_gone(cloud, life)
    assert cloud.emulator.store.counts() == before


def test_an_import_by_every_id_is_followed_by_a_clean_preview(stack, cloud, life, tmp_path):
    stack.write(thing={"type": life.token, "properties": life.inputs})
    stack.up()
    for number, resource_id in enumerate(life.imports):
        stack.workspace.run("state", "delete", stack.resource("thing")["urn"], "--yes")
        out = tmp_path / f"import-{number}.yaml"
        stack.workspace.run(
            "import", life.token, "thing", resource_id, "--yes", "--skip-preview", "--protect=false", "--out", str(out)
        )
        stack.is_clean()

        generated = _as_json(out.read_text())
        assert "name" not in life.inputs or life.inputs["name"] in generated
        assert "compute#" not in generated, "no output is offered as an input"
    stack.destroy()
    assert _is_gone(cloud, life)


def _as_json(text: str) -> str:
    return json.dumps(text)


def test_something_deleted_by_hand_is_noticed_and_made_again(stack, cloud, life):
    stack.write(thing={"type": life.token, "properties": life.inputs})
    stack.up()
    _take_away(cloud, life)

    assert stack.preview_refresh()["thing"].op == "delete"
    stack.workspace.run("refresh", "--yes", "--skip-preview")
    assert stack.preview()["thing"].op == "create"
    stack.up()
    stack.destroy()


def test_something_already_gone_is_destroyed_without_complaint(stack, cloud, life):
    stack.write(thing={"type": life.token, "properties": life.inputs})
    stack.up()
    _take_away(cloud, life)

    stack.destroy()
