"""What the machines of instances refer to must exist and fit together; of templates, only networks and subnetworks must."""

from __future__ import annotations

import pytest
from values.programs import DEBIAN, PROJECT, ZONE

BASE = f"/compute/v1/projects/{PROJECT}"
ARM = "projects/debian-cloud/global/images/family/debian-12-arm64"
URL = f"{BASE}/zones/{ZONE}/instances"


def _properties(image=DEBIAN, *, parameters=None, **more):
    disk = {"boot": True, "initializeParams": {"sourceImage": image, **(parameters or {})}}
    return {"machineType": "e2-small", "disks": [disk], "networkInterfaces": [{}], **more}


def _insert(http, properties):
    machine_type = properties["machineType"]
    link = machine_type if "/" in machine_type else f"zones/{ZONE}/machineTypes/{machine_type}"
    return http.post(URL, json={"name": "vm", **properties, "machineType": link})


def _make_networks(http):
    for name in ("one", "two"):
        http.post(f"{BASE}/global/networks", json={"name": name, "autoCreateSubnetworks": True})


def _refusal(answer):
    error = answer.json()["error"]
    return answer.status_code, error["errors"][0]["reason"], error["message"]


def _invalid(field, value, why):
    return 400, "invalid", f"Invalid value for field 'resource.{field}': '{value}'. {why}"


def _mismatch(image, machine):
    why = f"Requested boot disk architecture ({image}) is not compatible with machine type architecture ({machine})."
    return 400, "invalidResourceUsage", f"Invalid resource usage: '{why}'."


ELSEWHERE = f"It must be in the zone '{ZONE}'."
PARAMETERS = "disks[0].initializeParams"
GPU = f"projects/{PROJECT}/zones/{ZONE}/acceleratorTypes"
HOST = {"scheduling": {"onHostMaintenance": "TERMINATE"}}
NETWORKS = tuple({"network": f"global/networks/{name}"} for name in ("one", "two"))
DYNAMIC = [{}, *({**nic, "parentNicName": "nic0", "vlan": vlan} for vlan, nic in enumerate(NETWORKS, 2))]
ALIKE = "Requested architecture must be the same as the source resource architecture (X86_64)."


def _gpu(link):
    return {"guestAccelerators": [{"acceleratorType": link, "acceleratorCount": 1}], **HOST}


def _incompatible(*features):
    return 400, "badRequest", f"[{', '.join(features)}] features are not compatible for creating instance."


LOCAL_SSD = {"type": "SCRATCH", "initializeParams": {"diskType": "local-ssd"}}
CASES = {
    "accelerator of N1": (_properties(machineType="n2-standard-4", **_gpu("nvidia-tesla-p100")), _incompatible("nvidia-tesla-p100", "n2-standard-4")),
    "accelerator of G2": (_properties(machineType="n1-standard-4", **_gpu("nvidia-l4")), _incompatible("nvidia-l4", "n1-standard-4")),
    "accelerator of others": (_properties(machineType="g2-standard-4", **_gpu("nvidia-tesla-p100")), _incompatible("nvidia-tesla-p100", "g2-standard-4")),
    "local SSD": (_properties(disks=[*_properties()["disks"], LOCAL_SSD]), _incompatible("e2-small", "local-ssd")),
    "hyperdisk": (_properties(parameters={"diskType": "hyperdisk-throughput"}), _incompatible("hyperdisk-throughput", "e2-small")),
    "balanced hyperdisk": (_properties(machineType="n2-standard-4", parameters={"diskType": "hyperdisk-balanced"}), _incompatible("hyperdisk-balanced", "n2-standard-4")),
    "mode of a hyperdisk": (_properties(machineType="c3-standard-4", disks=[*_properties()["disks"], {"mode": "READ_ONLY", "initializeParams": {"diskType": "hyperdisk-balanced"}}]), (400, "badRequest", "hyperdisk-balanced disk type cannot be attached in read-only mode.")),
    "platform": (_properties(minCpuPlatform="Intel Sky"), _invalid("minCpuPlatform", "Intel Sky", "Invalid CPU platform.")),
    "accelerator": (_properties(guestAccelerators=[{"acceleratorType": "nvidia-t5", "acceleratorCount": 1}], **HOST), (404, "notFound", f"The resource '{GPU}/nvidia-t5' was not found")),
    "boot image": (_properties(ARM), _mismatch("ARM64", "X86_64")),
    "machine": (_properties(machineType="n4a-custom-2-4096"), _mismatch("X86_64", "ARM64")),
    "architecture": (_properties(parameters={"architecture": "ARM64"}), _invalid(f"{PARAMETERS}.architecture", "ARM64", ALIKE)),
    "interfaces": (_properties(networkInterfaces=[{}, *NETWORKS]), _invalid("networkInterfaces", "", "Too many network interfaces. The maximum number of network interfaces allowed for this machine type is 2.")),
}  # fmt: skip


