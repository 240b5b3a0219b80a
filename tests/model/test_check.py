"""Check refuses invalid inputs at preview, with their path and a reason, before any request is sent."""

from __future__ import annotations

import pytest
from engines import driver
from engines.driver import UNKNOWN, secret
from values.programs import (
    ATTACHMENT,
    BLOB,
    FLEET,
    KEY,
    NOTIFICATION,
    OTHER_BLOB,
    TEMPLATE,
    attachment,
    fleet,
    key,
    notification,
    properties,
    template,
)

from gcpx.compute import image_names
from gcpx.compute.instance_properties import machines
from gcpx.model import patterns
from gcpx_emulator.compute import locations, machine_families, public_images


def _disk(**parameters):
    image = {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"}
    return template(disks=[{"boot": True, "initializeParams": {**image, **parameters}}])


CASES = [
    (TEMPLATE, {}, "", "needs one of properties or sourceInstance"),
    (TEMPLATE, {**template(), "sourceInstance": "zones/z/instances/i"}, "sourceInstance", "conflicts with properties"),
    (TEMPLATE, {**template(), "sourceInstanceParams": {"diskConfigs": [{}]}}, "sourceInstanceParams", "requires sourceInstance"),
    (TEMPLATE, {**template(), "name": "Web"}, "name", "must be 1 to 63 lower-case letters"),
    (TEMPLATE, {**template(), "nmae": "web"}, "nmae", "did you mean name?"),
    (TEMPLATE, {**template(), "machineType": "e2-small"}, "machineType", "does not belong here, but in properties"),
    (TEMPLATE, {**template(), "selfLink": "x"}, "selfLink", "Google Cloud sets it"),
    (TEMPLATE, template(machineType=5), "properties.machineType", "must be a string in quotes, not the number 5"),
    (TEMPLATE, template(description=True), "properties.description", "must be a string in quotes, not a boolean"),
    (TEMPLATE, template(labels={"a.b": 1}), 'properties.labels["a.b"]', "must be a string in quotes, not the number 1"),
    (TEMPLATE, template(disks={}), "properties.disks", "must be a list, not a map"),
    (TEMPLATE, _disk(diskSizeGb=10.5), "properties.disks[0].initializeParams.diskSizeGb", "must be an integer"),
    (TEMPLATE, template(disks=[{"multiWriter": True}]), "properties.disks[0].multiWriter", "properties.disks[].initializeParams"),
    (TEMPLATE, template(disks=[{"mode": "read only"}]), "properties.disks[0].mode", "must be one of READ_ONLY, READ_WRITE"),
    (TEMPLATE, template(networkInterfaces=[{"accessConfigs": [{}, {}]}]), "properties.networkInterfaces[0].accessConfigs", "at most 1"),
    (TEMPLATE, template(networkInterfaces=[None]), "properties.networkInterfaces[0]", "not null"),
    (TEMPLATE, template(metadata={"items": [{"value": "x"}]}), "properties.metadata.items[0].key", "is required"),
    (TEMPLATE, template(scheduling={"hostErrorTimeoutSeconds": 360}), "properties.scheduling.hostErrorTimeoutSeconds", "must be 90 to 330, not 360"),
    (NOTIFICATION, notification(eventTypes=["OBJECT_FINALISE"]), "eventTypes[0]", "did you mean OBJECT_FINALIZE?"),
    (KEY, key(key="-----BEGIN OPENSSH PRIVATE KEY-----"), "key", "must be the public key"),
    (KEY, key(key="ssh-ed25519 !!!"), "key", "must have valid base64"),
    (KEY, key(key=f"ssh-ed25519 {BLOB} laptop\nssh-ed25519 {OTHER_BLOB} phone\n"), "key", "must be one key on one line"),
    (KEY, key(user="serviceAccount:robot@my-project.iam.gserviceaccount.com"), "user", "without the prefix of an IAM member"),
]  # fmt: skip
"""What Check itself refuses, besides the rules of single properties, which `test_rules.py` tries one by one."""


@pytest.mark.parametrize(("token", "inputs", "path", "words"), CASES)
def test_invalid_inputs_are_refused_by_path_before_any_request(engine, cloud, token, inputs, path, words):
    failures = engine.failures(token, inputs)

    assert path in failures, failures
    assert words in failures[path]
    assert cloud.calls() == []


def test_all_failures_are_reported_at_once(engine):
    inputs = {"name": "Bad_Name", "unknown": 1, "properties": {"disks": [{"mode": "x y"}], "tags": {"items": [7]}}}

    assert set(engine.failures(TEMPLATE, inputs)) == {
        "name", "unknown", "properties.machineType", "properties.disks[0].mode", "properties.tags.items[0]",
        "properties.disks", "properties.networkInterfaces",
    }  # fmt: skip


def test_unknown_values_are_not_checked(engine):
    unknown = {"name": UNKNOWN, "properties": {"machineType": UNKNOWN, "disks": [UNKNOWN], "labels": UNKNOWN}}
    unknown["properties"]["networkInterfaces"] = UNKNOWN

    assert engine.failures(TEMPLATE, unknown) == {}
    assert engine.failures(TEMPLATE, {"properties": UNKNOWN}) == {}
    assert engine.failures(KEY, {"user": UNKNOWN, "key": UNKNOWN}) == {}
    assert engine.failures(TEMPLATE, _disk(diskType=UNKNOWN, diskSizeGb=4)) == {}
    nic = {"accessConfigs": [{"publicPtrDomainName": "a.b.", "setPublicPtr": UNKNOWN}]}
    assert engine.failures(TEMPLATE, template(networkInterfaces=[nic])) == {}
    assert engine.failures(TEMPLATE, template(machineType=secret(UNKNOWN), disks=secret([UNKNOWN]))) == {}


def test_a_failure_names_an_invalid_secret_without_showing_it(engine):
    failures = engine.failures(
        TEMPLATE, template(machineType=secret("zones/hunter2/x"), tags={"items": [secret("HUNTER2")]})
    )

    assert set(failures) == {"properties.machineType", "properties.tags.items[0]"}
    assert "hunter2" not in str(failures).lower()


def test_the_reason_of_a_rule_does_not_show_a_value_of_a_secret_object(engine):
    machine = properties(machineType="custom-34-8192")  # the number of CPUs is too short to be masked wherever it is
    path = "properties.machineType"

    assert "an even number up to 32, not 34" in engine.failures(TEMPLATE, {"properties": machine})[path]
    assert engine.failures(TEMPLATE, {"properties": secret(machine)})[path] == (
        "machineType custom-CPUS-MEMORY must have 1 CPU or an even number up to 32, and multiples of 256 MB"
    )


def test_a_rule_with_one_reason_shows_it_for_a_secret_too(engine):
    boot = {"boot": True, "initializeParams": {"sourceImage": "family/x"}}
    machine = properties(disks=[boot, boot])
    path, reason = "properties.disks[1].boot", "must be true only for the first disk: move the boot disk to disks[0]"

    assert engine.failures(TEMPLATE, {"properties": machine}) == {path: reason}
    assert engine.failures(TEMPLATE, {"properties": secret(machine)}) == {path: reason}


def test_a_value_that_this_version_does_not_know_is_a_warning(engine):
    inputs = template(networkInterfaces=[{"nicType": "QUANTUM_NIC"}])

    assert engine.failures(TEMPLATE, inputs) == {}
    ((severity, _, said),) = engine.log.messages
    assert severity == "WARNING"
    assert "properties.networkInterfaces[0].nicType is not a value that this version of gcpx knows" in said


_REGION = "which this version of gcpx does not know; did you mean us-west1 or us-east1?"
MISSPELT = [
    (FLEET, {**fleet(1), "region": "us-est1"}, f"region names the region us-est1, {_REGION}"),
    (FLEET, {**fleet(1), "region": "regions/us-esat1"}, f"region names the region us-esat1, {_REGION}"),
    (ATTACHMENT, attachment(instance="x", zone="us-est1-b"), f"zone names the region us-est1, {_REGION}"),
    (TEMPLATE, template(machineType="e2-samll"), "properties.machineType names the machine type e2-samll, which this version of gcpx does not know; did you mean e2-small?"),
    (TEMPLATE, template(machineType="n1-standrad-4"), "properties.machineType names the machine type n1-standrad, which this version of gcpx does not know; did you mean n1-standard?"),
    *[
        (TEMPLATE, _disk(sourceImage=image), f"properties.disks[0].initializeParams.sourceImage names the image {named}, which this version of gcpx does not know; did you mean {meant}?")
        for image, named, meant in [
            ("projects/debian-cloud/global/images/family/debain-13", "family debain-13 of debian-cloud", "debian-cloud/debian-13"),
            ("https://www.googleapis.com/compute/v1/projects/debain-cloud/global/images/family/debian-13", "family debian-13 of debain-cloud", "debian-cloud/debian-13"),
            ("debian-clod/debian-13", "debian-13 of debian-clod", "debian-cloud/debian-13"),
            ("projects/debian-cloud/global/images/debian-13", "debian-13 of debian-cloud", "debian-cloud/debian-13"),
            ("debian-cloud/ubuntu-2404-lts-amd64", "family ubuntu-2404-lts-amd64 of debian-cloud", "ubuntu-os-cloud/ubuntu-2404-lts-amd64"),
            ("ubuntu-2404", "family ubuntu-2404 of ubuntu-os-cloud", "ubuntu-os-cloud/ubuntu-2404-lts-amd64 or ubuntu-os-cloud/ubuntu-2404-lts-arm64"),
            ("debian-9", "family debian-9 of debian-cloud", "debian-cloud/debian-13 or debian-cloud/debian-12"),
        ]
    ],
]  # fmt: skip


@pytest.mark.parametrize(("token", "inputs", "words"), MISSPELT)
def test_a_misspelt_region_machine_type_or_image_family_is_a_warning(engine, cloud, token, inputs, words):
    assert engine.failures(token, inputs) == {}

    assert [said for _, _, said in engine.log.messages] == [words]
    assert cloud.calls() == []


@pytest.mark.parametrize("name", ["mars-north1", "u-germany-northeast1", "us-west8"])
def test_a_region_that_resembles_none_or_is_known_is_no_warning(engine, name):
    assert engine.failures(FLEET, {**fleet(1), "region": name}) == {}
    assert engine.log.messages == []


@pytest.mark.parametrize(
    "name",
    [
        "x4-480-8t-metal",
        "q9-huge",
        "n9-custom-4-8192",
        "custom-4-8192",
        "a4x-highgpu-4g",
        "m4n-ultramem-224",
        "x4-megamem-960-metal",
    ],
)
def test_a_machine_type_that_resembles_none_or_is_known_is_no_warning(engine, name):
    assert engine.failures(TEMPLATE, template(machineType=name)) == {}
    assert engine.log.messages == []


@pytest.mark.parametrize("image", [
    "projects/my-debian-cloud/global/images/family/debain-13", "projects/my-debian-cloud/global/images/family/debian-13",
    "projects/ubuntu-os-cloud-devel/global/images/family/ubuntu-2404-lts-amd64", "projects/demo-project/global/images/family/debain-13",
    "global/images/family/debain-13", "family/debain-13", "debain-13", "my-images/debian-13", "debian-cloud/debian-14", "family/debian-12",
    "ubuntu-2804-lts-amd64", "debian-12-bookworm-v20261014", "projects/rhel-cloud/global/images/family/rhel-9-6-eus-lvm-arm64",
    "projects/fedora-cloud/global/images/family/fedora-cloud-45-x86-64",
])  # fmt: skip
def test_an_image_of_another_project_or_of_a_later_release_is_no_warning(engine, image):
    assert engine.failures(TEMPLATE, _disk(sourceImage=image)) == {}
    assert engine.log.messages == []


def test_a_misspelt_region_of_the_provider_is_a_warning(engine):
    engine.configure(project="demo-project", region="us-est1")

    words = "region names a region that this version of gcpx does not know; it is sent unchanged"
    assert [said for _, _, said in engine.log.messages] == [words], "the engine does not mark secrets here"


def test_the_warning_of_a_secret_does_not_show_it(engine):
    assert engine.failures(FLEET, {**fleet(1), "region": secret("us-est1")}) == {}

    reason = "region names a region that this version of gcpx does not know; it is sent unchanged"
    assert [said for _, _, said in engine.log.messages] == [reason]


def test_gcpx_knows_what_the_emulator_has():
    assert set(locations.REGIONS) <= set(patterns.REGIONS)
    assert set(public_images.public_families()) <= {
        (owner, name) for owner, names in image_names.FAMILIES.items() for name in names
    }
    series = (line.partition("|")[0].strip() for line in machine_families.TYPES.strip().splitlines())
    assert {"-".join(name.split("-")[:2]) for name in series} <= set(machines.FAMILIES)


def test_a_number_may_be_written_as_a_string(engine):
    assert engine.failures(TEMPLATE, _disk(diskSizeGb="20")) == {}


def test_a_missing_project_is_refused_with_the_next_step(cloud):
    with driver.engine(emulatorHost=cloud.host) as bare:
        assert "pulumi config set gcpx:project" in bare.failures(TEMPLATE, template())["project"]
        assert "gcpx:project is not set" in bare.failures(NOTIFICATION, notification(topic="uploads"))["topic"]
        assert bare.failures(TEMPLATE, {"project": "p", "properties": properties()}) == {}


def test_a_local_ssd_whose_parameters_are_not_known_yet_is_accepted(engine):
    scratch = {"type": "SCRATCH", "initializeParams": UNKNOWN}
    boot = template()["properties"]["disks"][0]
    assert engine.failures(TEMPLATE, template(disks=[boot, scratch])) == {}
