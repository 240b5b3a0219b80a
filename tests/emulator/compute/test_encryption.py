"""Customer-supplied keys: shown only as their SHA-256 hash, and needed again to use a disk."""

from __future__ import annotations

import base64
import hashlib

import pytest
from values.programs import DEBIAN, PROJECT, ZONE

BASE = f"/compute/beta/projects/{PROJECT}"
RAW = base64.b64encode(bytes(range(32))).decode()
OTHER = base64.b64encode(bytes(32)).decode()
HASH = base64.b64encode(hashlib.sha256(bytes(range(32))).digest()).decode()
KMS = "projects/p/locations/us/keyRings/r/cryptoKeys/k"


@pytest.fixture
def make(cloud, http):
    """Makes something and settles; gives the answer."""

    def made(path, body):
        answer = http.post(f"{BASE}/{path}", json=body)
        cloud.emulator.operations.settle()
        return answer

    return made


def _vm(key=None, **more):
    boot = {
        "boot": True,
        "autoDelete": True,
        "initializeParams": {"sourceImage": DEBIAN},
        **({"diskEncryptionKey": key} if key else {}),
    }
    return {"name": "vm", "machineType": f"zones/{ZONE}/machineTypes/e2-medium", "disks": [boot], **more}


@pytest.mark.parametrize(("key", "shown"), [
    ({"rawKey": RAW}, {"sha256": HASH}), ({"rawKey": f"{RAW[:20]}\n{RAW[20:]}"}, {"sha256": HASH}),
    ({"kmsKeyName": KMS}, {"kmsKeyName": f"{KMS}/cryptoKeyVersions/1"}),
    ({"kmsKeyName": f"{KMS}/cryptoKeyVersions/3", "kmsKeyServiceAccount": "a@b.iam.gserviceaccount.com"},
     {"kmsKeyName": f"{KMS}/cryptoKeyVersions/3", "kmsKeyServiceAccount": "a@b.iam.gserviceaccount.com"}),
])  # fmt: skip
def test_a_key_is_shown_as_its_hash_or_its_name_everywhere(http, make, key, shown):
    assert make(f"zones/{ZONE}/disks", {"name": "data", "sizeGb": "20", "diskEncryptionKey": key}).status_code == 200
    assert make(f"zones/{ZONE}/instances", _vm(key)).status_code == 200
    assert (
        make(
            f"zones/{ZONE}/instances/vm/attachDisk", {"source": f"zones/{ZONE}/disks/data", "diskEncryptionKey": key}
        ).status_code
        == 200
    )
    keys = [{"sourceDisk": f"zones/{ZONE}/disks/{name}", "diskEncryptionKey": key} for name in ("vm", "data")]
    image = {"name": "golden", "machineImageEncryptionKey": key, "sourceDiskEncryptionKeys": keys}
    assert make(f"global/machineImages?sourceInstance=zones/{ZONE}/instances/vm", image).status_code == 200
    answers = [
        http.get(f"{BASE}/{path}").json()
        for path in (
            f"zones/{ZONE}/instances/vm",
            f"zones/{ZONE}/disks/data",
            f"zones/{ZONE}/disks/vm",
            "global/machineImages/golden",
        )
    ]

    assert [disk["diskEncryptionKey"] for disk in answers[0]["disks"]] == [shown, shown]
    assert [answer["diskEncryptionKey"] for answer in answers[1:3]] == [shown, shown]
    assert answers[3]["machineImageEncryptionKey"] == shown
    assert "rawKey" not in str(answers)


def test_a_wrapped_key_is_shown_as_a_hash(http, make):
    wrapped = base64.b64encode(bytes(256)).decode()
    make(f"zones/{ZONE}/instances", _vm({"rsaEncryptedKey": wrapped}))
    (disk,) = http.get(f"{BASE}/zones/{ZONE}/instances/vm").json()["disks"]

    assert set(disk["diskEncryptionKey"]) == {"sha256"}
    assert len(base64.b64decode(disk["diskEncryptionKey"]["sha256"])) == 32


