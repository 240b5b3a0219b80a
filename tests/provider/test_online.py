"""Checks at preview that ask Google, where the user wants them."""

from __future__ import annotations

import http.server
import threading
from contextlib import contextmanager

import driver
import httpx
import pytest
from driver import UNKNOWN
from programs import (
    ATTACHMENT,
    FLEET,
    KEY,
    NOTIFICATION,
    PROJECT,
    TEMPLATE,
    attachment,
    fleet,
    image,
    key,
    notification,
    properties,
    template,
)
from steered import HANGS

IMAGE_ = "gcpx:compute:MachineImage"
IMAGE = "projects/debian-cloud/global/images/family/debian-12"


@pytest.fixture
def asking(cloud):
    with driver.engine(project=PROJECT, emulatorHost=cloud.host, validateOnline="true") as made:
        yield made


def _disk(image):
    return {"disks": [{"boot": True, "initializeParams": {"sourceImage": image}}]}


@pytest.mark.parametrize(("token", "inputs"), [
    (TEMPLATE, template()), (TEMPLATE, {**template(), "region": "us-east1"}),
    (TEMPLATE, template(machineType="custom-4-8192")), (TEMPLATE, template(machineType=UNKNOWN)),
    (TEMPLATE, template(networkInterfaces=[{"subnetwork": "regions/us-east1/subnetworks/default"}])),
    (TEMPLATE, template(networkInterfaces=[{"network": UNKNOWN}, {}])),
    (TEMPLATE, template(**_disk(UNKNOWN))), (TEMPLATE, template(**_disk("debian-12"))), (TEMPLATE, template(**_disk("family/debian-12"))),
    (IMAGE_, image()), (KEY, key(projectId=PROJECT, regions=["us-east1"])), (ATTACHMENT, attachment(instance="example-vm", zone="zones/us-east1-b")), (TEMPLATE, template(**_disk("projects/debian-cloud/global/images/debian-12-bookworm-v20261014"))),
    (TEMPLATE, {"sourceInstance": "zones/us-east1-b/instances/example-vm"}),
    (FLEET, fleet(5, disks=_disk(IMAGE)["disks"])), (ATTACHMENT, attachment()),
    (NOTIFICATION, notification()), (NOTIFICATION, notification(topic="uploads")), (NOTIFICATION, notification(topic=UNKNOWN)),
])  # fmt: skip
def test_what_exists_is_taken(asking, vm, token, inputs):
    assert asking.failures(token, inputs) == {}


