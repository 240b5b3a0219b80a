"""With `validateOnline`, a preview asks Google whether names exist and whether quotas suffice."""

from __future__ import annotations

import grpc
import pytest
from engines import driver
from engines.driver import UNKNOWN, failing
from servers import plain_http
from values.programs import (
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

IMAGE_ = "gcpx:compute:MachineImage"
IMAGE = "projects/debian-cloud/global/images/family/debian-12"


@pytest.fixture
def online(cloud):
    with driver.engine(project=PROJECT, emulatorHost=cloud.host, validateOnline="true") as made:
        yield made


def _disk(image):
    return {"disks": [{"boot": True, "initializeParams": {"sourceImage": image}}]}


def _source(disk):
    """Attach an existing disk besides the boot disk."""
    return {"disks": [*_disk(IMAGE)["disks"], {"source": disk, "mode": "READ_ONLY"}]}


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
    (NOTIFICATION, notification(bucket=UNKNOWN)), (NOTIFICATION, notification(userProject=PROJECT)),
    (ATTACHMENT, attachment(instance=UNKNOWN, zone="us-east1-b")), (ATTACHMENT, attachment(disk=UNKNOWN)),
    (TEMPLATE, template(**_source("example-data"))), (TEMPLATE, {**template(**_source("example-data")), "region": "us-east1"}),
    (TEMPLATE, template(**_source(UNKNOWN))), (FLEET, fleet(1, **_source("zones/us-east1-b/disks/example-data"))),
    (IMAGE_, image(sourceInstance=UNKNOWN)),
])  # fmt: skip
def test_existing_resources_are_accepted(online, vm, token, inputs):
    assert online.failures(token, inputs) == {}


def test_a_topic_whose_name_contains_a_percent_sign_is_found(online, cloud):
    name = f"projects/{PROJECT}/topics/up%41loads"
    cloud.emulator.store.put(name, {"name": name})

    assert not online.failures(NOTIFICATION, notification(topic="up%41loads"))


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
    (FLEET, fleet(5, disks=_disk(IMAGE)["disks"], region="us-eas1"), "region", "did you mean us-east1?"),
    (TEMPLATE, {**template(), "region": "us-eas1"}, "region", "did you mean us-east1?"),
    (IMAGE_, image(sourceInstance="zones/us-eas1-b/instances/x"), "sourceInstance", "did you mean us-east1-b?"),
    (KEY, key(projectId=PROJECT, regions=["us-east1", "us-eas1"]), "regions[1]", "did you mean us-east1?"),
    (ATTACHMENT, attachment(instance="x", zone="us-eas1-b"), "zone", "did you mean us-east1-b?"),
    (ATTACHMENT, attachment(instance="zones/mars-b/instances/x"), "instance", "must be a zone of demo-project"),
    (NOTIFICATION, notification(topic="none"), "topic", "projects/demo-project/topics/none"),
    (NOTIFICATION, notification(bucket="no-such-bucket"), "bucket", "the bucket no-such-bucket does not exist: correct it"),
    (ATTACHMENT, attachment(instance="zones/us-east1-b/instances/none"), "instance", "projects/demo-project/zones/us-east1-b/instances/none does not exist"),
    (ATTACHMENT, attachment(instance="none", zone="us-east1-b"), "instance", "projects/demo-project/zones/us-east1-b/instances/none does not exist"),
    (ATTACHMENT, attachment(disk="none"), "disk", "projects/demo-project/zones/us-east1-b/disks/none does not exist"),
    (ATTACHMENT, attachment(disk="regions/us-east1/disks/none"), "disk", "projects/demo-project/regions/us-east1/disks/none does not exist"),
    (IMAGE_, image(sourceInstance="zones/us-east1-b/instances/none"), "sourceInstance", "projects/demo-project/zones/us-east1-b/instances/none does not exist"),
    (TEMPLATE, {"sourceInstance": "zones/us-east1-b/instances/none"}, "sourceInstance", "projects/demo-project/zones/us-east1-b/instances/none does not exist"),
    (TEMPLATE, template(**_source("none")), "properties.disks[1].source", "a disk none in any zone of demo-project does not exist"),
    (TEMPLATE, {**template(**_source("example-data")), "region": "us-central1"}, "properties.disks[1].source", "a disk example-data in us-central1 of demo-project does not exist"),
    (FLEET, fleet(1, **_source("zones/us-east1-b/disks/none")), "instanceProperties.disks[1].source", "zones/us-east1-b/disks/none does not exist"),
    (TEMPLATE, template(disks=[{"boot": True, "initializeParams": {"sourceSnapshot": "none"}}]), "properties.disks[0].initializeParams.sourceSnapshot", "global/snapshots/none does not exist"),
])  # fmt: skip
def test_missing_resources_are_refused_by_path(online, vm, token, inputs, path, words):
    refused = online.failures(token, inputs)

    assert words in refused[path]


