"""Images: which there are, how links name them, and what disks show of them."""

from __future__ import annotations

import base64

import pytest
from servers import plain_http
from values.programs import PROJECT, ZONE, properties

from gcpx.compute.image_names import full_image_name
from gcpx_emulator.compute.public_images import newest_public_image, public_families, public_images

BASE = "https://www.googleapis.com/compute/v1"
DEBIAN = f"{BASE}/projects/debian-cloud/global/images/debian-12-bookworm-v20261014"


@pytest.fixture
def api(cloud):
    with plain_http.client(f"http://{cloud.host}/compute/v1") as client:
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
    "family/debian-12", "projects/debian-cloud/zones/-/imageFamilyViews/debian-12",
    f"{BASE}/projects/debian-cloud/zones/us-east1-b/imageFamilyViews/debian-12",
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
        words = (404, "was not found") if "family/" in image else (400, "cannot be found")
        assert answer.status_code == words[0]
        assert words[1] in answer.json()["error"]["message"]
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


IMAGES = f"/projects/{PROJECT}/global/images"
DISKS = f"/projects/{PROJECT}/zones/{ZONE}/disks"
ARM = "projects/debian-cloud/global/images/family/debian-12-arm64"


def test_an_image_has_the_size_and_the_properties_of_its_source(api):
    features = [{"type": "GVNIC"}]
    own = {"sizeGb": "37", "sourceImage": ARM, "guestOsFeatures": features, "licenses": ["global/licenses/l"]}
    assert api.post(DISKS, json={"name": "x", **own}).status_code == 200
    api.post(IMAGES, json={"name": "of-disk", "sourceDisk": f"zones/{ZONE}/disks/x"})
    api.post(IMAGES, json={"name": "of-image", "sourceImage": "global/images/of-disk"})
    disk, of_disk, of_image = (
        api.get(path).json() for path in (f"{DISKS}/x", f"{IMAGES}/of-disk", f"{IMAGES}/of-image")
    )

    assert (of_disk["sourceDisk"], of_disk["sourceDiskId"]) == (disk["selfLink"], disk["id"])
    assert (of_image["sourceImage"], of_image["sourceImageId"]) == (of_disk["selfLink"], of_disk["id"])
    for image in (of_disk, of_image):
        assert (image["diskSizeGb"], image["architecture"], image["guestOsFeatures"]) == ("37", "ARM64", features)
        assert image["licenses"] == [f"{BASE}/projects/{PROJECT}/global/licenses/l"]
    api.post(DISKS, json={"name": "y", "sourceImage": "global/images/of-image"})
    assert api.get(f"{DISKS}/y").json()["sizeGb"] == "37"
    refused = api.post(DISKS, json={"name": "z", "sourceImage": "global/images/of-image", "sizeGb": "36"})
    assert refused.json()["error"]["message"] == (
        "Invalid value for field 'resource.sizeGb': '36'. Requested disk size cannot be smaller than the image size (37 GB)"
    )


def test_keys_of_images_are_shown_as_hashes_and_needed_for_disks_that_have_them(api):
    key = {"rawKey": base64.b64encode(bytes(range(32))).decode()}
    api.post(DISKS, json={"name": "x", "diskEncryptionKey": key})
    body = {"name": "i", "sourceDisk": f"zones/{ZONE}/disks/x", "imageEncryptionKey": key}
    assert "supply that key" in api.post(IMAGES, json=body).text
    assert api.post(IMAGES, json={**body, "sourceDiskEncryptionKey": key}).status_code == 200

    answer = api.get(f"{IMAGES}/i")
    assert key["rawKey"] not in answer.text
    assert set(answer.json()["imageEncryptionKey"]) == set(answer.json()["sourceDiskEncryptionKey"]) == {"sha256"}


