"""Templates that are created from instances: what they keep, and what becomes of each kind of disk."""

from __future__ import annotations

import pytest
from servers import plain_http
from values.programs import DEBIAN, PROJECT, ZONE

BASE = f"/compute/beta/projects/{PROJECT}"
IMAGE = "projects/debian-cloud/global/images/debian-12-bookworm-v20261014"
KEPT = {
    "advancedMachineFeatures": {"enableNestedVirtualization": True, "threadsPerCore": 1},
    "canIpForward": True,
    "confidentialInstanceConfig": {"enableConfidentialCompute": True},
    "description": "one of a kind",
    "displayDevice": {"enableDisplay": True},
    "keyRevocationActionType": "STOP",
    "labels": {"a": "b"},
    "minCpuPlatform": "Intel Cascade Lake",
    "networkPerformanceConfig": {"totalEgressBandwidthTier": "TIER_1"},
    "privateIpv6GoogleAccess": "ENABLE_OUTBOUND_VM_ACCESS_TO_GOOGLE",
    "reservationAffinity": {"consumeReservationType": "NO_RESERVATION"},
    "serviceAccounts": [
        {"email": "a@b.iam.gserviceaccount.com", "scopes": ["https://www.googleapis.com/auth/cloud-platform"]}
    ],
    "shieldedInstanceConfig": {"enableSecureBoot": True, "enableVtpm": True, "enableIntegrityMonitoring": False},
}
DISKS = [
    {"boot": True, "autoDelete": True, "deviceName": "boot", "initializeParams": {"sourceImage": IMAGE, "diskType": f"zones/{ZONE}/diskTypes/pd-ssd", "diskSizeGb": "30"}},
    {"deviceName": "family", "initializeParams": {"sourceImage": DEBIAN}},
    {"deviceName": "blank", "initializeParams": {"diskSizeGb": "50"}},
    {"deviceName": "shared", "source": f"zones/{ZONE}/disks/example-data", "mode": "READ_ONLY"},
    {"deviceName": "regional", "source": "regions/us-east1/disks/shared", "mode": "READ_ONLY"},
    {"deviceName": "fast", "type": "SCRATCH", "interface": "NVME", "autoDelete": True, "initializeParams": {"diskType": f"zones/{ZONE}/diskTypes/local-ssd"}},
    {"deviceName": "snapshot", "initializeParams": {"sourceSnapshot": "global/snapshots/nightly"}},
]  # fmt: skip
NICS = [
    {"subnetwork": "regions/us-east1/subnetworks/default", "networkIP": "10.142.2.3", "stackType": "IPV4_ONLY", "nicType": "GVNIC",
     "accessConfigs": [{"name": "outside", "networkTier": "STANDARD", "natIP": "35.1.2.3"}]},
    {"network": "global/networks/other"},
]  # fmt: skip


@pytest.fixture
def source(cloud):
    """An instance that has everything."""
    image = {"name": "mine", "rawDisk": {"source": "https://storage.googleapis.com/example/disk.tar.gz"}}
    cloud.post(f"/compute/v1/projects/{PROJECT}/global/images", image)
    data = cloud.make_disk()
    cloud.make_regional_disk()
    cloud.post(f"/compute/v1/projects/{PROJECT}/global/snapshots", {"name": "nightly", "sourceDisk": data})
    cloud.post(f"/compute/v1/projects/{PROJECT}/global/networks", {"name": "other", "autoCreateSubnetworks": True})
    address = {"name": "outside", "address": "35.1.2.3", "networkTier": "STANDARD"}
    cloud.post(f"/compute/v1/projects/{PROJECT}/regions/us-east1/addresses", address)
    accelerators = [
        {"acceleratorType": f"projects/{PROJECT}/zones/{ZONE}/acceleratorTypes/nvidia-l4", "acceleratorCount": 1}
    ]
    cloud.post(f"/compute/v1/projects/{PROJECT}/regions/us-east1/resourcePolicies", {"name": "nightly"})
    policies = [f"projects/{PROJECT}/regions/us-east1/resourcePolicies/nightly"]
    body = KEPT | {
        "guestAccelerators": accelerators,
        "resourcePolicies": policies,
        "scheduling": {"automaticRestart": False},
    }
    body |= {
        "tags": {"items": ["web"]},
        "metadata": {"items": [{"key": "k", "value": "v"}]},
        "networkInterfaces": NICS,
        "disks": DISKS,
    }
    body |= {
        "name": "vm",
        "machineType": f"zones/{ZONE}/machineTypes/g2-standard-4",
        "params": {"resourceManagerTags": {"tagKeys/1": "tagValues/2"}},
    }
    cloud.post(f"{BASE}/zones/{ZONE}/instances", body)
    return f"zones/{ZONE}/instances/vm"


