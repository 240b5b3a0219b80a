"""Encryption keys and subnetworks: what Google returns for them, or leaves out, is not shown as a change."""

from __future__ import annotations

import base64

import pytest
from engines.driver import secret
from values.programs import ATTACHMENT, IMAGE, PROJECT, TEMPLATE, ZONE, attachment, image, template

RAW = base64.b64encode(bytes(range(32))).decode()
KMS = "projects/p/locations/us/keyRings/r/cryptoKeys/k"
KEYS = [
    {"rawKey": secret(RAW)},
    {"rsaEncryptedKey": secret(base64.b64encode(bytes(256)).decode())},
    {"kmsKeyName": KMS},
]


@pytest.fixture
def encrypted_disk(cloud):
    """Creates a disk with an encryption key, and an instance."""

    def create(key):
        plain = {name: value if isinstance(value, str) else value["value"] for name, value in key.items()}
        disk = {"name": "example-data", "sizeGb": "50", "diskEncryptionKey": plain}
        cloud.post(f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/disks", disk)
        cloud.make_instance()

    return create


@pytest.mark.parametrize("key", KEYS)
def test_an_attachment_with_a_key_has_no_change_after_a_refresh(cloud, engine, encrypted_disk, key):
    encrypted_disk(key)
    inputs = attachment(diskEncryptionKey=key)
    created = engine.create(ATTACHMENT, "data", inputs)
    refreshed = engine.refresh(created)

    assert engine.drift(created) == set()
    assert refreshed.inputs == created.inputs
    assert set(engine.diff(refreshed, inputs).detailedDiff) == set()
    assert set(engine.diff(engine.refresh(refreshed), inputs).detailedDiff) == set()
    assert engine.drift(refreshed) == set()


@pytest.mark.parametrize("key", KEYS[:2])
def test_a_key_that_google_does_not_return_has_no_change_after_a_refresh(cloud, engine, encrypted_disk, key):
    encrypted_disk(key)
    created = engine.create(ATTACHMENT, "data", attachment(diskEncryptionKey=key))
    cloud.change(
        f"projects/{PROJECT}/zones/{ZONE}/instances/example-vm", lambda vm: vm["disks"][1].pop("diskEncryptionKey")
    )
    refreshed = engine.refresh(created)

    assert engine.drift(created) == set()
    assert refreshed.inputs == created.inputs
    assert engine.drift(refreshed) == set()


@pytest.mark.parametrize("key", KEYS[:2])
def test_another_key_replaces_the_attachment(cloud, engine, encrypted_disk, key):
    encrypted_disk(key)
    created = engine.refresh(engine.create(ATTACHMENT, "data", attachment(diskEncryptionKey=key)))
    other = {"rawKey": secret(base64.b64encode(bytes(32)).decode())}

    assert engine.diff(created, attachment(diskEncryptionKey=other)).replaces


@pytest.mark.parametrize("key", KEYS)
def test_an_image_with_a_key_has_no_change_after_a_refresh(cloud, engine, vm, key):
    inputs = image(machineImageEncryptionKey=key)
    created = engine.create(IMAGE, "golden", inputs)

    assert engine.drift(created) == set()
    assert set(engine.diff(engine.refresh(created), inputs).detailedDiff) == set()


@pytest.mark.parametrize("more", [{}, {"region": "us-east1"}])
def test_a_subnetwork_without_a_network_has_no_change_after_a_refresh(cloud, engine, more):
    inputs = template(networkInterfaces=[{"subnetwork": "regions/us-east1/subnetworks/default"}]) | more
    created = engine.create(TEMPLATE, "web", inputs)
    refreshed = engine.refresh(created)

    assert created.outputs["properties"]["networkInterfaces"][0]["network"].endswith(
        f"{PROJECT}/global/networks/default"
    )
    assert engine.drift(created) == set()
    assert refreshed.inputs == created.inputs
    assert set(engine.diff(engine.import_(TEMPLATE, "web", created.id), inputs).detailedDiff) <= {"name"}