@pytest.mark.parametrize(("properties", "expected"), CASES.values(), ids=CASES)
def test_a_machine_that_does_not_fit_is_refused(http, properties, expected):
    _make_networks(http)
    in_bulk = {"count": "1", "namePattern": "w-#", "instanceProperties": properties}
    template = {"name": "t", "properties": properties}

    assert _refusal(_insert(http, properties)) == expected
    assert _refusal(http.post(f"{URL}/bulkInsert", json=in_bulk)) == expected
    assert http.post(f"{BASE}/global/instanceTemplates", json=template).status_code == 200


@pytest.mark.parametrize(
    ("properties", "field", "link"),
    [
        (_properties(machineType="zones/us-east1-c/machineTypes/e2-small"), "machineType", "zones/us-east1-c/machineTypes/e2-small"),
        (_properties(parameters={"diskType": "zones/us-east1-c/diskTypes/pd-ssd"}), f"{PARAMETERS}.diskType", "zones/us-east1-c/diskTypes/pd-ssd"),
        (_properties(guestAccelerators=[{"acceleratorType": "zones/us-east1-c/acceleratorTypes/nvidia-l4", "acceleratorCount": 1}], **HOST), "guestAccelerators[0].acceleratorType", "zones/us-east1-c/acceleratorTypes/nvidia-l4"),
    ],
)  # fmt: skip
def test_a_type_of_another_zone_is_refused(http, properties, field, link):
    assert _refusal(_insert(http, properties)) == _invalid(field, link, ELSEWHERE)


@pytest.mark.parametrize(
    "properties",
    [
        _properties(ARM, machineType="n4a-custom-2-4096"),
        _properties(parameters={"architecture": "X86_64", "diskType": f"zones/{ZONE}/diskTypes/pd-ssd"}),
        _properties(parameters={"architecture": "ARCHITECTURE_UNSPECIFIED"}),
        _properties(minCpuPlatform="Intel Ice Lake", machineType="n2-standard-4"),
        _properties(minCpuPlatform="Automatic"),
        _properties(parameters={"diskType": "hyperdisk-balanced-high-availability"}, machineType="c3-standard-4"),
        *(
            _properties(machineType=machine_type, **_gpu(f"{GPU}/{name}"))
            for name, machine_type in (
                ("nvidia-l4", "g2-standard-4"),
                ("nvidia-rtx-pro-6000-vws", "g4-standard-48"),
                ("nvidia-tesla-p100", "custom-2-4096"),
            )
        ),
        _properties(machineType="n2-standard-2", disks=[*_properties()["disks"], LOCAL_SSD]),
        _properties(machineType="n2-standard-2", networkInterfaces=DYNAMIC),
    ],
)
def test_a_machine_that_fits_is_created(http, properties):
    _make_networks(http)
    in_bulk = {"count": "1", "namePattern": "w-#", "instanceProperties": properties}

    for answer in (_insert(http, properties), http.post(f"{URL}/bulkInsert", json=in_bulk)):
        assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(
    "properties",
    [
        _properties(minCpuPlatform="Automatic"),
        _properties(parameters={"diskType": "hyperdisk-balanced-high-availability"}),
        _properties(networkInterfaces=DYNAMIC),
    ],
)
def test_a_template_for_a_machine_that_fits_is_created(http, properties):
    _make_networks(http)
    answer = http.post(f"{BASE}/global/instanceTemplates", json={"name": "t", "properties": properties})

    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(
    "source", [{"rawDisk": {"source": "gs://b/x.tar.gz"}}, {"sourceDisk": f"zones/{ZONE}/disks/blank"}], ids=str
)
@pytest.mark.parametrize("given", [{}, {"architecture": "ARCHITECTURE_UNSPECIFIED"}], ids=str)
def test_an_image_without_architecture_fits_every_machine(http, source, given):
    http.post(f"{BASE}/zones/{ZONE}/disks", json={"name": "blank", "sizeGb": "10", **given})
    http.post(f"{BASE}/global/images", json={"name": "mine", **source, **given})
    made = [
        _insert(http, _properties("global/images/mine", machineType=machine_type, parameters=given, name=f"vm-{index}"))
        for index, machine_type in enumerate(("e2-small", "n4a-custom-2-4096"))
    ]
    disk = http.get(f"{BASE}/zones/{ZONE}/disks/vm-1").json()

    assert [answer.status_code for answer in made] == [200, 200], [answer.text for answer in made]
    assert "architecture" not in http.get(f"{BASE}/global/images/mine").json()
    assert (disk["sourceImage"].rpartition("/")[2], disk.get("architecture")) == ("mine", None)