def test_online_checks_are_off_by_default(engine, cloud):
    assert engine.failures(TEMPLATE, template(machineType="e9-huge")) == {}
    assert cloud.calls() == []


def test_each_name_is_looked_up_once(online, cloud):
    for number in range(5):
        online.failures(TEMPLATE, {**template(), "name": f"t{number}"})

    assert sorted(cloud.calls()) == [
        "compute.images.getFromFamily",
        "compute.machineTypes.aggregatedList",
        "compute.networks.get",
        "compute.projects.get",
    ]


def test_invalid_inputs_are_not_looked_up(online, cloud):
    online.failures(TEMPLATE, template(machineType="e9-huge", canIpForward="x"))

    assert cloud.calls() == []


@pytest.mark.parametrize("fault", [{"status": 403, "message": "no permission"}, {"status": 400}])
def test_a_refused_look_up_is_a_warning(online, cloud, fault):
    cloud.fail("compute.networks.get", **fault)

    assert online.failures(TEMPLATE, template()) == {}
    assert online.failures(TEMPLATE, template()) == {}
    (said,) = [text for _, _, text in online.log.messages]
    assert said.startswith("validateOnline could not check projects/demo-project/global/networks/default")


def _set_quota(cloud, limit):
    plain_http.post(f"http://{cloud.host}/_emulator/limits", json={"instances": {"us-east1": limit}})


def _fleet(count, **more):
    return fleet(count, disks=_disk(IMAGE)["disks"], **more)


def test_a_fleet_that_exceeds_a_quota_is_refused(online, cloud):
    _set_quota(cloud, 10)

    assert online.failures(FLEET, _fleet(10)) == {}
    assert (
        online.failures(FLEET, _fleet(11))["count"]
        == "needs 11 of quota INSTANCES in us-east1, where 10 are left: request a higher quota"
    )
    assert "CPUS" in online.failures(FLEET, _fleet(600))["count"]


def test_a_fleet_of_which_only_min_count_fits_is_a_warning(online, cloud):
    _set_quota(cloud, 10)

    assert online.failures(FLEET, _fleet(12, minCount=5)) == {}
    assert [text for _, _, text in online.log.messages if "minCount can be met" in text]


@pytest.mark.parametrize(("quota", "accepted"), [(1, True), (0, False)])
def test_a_fleet_that_accepts_any_number_needs_quota_for_one(online, cloud, quota, accepted):
    _set_quota(cloud, quota)

    assert ("count" not in online.failures(FLEET, _fleet(12, minCount=0))) is accepted


def test_only_new_instances_count_towards_a_quota(online, cloud):
    _set_quota(cloud, 10)
    made = online.create(FLEET, "f", _fleet(8))
    with driver.engine(project=PROJECT, emulatorHost=cloud.host, validateOnline="true") as later:
        assert not later.check(FLEET, "f", _fleet(10), made.inputs).failures
        assert later.check(FLEET, "f", _fleet(11), made.inputs).failures


def test_a_regional_template_looks_up_short_names_in_its_region(online):
    regional = {
        **template(),
        "region": "us-east1",
        "properties": properties(networkInterfaces=[{"subnetwork": "default"}]),
    }

    assert online.failures(TEMPLATE, regional) == {}


PLACED = [
    (TEMPLATE, template(), "project"), (FLEET, fleet(1), "project"), (ATTACHMENT, attachment(), "project"),
    (IMAGE_, image(), "project"), (KEY, key(projectId="gone-project", regions=["us-east1"]), "projectId"),
]  # fmt: skip


@pytest.mark.parametrize(("token", "inputs", "path"), PLACED)
def test_a_missing_project_is_reported_and_nothing_in_it_is_looked_up(online, cloud, token, inputs, path):
    cloud.fail("compute.projects.get", status=404, message="The resource was not found")

    (reason,) = online.failures(token, inputs).items()
    assert reason[0] == path
    assert reason[1].startswith("must name a project that exists; ")
    assert cloud.calls() == ["compute.projects.get"]


OTHER = "other-project"