def _insert(cloud, source, configs=()):
    body = {"name": "copy", "sourceInstance": source, "sourceInstanceParams": {"diskConfigs": list(configs)}}
    answer = plain_http.post(f"http://{cloud.host}{BASE}/global/instanceTemplates", json=body)
    cloud.emulator.operations.settle()
    return answer


def _copy(cloud, source, *configs):
    assert _insert(cloud, source, configs).status_code == 200
    return plain_http.get(f"http://{cloud.host}{BASE}/global/instanceTemplates/copy").json()["properties"]


def test_it_keeps_what_the_instance_has(cloud, source):
    made = _copy(cloud, source)

    assert {key: made.get(key) for key in KEPT} == KEPT
    assert made["machineType"] == "g2-standard-4"
    assert made["guestAccelerators"] == [{"acceleratorType": "nvidia-l4", "acceleratorCount": 1}]
    assert made["resourcePolicies"] == ["nightly"]
    assert (made["tags"]["items"], made["metadata"]["items"]) == (["web"], [{"key": "k", "value": "v"}])
    assert (made["scheduling"]["automaticRestart"], made["scheduling"]["onHostMaintenance"]) == (False, "TERMINATE")


def test_it_keeps_interfaces_but_no_address(cloud, source):
    first, second = _copy(cloud, source)["networkInterfaces"]

    assert first["subnetwork"].endswith("/regions/us-east1/subnetworks/default")
    assert (first["nicType"], first["stackType"]) == ("GVNIC", "IPV4_ONLY")
    assert [(config["name"], config["networkTier"]) for config in first["accessConfigs"]] == [("outside", "STANDARD")]
    assert "networkIP" not in first | second
    assert "natIP" not in first["accessConfigs"][0]
    assert "accessConfigs" not in second


def test_every_kind_of_disk_becomes_what_it_does_by_default(cloud, source):
    made = {disk["deviceName"]: disk for disk in _copy(cloud, source)["disks"]}
    new = {name: disk.get("initializeParams", {}) for name, disk in made.items()}

    assert new["boot"]["sourceImage"].endswith(IMAGE)
    assert (new["boot"]["diskType"], new["boot"]["diskSizeGb"], made["boot"]["autoDelete"]) == ("pd-ssd", "30", True)
    assert (new["blank"].get("sourceImage"), new["blank"]["diskSizeGb"]) == (None, "50")
    assert (made["shared"]["mode"], made["shared"]["source"], new["shared"]) == ("READ_ONLY", "example-data", {})
    assert made["regional"]["source"].endswith(f"projects/{PROJECT}/regions/us-east1/disks/shared")
    assert (made["fast"]["type"], made["fast"]["interface"], new["fast"]["diskType"]) == (
        "SCRATCH",
        "NVME",
        "local-ssd",
    )
    assert "sourceImage" not in new["fast"]


@pytest.mark.parametrize(("config", "image"), [
    ({"deviceName": "boot", "instantiateFrom": "SOURCE_IMAGE"}, IMAGE), ({"deviceName": "boot", "instantiateFrom": "SOURCE_IMAGE_FAMILY"}, DEBIAN),
    ({"deviceName": "family", "instantiateFrom": "SOURCE_IMAGE_FAMILY"}, DEBIAN), ({"deviceName": "boot", "instantiateFrom": "DEFAULT"}, IMAGE),
    ({"deviceName": "boot", "instantiateFrom": "CUSTOM_IMAGE", "customImage": "global/images/mine"}, "global/images/mine"),
    ({"deviceName": "family", "instantiateFrom": "BLANK"}, None), ({"deviceName": "fast", "instantiateFrom": "BLANK"}, None),
])  # fmt: skip
def test_a_new_disk_has_the_requested_image(cloud, source, config, image):
    made = {disk["deviceName"]: disk for disk in _copy(cloud, source, config)["disks"]}
    found = made[config["deviceName"]]["initializeParams"].get("sourceImage")

    assert found is None if image is None else found.endswith(image)
    assert len(made) == len(DISKS)


