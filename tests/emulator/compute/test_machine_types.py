"""Machine types: which there are and where, custom ones, and changes of them."""

from __future__ import annotations

import pytest
from google.cloud import compute_v1
from servers.google_clients import connect
from values.programs import PROJECT, properties

from gcpx_emulator.compute.locations import ZONES

BASE = f"/compute/v1/projects/{PROJECT}"
EVERYWHERE = "us-east1-b"
NOT_IN_ZONE = "Machine type with name '{}' does not exist in zone '{}'."
NOT_ANYWHERE = "Instance properties must provide existing machine type."


def _get(http, name, zone="us-central1-a"):
    return http.get(f"{BASE}/zones/{zone}/machineTypes/{name}")


def _insert(http, name, zone=EVERYWHERE, instance="vm"):
    machine = f"zones/{zone}/machineTypes/{name}"
    return http.post(f"{BASE}/zones/{zone}/instances", json={"name": instance, **properties(machineType=machine)})


def _template(http, name, collection="global"):
    body = {"name": f"t-{name}", "properties": properties(machineType=name)}
    return http.post(f"{BASE}/{collection}/instanceTemplates", json=body)


def _bulk(http, name, scope="regions/us-east1", **more):
    body = {"count": "6", "namePattern": "w-#", "instanceProperties": properties(machineType=name), **more}
    return http.post(f"{BASE}/{scope}/instances/bulkInsert", json=body)


def _message(answer):
    return answer.json()["error"]["message"]


@pytest.mark.parametrize(("name", "cpus", "memory", "more"), [
    ("e2-standard-8", 8, 32768, {"isSharedCpu": False, "architecture": "X86_64", "description": "8 vCPUs, 32 GB RAM"}),
    ("n1-highcpu-16", 16, 14746, {"maximumPersistentDisks": 128, "description": "16 vCPUs, 14.4 GB RAM"}),
    ("f1-micro", 1, 614, {"id": "1000", "isSharedCpu": True, "maximumPersistentDisks": 16, "maximumPersistentDisksSizeGb": "3072"}),
    ("g1-small", 1, 1740, {"description": "1 vCPU (shared physical core) and 1.7 GB RAM", "creationTimestamp": "1969-12-31T16:00:00.000-08:00"}),
    ("e2-micro", 2, 1024, {"isSharedCpu": True}), ("n2-highmem-128", 128, 884736, {}),
    ("n2d-standard-224", 224, 917504, {}), ("n4-highcpu-80", 80, 163840, {}), ("t2d-standard-60", 60, 245760, {}),
    ("c2-standard-60", 60, 245760, {}), ("c2d-highmem-112", 112, 917504, {}), ("c3d-highcpu-360", 360, 724992, {}),
    ("c3-standard-176-lssd", 176, 720896, {"bundledLocalSsds": {"defaultInterface": "NVME", "partitionCount": 32}}),
    ("c4-standard-2", 2, 7168, {}), ("c4-highmem-288", 288, 2285568, {}), ("c4d-highcpu-4", 4, 7168, {}),
    ("c4a-standard-72", 72, 294912, {"architecture": "ARM64"}), ("t2a-standard-48", 48, 196608, {"architecture": "ARM64"}),
    ("m2-ultramem-416", 416, 12058624, {}), ("m3-megamem-64", 64, 999424, {}), ("h3-standard-88", 88, 360448, {}),
    ("z3-highmem-22-highlssd", 22, 180224, {"bundledLocalSsds": {"defaultInterface": "NVME", "partitionCount": 3}}),
    ("a2-highgpu-8g", 96, 696320, {"accelerators": [{"guestAcceleratorType": "nvidia-tesla-a100", "guestAcceleratorCount": 8}]}),
    ("a3-highgpu-2g", 52, 479232, {"accelerators": [{"guestAcceleratorType": "nvidia-h100-80gb", "guestAcceleratorCount": 2}], "bundledLocalSsds": {"defaultInterface": "NVME", "partitionCount": 4}}),
    ("g2-standard-24", 24, 98304, {"accelerators": [{"guestAcceleratorType": "nvidia-l4", "guestAcceleratorCount": 2}]}),
    ("n1-megamem-96", 96, 1468006, {"deprecated": {"state": "DEPRECATED"}}),
])  # fmt: skip
def test_a_machine_type_has_its_hardware(http, name, cpus, memory, more):
    found = _get(http, name).json()

    assert (found["name"], found["guestCpus"], found["memoryMb"]) == (name, cpus, memory)
    assert found | more == found
    assert (found["kind"], found["zone"]) == ("compute#machineType", "us-central1-a")
    assert found["selfLink"] == f"https://www.googleapis.com{BASE}/zones/us-central1-a/machineTypes/{name}"