def test_an_image_is_patched_deprecated_and_made_active_again(api):
    for name in ("web-1", "web-2"):
        api.post(IMAGES, json={"name": name, "family": "web", "sourceImage": ARM, "description": "d"})
    assert api.patch(f"{IMAGES}/web-1", json={"family": "other", "description": None}).status_code == 200
    patched = api.get(f"{IMAGES}/web-1").json()
    assert (patched["family"], "description" in patched) == ("other", False)
    assert api.patch(f"{IMAGES}/web-1", json={"diskSizeGb": "11"}).status_code == 400

    api.post(f"{IMAGES}/web-2/deprecate", json={"state": "DEPRECATED", "replacement": "global/images/web-1"})
    assert api.get(f"{IMAGES}/web-2").json()["deprecated"] == {
        "state": "DEPRECATED",
        "replacement": f"{BASE}/projects/{PROJECT}/global/images/web-1",
    }
    assert api.get(f"{IMAGES}/family/web").status_code == 404, "a family shows images that are not deprecated"
    warned = _template(api, "global/images/web-2").json()["warnings"]
    assert [warning["code"] for warning in warned] == ["DEPRECATED_RESOURCE_USED"]
    api.post(f"{IMAGES}/web-2/deprecate", json={"state": "ACTIVE"})
    assert api.get(f"{IMAGES}/family/web").json()["name"] == "web-2"


def test_a_template_keeps_the_family_as_it_was_written(api, cloud):
    assert _template(api, "projects/debian-cloud/global/images/family/debian-12").status_code == 200
    (disk,) = cloud.get(f"projects/{PROJECT}/global/instanceTemplates/t")["properties"]["disks"]

    assert disk["initializeParams"]["sourceImage"] == "projects/debian-cloud/global/images/family/debian-12"


PROJECTS = sorted({project for project, _ in public_families()})


@pytest.mark.parametrize("public", PROJECTS)
def test_the_provider_knows_the_families_that_there_are(public):
    for project, family in public_families():
        if project == public:
            whole = f"projects/{project}/global/images/family/{family}"
            given = [family, f"family/{family}", f"{project}/{family}", whole]

            assert {name: full_image_name(name) for name in given} == dict.fromkeys(given, whole)


@pytest.mark.parametrize("project", PROJECTS)
def test_the_provider_knows_the_images_that_there_are(project):
    for image in public_images(project):
        whole = f"projects/{project}/global/images/{image}"
        given = [image, f"{project}/{image}", whole]

        assert {name: full_image_name(name) for name in given} == dict.fromkeys(given, whole)


@pytest.mark.parametrize(("project", "family", "expected"), [
    ("debian-cloud", "debian-12", {"name": "debian-12-bookworm-v20261014", "diskSizeGb": "10", "architecture": "X86_64"}),
    ("debian-cloud", "debian-13-arm64", {"name": "debian-13-trixie-arm64-v20261014", "architecture": "ARM64"}),
    ("windows-cloud", "windows-2019", {"name": "windows-server-2019-dc-v20261014", "diskSizeGb": "50"}),
    ("windows-cloud", "windows-2025-core", {"name": "windows-server-2025-dc-core-v20261014"}),
    ("windows-sql-cloud", "sql-std-2022-win-2025", {"name": "sql-2022-standard-windows-2025-dc-v20261014"}),
    ("rhel-cloud", "rhel-10-arm64", {"name": "rhel-10-arm64-v20261014", "diskSizeGb": "20", "architecture": "ARM64"}),
    ("rhel-sap-cloud", "rhel-9-4-sap-ha", {"name": "rhel-9-4-sap-v20261014"}),
    ("ubuntu-os-cloud", "ubuntu-minimal-2604-lts-arm64", {"name": "ubuntu-minimal-2604-resolute-arm64-v20261014"}),
    ("suse-cloud", "sles-15-arm64", {"name": "sles-15-sp7-v20261014-arm64"}),
    ("rocky-linux-cloud", "rocky-linux-8-optimized-gcp-arm64", {"architecture": "ARM64"}),
    ("cos-cloud", "cos-117-lts", {"name": "cos-117-18613-75-26"}), ("cos-cloud", "cos-arm64-dev", {"architecture": "ARM64"}),
    ("fedora-coreos-cloud", "fedora-coreos-next-arm64", {"architecture": "ARM64"}),
    ("centos-cloud", "centos-stream-10", {"diskSizeGb": "20"}), ("almalinux-cloud", "almalinux-8", {"diskSizeGb": "20"}),
    ("opensuse-cloud", "opensuse-leap-arm64", {"architecture": "ARM64"}), ("suse-sap-cloud", "sles-15-sp6-sap", {}),
    ("ubuntu-os-pro-cloud", "ubuntu-pro-2204-lts", {"architecture": "X86_64"}),
])  # fmt: skip
def test_a_public_family_has_its_newest_image(api, project, family, expected):
    found = api.get(f"/projects/{project}/global/images/family/{family}").json()

    assert (found["family"], "deprecated" in found) == (family, False)
    assert found | expected == found
    assert found["name"] in {item["name"] for item in api.get(f"/projects/{project}/global/images").json()["items"]}
    assert api.get(f"/projects/{project}/global/images/{found['name']}").json() == found
    assert _disk(api, sourceImage=f"projects/{project}/global/images/family/{family}").status_code == 200