@pytest.mark.parametrize(("token", "inputs", "path", "end"), [
    (IMAGE_, image(project=OTHER, sourceInstance=f"projects/{PROJECT}/zones/us-east1-b/instances/example-vm"), "project", "correct it here or in gcpx:project"),
    (TEMPLATE, {"project": OTHER, "sourceInstance": f"projects/{PROJECT}/zones/us-east1-b/instances/example-vm"}, "project", "correct it here or in gcpx:project"),
    (FLEET, {**fleet(1), "project": OTHER}, "project", "correct it here or in gcpx:project"),
    (ATTACHMENT, attachment(project=OTHER), "project", "correct it here or in gcpx:project"),
    (ATTACHMENT, attachment(instance=f"projects/{OTHER}/zones/us-east1-b/instances/x"), "instance", "correct it"),
    (KEY, key(projectId=OTHER), "projectId", "correct it"),
])  # fmt: skip
def test_a_missing_project_is_reported_where_the_inputs_name_it(online, cloud, token, inputs, path, end):
    cloud.fail("compute.projects.get", status=404, message="The resource was not found")

    assert online.failures(token, inputs) == {path: f"must name a project that exists; {OTHER} does not exist: {end}"}


@pytest.mark.parametrize(("token", "inputs", "path", "kind"), [
    (IMAGE_, image(sourceInstance=f"projects/{OTHER}/zones/us-east1-b/instances/x"), "sourceInstance", "zones"),
    (TEMPLATE, template(networkInterfaces=[{"subnetwork": f"projects/{OTHER}/regions/us-east1/subnetworks/x"}]), "properties.networkInterfaces[0].subnetwork", "regions"),
])  # fmt: skip
def test_a_link_into_a_missing_project_is_not_said_to_name_a_missing_place(online, cloud, token, inputs, path, kind):
    for method in ("get", "list"):
        cloud.fail(f"compute.{kind}.{method}", status=404, message="The resource was not found")

    assert online.failures(token, inputs) == {
        path: f"must name a project that exists; {OTHER} does not exist: correct it"
    }


@pytest.mark.parametrize(("token", "inputs", "path", "kind", "place"), [
    (IMAGE_, image(sourceInstance=f"projects/{OTHER}/zones/us-eas1-b/instances/x"), "sourceInstance", "zone", "us-eas1-b"),
    (TEMPLATE, {"sourceInstance": f"projects/{OTHER}/zones/us-eas1-b/instances/x"}, "sourceInstance", "zone", "us-eas1-b"),
    (TEMPLATE, template(networkInterfaces=[{"subnetwork": f"projects/{OTHER}/regions/us-eas1/subnetworks/x"}]), "properties.networkInterfaces[0].subnetwork", "region", "us-eas1"),
    (ATTACHMENT, attachment(instance=f"projects/{OTHER}/zones/us-eas1-b/instances/x"), "instance", "zone", "us-eas1-b"),
])  # fmt: skip
def test_a_missing_place_of_another_project_is_reported_where_a_link_names_it(online, token, inputs, path, kind, place):
    suggestion = place.replace("eas1", "east1")

    assert online.failures(token, inputs) == {
        path: f"must be a {kind} of {OTHER}; {place} does not exist: did you mean {suggestion}?"
    }


def test_a_missing_zone_of_the_provider_is_not_blamed_on_an_instance_without_zone(cloud):
    with driver.engine(project=PROJECT, zone="us-eas1-b", emulatorHost=cloud.host, validateOnline="true") as engine:
        assert list(engine.failures(ATTACHMENT, attachment(instance="example-vm"))) == ["zone"]


@pytest.mark.parametrize(("token", "inputs", "name"), [
    (TEMPLATE, {**template(), "project": UNKNOWN}, "project"), (TEMPLATE, {**template(), "region": UNKNOWN}, "region"),
    (FLEET, {**fleet(1), "project": UNKNOWN}, "project"), (FLEET, {**fleet(1), "region": UNKNOWN}, "region"),
    (ATTACHMENT, attachment(instance="x", zone=UNKNOWN), "zone"), (IMAGE_, image(project=UNKNOWN), "project"),
    (ATTACHMENT, attachment(instance=UNKNOWN, zone=UNKNOWN), "zone"),
])  # fmt: skip
def test_unknown_values_are_reported_and_the_rest_is_looked_up(online, token, inputs, name):
    assert online.failures(token, inputs) == {}
    (said,) = {text for _, _, text in online.log.messages}
    assert said == f"validateOnline: {name} is not known yet, so nothing in it is checked"