@pytest.mark.parametrize(("name", "zone", "exists"), [
    ("e2-micro", "europe-west9-a", True), ("n1-standard-1", "us-west4-c", True), ("n1-standard-1", "europe-west9-a", False),
    ("a2-ultragpu-1g", "us-central1-a", True), ("a2-ultragpu-1g", "us-central1-b", False), ("t2a-standard-1", "us-east1-b", False),
    ("c4-standard-4", "asia-northeast1-a", False), ("c4-standard-4", "asia-northeast1-b", True),
    ("m3-ultramem-32", "us-east1-c", False), ("h3-standard-88", "us-east1-b", False), ("z3-highmem-88", "us-west2-a", False),
    ("n2-custom-4-8192", "us-west2-c", True), ("custom-4-8192", "europe-west9-a", False), ("n4-custom-4-8192", "northamerica-northeast1-c", False),
])  # fmt: skip
def test_a_machine_type_is_in_the_zones_that_have_it(http, name, zone, exists):
    listed = [item["name"] for item in http.get(f"{BASE}/zones/{zone}/machineTypes?maxResults=500").json()["items"]]

    assert _get(http, name, zone).status_code == (200 if exists else 404)
    assert (name in listed) == (exists and "custom" not in name)


def test_a_custom_machine_type_can_be_read(http):
    found = _get(http, "custom-1-1024").json()

    assert (found["id"], found["description"]) == ("4294968320", "Custom created machine type.")
    assert (found["guestCpus"], found["memoryMb"], found["isSharedCpu"]) == (1, 1024, False)
    assert _get(http, "e2-custom-micro-1024").json()["isSharedCpu"] is True
    assert _get(http, "n4a-custom-2-4096").json()["architecture"] == "ARM64"


ACCEPTED = [
    "custom-1-1024", "custom-2-13312", "n1-custom-4-8192", "custom-2-65536-ext", "n2-custom-4-8192", "n2-custom-2-1024",
    "n2-custom-4-65536-ext", "n2-custom-36-36864", "n2d-custom-16-32768", "e2-custom-32-16384", "e2-custom-small-2048",
    "e2-custom-medium-8192", "n4-custom-80-163840", "g2-custom-12-53248",
]  # fmt: skip
REFUSED = [
    "custom-1-512", "custom-2-13568", "n2-custom-34-34816", "n2-custom-2-16640", "n2-custom-4-1024", "n2d-custom-6-12288",
    "e2-custom-4-65536-ext", "e2-custom-34-34816", "e2-custom-micro-2304", "e2-custom-small-1024", "n2-custom-micro-1024",
    "c3-custom-4-8192", "t2d-custom-4-8192", "x9-custom-4-8192", "n4-custom-82-163840", "g2-custom-6-24576",
]  # fmt: skip


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_custom_machine_type_within_the_limits_of_its_series_is_accepted(http, name):
    assert _get(http, name).status_code == 200
    assert _template(http, name).status_code == 200
    assert _insert(http, name).status_code == 200


