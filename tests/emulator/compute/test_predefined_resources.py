"""What every project has without creating it."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google.cloud import compute_v1
from servers.google_clients import connect
from values.programs import PROJECT, ZONE

BASE = f"/compute/v1/projects/{PROJECT}"


@pytest.mark.parametrize(
    ("client", "arguments", "name"),
    [
        (compute_v1.RegionsClient, {}, "us-east1"),
        (compute_v1.ZonesClient, {}, "us-east1-b"),
        (compute_v1.MachineTypesClient, {"zone": "us-east1-b"}, "e2-small"),
        (compute_v1.DiskTypesClient, {"zone": "us-east1-b"}, "pd-ssd"),
        (compute_v1.DiskTypesClient, {"zone": "us-east1-b"}, "hyperdisk-balanced-high-availability"),
        (compute_v1.NetworksClient, {}, "default"),
        (compute_v1.SubnetworksClient, {"region": "us-east1"}, "default"),
    ],
)
def test_every_project_has_predefined_resources(cloud, client, arguments, name):
    found = connect(client, cloud)
    singular = client.__name__.removesuffix("sClient")
    parameter = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in singular).lstrip("_")

    assert name in [item.name for item in found.list(project=PROJECT, **arguments)]
    assert found.get(project=PROJECT, **arguments, **{parameter: name}).name == name
    with pytest.raises(exceptions.NotFound):
        found.get(project=PROJECT, **arguments, **{parameter: "missing"})


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    "path",
    [
        *(f"zones/us-east9-b/{name}" for name in ("disks", "instances", "reservations")),
        *(
            f"regions/us-east9/{name}"
            for name in ("addresses", "disks", "instanceTemplates", "resourcePolicies", "subnetworks")
        ),
    ],
)
def test_a_zone_or_region_that_does_not_exist_has_nothing(http, method, path):
    answer = http.request(method, f"{BASE}/{path}", json={"name": "new"} if method == "POST" else None)
    place = f"projects/{PROJECT}/{path.rpartition('/')[0]}"

    assert (answer.status_code, answer.json()["error"]["message"]) == (404, f"The resource '{place}' was not found")


def test_public_images_and_the_project(cloud):
    images = connect(compute_v1.ImagesClient, cloud)
    newest = images.get_from_family(project="debian-cloud", family="debian-12")

    assert images.get(project="debian-cloud", image=newest.name).family == "debian-12"
    assert newest.name in [item.name for item in images.list(project="debian-cloud")]
    assert connect(compute_v1.ProjectsClient, cloud).get(project=PROJECT).name == PROJECT


@pytest.mark.parametrize("version", ["v1", "beta"])
@pytest.mark.parametrize(
    "collection",
    ["regions", "zones", "global/networks", "zones/us-east1-b/machineTypes", "regions/us-east1/subnetworks"],
)
def test_lists_of_predefined_resources_link_to_themselves(http, version, collection):
    path = f"projects/{PROJECT}/{collection}"
    answer = http.get(f"/compute/{version}/{path}").json()
    links = [item["selfLink"] for item in answer["items"]]

    assert (answer["id"], answer["selfLink"]) == (path, f"https://www.googleapis.com/compute/{version}/{path}")
    assert links == [f"{answer['selfLink']}/{item['name']}" for item in answer["items"]]
    assert http.get(links[0].removeprefix("https://www.googleapis.com")).status_code == 200


@pytest.mark.parametrize("collection", ["regions", "zones", "global/networks"])
def test_a_missing_resource_is_named_by_its_path(http, collection):
    path = f"projects/{PROJECT}/{collection}/missing"
    answer = http.get(f"/compute/v1/{path}")

    assert (answer.status_code, answer.json()["error"]["message"]) == (404, f"The resource '{path}' was not found")


@pytest.mark.parametrize("path", ["regions", "zones", f"zones/{ZONE}/machineTypes", "global/networks"])
def test_predefined_resources_are_read_by_their_numeric_ids(http, path):
    first = http.get(f"{BASE}/{path}").json()["items"][0]

    assert http.get(f"{BASE}/{path}/{first['id']}").json() == first
    assert http.get(f"{BASE}/{path}/1").status_code == 404


def test_a_public_image_is_read_by_its_numeric_id(cloud):
    images = connect(compute_v1.ImagesClient, cloud)
    newest = images.get_from_family(project="debian-cloud", family="debian-12")

    assert images.get(project="debian-cloud", image=str(newest.id)).name == newest.name


@pytest.mark.parametrize("collection", ["acceleratorTypes", "diskTypes"])
def test_types_of_all_zones_are_listed_together(http, collection):
    of_zone = http.get(f"{BASE}/zones/{ZONE}/{collection}").json()["items"]
    found = http.get(f"{BASE}/aggregated/{collection}").json()
    everything = http.get(f"{BASE}/aggregated/{collection}?includeAllScopes=true").json()["items"]

    assert found["items"][f"zones/{ZONE}"][collection] == of_zone
    assert {item["zone"] for item in of_zone} == {f"https://www.googleapis.com{BASE}/zones/{ZONE}"}
    assert found["kind"] == f"compute#{collection.removesuffix('s')}AggregatedList"
    assert everything["global"]["warning"]["code"] == "NO_RESULTS_ON_PAGE"