def test_templates_keep_no_customer_supplied_key(http, make):
    disks = [
        {"boot": True, "initializeParams": {"sourceImage": DEBIAN}, "diskEncryptionKey": key}
        for key in ({"rawKey": RAW},)
    ]
    body = {"name": "web", "properties": {"machineType": "e2-small", "disks": disks, "networkInterfaces": [{}]}}
    assert make("global/instanceTemplates", body).status_code == 200

    assert "diskEncryptionKey" not in http.get(f"{BASE}/global/instanceTemplates/web").json()["properties"]["disks"][0]


@pytest.mark.parametrize(
    "key",
    [
        {"rawKey": "hunter2"},
        {"rawKey": base64.b64encode(b"k" * 31).decode()},
        {"rsaEncryptedKey": RAW},
        {"rawKey": RAW, "kmsKeyName": KMS},
    ],
)
def test_a_malformed_key_is_refused_and_not_repeated(make, key):
    for answer in (
        make(f"zones/{ZONE}/disks", {"name": "data", "diskEncryptionKey": key}),
        make(f"zones/{ZONE}/instances", _vm(key)),
    ):
        assert (answer.status_code, "EncryptionKey" in answer.text) == (400, True)
        assert "hunter2" not in answer.text
        assert RAW not in answer.text


@pytest.mark.parametrize(("key", "status"), [({"rawKey": RAW}, 200), ({"rawKey": OTHER}, 400), (None, 400)])
def test_a_disk_opens_with_its_own_key_alone(make, key, status):
    make(f"zones/{ZONE}/disks", {"name": "data", "sizeGb": "20", "diskEncryptionKey": {"rawKey": RAW}})
    make(f"zones/{ZONE}/instances", _vm())
    given = {"diskEncryptionKey": key} if key else {}
    disk = {"source": f"zones/{ZONE}/disks/data", **given}

    assert (
        make(
            f"zones/{ZONE}/instances",
            _vm() | {"name": "other", "disks": [*_vm()["disks"], disk | {"mode": "READ_ONLY"}]},
        ).status_code
        == status
    )
    assert make(f"zones/{ZONE}/instances/vm/attachDisk", disk | {"mode": "READ_ONLY"}).status_code == status


@pytest.mark.parametrize(("keys", "status"), [
    ([], 400), ([{"sourceDisk": f"zones/{ZONE}/disks/vm", "diskEncryptionKey": {"rawKey": OTHER}}], 400),
    ([{"sourceDisk": f"zones/{ZONE}/disks/vm", "diskEncryptionKey": {"rawKey": RAW}}], 200),
])  # fmt: skip
def test_a_machine_image_needs_the_keys_of_the_disks(make, keys, status):
    make(f"zones/{ZONE}/instances", _vm({"rawKey": RAW}))
    image = {"name": "golden", "sourceDiskEncryptionKeys": keys}

    assert make(f"global/machineImages?sourceInstance=zones/{ZONE}/instances/vm", image).status_code == status


@pytest.mark.parametrize("key", [{"rawKey": RAW}, {"kmsKeyName": KMS}], ids=str)
def test_a_key_that_does_not_protect_the_disk_is_refused(make, key):
    make(f"zones/{ZONE}/disks", {"name": "data", "sizeGb": "20"})
    make(f"zones/{ZONE}/instances", _vm())
    source = {"source": f"zones/{ZONE}/disks/data"}
    refused = make(f"zones/{ZONE}/instances/vm/attachDisk", {**source, "diskEncryptionKey": key})
    why = "The disk 'data' is not protected by this key."

    assert (refused.status_code, refused.json()["error"]["message"]) == (
        400,
        f"Invalid value for field 'resource.diskEncryptionKey'. {why}",
    )
    assert make(f"zones/{ZONE}/instances/vm/attachDisk", source).status_code == 200


SOURCES = {
    "snapshot": ("global/snapshots", {"sourceDisk": f"zones/{ZONE}/disks/data"}, "snapshotEncryptionKey", "sourceSnapshot"),
    "image": ("global/images", {"sourceDisk": f"zones/{ZONE}/disks/data"}, "imageEncryptionKey", "sourceImage"),
}  # fmt: skip


