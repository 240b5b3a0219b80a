"""Checks at preview that ask Google, where the user wants them."""

from __future__ import annotations

import driver
import httpx
import pytest
from driver import UNKNOWN
from programs import (
    ATTACHMENT,
    FLEET,
    NOTIFICATION,
    PROJECT,
    TEMPLATE,
    attachment,
    fleet,
    notification,
    properties,
    template,
)
from steered import HANGS

IMAGE = "projects/debian-cloud/global/images/family/debian-12"


@pytest.fixture
def asking(cloud):
    topic = f"http://{cloud.host}/v1/projects/{PROJECT}/topics/uploads"
    httpx.put(topic, json={}, trust_env=False, timeout=HANGS).raise_for_status()
    cloud.emulator.requests.kept.clear()
    with driver.engine(project=PROJECT, emulatorHost=cloud.host, validateOnline="true") as made:
        yield made


def _disk(image):
    return {"disks": [{"boot": True, "initializeParams": {"sourceImage": image}}]}


@pytest.mark.parametrize(("token", "inputs"), [
    (TEMPLATE, template()), (TEMPLATE, {**template(), "region": "us-east1"}),
    (TEMPLATE, template(machineType="custom-4-8192")), (TEMPLATE, template(machineType=UNKNOWN)),
    (TEMPLATE, template(networkInterfaces=[{"subnetwork": "regions/us-east1/subnetworks/default"}])),
    (TEMPLATE, template(networkInterfaces=[{"network": UNKNOWN}, {}])),
    (TEMPLATE, template(**_disk(UNKNOWN))), (TEMPLATE, template(**_disk("projects/debian-cloud/global/images/debian-12-bookworm-v20261014"))),
    (TEMPLATE, {"sourceInstance": "zones/us-east1-b/instances/example-vm"}),
    (FLEET, fleet(5, disks=_disk(IMAGE)["disks"])), (ATTACHMENT, attachment()),
    (NOTIFICATION, notification()), (NOTIFICATION, notification(topic="uploads")), (NOTIFICATION, notification(topic=UNKNOWN)),
])  # fmt: skip
def test_what_exists_is_taken(asking, vm, token, inputs):
    assert asking.failures(token, inputs) == {}


@pytest.mark.parametrize(("token", "inputs", "path", "words"), [
    (TEMPLATE, template(machineType="e9-huge"), "properties.machineType", "is no machine type in any zone"),
    (TEMPLATE, {**template(machineType="e9-huge"), "region": "us-east1"}, "properties.machineType", "in us-east1"),
    (TEMPLATE, template(**_disk("projects/debian-cloud/global/images/family/debian-99")), "properties.disks[0].initializeParams.sourceImage", "does not exist"),
    (TEMPLATE, template(**_disk("family/debian-12")), "properties.disks[0].initializeParams.sourceImage", "projects/demo-project/global/images/family/debian-12"),
    (TEMPLATE, template(networkInterfaces=[{"network": "inside"}]), "properties.networkInterfaces[0].network", "global/networks/inside"),
    (TEMPLATE, template(networkInterfaces=[{"subnetwork": "https://www.googleapis.com/compute/v1/projects/demo-project/regions/us-east1/subnetworks/none"}]), "properties.networkInterfaces[0].subnetwork", "does not exist"),
    (FLEET, fleet(5, disks=_disk(IMAGE)["disks"], locationPolicy={"locations": {"zones/us-east1-x": {}}}), 'locationPolicy.locations["zones/us-east1-x"]', "is no zone of demo-project"),
    (FLEET, fleet(5, disks=_disk(IMAGE)["disks"], locationPolicy={"locations": {"zones/us-central1-a": {}}}), 'locationPolicy.locations["zones/us-central1-a"]', "is no zone of us-east1"),
    (FLEET, fleet(5, disks=_disk(IMAGE)["disks"], region="mars-north1"), "region", "is no region"),
    (ATTACHMENT, attachment(instance="zones/mars-b/instances/x"), "instance", "is no zone"),
    (NOTIFICATION, notification(topic="none"), "topic", "projects/demo-project/topics/none"),
])  # fmt: skip
def test_what_does_not_exist_is_refused_at_its_path(asking, vm, token, inputs, path, words):
    refused = asking.failures(token, inputs)

    assert words in refused[path]


def test_nobody_is_asked_unless_the_user_wants_it(engine, cloud):
    assert engine.failures(TEMPLATE, template(machineType="e9-huge")) == {}
    assert cloud.calls() == []


def test_each_name_is_asked_for_once(asking, cloud):
    for number in range(5):
        asking.failures(TEMPLATE, {**template(), "name": f"t{number}"})

    assert sorted(cloud.calls()) == [
        "compute.images.getFromFamily",
        "compute.machineTypes.aggregatedList",
        "compute.networks.get",
    ]


def test_nothing_is_asked_about_inputs_that_are_wrong_already(asking, cloud):
    asking.failures(TEMPLATE, template(machineType="e9-huge", canIpForward="x"))

    assert cloud.calls() == []


@pytest.mark.parametrize("fault", [{"status": 403, "message": "no permission"}, {"status": 400}])
def test_what_the_caller_may_not_see_is_a_warning(asking, cloud, fault):
    cloud.fail("compute.networks.get", **fault)

    assert asking.failures(TEMPLATE, template()) == {}
    assert asking.failures(TEMPLATE, template()) == {}
    (said,) = [text for _, _, text in asking.log.messages]
    assert said.startswith("validateOnline could not check projects/demo-project/global/networks/default")


def _ordered(cloud, limit):
    httpx.post(
        f"http://{cloud.host}/_emulator/limits", json={"instances": {"us-east1": limit}}, trust_env=False, timeout=HANGS
    )


def _fleet(count, **more):
    return fleet(count, disks=_disk(IMAGE)["disks"], **more)


def test_a_fleet_that_quotas_have_no_room_for_is_refused(asking, cloud):
    _ordered(cloud, 10)

    assert asking.failures(FLEET, _fleet(10)) == {}
    assert asking.failures(FLEET, _fleet(11))["count"] == "would take 11 of INSTANCES in us-east1, where 10 are left"
    assert "CPUS" in asking.failures(FLEET, _fleet(600))["count"]


def test_a_fleet_whose_least_number_fits_is_warned_about(asking, cloud):
    _ordered(cloud, 10)

    assert asking.failures(FLEET, _fleet(12, minCount=5)) == {}
    assert [text for _, _, text in asking.log.messages if "minCount can be met" in text]


def test_only_those_that_are_new_need_room(asking, cloud):
    _ordered(cloud, 10)
    made = asking.create(FLEET, "f", _fleet(8))
    with driver.engine(project=PROJECT, emulatorHost=cloud.host, validateOnline="true") as later:
        assert not later.check(FLEET, "f", _fleet(10), made.inputs).failures
        assert later.check(FLEET, "f", _fleet(11), made.inputs).failures


def test_a_template_that_is_made_from_properties_uses_its_region(asking):
    regional = {
        **template(),
        "region": "us-east1",
        "properties": properties(networkInterfaces=[{"subnetwork": "default"}]),
    }

    assert asking.failures(TEMPLATE, regional) == {}
