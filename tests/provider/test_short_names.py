"""A short name differs from another only if it stands for another project, region or zone."""

from __future__ import annotations

import pytest
from values.programs import ATTACHMENT, FLEET, IMAGE, PROJECT, TEMPLATE, attachment, fleet, image, template  # fmt: skip

HOSTS = ("https://compute.googleapis.com/compute/v1/", "https://www.googleapis.com/compute/beta/")


def _disk(**parameters):
    return {"disks": [{"boot": True, "initializeParams": parameters}]}


def _image(link, **more):
    return template(**_disk(sourceImage=link, **more))


def _network(link):
    return template(networkInterfaces=[{"network": link}])


def _subnetwork(link, **more):
    return {**template(networkInterfaces=[{"subnetwork": link}]), **more}


def _data(source):
    boot = {"boot": True, "initializeParams": {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"}}
    return template(disks=[boot, {"deviceName": "data", "source": source}])


EAST = {"region": "us-east1"}
OWN = {"project": "own-project"}
SAME = [
    (TEMPLATE, {**_network("default"), **OWN}, {**_network("projects/own-project/global/networks/default"), **OWN}),
    (TEMPLATE, _subnetwork("s", **EAST), _subnetwork(f"projects/{PROJECT}/regions/us-east1/subnetworks/s", **EAST)),
    (IMAGE, image(), image(sourceInstance=f"projects/{PROJECT}/zones/us-east1-b/instances/example-vm")),
    (ATTACHMENT, attachment(), attachment(disk="zones/us-east1-b/disks/example-data")),
    (ATTACHMENT, attachment(), attachment(instance=f"{HOSTS[0]}projects/{PROJECT}/zones/us-east1-b/instances/example-vm")),
]  # fmt: skip
OTHER = [
    (TEMPLATE, {**_network("default"), **OWN}, {**_network(f"projects/{PROJECT}/global/networks/default"), **OWN}, "properties.networkInterfaces[0].network"),
    (TEMPLATE, _network("projects/123456/global/networks/n"), _network("projects/host/global/networks/n"), "properties.networkInterfaces[0].network"),
    (TEMPLATE, _subnetwork("s", **EAST), _subnetwork("regions/us-west1/subnetworks/s", **EAST), "properties.networkInterfaces[0].subnetwork"),
    (TEMPLATE, _subnetwork("s"), _subnetwork("regions/us-east1/subnetworks/s"), "properties.networkInterfaces[0].subnetwork"),
    (TEMPLATE, _image("global/images/mine"), _image("global/images/family/mine"), "properties.disks[0].initializeParams.sourceImage"),
    (TEMPLATE, _data("d"), _data("regions/us-east1/disks/d"), "properties.disks[1].source"),
    (IMAGE, image(), image(sourceInstance="zones/us-east1-c/instances/example-vm"), "sourceInstance"),
    (IMAGE, image(), image(sourceInstance="projects/host/zones/us-east1-b/instances/example-vm"), "sourceInstance"),
    (ATTACHMENT, attachment(), attachment(disk="projects/host/zones/us-east1-b/disks/example-data"), "disk"),
    (ATTACHMENT, attachment(), attachment(disk="regions/us-east1/disks/example-data"), "disk"),
    (ATTACHMENT, attachment(instance="example-vm", zone="us-east1-b"), attachment(instance="zones/us-east1-c/instances/example-vm"), "instance"),
]  # fmt: skip


def _resource(engine, token, inputs):
    """Return a resource as the engine's state would hold it after a creation."""
    from engines import driver  # noqa: PLC0415 - beside its one use

    checked = engine.checked(token, "x", inputs)
    outputs = {name: value for name, value in engine.preview(token, "x", checked).items() if value != driver.UNKNOWN}
    return driver.Resource(engine.urn(token, "x"), "projects/p/x", checked, {**checked, **outputs})


@pytest.mark.parametrize(("token", "one", "other"), SAME)
def test_another_spelling_of_a_name_is_not_a_change(engine, token, one, other):
    assert dict(engine.diff(_resource(engine, token, one), other).detailedDiff) == {}
    assert dict(engine.diff(_resource(engine, token, other), one).detailedDiff) == {}


@pytest.mark.parametrize(("token", "one", "other", "path"), OTHER)
def test_the_same_name_elsewhere_is_a_change(engine, token, one, other, path):
    assert path in engine.diff(_resource(engine, token, one), other).detailedDiff
    assert path in engine.diff(_resource(engine, token, other), one).detailedDiff


@pytest.mark.parametrize(("token", "written", "left_out"), [
    (TEMPLATE, {**template(), "project": PROJECT}, template()),
    (IMAGE, image(project=PROJECT), image()),
    (ATTACHMENT, attachment(instance="example-vm", zone="us-east1-b"), attachment()),
    (ATTACHMENT, attachment(project=PROJECT), attachment()),
])  # fmt: skip
def test_omitting_a_location_that_applies_anyway_is_not_a_change(engine, token, written, left_out):
    assert dict(engine.diff(_resource(engine, token, written), left_out).detailedDiff) == {}
    assert dict(engine.diff(_resource(engine, token, left_out), written).detailedDiff) == {}


@pytest.mark.parametrize(("token", "one", "other", "path"), [
    (TEMPLATE, {**template(), "project": "other-project"}, template(), "project"),
    (TEMPLATE, {**template(), "region": "us-east1"}, template(), "region"),
    (ATTACHMENT, attachment(instance="example-vm", zone="us-east1-b"), attachment(instance="zones/us-east1-c/instances/example-vm"), "instance"),
])  # fmt: skip
def test_omitting_a_location_that_does_not_apply_is_a_change(engine, token, one, other, path):
    assert path in engine.diff(_resource(engine, token, one), other).detailedDiff


def test_a_resource_keeps_its_project_when_the_providers_project_changes(engine, cloud):
    made = engine.create(TEMPLATE, "web", template())
    engine.configure(project="another-project", emulatorHost=cloud.host)

    assert dict(engine.diff(made, _network(f"projects/{PROJECT}/global/networks/default")).detailedDiff) == {}
    assert engine.diff(made, _network("projects/another-project/global/networks/default")).detailedDiff


@pytest.mark.parametrize(
    "network", ["default", "global/networks/default", f"projects/{PROJECT}/global/networks/default"]
)
def test_a_name_that_google_returns_as_a_full_link_is_not_drift(engine, network):
    made = engine.create(TEMPLATE, "web", _network(network))

    assert engine.drift(made) == set()
    (nic,) = engine.refresh(made).inputs["properties"]["networkInterfaces"]
    assert nic["network"] == network


def test_a_network_of_another_project_is_drift(engine, cloud):
    made = engine.create(TEMPLATE, "web", _network("global/networks/default"))

    def move(body):
        link = body["properties"]["networkInterfaces"][0]["network"]
        body["properties"]["networkInterfaces"][0]["network"] = link.replace(PROJECT, "host-project")

    cloud.change(made.id, move)

    assert engine.drift(made) == {"properties.networkInterfaces[0].network"}


def test_a_project_number_in_place_of_the_project_id_is_not_drift(engine, cloud):
    made = engine.create(TEMPLATE, "web", _network("global/networks/default"))

    def number(body):
        link = body["properties"]["networkInterfaces"][0]["network"]
        body["properties"]["networkInterfaces"][0]["network"] = link.replace(PROJECT, "123456789")

    cloud.change(made.id, number)

    assert engine.drift(made) == set()


def test_an_import_returns_the_network_of_another_project(engine, cloud):
    made = engine.create(TEMPLATE, "web", _network("projects/host-project/global/networks/default"))

    (nic,) = engine.import_(TEMPLATE, "web", made.id).inputs["properties"]["networkInterfaces"]
    assert nic["network"].endswith("projects/host-project/global/networks/default")


@pytest.mark.parametrize("written", ["us-east1", "regions/us-east1", f"{HOSTS[0]}projects/{PROJECT}/regions/us-east1"])
@pytest.mark.parametrize(("token", "inputs"), [(TEMPLATE, template()), (FLEET, fleet(1))])
def test_a_region_is_the_same_in_preview_and_creation(engine, cloud, token, inputs, written):
    given = {**inputs, "region": written}
    checked = engine.checked(token, "x", given)
    made = engine.create(token, "x", given)

    assert engine.preview(token, "x", checked)["region"] == made.outputs["region"]
    assert engine.drift(made) == set()


@pytest.mark.parametrize("written", ["us-east1", "regions/us-east1"])
def test_the_providers_region_is_the_same_in_preview_and_creation(engine, cloud, written):
    engine.configure(project=PROJECT, emulatorHost=cloud.host, region=written)
    given = {name: value for name, value in fleet(1).items() if name != "region"}
    made = engine.create(FLEET, "x", given)

    assert engine.preview(FLEET, "x", made.inputs)["region"] == made.outputs["region"] == "us-east1"
    assert "region" not in engine.import_(FLEET, "x", made.id).inputs


@pytest.mark.parametrize(
    "written", ["us-east1-b", "zones/us-east1-b", f"{HOSTS[0]}projects/{PROJECT}/zones/us-east1-b", None]
)
def test_a_zone_is_the_same_in_preview_and_creation(engine, vm, written):
    given = attachment(**({"instance": "example-vm", "zone": written} if written else {}))
    made = engine.create(ATTACHMENT, "x", given)

    assert engine.preview(ATTACHMENT, "x", made.inputs)["zone"] == made.outputs["zone"]
    assert engine.drift(made) == set()


def test_a_refresh_keeps_an_image_that_was_deleted(engine, cloud):
    made = engine.create(TEMPLATE, "web", template())

    def forget(body):
        del body["properties"]["disks"][0]["initializeParams"]["sourceImage"]

    cloud.change(made.id, forget)
    live = engine.refresh(made)

    assert engine.drift(made) == set()
    assert live.outputs["properties"]["disks"][0]["initializeParams"]["sourceImage"]
    assert engine.diff(live, _image("projects/debian-cloud/global/images/family/debian-13")).replaces