@pytest.mark.parametrize(("key", "status"), [({"rawKey": RAW}, 200), ({"rawKey": OTHER}, 400), (None, 400)])
@pytest.mark.parametrize(("collection", "body", "own", "source"), SOURCES.values(), ids=SOURCES)
def test_what_is_encrypted_is_copied_with_its_key_alone(make, collection, body, own, source, key, status):
    make(f"zones/{ZONE}/disks", {"name": "data", "sizeGb": "20"})
    made = make(collection, {"name": "kept", own: {"rawKey": RAW}, **body})
    given = {source: f"{collection}/kept", **({f"{source}EncryptionKey": key} if key else {})}
    boot = {"boot": True, "initializeParams": given}

    assert made.status_code == 200
    assert make(f"zones/{ZONE}/disks", {"name": "copy", **given}).status_code == status
    assert make("global/images", {"name": "copy", **given}).status_code == status
    assert make(f"zones/{ZONE}/instances", _vm() | {"disks": [boot]}).status_code == status


@pytest.mark.parametrize(("key", "status"), [({"rawKey": RAW}, 200), ({"rawKey": OTHER}, 400), (None, 400)])
def test_a_copy_of_an_encrypted_disk_has_its_key(make, key, status):
    make(f"zones/{ZONE}/disks", {"name": "data", "sizeGb": "20", "diskEncryptionKey": {"rawKey": RAW}})
    given = {"diskEncryptionKey": key} if key else {}
    copy = {"name": "copy", "sourceDisk": f"zones/{ZONE}/disks/data", **given}

    assert make(f"zones/{ZONE}/disks", copy).status_code == status


def test_the_key_of_an_instance_is_not_shown(http, make):
    keys = {name: {"rawKey": RAW} for name in ("instanceEncryptionKey", "sourceMachineImageEncryptionKey")}
    make(f"zones/{ZONE}/instances", _vm(**keys))
    found = http.get(f"{BASE}/zones/{ZONE}/instances/vm")

    assert {name: found.json()[name] for name in keys} == {name: {"sha256": HASH} for name in keys}
    assert RAW not in found.text


DISK = f"zones/{ZONE}/disks/vm"
RESUMPTIONS = {
    "both keys": ({"disks": [{"source": DISK, "diskEncryptionKey": {"rawKey": RAW}}], "instanceEncryptionKey": {"rawKey": RAW}}, 200, ""),
    "no key": ({}, 400, "disks[0].diskEncryptionKey"),
    "no key of the instance": ({"disks": [{"source": DISK, "diskEncryptionKey": {"rawKey": RAW}}]}, 400, "instanceEncryptionKey"),
    "another key of the instance": ({"disks": [{"source": DISK, "diskEncryptionKey": {"rawKey": RAW}}], "instanceEncryptionKey": {"rawKey": OTHER}}, 400, "instanceEncryptionKey"),
    "a key of another disk": ({"disks": [{"source": f"{DISK}-2", "diskEncryptionKey": {"rawKey": RAW}}]}, 400, "disks[0].source"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "status", "words"), RESUMPTIONS.values(), ids=RESUMPTIONS)
def test_an_instance_is_resumed_with_its_keys(make, body, status, words):
    make(f"zones/{ZONE}/instances", _vm({"rawKey": RAW}, instanceEncryptionKey={"rawKey": RAW}))
    make(f"zones/{ZONE}/instances/vm/suspend", None)
    resumed = make(f"zones/{ZONE}/instances/vm/resume", body)

    assert (resumed.status_code, words in resumed.text) == (status, True)
    assert RAW not in resumed.text


@pytest.mark.parametrize("action", ["resume", "startWithEncryptionKey"])
def test_a_key_that_protects_nothing_is_refused(make, action):
    make(f"zones/{ZONE}/instances", _vm())
    make(f"zones/{ZONE}/instances/vm/{'suspend' if action == 'resume' else 'stop'}", None)
    disks = {"disks": [{"source": DISK, "diskEncryptionKey": {"rawKey": RAW}}]}
    refused = make(f"zones/{ZONE}/instances/vm/{action}", disks)

    assert (refused.status_code, "'vm' is not protected by this key" in refused.text) == (400, True)
    assert make(f"zones/{ZONE}/instances/vm/{action}", {}).status_code == 200
