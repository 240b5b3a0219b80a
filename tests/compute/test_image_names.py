"""Short image names: a preview shows, and a request has, a form that Google accepts; another spelling is not a change."""

from __future__ import annotations

import pytest
from engines.driver import UNKNOWN, secret
from values.programs import FLEET, PROJECT, TEMPLATE, fleet, template

DEBIAN = "projects/debian-cloud/global/images/family/debian-12"
URL = f"https://www.googleapis.com/compute/v1/{DEBIAN}"


def _disks(image):
    return [{"boot": True, "initializeParams": {"sourceImage": image}}]


def _image(inputs, owner="properties"):
    return inputs[owner]["disks"][0]["initializeParams"]["sourceImage"]


@pytest.mark.parametrize(("written", "resolved"), [
    ("debian-12", DEBIAN), ("family/debian-12", DEBIAN), ("debian-cloud/debian-12", DEBIAN), (DEBIAN, DEBIAN), (URL, URL),
    ("debian-12-bookworm-v20261014", "projects/debian-cloud/global/images/debian-12-bookworm-v20261014"),
    ("ubuntu-os-cloud/ubuntu-2404-lts-amd64", "projects/ubuntu-os-cloud/global/images/family/ubuntu-2404-lts-amd64"),
    ("cos-stable", "projects/cos-cloud/global/images/family/cos-stable"),
    ("web-base", "global/images/web-base"), ("family/web", "global/images/family/web"),
    ("debian-12-custom", "global/images/debian-12-custom"),
    ("my-images/web-base", "projects/my-images/global/images/web-base"),
    ("global/images/web-base", "global/images/web-base"), ("global/images/family/web", "global/images/family/web"),
])  # fmt: skip
def test_a_short_name_is_resolved_at_preview(engine, cloud, written, resolved):
    shown = engine.checked(TEMPLATE, "web", template(disks=_disks(written)))

    assert _image(shown) == resolved
    assert _image(engine.checked(FLEET, "f", fleet(1, disks=_disks(written))), "instanceProperties") == resolved


@pytest.mark.parametrize("written", ["debian-12", "family/debian-12", "debian-cloud/debian-12", DEBIAN, URL])
def test_another_spelling_of_the_same_image_is_not_a_change(engine, cloud, written):
    created = engine.create(TEMPLATE, "web", template(disks=_disks(written)))
    (insert,) = cloud.requests("compute.instanceTemplates.insert")

    assert _image(insert["body"]).endswith(DEBIAN)
    assert engine.drift(created) == set()
    for other in ("debian-12", "family/debian-12", "debian-cloud/debian-12", DEBIAN, URL):
        assert dict(engine.diff(created, template(disks=_disks(other))).detailedDiff) == {}
    assert engine.diff(created, template(disks=_disks("debian-13"))).replaces


def test_a_state_with_a_short_name_has_no_change(engine):
    import attrs  # noqa: PLC0415 - beside its one use

    created = engine.create(TEMPLATE, "web", template(disks=_disks("family/debian-12")))
    before = attrs.evolve(created, inputs={**created.inputs, **template(disks=_disks("family/debian-12"))})

    assert dict(engine.diff(before, template(disks=_disks("family/debian-12"))).detailedDiff) == {}


@pytest.mark.parametrize("written", [
    "Debian 12", "images/debian-12", "projects/debian-cloud/images/debian-12", "projects/debian-cloud/debian-12", "family/", "a/b/c",
    "https://example.com/image.tar.gz", "global/images/Debian", "projects/My Project/global/images/x",
])  # fmt: skip
def test_a_name_that_cannot_be_resolved_is_refused_with_the_accepted_forms(engine, cloud, written):
    refused = engine.failures(TEMPLATE, template(disks=_disks(written)))

    assert list(refused) == ["properties.disks[0].initializeParams.sourceImage"]
    assert "must be projects/PROJECT/global/images/IMAGE" in refused["properties.disks[0].initializeParams.sourceImage"]
    assert cloud.calls() == []


def test_an_unknown_image_stays_unknown_and_a_secret_one_secret(engine):
    assert _image(engine.checked(TEMPLATE, "web", template(disks=_disks(UNKNOWN)))) == UNKNOWN
    assert _image(engine.checked(TEMPLATE, "web", template(disks=_disks(secret("debian-12"))))) == secret(DEBIAN)


def test_an_image_of_the_own_project_must_exist_when_the_template_is_created(engine, cloud):
    import grpc  # noqa: PLC0415 - beside its one use

    with pytest.raises(grpc.RpcError, match="cannot be found"):
        engine.create(TEMPLATE, "web", template(disks=_disks("web-base")))
    images = f"/compute/v1/projects/{PROJECT}/global/images"
    cloud.post(images, {"name": "web-base", "sourceDisk": cloud.make_disk("d")})

    created = engine.create(TEMPLATE, "own", template(disks=_disks("web-base")))
    assert engine.drift(created) == set()


def test_a_custom_image_for_a_disk_of_the_source_instance_is_resolved(engine, vm):
    config = {"deviceName": "boot", "instantiateFrom": "CUSTOM_IMAGE", "customImage": "debian-13"}
    inputs = {"sourceInstance": vm, "sourceInstanceParams": {"diskConfigs": [config]}}

    (shown,) = engine.checked(TEMPLATE, "web", inputs)["sourceInstanceParams"]["diskConfigs"]
    assert shown["customImage"] == DEBIAN.replace("12", "13")
