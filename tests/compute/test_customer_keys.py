"""Attachments and templates whose disks have keys or subnetworks: what Google shows of them is no change."""

from __future__ import annotations

import base64

import pytest
from driver import secret
from programs import ATTACHMENT, IMAGE, PROJECT, TEMPLATE, ZONE, attachment, image, template

RAW = base64.b64encode(bytes(range(32))).decode()
KMS = "projects/p/locations/us/keyRings/r/cryptoKeys/k"
KEYS = [
    {"rawKey": secret(RAW)},
    {"rsaEncryptedKey": secret(base64.b64encode(bytes(256)).decode())},
    {"kmsKeyName": KMS},
]


@pytest.fixture
def opened(cloud):
    """Makes an instance, and a disk that a key opens."""

    def made(key):
        plain = {name: value if isinstance(value, str) else value["value"] for name, value in key.items()}
        disk = {"name": "example-data", "sizeGb": "50", "diskEncryptionKey": plain}
        cloud.post(f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/disks", disk)
        cloud.make_instance()

    return made


@pytest.mark.parametrize("key", KEYS)
def test_an_attachment_with_a_key_has_no_change_after_a_refresh(cloud, engine, opened, key):
    opened(key)
    inputs = attachment(diskEncryptionKey=key)
    made = engine.create(ATTACHMENT, "data", inputs)
    refreshed = engine.refresh(made)

    assert engine.drift(made) == set()
    assert refreshed.inputs == made.inputs
    assert set(engine.diff(refreshed, inputs).detailedDiff) == set()
    assert set(engine.diff(engine.refresh(refreshed), inputs).detailedDiff) == set()
    assert engine.drift(refreshed) == set()


@pytest.mark.parametrize("key", KEYS[:2])
def test_a_key_of_which_nothing_is_shown_has_no_change_after_a_refresh(cloud, engine, opened, key):
    opened(key)
    made = engine.create(ATTACHMENT, "data", attachment(diskEncryptionKey=key))
    cloud.change(
        f"projects/{PROJECT}/zones/{ZONE}/instances/example-vm", lambda vm: vm["disks"][1].pop("diskEncryptionKey")
    )
    refreshed = engine.refresh(made)

    assert engine.drift(made) == set()
    assert refreshed.inputs == made.inputs
    assert engine.drift(refreshed) == set()


@pytest.mark.parametrize("key", KEYS[:2])
def test_another_key_is_a_change(cloud, engine, opened, key):
    opened(key)
    made = engine.refresh(engine.create(ATTACHMENT, "data", attachment(diskEncryptionKey=key)))
    other = {"rawKey": secret(base64.b64encode(bytes(32)).decode())}

    assert engine.diff(made, attachment(diskEncryptionKey=other)).replaces


@pytest.mark.parametrize("key", KEYS)
def test_an_image_with_a_key_has_no_change_after_a_refresh(cloud, engine, vm, key):
    inputs = image(machineImageEncryptionKey=key)
    made = engine.create(IMAGE, "golden", inputs)

    assert engine.drift(made) == set()
    assert set(engine.diff(engine.refresh(made), inputs).detailedDiff) == set()


@pytest.mark.parametrize("more", [{}, {"region": "us-east1"}])
def test_a_subnetwork_alone_has_no_change_after_a_refresh(cloud, engine, more):
    inputs = template(networkInterfaces=[{"subnetwork": "regions/us-east1/subnetworks/default"}]) | more
    made = engine.create(TEMPLATE, "web", inputs)
    refreshed = engine.refresh(made)

    assert made.outputs["properties"]["networkInterfaces"][0]["network"].endswith(f"{PROJECT}/global/networks/default")
    assert engine.drift(made) == set()
    assert refreshed.inputs == made.inputs
    assert set(engine.diff(engine.import_(TEMPLATE, "web", made.id), inputs).detailedDiff) <= {"name"}