@pytest.mark.parametrize("name", ["family", "blank", "shared", "regional", "fast"])
def test_any_disk_but_the_boot_disk_can_be_left_out(cloud, source, name):
    made = _copy(cloud, source, {"deviceName": name, "instantiateFrom": "DO_NOT_INCLUDE"})

    assert [disk["deviceName"] for disk in made["disks"]] == [
        disk["deviceName"] for disk in DISKS if disk["deviceName"] != name
    ]


def test_a_read_only_disk_is_attached_read_only_if_requested(cloud, source):
    config = {"deviceName": "shared", "instantiateFrom": "ATTACH_READ_ONLY", "autoDelete": True}
    made = {disk["deviceName"]: disk for disk in _copy(cloud, source, config)["disks"]}["shared"]

    assert (made["mode"], made["source"], made["autoDelete"]) == ("READ_ONLY", "example-data", True)


@pytest.mark.parametrize(("config", "words"), [
    ({"deviceName": "boot", "instantiateFrom": "DO_NOT_INCLUDE"}, "boot disk"), ({"deviceName": "boot", "instantiateFrom": "BLANK"}, "boot disk"),
    ({"deviceName": "boot", "instantiateFrom": "ATTACH_READ_ONLY"}, "boot disk"), ({"deviceName": "family", "instantiateFrom": "ATTACH_READ_ONLY"}, "read-write disk"),
    ({"deviceName": "shared", "instantiateFrom": "SOURCE_IMAGE"}, "read-only disk"), ({"deviceName": "shared", "instantiateFrom": "BLANK"}, "read-only disk"),
    ({"deviceName": "shared", "instantiateFrom": "CUSTOM_IMAGE", "customImage": "global/images/mine"}, "read-only disk"),
    ({"deviceName": "fast", "instantiateFrom": "SOURCE_IMAGE"}, "local SSD"), ({"deviceName": "fast", "instantiateFrom": "ATTACH_READ_ONLY"}, "local SSD"),
    ({"deviceName": "blank", "instantiateFrom": "SOURCE_IMAGE"}, "from no image"), ({"deviceName": "snapshot", "instantiateFrom": "SOURCE_IMAGE"}, "from a snapshot"),
    ({"deviceName": "blank", "instantiateFrom": "SOURCE_IMAGE_FAMILY"}, "from no image"), ({"deviceName": "boot", "instantiateFrom": "CUSTOM_IMAGE"}, "customImage"),
    ({"deviceName": "none", "instantiateFrom": "BLANK"}, "No such device"), ({"instantiateFrom": "BLANK"}, "deviceName"),
])  # fmt: skip
def test_a_config_that_does_not_fit_its_disk_is_refused(cloud, source, config, words):
    answer = _insert(cloud, source, [config])

    assert (answer.status_code, words in answer.json()["error"]["message"]) == (400, True), answer.text


def test_an_image_without_a_family_cannot_be_replaced_by_its_family(cloud, source):
    cloud.change(
        f"projects/{PROJECT}/zones/{ZONE}/disks/vm",
        lambda body: body.update(sourceImage=f"projects/{PROJECT}/global/images/mine"),
    )
    answer = _insert(cloud, source, [{"deviceName": "boot", "instantiateFrom": "SOURCE_IMAGE_FAMILY"}])

    assert (answer.status_code, "no image family" in answer.text) == (400, True)


def test_instances_are_created_from_it(cloud, source):
    _copy(cloud, source, {"deviceName": "snapshot", "instantiateFrom": "DO_NOT_INCLUDE"})
    body = {"count": "2", "namePattern": "w-#", "sourceInstanceTemplate": "global/instanceTemplates/copy"}
    cloud.post(f"{BASE}/zones/{ZONE}/instances/bulkInsert", body)
    made = cloud.get(f"projects/{PROJECT}/zones/{ZONE}/instances/w-2")

    assert [disk["mode"] for disk in made["disks"]] == [
        "READ_WRITE",
        "READ_WRITE",
        "READ_WRITE",
        "READ_ONLY",
        "READ_ONLY",
        "READ_WRITE",
    ]
    assert made["disks"][3]["source"].endswith(f"zones/{ZONE}/disks/example-data")
    assert len(cloud.get(f"projects/{PROJECT}/zones/{ZONE}/disks/example-data")["users"]) == 3


def test_input_only_fields_are_not_kept(cloud, source):
    shown = plain_http.get(f"http://{cloud.host}{BASE}/{source}").json()

    assert "params" not in shown