def test_a_disk_of_an_open_architecture_has_that_of_its_image(http):
    _insert(http, _properties(parameters={"architecture": "ARCHITECTURE_UNSPECIFIED"}))

    assert http.get(f"{BASE}/zones/{ZONE}/disks/vm").json()["architecture"] == "X86_64"


def test_a_machine_with_the_automatic_platform_has_no_minimum(http):
    _insert(http, _properties(minCpuPlatform="Automatic"))
    found = http.get(f"{URL}/vm").json()

    assert (found.get("minCpuPlatform"), found["cpuPlatform"]) == (None, "Intel Broadwell")


def test_changes_of_a_stopped_machine_are_checked_too(cloud, http):
    vm = f"/compute/v1/{cloud.make_instance()}"
    http.post(f"{vm}/stop")
    platform = http.post(f"{vm}/setMinCpuPlatform", json={"minCpuPlatform": "Intel Sky"})
    accelerators = {"guestAccelerators": [{"acceleratorType": f"zones/{ZONE}/acceleratorTypes/none"}]}
    accelerator = http.post(f"{vm}/setMachineResources", json=accelerators)

    assert _refusal(platform) == _invalid("minCpuPlatform", "Intel Sky", "Invalid CPU platform.")
    assert _refusal(accelerator) == (404, "notFound", f"The resource '{GPU}/none' was not found")


def test_a_zone_has_its_own_accelerator_types(http):
    base = f"{BASE}/zones/{ZONE}/acceleratorTypes"
    names = [item["name"] for item in http.get(base).json()["items"]]
    everywhere = http.get(f"{BASE}/aggregated/acceleratorTypes").json()["items"]
    in_zone, elsewhere = (everywhere[f"zones/{zone}"]["acceleratorTypes"] for zone in (ZONE, "us-east1-c"))
    missing = http.get(f"{base}/nvidia-tesla-t4")
    machine = _properties(machineType="n1-standard-4", **_gpu("nvidia-tesla-t4"))

    assert {"nvidia-l4", "nvidia-tesla-p100"} <= set(names)
    assert http.get(f"{base}/nvidia-l4").json()["kind"] == "compute#acceleratorType"
    assert [item["name"] for item in in_zone] == names
    assert [item["name"] for item in elsewhere if item["name"] == "nvidia-tesla-t4"] == ["nvidia-tesla-t4"]
    assert _refusal(missing) == (404, "notFound", f"The resource '{GPU}/nvidia-tesla-t4' was not found")
    assert _refusal(_insert(http, machine)) == _refusal(missing)


def test_instances_of_a_region_are_where_their_accelerators_are(http):
    machine = _properties(machineType="n1-standard-4", **_gpu("nvidia-tesla-v100"))
    request = {"count": "2", "namePattern": "w-#", "instanceProperties": machine}
    made = http.post(f"{BASE}/regions/us-east1/instances/bulkInsert", json=request)
    zones = [len(http.get(f"{BASE}/zones/us-east1-{letter}/instances").json().get("items", ())) for letter in "bcd"]

    assert made.status_code == 200, made.text
    assert zones == [0, 2, 0]


@pytest.mark.parametrize("scope", ["global", "regions/us-east1"])
@pytest.mark.parametrize("link", ["none", "global/networks/none", f"projects/{PROJECT}/global/networks/none"])
def test_the_network_of_a_template_must_exist(http, scope, link):
    body = {"name": "t", "properties": _properties(networkInterfaces=[{"network": link}])}
    answer = http.post(f"{BASE}/{scope}/instanceTemplates", json=body)

    assert _refusal(answer) == (
        404,
        "notFound",
        f"The resource 'projects/{PROJECT}/global/networks/none' was not found",
    )


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("global/firewalls", {"allowed": [{"IPProtocol": "tcp"}]}),
        ("regions/us-east1/subnetworks", {"ipCidrRange": "10.9.0.0/24"}),
    ],
)
def test_a_network_of_another_project_cannot_be_changed(http, path, body):
    network = "projects/another-project/global/networks/default"
    answer = http.post(f"{BASE}/{path}", json={"name": "new", "network": network, **body})

    assert _refusal(answer) == _invalid(
        "network", network, "Cross project referencing is not allowed for this resource."
    )


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ({"sourceDisk": f"zones/{ZONE}/disks/none"}, "disk"),
        ({"sourceSnapshot": "global/snapshots/none"}, "snapshot"),
        ({"sourceImage": "global/images/none"}, "image"),
    ],
)
def test_the_source_of_an_image_must_exist(http, source, kind):
    ((field, link),) = source.items()
    answer = http.post(f"{BASE}/global/images", json={"name": "mine", **source})

    assert _refusal(answer) == _invalid(field, link, f"The referenced {kind} resource cannot be found.")