@pytest.mark.parametrize("name", REFUSED)
def test_a_custom_machine_type_beyond_the_limits_of_its_series_is_refused(http, name):
    assert _get(http, name).status_code == 404
    assert _template(http, name).status_code == 400
    assert _insert(http, name).status_code == 400


@pytest.mark.parametrize(
    "name", ["e9-small", "n2-standard-3", "c2-standard-2", "e2", "n2-standard", "n2-standard-4-lssd"]
)
def test_an_unknown_machine_type_is_refused(http, cloud, name):
    instance, link = _insert(http, name), f"zones/{EVERYWHERE}/machineTypes/{name}"
    field = f"Invalid value for field 'resource.machineType': '{link}'."

    assert (instance.status_code, _message(instance)) == (400, f"{field} {NOT_IN_ZONE.format(name, EVERYWHERE)}")
    for collection in ("global", "regions/us-east1"):
        template = _template(http, name, collection)

        assert template.status_code == 400
        assert (
            _message(template) == f"Invalid value for field 'resource.properties.machineType': '{name}'. {NOT_ANYWHERE}"
        )
    for scope in ("regions/us-east1", f"zones/{EVERYWHERE}"):
        bulk = _bulk(http, name, scope)

        assert (bulk.status_code, NOT_ANYWHERE in _message(bulk)) == (400, True)
    assert cloud.emulator.store.counts().keys() <= {"b", "topics"}


def test_a_machine_type_of_another_zone_is_refused_for_an_instance_but_not_for_a_template(http):
    assert _template(http, "a2-ultragpu-1g").status_code == 200
    assert NOT_IN_ZONE.format("a2-ultragpu-1g", EVERYWHERE) in _message(_insert(http, "a2-ultragpu-1g"))
    assert NOT_IN_ZONE.format("a2-ultragpu-1g", EVERYWHERE) in _message(_bulk(http, "a2-ultragpu-1g"))
    assert NOT_IN_ZONE.format("a2-ultragpu-1g", EVERYWHERE) in _message(
        _bulk(http, "a2-ultragpu-1g", f"zones/{EVERYWHERE}")
    )


def test_the_machine_type_of_a_stopped_instance_changes_only_to_one_of_its_zone(http, cloud):
    path = f"/compute/v1/{cloud.make_instance('vm')}"
    http.post(f"{path}/stop")
    cloud.emulator.operations.settle()
    change = {"machineType": f"zones/{EVERYWHERE}/machineTypes/t2a-standard-1"}

    assert NOT_IN_ZONE.format("t2a-standard-1", EVERYWHERE) in _message(
        http.post(f"{path}/setMachineType", json=change)
    )
    change = {"machineType": f"zones/{EVERYWHERE}/machineTypes/n2d-standard-8"}
    assert http.post(f"{path}/setMachineType", json=change).status_code == 200


@pytest.mark.parametrize("shape", ["ANY_SINGLE_ZONE", "BALANCED", "ANY"])
def test_a_bulk_creation_uses_the_zones_that_have_the_machine_type(http, cloud, shape):
    """In us-east1, the zones b and d have it, and c has not."""
    assert _bulk(http, "m3-ultramem-32", locationPolicy={"targetShape": shape}).status_code == 200
    cloud.emulator.operations.settle()
    groups = http.get(f"{BASE}/aggregated/instances").json()["items"]
    numbers = {scope: len(group["instances"]) for scope, group in groups.items() if "instances" in group}

    assert sum(numbers.values()) == 6
    assert numbers.keys() <= {"zones/us-east1-b", "zones/us-east1-d"}
    assert numbers == {"zones/us-east1-b": 3, "zones/us-east1-d": 3} or shape != "BALANCED"


