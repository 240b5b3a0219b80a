"""Instance templates, used by Google's own clients."""

from __future__ import annotations

import pytest
from engines.inventory import Inventory
from google.api_core import exceptions
from google.cloud import compute_v1
from servers.google_clients import connect, insert_template, instance_properties
from servers.surroundings import make_surroundings
from values.programs import DEBIAN, PROJECT, properties

BASE = f"/compute/v1/projects/{PROJECT}"


@pytest.fixture
def templates(cloud):
    return connect(compute_v1.InstanceTemplatesClient, cloud)


def test_a_template_is_created_read_listed_and_deleted(templates, cloud):
    cloud.hold_operations()
    operation = insert_template(templates, "web", labels={"app": "web"})
    assert not operation.done()
    cloud.finish_operations()
    operation.result()
    found = templates.get(project=PROJECT, instance_template="web")

    assert operation.done()
    assert (found.name, found.properties.labels["app"], found.properties.disks[0].index) == ("web", "web", 0)
    assert found.properties.network_interfaces[0].network.endswith("/projects/demo-project/global/networks/default")
    assert found.properties.network_interfaces[0].access_configs[0].type_ == "ONE_TO_ONE_NAT"
    assert [item.name for item in templates.list(project=PROJECT)] == ["web"]
    templates.delete(project=PROJECT, instance_template="web").result()
    assert list(templates.list(project=PROJECT)) == []


@pytest.mark.parametrize("read", ["v1", "beta"])
def test_links_have_the_version_of_the_read_and_texts_stay_as_they_were_given(http, read):
    links = [f"https://www.googleapis.com/compute/{version}/{DEBIAN}" for version in ("v1", "beta")]
    metadata = {"items": [{"key": f"key-{number}", "value": link} for number, link in enumerate(links)]}
    disks = [{"boot": link is links[0], "initializeParams": {"sourceImage": link}} for link in links]
    given = properties(metadata=metadata, disks=disks, description=f"See {links[0]} and {links[1]}.")
    body = {"name": "web", "description": links[1], "properties": given}
    http.post(f"{BASE}/global/instanceTemplates", json=body).raise_for_status()
    found = http.get(f"/compute/{read}/projects/{PROJECT}/global/instanceTemplates/web").json()
    kept = found["properties"]

    assert f"/compute/{read}/" in found["selfLink"]
    assert all(f"/compute/{read}/" in disk["initializeParams"]["sourceImage"] for disk in kept["disks"])
    assert [item["value"] for item in kept["metadata"]["items"]] == links
    assert (found["description"], kept["description"]) == (body["description"], given["description"])


def test_every_link_has_the_version_of_the_read(cloud, http):
    make_surroundings(cloud)
    paths = [path for path in Inventory.of(cloud).items if path.startswith(f"projects/{PROJECT}/")]
    shown = {path: http.get(f"/compute/beta/{path}") for path in paths}
    written = {path.split("/")[-2] for path, answer in shown.items() if answer.status_code == 200}

    assert written >= {"disks", "instances", "instanceTemplates", "machineImages"}
    assert [path for path, answer in shown.items() if "/compute/v1/" in answer.text] == []


def test_errors_are_what_the_clients_expect(templates):
    insert_template(templates, "web").result()
    with pytest.raises(exceptions.NotFound, match=r"instanceTemplates/missing' was not found"):
        templates.get(project=PROJECT, instance_template="missing")
    with pytest.raises(exceptions.Conflict, match="already exists"):
        insert_template(templates, "web")
    with pytest.raises(exceptions.BadRequest, match=r"resource\.name"):
        insert_template(templates, "Bad_Name")


def test_regional_templates_have_their_own_scope(templates, cloud):
    regional = connect(compute_v1.RegionInstanceTemplatesClient, cloud)
    template = compute_v1.InstanceTemplate(name="web", properties=instance_properties())
    regional.insert(project=PROJECT, region="us-east1", instance_template_resource=template).result()
    found = regional.get(project=PROJECT, region="us-east1", instance_template="web")
    scopes = {name: scope.instance_templates for name, scope in templates.aggregated_list(project=PROJECT)}

    assert found.region.endswith("/regions/us-east1")
    assert [item.name for item in scopes["regions/us-east1"]] == ["web"]
    assert not scopes["global"]
    regional.delete(project=PROJECT, region="us-east1", instance_template="web").result()
    with pytest.raises(exceptions.NotFound):
        regional.insert(project=PROJECT, region="nowhere", instance_template_resource=template)


@pytest.fixture
def template(cloud):
    for scope in ("global", "regions/us-east1"):
        cloud.post(f"{BASE}/{scope}/instanceTemplates", {"name": "web", "properties": properties()})
    return f"projects/{PROJECT}/global/instanceTemplates/web"


@pytest.mark.parametrize(
    ("place", "status"),
    [("regions/us-east1", 200), ("zones/us-east1-c", 200), ("regions/us-central1", 400), ("zones/us-central1-a", 400)],
)
def test_a_regional_template_serves_its_own_region_alone(http, template, place, status):
    body = {"count": "1", "namePattern": "w-#", "sourceInstanceTemplate": "regions/us-east1/instanceTemplates/web"}
    answer = http.post(f"{BASE}/{place}/instances/bulkInsert", json=body)

    assert answer.status_code == status
    assert status == 200 or "us-east1" in answer.json()["error"]["message"]


def test_a_template_is_created_from_an_instance(templates, cloud):
    instances = connect(compute_v1.InstancesClient, cloud)
    boot = compute_v1.AttachedDisk(
        boot=True, device_name="boot", initialize_params=compute_v1.AttachedDiskInitializeParams(source_image=DEBIAN)
    )
    data = compute_v1.AttachedDisk(
        device_name="data", initialize_params=compute_v1.AttachedDiskInitializeParams(disk_size_gb=50)
    )
    vm = compute_v1.Instance(
        name="vm", machine_type="zones/us-east1-b/machineTypes/e2-medium", disks=[boot, data], network_interfaces=[{}]
    )
    instances.insert(project=PROJECT, zone="us-east1-b", instance_resource=vm).result()
    assert instances.get(project=PROJECT, zone="us-east1-b", instance="vm").status == "RUNNING"
    template = compute_v1.InstanceTemplate(
        name="from-vm", source_instance="zones/us-east1-b/instances/vm",
        source_instance_params={"disk_configs": [{"device_name": "data", "instantiate_from": "DO_NOT_INCLUDE"}]},
    )  # fmt: skip
    templates.insert(project=PROJECT, instance_template_resource=template).result()
    found = templates.get(project=PROJECT, instance_template="from-vm")

    assert found.properties.machine_type == "e2-medium"
    assert [disk.device_name for disk in found.properties.disks] == ["boot"]
    assert [item.name for item in instances.list(project=PROJECT, zone="us-east1-b")] == ["vm"]
    instances.delete(project=PROJECT, zone="us-east1-b", instance="vm").result()