@pytest.mark.parametrize(("token", "inputs", "path", "words"), [
    (TEMPLATE, template(machineType="e9-huge"), "properties.machineType", "must be a machine type in any zone"),
    (TEMPLATE, {**template(machineType="e9-huge"), "region": "us-east1"}, "properties.machineType", "in us-east1"),
    (TEMPLATE, template(**_disk("projects/debian-cloud/global/images/family/debian-99")), "properties.disks[0].initializeParams.sourceImage", "does not exist"),
    (TEMPLATE, template(**_disk("family/nobodys")), "properties.disks[0].initializeParams.sourceImage", "projects/demo-project/global/images/family/nobodys"),
    (TEMPLATE, template(**_disk("web-base")), "properties.disks[0].initializeParams.sourceImage", "projects/demo-project/global/images/web-base"),
    (TEMPLATE, template(networkInterfaces=[{"network": "inside"}]), "properties.networkInterfaces[0].network", "global/networks/inside"),
    (TEMPLATE, template(networkInterfaces=[{"subnetwork": "https://www.googleapis.com/compute/v1/projects/demo-project/regions/us-east1/subnetworks/none"}]), "properties.networkInterfaces[0].subnetwork", "does not exist"),
    (FLEET, fleet(5, disks=_disk(IMAGE)["disks"], locationPolicy={"locations": {"zones/us-east1-x": {}}}), 'locationPolicy.locations["zones/us-east1-x"]', "must be a zone of demo-project"),
    (FLEET, fleet(5, disks=_disk(IMAGE)["disks"], locationPolicy={"locations": {"zones/us-central1-a": {}}}), 'locationPolicy.locations["zones/us-central1-a"]', "must be a zone of us-east1"),
    (FLEET, fleet(5, disks=_disk(IMAGE)["disks"], region="mars-north1"), "region", "must be a region of demo-project"),
    (FLEET, fleet(5, disks=_disk(IMAGE)["disks"], locationPolicy={"zones": [{"zone": "zones/us-east1-x"}]}), "locationPolicy.zones[0].zone", "must be a zone of demo-project"),
    (FLEET, fleet(5, disks=_disk(IMAGE)["disks"], region="us-est1"), "region", "did you mean us-east1?"),
    (TEMPLATE, {**template(), "region": "us-est1"}, "region", "did you mean us-east1?"),
    (IMAGE_, image(sourceInstance="zones/us-est1-b/instances/x"), "sourceInstance", "did you mean us-east1-b?"),
    (KEY, key(projectId=PROJECT, regions=["us-east1", "us-est1"]), "regions[1]", "did you mean us-east1?"),
    (ATTACHMENT, attachment(instance="x", zone="us-est1-b"), "zone", "did you mean us-east1-b?"),
    (ATTACHMENT, attachment(instance="zones/mars-b/instances/x"), "instance", "must be a zone of demo-project"),
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
        "compute.projects.get",
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
    assert (
        asking.failures(FLEET, _fleet(11))["count"] == "would need 11 of INSTANCES in us-east1, where only 10 are left"
    )
    assert "CPUS" in asking.failures(FLEET, _fleet(600))["count"]


def test_a_fleet_whose_least_number_fits_is_warned_about(asking, cloud):
    _ordered(cloud, 10)

    assert asking.failures(FLEET, _fleet(12, minCount=5)) == {}
    assert [text for _, _, text in asking.log.messages if "minCount can be met" in text]


@pytest.mark.parametrize(("quota", "accepted"), [(1, True), (0, False)])
def test_a_fleet_that_accepts_any_number_needs_quota_for_one(asking, cloud, quota, accepted):
    _ordered(cloud, quota)

    assert ("count" not in asking.failures(FLEET, _fleet(12, minCount=0))) is accepted


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


PLACED = [
    (TEMPLATE, template(), "project"), (FLEET, fleet(1), "project"), (ATTACHMENT, attachment(), "project"),
    (IMAGE_, image(), "project"), (KEY, key(projectId="gone-project", regions=["us-east1"]), "projectId"),
]  # fmt: skip


@pytest.mark.parametrize(("token", "inputs", "path"), PLACED)
def test_a_missing_project_is_reported_and_nothing_in_it_is_looked_up(asking, cloud, token, inputs, path):
    cloud.fail("compute.projects.get", status=404, message="The resource was not found")

    (reason,) = asking.failures(token, inputs).items()
    assert reason[0] == path
    assert reason[1].startswith("must be a project that exists; ")
    assert cloud.calls() == ["compute.projects.get"]


@pytest.mark.parametrize(("token", "inputs", "name"), [
    (TEMPLATE, {**template(), "project": UNKNOWN}, "project"), (TEMPLATE, {**template(), "region": UNKNOWN}, "region"),
    (FLEET, {**fleet(1), "project": UNKNOWN}, "project"), (FLEET, {**fleet(1), "region": UNKNOWN}, "region"),
    (ATTACHMENT, attachment(instance="x", zone=UNKNOWN), "zone"), (IMAGE_, image(project=UNKNOWN), "project"),
    (ATTACHMENT, attachment(instance=UNKNOWN, zone=UNKNOWN), "zone"),
])  # fmt: skip
def test_unknown_values_are_reported_and_the_rest_is_looked_up(asking, token, inputs, name):
    assert asking.failures(token, inputs) == {}
    (said,) = {text for _, _, text in asking.log.messages}
    assert said == f"validateOnline: {name} is not known yet, so nothing in it is checked"


def test_a_public_image_is_looked_up_where_the_project_is_not_known(asking):
    lost = {**template(**_disk("projects/debian-cloud/global/images/family/debian-99")), "project": UNKNOWN}

    assert list(asking.failures(TEMPLATE, lost)) == ["properties.disks[0].initializeParams.sourceImage"]


def test_missing_resources_are_looked_up_again_after_configure(asking, cloud):
    inputs = template(**_disk("web-base"))
    assert asking.failures(TEMPLATE, inputs)
    image = {"name": "web-base", "sourceDisk": "zones/us-east1-b/disks/d"}
    cloud.post(f"/compute/v1/projects/{PROJECT}/global/images", image)
    assert asking.failures(TEMPLATE, inputs), "one run asks once"
    asking.configure(project=PROJECT, emulatorHost=cloud.host, validateOnline="true")

    assert asking.failures(TEMPLATE, inputs) == {}


def test_different_names_are_asked_for_side_by_side_and_each_once(cloud):
    """Hold every answer back until all questions are there: one after the other, they would never be."""
    asked = ("networks/one", "networks/two", "images/family/debian-12", "aggregated/machineTypes")
    with (
        _gate(cloud.host, asked) as host,
        driver.engine(project=PROJECT, emulatorHost=host, validateOnline="true") as engine,
    ):
        nics = [{"network": f"global/networks/{name}"} for name in ("one", "two", "one")]
        refused = engine.failures(TEMPLATE, template(networkInterfaces=nics))

    assert [path for path in refused if path.endswith("network")] == [
        f"properties.networkInterfaces[{index}].network" for index in range(3)
    ]
    names = [entry["path"] for entry in cloud.emulator.requests.kept]
    assert len(names) == len(set(names)) == len(asked) + 1


@contextmanager
def _gate(target, asked):
    """Stand before the emulator: requests that name one of these pass once all of them have come."""
    barrier = threading.Barrier(len(asked))

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if any(name in self.path for name in asked):
                barrier.wait()
            answer = httpx.get(f"http://{target}{self.path}", trust_env=False)
            self.send_response(answer.status_code)
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
