"""Resources, named by their numeric IDs in paths and in links."""

from __future__ import annotations

import pytest
from values.programs import PROJECT, ZONE, properties

BASE = f"/compute/v1/projects/{PROJECT}"


def _id(cloud, path):
    return cloud.get(path)["id"]


def _done(cloud, http, method, path, body=None):
    """Make a change, and let it take effect; return the operation."""
    answer = http.request(method, path, json=body)
    assert answer.status_code == 200, answer.text
    cloud.emulator.operations.settle()
    return answer.json()


@pytest.fixture
def template(cloud):
    for scope in ("global", "regions/us-east1"):
        cloud.post(f"{BASE}/{scope}/instanceTemplates", {"name": "web", "properties": properties()})
    return f"projects/{PROJECT}/global/instanceTemplates/web"


def test_every_resource_is_read_by_its_numeric_id(cloud, http, vm, template):
    cloud.post(f"{BASE}/global/machineImages?sourceInstance=zones/{ZONE}/instances/example-vm", {"name": "golden"})
    regional = template.replace("global", "regions/us-east1")
    paths = [vm, template, regional, f"projects/{PROJECT}/zones/{ZONE}/disks/example-data", cloud.make_regional_disk(),
             f"projects/{PROJECT}/global/machineImages/golden"]  # fmt: skip
    for path in paths:
        by_id = f"/compute/v1/{path.rpartition('/')[0]}/{_id(cloud, path)}"
        assert http.get(by_id).json() == http.get(f"/compute/v1/{path}").json()


def test_an_image_is_changed_and_deleted_by_its_numeric_id(cloud, http):
    cloud.post(f"{BASE}/global/images", {"name": "golden", "rawDisk": {"source": "gs://b/o"}})
    path = f"projects/{PROJECT}/global/images/golden"
    by_id = f"{BASE}/global/images/{_id(cloud, path)}"
    _done(cloud, http, "PATCH", by_id, {"family": "web"})
    found = cloud.get(path)
    _done(cloud, http, "DELETE", by_id)

    assert found["family"] == "web"
    assert cloud.get(path) is None


def test_every_change_takes_a_numeric_id(cloud, http, vm):
    instance = f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances/{_id(cloud, vm)}"
    disk = f"projects/{PROJECT}/zones/{ZONE}/disks/{_id(cloud, f'projects/{PROJECT}/zones/{ZONE}/disks/example-data')}"
    fingerprint = cloud.get(vm)["labelFingerprint"]
    _done(cloud, http, "POST", f"{instance}/setLabels", {"labels": {"a": "b"}, "labelFingerprint": fingerprint})
    _done(cloud, http, "POST", f"{instance}/attachDisk", {"source": disk, "deviceName": "data"})
    found = cloud.get(vm)

    assert found["labels"] == {"a": "b"}
    assert found["disks"][1]["source"].endswith("/disks/example-data")
    assert http.delete(f"/compute/v1/{disk}").status_code == 400, "the disk is in use"
    _done(cloud, http, "POST", f"{instance}/detachDisk?deviceName=data")
    _done(cloud, http, "DELETE", f"/compute/v1/{disk}")
    done = _done(cloud, http, "DELETE", instance)
    assert done["targetLink"].endswith(vm)
    assert cloud.get(vm) is None


def test_links_in_bodies_take_a_numeric_id(cloud, http, vm, template):
    source = f"zones/{ZONE}/instances/{_id(cloud, vm)}"
    _done(cloud, http, "POST", f"{BASE}/global/instanceTemplates", {"name": "copy", "sourceInstance": source})
    _done(cloud, http, "POST", f"{BASE}/global/machineImages?sourceInstance={source}", {"name": "golden"})
    body = {
        "count": "1",
        "namePattern": "w-#",
        "sourceInstanceTemplate": f"global/instanceTemplates/{_id(cloud, template)}",
    }
    _done(cloud, http, "POST", f"{BASE}/zones/{ZONE}/instances/bulkInsert", body)

    assert http.get(f"{BASE}/global/instanceTemplates/copy").json()["sourceInstance"].endswith(vm)
    assert http.get(f"{BASE}/global/machineImages/golden").json()["sourceInstance"].endswith(vm)
    assert http.get(f"{BASE}/zones/{ZONE}/instances/w-1").status_code == 200


HOST = "/compute/v1/projects/host-project"