def test_a_flexible_bulk_creation_leaves_out_machine_types_that_do_not_exist(http, cloud):
    kinds = {"first": ["e9-small"], "second": ["h3-standard-88"], "third": ["n2d-standard-2"]}
    selections = {name: {"machineTypes": types, "rank": str(rank)} for rank, (name, types) in enumerate(kinds.items())}
    flexible = {"instanceFlexibilityPolicy": {"instanceSelections": selections}}
    without = {key: value for key, value in properties().items() if key != "machineType"}

    assert _bulk(http, "", instanceProperties=without, **flexible).status_code == 200
    cloud.emulator.operations.settle()
    made = dict(cloud.emulator.store.of_kind("instances")).values()
    assert {instance["machineType"].rpartition("/")[2] for instance in made} == {"n2d-standard-2"}


def test_a_stock_out_names_only_zones_with_the_machine_type(http, cloud):
    http.post("/_emulator/limits", json={"zones": {"us-east1-b": 0}})
    started = _insert(http, "m3-ultramem-32").json()
    error = http.get(f"{BASE}/zones/us-east1-b/operations/{started['name']}").json()["error"]["errors"][0]
    (info,) = [detail["errorInfo"] for detail in error["errorDetails"] if "errorInfo" in detail]

    assert info["metadatas"]["zonesAvailable"] == "us-east1-d"


def test_the_quota_of_a_region_counts_the_cpus_of_every_machine_type(http):
    for name in ("n2d-standard-48", "e2-custom-6-12288"):
        assert _insert(http, name, instance=name).status_code == 200
    quotas = {item["metric"]: item for item in http.get(f"{BASE}/regions/us-east1").json()["quotas"]}

    assert quotas["CPUS"]["usage"] == 54


def test_lists_are_filtered_and_paged(cloud):
    client = connect(compute_v1.MachineTypesClient, cloud)
    request = compute_v1.ListMachineTypesRequest(
        project=PROJECT, zone=EVERYWHERE, filter="guestCpus >= 96", max_results=7
    )
    pages = [len(page.items) for page in client.list(request).pages]
    names = [item.name for item in client.list(request)]

    assert all(size == 7 for size in pages[:-1])
    assert len(pages) > 3
    assert names == sorted(set(names))
    assert {"n2d-standard-224", "c4-standard-288"} <= set(names)


def test_the_list_of_all_zones_is_paged_as_a_whole(http):
    path, token, seen, pages = f"{BASE}/aggregated/machineTypes?filter=guestCpus>=192", "", [], 0
    while pages == 0 or token:
        page = http.get(f"{path}&pageToken={token}").json()
        groups = {scope: group.get("machineTypes", []) for scope, group in page["items"].items()}
        found = [(scope, item["name"]) for scope, items in groups.items() for item in items]
        seen, token, pages = [*seen, *found], page.get("nextPageToken"), pages + 1

        assert all(f"zones/{item['zone']}" == scope for scope, items in groups.items() for item in items)
        assert len(found) == 500 or not token
        assert set(groups) == {f"zones/{zone}" for zone in ZONES}
    assert pages > 1
    assert len(seen) == len(set(seen))
    assert [scope for scope, name in seen if name == "a3-ultragpu-8g"] == [
        f"zones/{zone}"
        for zone in ("asia-south1-b", "europe-west1-b", "europe-west4-a", "us-central1-b", "us-east4-b", "us-west1-c")
    ]


def test_the_list_of_all_zones_says_which_have_no_results(http):
    answer = http.get(f"{BASE}/aggregated/machineTypes", params={"filter": 'name = "t2a-standard-1"'}).json()
    having = {scope for scope, group in answer["items"].items() if group.get("machineTypes")}

    assert having == {
        f"zones/{zone}"
        for zone in ("asia-southeast1-b", "asia-southeast1-c", "europe-west4-a", "europe-west4-b", "europe-west4-c")
    } | {"zones/us-central1-a", "zones/us-central1-b", "zones/us-central1-f"}
    assert answer["items"]["zones/us-east1-b"]["warning"]["code"] == "NO_RESULTS_ON_PAGE"