def test_a_public_image_is_looked_up_where_the_project_is_not_known(online):
    lost = {**template(**_disk("projects/debian-cloud/global/images/family/debian-99")), "project": UNKNOWN}

    assert list(online.failures(TEMPLATE, lost)) == ["properties.disks[0].initializeParams.sourceImage"]


def test_missing_resources_are_looked_up_again_after_configure(online, cloud):
    inputs = template(**_disk("web-base"))
    assert online.failures(TEMPLATE, inputs)
    image = {"name": "web-base", "sourceDisk": cloud.make_disk("d")}
    cloud.post(f"/compute/v1/projects/{PROJECT}/global/images", image)
    assert online.failures(TEMPLATE, inputs), "a name is looked up only once per configuration"
    online.configure(project=PROJECT, emulatorHost=cloud.host, validateOnline="true")

    assert online.failures(TEMPLATE, inputs) == {}


def test_different_names_are_looked_up_concurrently_and_once(cloud):
    """Hold the requests until all have arrived, which sequential requests never would."""
    asked = ("networks/one", "networks/two", "images/family/debian-12", "aggregated/machineTypes")

    def release_the_last(number, _):
        if number == 1 + len(asked):
            cloud.interceptor.release()

    with (
        cloud.interceptor.observed(release_the_last),
        driver.engine(project=PROJECT, emulatorHost=cloud.host, validateOnline="true") as engine,
    ):
        nics = [{"network": f"global/networks/{name}"} for name in ("one", "two", "one")]
        cloud.interceptor.hold(first=2)  # the first one reads the project
        refused = engine.failures(TEMPLATE, template(networkInterfaces=nics))

    assert [path for path in refused if path.endswith("network")] == [
        f"properties.networkInterfaces[{index}].network" for index in range(3)
    ]
    names = [entry["path"] for entry in cloud.emulator.requests.kept]
    assert len(names) == len(set(names)) == len(asked) + 1
    assert all(any(name in path for path in names) for name in asked)


def test_a_response_of_an_unknown_form_is_not_an_internal_error(online, cloud, caplog):
    cloud.fail("compute.machineTypes.aggregatedList", body='{"items": {"zones/us-east1-b": 5}}')
    with failing() as failed:
        online.failures(TEMPLATE, template())
    caplog.clear()

    assert failed[0].code == grpc.StatusCode.FAILED_PRECONDITION
    assert "could not process a response from Google" in failed[0].message


@pytest.mark.parametrize(("token", "inputs", "in_place", "gone"), [
    (IMAGE_, image(), {"labels": {"a": "b"}}, f"projects/{PROJECT}/zones/us-east1-b/instances/example-vm"),
    (TEMPLATE, template(**_source("example-data")), {}, f"projects/{PROJECT}/zones/us-east1-b/disks/example-data"),
])  # fmt: skip
def test_what_something_was_created_from_may_be_gone(online, cloud, vm, token, inputs, in_place, gone):
    made = online.create(token, "x", inputs)
    cloud.emulator.store.delete(gone)
    online.configure(project=PROJECT, emulatorHost=cloud.host, validateOnline="true")

    assert not online.check(token, "x", {**inputs, **in_place}, made.inputs).failures
    assert online.check(token, "x", {**inputs, "description": "new"}, made.inputs).failures, "this replaces it"
    assert online.check(token, "x", inputs).failures


def test_a_resource_that_the_same_program_creates_is_given_by_an_output_that_is_not_known(online):
    (said,) = online.failures(NOTIFICATION, notification(bucket="not-yet")).values()

    assert "if this program creates it, refer to the output `id` of that resource" in said


@pytest.mark.parametrize(
    ("token", "inputs"), [(IMAGE_, image()), (TEMPLATE, {"name": "web", "sourceInstance": image()["sourceInstance"]})]
)
@pytest.mark.parametrize("is_checked_as_new", [False, True])
def test_a_replacement_is_refused_if_its_source_instance_is_gone(online, cloud, vm, token, inputs, is_checked_as_new):
    made = online.create(token, "x", inputs)
    cloud.emulator.store.delete(f"projects/{PROJECT}/zones/us-east1-b/instances/example-vm")
    online.configure(project=PROJECT, emulatorHost=cloud.host, validateOnline="true")
    refused = online.check(
        token, "x", {**inputs, "description": "new"}, None if is_checked_as_new else made.inputs
    ).failures

    assert [failure.property for failure in refused] == ["sourceInstance"]
    assert "zones/us-east1-b/instances/example-vm does not exist" in refused[0].reason
