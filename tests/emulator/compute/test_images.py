"""Images: which there are, how links name them, and what disks show of them."""

from __future__ import annotations

import httpx
import pytest
from programs import PROJECT, ZONE, properties

from gcpx.compute.image_names import full_image_name
from gcpx_emulator.compute.images import DEPRECATED, FAMILIES

BASE = "https://www.googleapis.com/compute/v1"
DEBIAN = f"{BASE}/projects/debian-cloud/global/images/debian-12-bookworm-v20261014"


@pytest.fixture
def api(cloud):
    with httpx.Client(base_url=f"http://{cloud.host}/compute/v1", trust_env=False) as client:
        yield client


def _disk(api, **body):
    return api.post(f"/projects/{PROJECT}/zones/{ZONE}/disks", json={"name": "d", **body})


def _template(api, image):
    disk = {"boot": True, "initializeParams": {"sourceImage": image}}
    return api.post(
        f"/projects/{PROJECT}/global/instanceTemplates", json={"name": "t", "properties": properties(disks=[disk])}
    )


@pytest.mark.parametrize("image", [
    "projects/debian-cloud/global/images/family/debian-12",
    f"{BASE}/projects/debian-cloud/global/images/family/debian-12",
    "https://compute.googleapis.com/compute/beta/projects/debian-cloud/global/images/debian-12-bookworm-v20261014",
    "family/debian-12",
])  # fmt: skip
def test_a_disk_names_its_source_image(api, cloud, image):
    assert _disk(api, sourceImage=image).status_code == 200
    found = cloud.get(f"projects/{PROJECT}/zones/{ZONE}/disks/d")

    assert found["sourceImage"] == DEBIAN
    assert found["sourceImageId"] == api.get("/projects/debian-cloud/global/images/family/debian-12").json()["id"]
    assert found["sizeGb"] == "10"


def test_an_instances_disk_names_its_source_image(api, cloud):
    cloud.make_instance("vm")

    assert cloud.get(f"projects/{PROJECT}/zones/{ZONE}/disks/vm")["sourceImage"] == DEBIAN


@pytest.mark.parametrize("image", [
    "debian-12", "debian-cloud/debian-12", "images/debian-12", "projects/debian-cloud/images/debian-12",
    "global/images/Debian 12", "projects//global/images/x", "global/images/", "family/", "a/b/c/d",
])  # fmt: skip
def test_a_malformed_image_is_refused(api, image):
    for answer in (_disk(api, sourceImage=image), _template(api, image)):
        assert answer.status_code == 400
        assert "sourceImage" in answer.json()["error"]["message"]
        assert "malformed" in answer.json()["error"]["message"]


@pytest.mark.parametrize("image", [
    "projects/debian-cloud/global/images/family/debian-99", "global/images/mine", "global/images/family/debian-12",
    "family/nobodys", "projects/nowhere/global/images/x",
])  # fmt: skip
def test_an_image_that_does_not_exist_is_refused(api, cloud, image):
    for answer in (_disk(api, sourceImage=image), _template(api, image)):
        assert answer.status_code == 400
        assert "cannot be found" in answer.json()["error"]["message"]
    assert cloud.get(f"projects/{PROJECT}/global/instanceTemplates/t") is None


def test_an_image_of_the_project_is_created_found_and_deleted(api, cloud):
    images = f"/projects/{PROJECT}/global/images"
    body = {"name": "web-2", "family": "web", "sourceDisk": cloud.make_disk("x")}
    for made in ({**body, "name": "web-1"}, body):
        assert api.post(images, json=made).status_code == 200
    cloud.emulator.operations.settle()

    assert api.get(f"{images}/family/web").json()["name"] == "web-2"
    assert {item["name"] for item in api.get(images).json()["items"]} == {"web-1", "web-2"}
    assert _disk(api, sourceImage="family/web").status_code == 200
    assert cloud.get(f"projects/{PROJECT}/zones/{ZONE}/disks/d")["sourceImage"].endswith(f"{images}/web-2")
    assert api.delete(f"{images}/web-2").status_code == 200
    cloud.emulator.operations.settle()
    assert api.get(f"{images}/web-2").status_code == 404
    assert api.get(f"{images}/family/web").json()["name"] == "web-1"


def test_a_template_keeps_the_family(api, cloud):
    assert _template(api, "projects/debian-cloud/global/images/family/debian-12").status_code == 200
    (disk,) = cloud.get(f"projects/{PROJECT}/global/instanceTemplates/t")["properties"]["disks"]

    assert disk["initializeParams"]["sourceImage"] == f"{BASE}/projects/debian-cloud/global/images/family/debian-12"


@pytest.mark.parametrize(("project", "family"), [(name, family) for name in FAMILIES for family in FAMILIES[name]])
def test_the_provider_knows_the_families_that_there_are(project, family):
    whole = f"projects/{project}/global/images/family/{family}"

    assert (
        full_image_name(family)
        == full_image_name(f"family/{family}")
        == full_image_name(f"{project}/{family}")
        == full_image_name(whole)
        == whole
    )


@pytest.mark.parametrize(
    ("project", "image"),
    [(name, image) for name in FAMILIES for image in (*FAMILIES[name].values(), *DEPRECATED.get(name, ()))],
)
def test_the_provider_knows_the_images_that_there_are(project, image):
    whole = f"projects/{project}/global/images/{image}"

    assert full_image_name(image) == full_image_name(f"{project}/{image}") == full_image_name(whole) == whole