def test_unreachable_zones_have_no_machine_types(http):
    http.post("/_emulator/outages", json={"scopes": ["zones/us-east1-b"]})
    query = {"filter": 'name = "e2-small"', "returnPartialSuccess": "true"}

    assert http.get(f"{BASE}/aggregated/machineTypes").status_code == 503
    items = http.get(f"{BASE}/aggregated/machineTypes", params=query).json()["items"]
    assert items["zones/us-east1-b"]["warning"]["code"] == "UNREACHABLE"
    assert [item["name"] for item in items["zones/us-east1-c"]["machineTypes"]] == ["e2-small"]
    listed = http.get(f"{BASE}/zones/us-east1-b/machineTypes", params=query).json()
    assert listed["warning"]["code"] == "UNREACHABLE"


def test_machine_types_are_added_and_removed(http):
    added = {"x9-standard-4": {"guestCpus": 4, "memoryMb": 16384, "architecture": "ARM64", "zones": ["us-east1-c"]}}
    more = {"t2a-standard-1": {"zones": ["us-east1-b"]}, "y9-small": {}}
    removed = {"e2-small": ["us-east1-b"], "n1-standard-1": [], "custom-2-2048": ["us-east1-b"]}
    assert http.post("/_emulator/machine-types", json={"added": added | more, "removed": removed}).status_code == 200

    found = _get(http, "x9-standard-4", "us-east1-c").json()
    assert (found["guestCpus"], found["memoryMb"], found["architecture"]) == (4, 16384, "ARM64")
    assert _get(http, "x9-standard-4", "us-east1-b").status_code == 404
    assert _get(http, "y9-small", "us-west1-a").status_code == 200
    assert _get(http, "t2a-standard-1", "us-east1-b").json()["memoryMb"] == 4096
    assert _get(http, "t2a-standard-1", "us-central1-a").status_code == 200
    assert _template(http, "x9-standard-4").status_code == 200
    assert _template(http, "n1-standard-1").status_code == 400
    assert [_insert(http, "e2-small", zone).status_code for zone in ("us-east1-b", "us-east1-c")] == [400, 200]
    assert _insert(http, "custom-2-2048").status_code == 400
    listed = [item["name"] for item in http.get(f"{BASE}/zones/us-east1-b/machineTypes").json()["items"]]
    assert "t2a-standard-1" in listed
    assert not {"e2-small", "n1-standard-1", "x9-standard-4"} & set(listed)

    http.post("/_emulator/machine-types", json={})
    assert _get(http, "e2-small", "us-east1-b").status_code == 200
    assert _get(http, "x9-standard-4", "us-east1-c").status_code == 404


@pytest.mark.parametrize("body", [
    {"added": {"x9": {"cpus": 4}}}, {"added": {"x9": {"guestCpus": 0}}}, {"added": {"X9": {}}}, {"added": ["x9"]},
    {"added": {"x9": {"zones": ["us-east9-a"]}}}, {"added": {"x9": {"architecture": "RISC"}}},
    {"removed": ["e2-small"]}, {"removed": {"e2-small": ["us-east1"]}}, {"removed": {"e2-small": "us-east1-b"}}, {"more": {}},
])  # fmt: skip
def test_a_malformed_change_of_machine_types_is_refused(http, body):
    refused = http.post("/_emulator/machine-types", json=body)

    assert (refused.status_code, "/_emulator/machine-types" in refused.text) == (400, True)
    assert _get(http, "e2-small").status_code == 200


def test_an_aggregated_list_includes_the_scopes_without_machine_types_if_asked(http):
    items = http.get(f"{BASE}/aggregated/machineTypes", params={"includeAllScopes": "true"}).json()["items"]

    assert items["global"]["warning"]["code"] == items["regions/us-east1"]["warning"]["code"] == "NO_RESULTS_ON_PAGE"
    assert items["zones/africa-south1-a"]["machineTypes"]