def test_a_public_image_has_its_licenses_and_features(api):
    found = api.get("/projects/windows-cloud/global/images/family/windows-2022-core").json()
    sql = api.get("/projects/windows-sql-cloud/global/images/family/sql-web-2019-win-2022").json()
    features = {item["type"] for item in found["guestOsFeatures"]}

    assert features == {"MULTI_IP_SUBNET", "UEFI_COMPATIBLE", "VIRTIO_SCSI_MULTIQUEUE", "GVNIC", "WINDOWS"}
    assert found["licenses"] == [
        f"{BASE}/projects/windows-cloud/global/licenses/{name}"
        for name in ("windows-server-2022-dc", "windows-server-core")
    ]
    assert sql["licenses"] == [
        f"{BASE}/projects/windows-sql-cloud/global/licenses/sql-server-2019-web",
        f"{BASE}/projects/windows-cloud/global/licenses/windows-server-2022-dc",
    ]


@pytest.mark.parametrize(("project", "family"), [("debian-cloud", "debian-13"), ("suse-cloud", "sles-15-arm64")])
def test_the_image_before_the_newest_of_a_family_is_deprecated_and_can_be_used(api, project, family):
    newest = newest_public_image(project, family).name
    older = newest.replace("v20261014", "v20260915")
    found = api.get(f"/projects/{project}/global/images/{older}").json()

    assert found["family"] == family
    assert found["deprecated"] == {
        "state": "DEPRECATED",
        "replacement": f"{BASE}/projects/{project}/global/images/{newest}",
    }
    assert (
        found["creationTimestamp"] < api.get(f"/projects/{project}/global/images/{newest}").json()["creationTimestamp"]
    )
    assert _disk(api, sourceImage=f"projects/{project}/global/images/{older}").status_code == 200
    template = _template(api, f"projects/{project}/global/images/{older}").json()
    assert template["warnings"][0]["code"] == "DEPRECATED_RESOURCE_USED"


def test_public_images_are_filtered_and_paged(api):
    path, names, token = "/projects/windows-sql-cloud/global/images", [], ""
    while not names or token:
        query = {"filter": "family eq sql-ent-.*", "maxResults": "5", "pageToken": token}
        page = api.get(path, params=query).json()
        names, token = [*names, *(item["name"] for item in page["items"])], page.get("nextPageToken", "")

    assert len(names) == len(set(names)) > 20
    assert all("-enterprise-" in name for name in names)


def test_a_retired_family_says_which_exist_and_is_added(http):
    retired = "projects/debian-cloud/global/images/family/debian-11"
    debian = "/compute/v1/projects/debian-cloud/global/images"
    disk = {"boot": True, "initializeParams": {"sourceImage": retired}}
    body = {**properties(disks=[disk]), "name": "vm", "machineType": f"zones/{ZONE}/machineTypes/e2-small"}
    instances = f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances"
    refusals = [http.get(f"{debian}/family/debian-11"), http.post(instances, json=body)]
    elsewhere = http.get(f"/compute/v1/projects/{PROJECT}/global/images/family/debian-11").json()["error"]["message"]
    http.post("/_emulator/image-families", json={"added": {"debian-cloud": ["debian-11"]}})
    found, made = http.get(f"{debian}/family/debian-11").json(), http.post(instances, json=body)

    for answer in refusals:
        message = answer.json()["error"]["message"]
        assert answer.status_code == 404
        assert message.startswith(f"The resource '{retired}' was not found; did you mean")
        assert "debian-12" in message
        assert message.endswith("POST /_emulator/image-families adds others.")
    assert elsewhere == f"The resource 'projects/{PROJECT}/global/images/family/debian-11' was not found"
    assert (found["family"], made.status_code) == ("debian-11", 200)
    assert http.get(f"{debian}/{found['name']}").json() == found
    assert found in http.get(debian).json()["items"]
