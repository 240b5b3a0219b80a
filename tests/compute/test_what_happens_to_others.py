"""What happens to another resource, such as an attached disk or a source instance, is not a change of this one."""

from __future__ import annotations

import pytest
from engines import driver
from values.programs import ATTACHMENT, IMAGE, PROJECT, TEMPLATE, VM, ZONE, attachment, image

NO_CHANGE = driver.rpc.DiffResponse.DIFF_NONE
DISK = f"projects/{PROJECT}/zones/{ZONE}/disks/example-data"
KEY = f"projects/{PROJECT}/locations/us/keyRings/r/cryptoKeys/k"
OF_OTHERS = {
    "architecture": "ARM64",
    "diskEncryptionKey": {"kmsKeyName": f"{KEY}/cryptoKeyVersions/2"},
    "diskSizeGb": "100",
    "guestOsFeatures": [{"type": "GVNIC"}, {"type": "UEFI_COMPATIBLE"}],
    "interface": "NVME",
    "licenses": ["https://www.googleapis.com/compute/v1/projects/p/global/licenses/l"],
    "shieldedInstanceInitialState": {"pk": {"content": "Zm9v", "fileType": "X509"}},
    "userLicenses": ["https://www.googleapis.com/compute/v1/projects/p/global/licenses/mine"],
}
"""What Google shows of an attached disk although it belongs to the disk, or follows from the instance's machine type."""
SET = {
    "diskEncryptionKey": {"kmsKeyName": f"{KEY}-old"},
    "diskSizeGb": 50,
    "guestOsFeatures": [{"type": "GVNIC"}],
    "interface": "SCSI",
    "userLicenses": ["projects/p/global/licenses/other"],
}
"""Other values of these properties in a program."""


def _attached(cloud, **change):
    """Change what the instance shows of our disk."""
    cloud.change(VM, lambda body: body["disks"][1].update(change))


def _warnings(engine):
    return [said for severity, _, said in engine.log.messages if severity == "WARNING"]


def test_a_disk_that_grows_does_not_change_its_attachment(engine, cloud, vm):
    created = engine.create(ATTACHMENT, "a", attachment())
    cloud.grow_disk(DISK, 100)
    refreshed = engine.refresh(created)

    assert engine.drift(created) == set()
    assert refreshed.inputs == created.inputs
    assert (created.outputs["diskSizeGb"], refreshed.outputs["diskSizeGb"]) == (50, 100)
    assert engine.diff(refreshed, attachment()).changes == NO_CHANGE
    assert _warnings(engine) == []


@pytest.mark.parametrize("name", OF_OTHERS)
def test_what_google_shows_of_a_disk_does_not_change_its_attachment(engine, cloud, vm, name):
    created = engine.create(ATTACHMENT, "a", attachment())
    _attached(cloud, **{name: OF_OTHERS[name]})
    refreshed = engine.refresh(created)

    assert refreshed.inputs == created.inputs
    assert name in refreshed.outputs
    assert engine.diff(refreshed, attachment()).changes == NO_CHANGE
    assert engine.refresh(refreshed) == refreshed


@pytest.mark.parametrize("name", SET)
def test_not_even_if_the_program_says_otherwise(engine, cloud, vm, name):
    inputs = attachment(**{name: SET[name]})
    if name == "diskEncryptionKey":
        cloud.change(DISK, lambda body: body.update(diskEncryptionKey=SET[name]))
    created = engine.create(ATTACHMENT, "a", inputs)
    _attached(cloud, **{name: OF_OTHERS[name]})
    refreshed = engine.refresh(created)

    assert engine.drift(created) == set()
    assert refreshed.outputs[name] != SET[name], "the outputs show what Google shows"
    assert engine.diff(refreshed, inputs).changes == NO_CHANGE


@pytest.mark.parametrize(("name", "value"), [("mode", "READ_ONLY"), ("autoDelete", True)])
def test_how_the_disk_is_attached_is_a_change(engine, cloud, vm, name, value):
    created = engine.create(ATTACHMENT, "a", attachment())
    _attached(cloud, **{name: value})

    assert engine.drift(created) == {name}


def test_an_import_leaves_what_belongs_to_the_disk_to_the_disk(engine, cloud, vm):
    engine.create(ATTACHMENT, "a", attachment(deviceName="data"))
    _attached(cloud, **OF_OTHERS)
    found = engine.import_(ATTACHMENT, "a", f"{VM}/data")

    assert set(driver.without_hidden(found.inputs)) == {"deviceName", "disk", "instance"}
    assert engine.diff(found, attachment(deviceName="data", diskSizeGb=100)).changes == NO_CHANGE


def test_a_size_in_the_program_is_compared_and_never_sent(engine, cloud, vm):
    created = engine.create(ATTACHMENT, "a", attachment(diskSizeGb=50))
    assert _warnings(engine) == []
    cloud.grow_disk(DISK, 100)
    refreshed = engine.refresh(created)

    (warning,) = _warnings(engine)
    assert "diskSizeGb is 50 in the program, but the disk has 100 GB" in warning
    assert refreshed.outputs["diskSizeGb"] == 100
    changed = engine.diff(refreshed, attachment(diskSizeGb=100))
    assert (set(changed.detailedDiff), list(changed.replaces)) == ({"diskSizeGb"}, [])
    engine.log.messages.clear()
    updated = engine.update(refreshed, attachment(diskSizeGb=100))
    assert updated.outputs["diskSizeGb"] == 100
    assert cloud.calls("compute.instances.") == ["compute.instances.get"] * 2
    assert _warnings(engine) == []


def test_a_size_that_the_disk_never_had_causes_a_warning_when_the_disk_is_attached(engine, cloud, vm):
    created = engine.create(ATTACHMENT, "a", attachment(diskSizeGb=200))

    assert created.outputs["diskSizeGb"] == 50
    assert ["but the disk has 50 GB" in said for said in _warnings(engine)] == [True]
    assert "diskSizeGb" not in cloud.requests("compute.instances.attachDisk")[0]["body"]
    engine.delete(created)
    assert len(_warnings(engine)) == 1


def test_a_template_made_from_an_instance_is_kept_when_the_image_of_its_disk_is_deleted(engine, cloud, vm):
    inputs = {"name": "copy", "sourceInstance": "zones/us-east1-b/instances/example-vm"}
    created = engine.create(TEMPLATE, "copy", inputs)
    path = f"projects/{PROJECT}/global/instanceTemplates/copy"
    assert created.outputs["properties"]["disks"][0]["initializeParams"]["sourceImage"]
    cloud.change(path, lambda body: body["properties"]["disks"][0]["initializeParams"].pop("sourceImage"))
    refreshed = engine.refresh(created)

    assert engine.drift(created) == set()
    assert engine.diff(refreshed, inputs).changes == NO_CHANGE
    assert engine.refresh(refreshed) == refreshed


@pytest.mark.parametrize(
    ("token", "path", "inputs"),
    [
        (TEMPLATE, "instanceTemplates", {"name": "copy", "sourceInstance": f"zones/{ZONE}/instances/example-vm"}),
        (IMAGE, "machineImages", image(name="copy")),
    ],
)
def test_what_was_made_from_an_instance_stays_when_the_instance_is_gone(engine, cloud, vm, token, path, inputs):
    created = engine.create(token, "copy", inputs)
    cloud.emulator.store.delete(VM)
    cloud.change(f"projects/{PROJECT}/global/{path}/copy", lambda body: body.pop("sourceInstance"))
    refreshed = engine.refresh(created)

    assert engine.drift(created) == set()
    assert engine.diff(refreshed, inputs).changes == NO_CHANGE