def test_a_disk_and_an_accelerator_must_fit_the_machine_that_gets_them(cloud, http):
    vm, disks = f"/compute/v1/{cloud.make_instance()}", f"{BASE}/zones/{ZONE}/disks"
    http.post(disks, json={"name": "fast", "type": f"zones/{ZONE}/diskTypes/hyperdisk-balanced", "sizeGb": "10"})
    source = {"source": f"zones/{ZONE}/disks/fast"}
    attached = http.post(f"{vm}/attachDisk", json=source)
    read_only = http.post(f"{vm}/attachDisk", json={**source, "mode": "READ_ONLY"})
    http.post(f"{vm}/stop")
    accelerators = _gpu("nvidia-l4")["guestAccelerators"]
    accelerated = http.post(f"{vm}/setMachineResources", json={"guestAccelerators": accelerators})

    assert _refusal(attached) == _incompatible("hyperdisk-balanced", "e2-medium")
    assert "read-only mode" in _refusal(read_only)[2]
    assert _refusal(accelerated) == _incompatible("nvidia-l4", "e2-medium")


@pytest.mark.parametrize("scope", ["global", "regions/us-east1"])
@pytest.mark.parametrize("network", [{}, {"network": "global/networks/default"}])
def test_the_subnetwork_of_a_template_must_exist(http, scope, network):
    link = f"projects/{PROJECT}/regions/us-east1/subnetworks/none"
    body = {"name": "t", "properties": _properties(networkInterfaces=[{**network, "subnetwork": link}])}
    answer = http.post(f"{BASE}/{scope}/instanceTemplates", json=body)

    assert _refusal(answer) == (404, "notFound", f"The resource '{link}' was not found")


def test_a_template_names_what_another_project_may_share(http):
    body = {"name": "t", "properties": _properties(networkInterfaces=[{"subnetwork": SHARED}])}

    assert http.post(f"{BASE}/global/instanceTemplates", json=body).status_code == 200


SHARED = "projects/another-project/regions/us-east1/subnetworks/default"


@pytest.mark.parametrize(
    "interface",
    [
        {"network": "projects/another-project/global/networks/default"},
        {"subnetwork": SHARED},
        {"network": "projects/another-project/global/networks/default", "subnetwork": SHARED},
    ],
)
def test_an_instance_is_in_no_network_that_another_project_has_not_created(http, interface):
    properties = _properties(networkInterfaces=[interface])
    in_bulk = {"count": "1", "namePattern": "w-#", "instanceProperties": properties}
    ((name, link), *_) = interface.items()
    why = "Cross-project references for this resource are not allowed."

    assert _refusal(_insert(http, properties)) == _invalid(f"networkInterfaces[0].{name}", link, why)
    assert _refusal(http.post(f"{URL}/bulkInsert", json=in_bulk))[2].endswith(why)


CHANGES = {
    "accelerator": ("n1-standard-4", _gpu("nvidia-tesla-p100"), "n2-standard-4", _incompatible("nvidia-tesla-p100", "n2-standard-4")),
    "hyperdisk": ("m1-ultramem-40", {"parameters": {"diskType": "hyperdisk-balanced"}}, "n2-standard-4", _incompatible("hyperdisk-balanced", "n2-standard-4")),
    "interfaces": ("e2-standard-4", {"networkInterfaces": [{}, *NETWORKS]}, "e2-small", _invalid("networkInterfaces", "", "Too many network interfaces. The maximum number of network interfaces allowed for this machine type is 2.")),
}  # fmt: skip


@pytest.mark.parametrize(("before", "parts", "after", "expected"), CHANGES.values(), ids=CHANGES)
def test_a_machine_type_for_which_a_part_is_not_made_is_refused(http, before, parts, after, expected):
    _make_networks(http)
    made = _insert(http, _properties(machineType=before, **parts))
    http.post(f"{URL}/vm/stop")
    answer = http.post(f"{URL}/vm/setMachineType", json={"machineType": f"zones/{ZONE}/machineTypes/{after}"})

    assert made.status_code == 200, made.text
    assert _refusal(answer) == expected