@pytest.fixture
def host(cloud):
    """A project with a network that instances of other projects use."""
    cloud.post(f"{HOST}/global/networks", {"name": "vpc", "autoCreateSubnetworks": False})
    subnetwork = {"name": "inside", "network": "global/networks/vpc", "ipCidrRange": "10.9.0.0/24"}
    cloud.post(f"{HOST}/regions/us-east1/subnetworks", subnetwork)


@pytest.mark.parametrize(
    ("project", "interface"),
    [
        (PROJECT, {"network": "projects/NUMBER/global/networks/default"}),
        (PROJECT, {"network": "https://www.googleapis.com/compute/v1/projects/NUMBER/global/networks/default"}),
        (PROJECT, {"subnetwork": "projects/NUMBER/regions/us-east1/subnetworks/default"}),
        ("host-project", {"subnetwork": "projects/NUMBER/regions/us-east1/subnetworks/inside"}),
        (
            "host-project",
            {
                "network": "projects/NUMBER/global/networks/vpc",
                "subnetwork": "projects/host-project/regions/us-east1/subnetworks/inside",
            },
        ),
    ],
)
def test_links_in_bodies_take_the_number_of_a_project(cloud, http, host, project, interface):
    number = http.get(f"/compute/v1/projects/{project}").json()["id"]
    link = {name: value.replace("NUMBER", number) for name, value in interface.items()}
    template = {"name": "t", "properties": properties(networkInterfaces=[link])}
    _done(cloud, http, "POST", f"{BASE}/global/instanceTemplates", template)
    own = http.get(f"/compute/v1/projects/{PROJECT}").json()["id"]
    body = {"count": "1", "namePattern": "w-#"}
    body["sourceInstanceTemplate"] = f"projects/{own}/global/instanceTemplates/t"
    _done(cloud, http, "POST", f"{BASE}/zones/{ZONE}/instances/bulkInsert", body)
    (found,) = http.get(f"{BASE}/zones/{ZONE}/instances/w-1").json()["networkInterfaces"]
    (kept,) = http.get(f"{BASE}/global/instanceTemplates/t").json()["properties"]["networkInterfaces"]

    assert f"projects/{project}/regions/us-east1/subnetworks/" in found["subnetwork"]
    assert found["network"] == kept["network"]
    assert f"projects/{project}/global/networks/" in found["network"]


def test_the_network_of_every_project_is_named_by_its_numeric_id(cloud, http):
    network = http.get(f"{BASE}/global/networks/default").json()
    body = {"count": "1", "namePattern": "w-#"}
    body["instanceProperties"] = properties(networkInterfaces=[{"network": network["selfLinkWithId"]}])
    _done(cloud, http, "POST", f"{BASE}/zones/{ZONE}/instances/bulkInsert", body)

    (found,) = http.get(f"{BASE}/zones/{ZONE}/instances/w-1").json()["networkInterfaces"]
    assert found["network"] == network["selfLink"]


def test_an_operation_is_read_by_its_numeric_id(cloud, http):
    made = _done(cloud, http, "POST", f"{BASE}/global/instanceTemplates", {"name": "web", "properties": properties()})
    read = http.get(f"{BASE}/global/operations/{made['id']}").json()

    assert (read["name"], read["status"]) == (made["name"], "DONE")
    assert http.post(f"{BASE}/global/operations/{made['id']}/wait").json()["name"] == made["name"]


def test_a_numeric_id_is_valid_in_its_scope_only(cloud, http, vm):
    number = _id(cloud, vm)

    assert http.get(f"{BASE}/zones/us-east1-c/instances/{number}").status_code == 404
    assert http.get(f"/compute/v1/projects/other/zones/{ZONE}/instances/{number}").status_code == 404
    assert http.get(f"{BASE}/zones/{ZONE}/disks/{number}").status_code == 404


def test_a_policy_judges_the_resource_however_its_path_is_spelled(cloud, http, vm):
    binding = {"permission": "compute.instances.get", "members": ["*"], "resources": [vm]}
    http.post("/_emulator/policy", json={"bindings": [binding]}).raise_for_status()
    folder = f"/compute/v1/{vm.rpartition('/')[0]}"
    cloud.make_instance("other")

    assert http.get(f"{folder}/{_id(cloud, vm)}").status_code == 200
    assert http.get(f"{folder}/{_id(cloud, vm.replace('example-vm', 'other'))}").status_code == 403
