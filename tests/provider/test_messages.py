"""A refusal says what is required, then once what was given, and then what to do next."""

from __future__ import annotations

import driver
import pytest
from driver import failing, rpc, struct
from generate.rule_rows import rows
from import_commands import ImportCommand, import_commands
from programs import (
    ATTACHMENT,
    BUCKET,
    FLEET,
    IMAGE,
    NOTIFICATION,
    PROJECT,
    TEMPLATE,
    attachment,
    fleet,
    image,
    notification,
    template,
)


def _disk(**parameters):
    return template(disks=[{"boot": True, "initializeParams": {"sourceImage": "family/x", **parameters}}])


def _failures(engine, token, inputs):
    return [(failure.property, failure.reason) for failure in engine.check(token, "x", inputs).failures]


@pytest.mark.parametrize(("token", "inputs", "prop", "reason"), [
    (TEMPLATE, _disk(diskSizeGb="20GB"), "", 'properties.disks[0].initializeParams.diskSizeGb: must be an integer, not the string "20GB"'),
    (TEMPLATE, _disk(diskSizeGb=9), "", "properties.disks[0].initializeParams.diskSizeGb: must be at least 10 GB for a pd-standard disk"),
    (TEMPLATE, _disk(replicaZones=["a"]), "", "properties.disks[0].initializeParams.replicaZones: must have exactly 2 elements, not 1"),
    (TEMPLATE, template(scheduling={"hostErrorTimeoutSeconds": 100}), "", "properties.scheduling.hostErrorTimeoutSeconds: must be a multiple of 30, not 100"),
    (TEMPLATE, template(disks=[{"mode": "READ_RITE"}]), "", 'properties.disks[0].mode: must be one of READ_ONLY, READ_WRITE, not "READ_RITE"; did you mean READ_WRITE?'),
    (TEMPLATE, template(canIpForward="yes"), "", 'properties.canIpForward: must be a boolean, not the string "yes"'),
    (TEMPLATE, template(labels=["a"]), "", "properties.labels: must be a map, not a list"),
    (NOTIFICATION, notification(bucket="UPPER"), "bucket", "must be the name of a bucket: 3 to 222 lower-case letters, digits, hyphens, underscores and dots"),
    (NOTIFICATION, notification(objectNamePrefix="p" * 2000), "", "objectNamePrefix: must have at most 1,024 characters, not 2,000"),
    (FLEET, fleet("many"), "count", "must be an integer, not a string"),
    (FLEET, fleet(-1), "count", "must be at least 0"),
    (NOTIFICATION, {"topic": "uploads"}, "", "bucket: is required: The bucket's name, such as `my-uploads`"),
    (NOTIFICATION, notification(bucket=driver.secret(None)), "", "bucket: is required: The bucket's name, such as `my-uploads`"),
])  # fmt: skip
def test_the_engine_prints_the_value_or_the_reason_quotes_it(engine, token, inputs, prop, reason):
    assert (prop, reason) in _failures(engine, token, inputs)


@pytest.mark.parametrize(("token", "inputs", "path", "words"), [
    (NOTIFICATION, notification(topic="projects/my project/topics/uploads"), "topic", "must be projects/PROJECT/topics/TOPIC, where PROJECT is the ID or number of a project"),
    (NOTIFICATION, notification(topic="projects/demo-project/topics/1"), "topic", "must be projects/PROJECT/topics/TOPIC, where TOPIC is 3 to 255 letters"),
    (NOTIFICATION, notification(topic="//pubsub.googleapis.com/projects//topics/uploads"), "topic", "where PROJECT is the ID or number"),
    (NOTIFICATION, notification(topic="ab"), "topic", "must be 3 to 255 letters"),
    (NOTIFICATION, notification(topic="topics/uploads"), "topic", "must be TOPIC, projects/PROJECT/topics/TOPIC or //pubsub"),
    (IMAGE, image(sourceInstance="projects/p/zones/us east1-b/instances/vm"), "sourceInstance", "where ZONE is a zone, such as us-east1-b"),
    (ATTACHMENT, attachment(instance="zones/z/instances/my vm"), "instance", "where NAME is a name without spaces"),
    (ATTACHMENT, attachment(disk="projects/a b/zones/z/disks/d"), "disk", "where PROJECT is the ID or number"),
    (TEMPLATE, template(networkInterfaces=[{"networkAttachment": "projects/1/regions/us east1/networkAttachments/a"}]), "properties.networkInterfaces[0].networkAttachment", 'where REGION is a region, such as us-east1, not "projects/1/regions/us east1/networkAttachments/a"'),
])  # fmt: skip
def test_a_refusal_names_the_malformed_part(engine, token, inputs, path, words):
    assert words in engine.failures(token, inputs)[path]


@pytest.mark.parametrize(("more", "path", "words"), [
    ({"tags": ["web"]}, "properties.tags", "must be written `{items: [TAG, ...]}`, not a list"),
    ({"metadata": {"startup-script": "#!/bin/sh"}}, "properties.metadata.startup-script", "must be written as an element of items here: `metadata: {items: [{key: KEY, value: VALUE}]}`"),
    ({"metadata": {"serial-port-enable": True}}, "properties.metadata.serial-port-enable", "must be written as an element of items"),
    ({"metadata": [{"key": "a", "value": "b"}]}, "properties.metadata", "must be written `{items: [{key: KEY, value: VALUE}]}`, not a list"),
    ({"metadataStartupScript": "#!/bin/sh"}, "properties.metadataStartupScript", "must be written `metadata: {items: [{key: startup-script, value: SCRIPT}]}` here"),
    ({"metadata": {"item": []}}, "properties.metadata.item", "did you mean items?"),
    ({"metadata_startup_script": "#!/bin/sh"}, "properties.metadata_startup_script", "must be written `metadata: {items: [{key: startup-script, value: SCRIPT}]}` here"),
    ({"disks": [{"sourceImage": "debian-12"}]}, "properties.disks[0].sourceImage", ".disks[].initializeParams"),
    ({"disks": [{"source_image": "debian-12"}]}, "properties.disks[0].source_image", ".disks[].initializeParams"),
    ({"disks": [{"initializeParams": {"image": "debian-12"}}]}, "properties.disks[0].initializeParams.image", "must be written `sourceImage` here"),
    ({"disks": [{"initializeParams": {"size": 20}}]}, "properties.disks[0].initializeParams.size", "must be written `diskSizeGb` here"),
    ({"disks": [{"initializeParams": {"type": "pd-ssd"}}]}, "properties.disks[0].initializeParams.type", "must be written `diskType` here"),
])  # fmt: skip
def test_properties_of_other_providers_are_refused_with_the_right_form(engine, more, path, words):
    assert words in engine.failures(TEMPLATE, template(**more))[path]
    fleet_path = path.replace("properties", "instanceProperties", 1)
    assert words in engine.failures(FLEET, fleet(3, **more))[fleet_path]


@pytest.mark.parametrize(("token", "inputs", "words"), [
    (TEMPLATE, {**template(), "region": "us-eas1"}, "region: must be a region of demo-project; did you mean us-east1? ("),
    (FLEET, fleet(2, region="us-eas1"), "region: must be a region of demo-project; did you mean us-east1? ("),
    (FLEET, {"region": "us-east1", "count": 2, "namePattern": "a-##", "sourceInstanceTemplate": "global/instanceTemplates/none"},
     "sourceInstanceTemplate: must name something that exists: create it first, correct sourceInstanceTemplate, or run `pulumi refresh` if it is gone"),
    (NOTIFICATION, notification(bucket="no-such-bucket"), "bucket: must exist: create the bucket no-such-bucket first, or correct bucket ("),
    (IMAGE, image(), "sourceInstance: must name something that exists"),
    (ATTACHMENT, attachment(), "instance: must name something that exists"),
])  # fmt: skip
def test_a_missing_resource_is_reported_with_the_next_step(engine, token, inputs, words):
    with failing() as failed:
        engine.create(token, "x", inputs)

    assert failed[0].message.startswith(words)


def test_a_missing_disk_is_reported_by_its_property(engine, cloud):
    cloud.make_instance()
    with failing() as failed:
        engine.create(ATTACHMENT, "x", attachment())

    assert failed[0].message.startswith("disk: must name something that exists")


WEB = f"projects/{PROJECT}/global/instanceTemplates/web"


def _conflict(engine, name="two"):
    with failing() as failed:
        engine.create(TEMPLATE, name, {**template(labels={"a": "b"}), "name": "web"})
    return failed[0].message


def test_a_name_conflict_is_reported_with_a_command_that_can_be_copied(engine, cloud):
    with driver.engine(project=PROJECT, emulatorHost=cloud.host) as another:
        another.create(TEMPLATE, "one", {**template(), "name": "web"})
    said = _conflict(engine)

    assert f"{WEB} exists" in said
    assert import_commands(said) == [ImportCommand(TEMPLATE, "two", WEB, [])]
    assert import_commands(_conflict(engine, "it's ::here"))[0].name == "it's ::here"
    assert "set the resource option aliases" in said


def test_a_conflict_with_another_resource_of_the_stack_names_it_instead_of_an_import(engine):
    engine.create(TEMPLATE, "one", {**template(), "name": "web"})
    said = _conflict(engine)

    assert "The resource one of this stack manages it: choose another name" in said
    assert not import_commands(said)


@pytest.mark.parametrize("name", ["explicit", "default-eu", "default_eu"])
def test_an_import_command_names_the_provider_and_the_parents_urn(engine, cloud, name):
    with driver.engine(project=PROJECT, emulatorHost=cloud.host) as another:
        another.create(TEMPLATE, "one", {**template(), "name": "web"})
    urn = f"urn:pulumi:dev::test::pulumi:providers:gcpx::{name}"
    engine.stub.Configure(
        driver.rpc.ConfigureRequest(args=driver.struct({"project": PROJECT, "emulatorHost": cloud.host}), urn=urn)
    )
    inputs = driver.struct(engine.checked(TEMPLATE, "two", {**template(labels={"a": "b"}), "name": "web"}))
    with failing() as failed:
        engine.stub.Create(
            driver.rpc.CreateRequest(urn=f"urn:pulumi:dev::test::my:app:Site${TEMPLATE}::two", properties=inputs)
        )

    (command,) = import_commands(failed[0].message)
    assert command.options == [
        *("--parent", "parent=urn:pulumi:dev::test::my:app:Site::NAME"),
        *("--provider", f"provider={urn}"),
    ]


@pytest.mark.parametrize(
    "name", ["default", "default_0_1_0", "default_0_1_0_https_/example.com", "default_https_/example.com"]
)
def test_an_import_command_does_not_name_a_default_provider(engine, cloud, name):
    with driver.engine(project=PROJECT, emulatorHost=cloud.host) as another:
        another.create(TEMPLATE, "one", {**template(), "name": "web"})
    urn = f"urn:pulumi:dev::test::pulumi:providers:gcpx::{name}"
    args = driver.struct({"project": PROJECT, "emulatorHost": cloud.host})
    engine.stub.Configure(driver.rpc.ConfigureRequest(args=args, urn=urn))

    assert import_commands(_conflict(engine)) == [ImportCommand(TEMPLATE, "two", WEB, [])]


@pytest.mark.parametrize(("online", "words"), [
    (fleet(2, region="us-eas1"), "did you mean us-east1?"),
    (fleet(2, disks=[{"boot": True, "initializeParams": {"sourceImage": "projects/debian-cloud/global/images/family/debian-99"}}]), "correct it, or create it first"),
])  # fmt: skip
def test_an_online_check_says_what_to_do_next(cloud, online, words):
    with driver.engine(project=PROJECT, emulatorHost=cloud.host, validateOnline="yes") as made:
        assert words in " ".join(made.failures(FLEET, online).values())


def test_an_invalid_list_query_is_refused_by_path(engine):
    with failing() as failed:
        list(engine.stub.List(rpc.ListRequest(token=TEMPLATE, query=struct({"filter": "name ~ a", "nope": 1}))))

    assert "filter: " in failed[0].message
    assert "nope: is not a property here" in failed[0].message


def test_no_rule_quotes_a_value():
    assert not [row.key for row in rows() if "{" in row.words]


def test_a_refusal_to_publish_says_what_to_grant_to_the_service_agent_and_nothing_about_the_caller(engine, cloud):
    cloud.make_bucket()
    with failing() as failed:
        engine.create(NOTIFICATION, "n", {"bucket": BUCKET, "topic": "missing"})
    assert "gcloud pubsub topics add-iam-policy-binding projects/demo-project/topics/missing" in failed[0].message
    assert "to the caller" not in failed[0].message


def test_a_region_with_two_letters_exchanged_suggests_the_right_one(engine):
    with failing() as failed:
        engine.create(FLEET, "w", fleet(1, region="us-esat1"))
    assert "did you mean us-east1?" in failed[0].message


@pytest.mark.parametrize(
    "given", ["global/instanceTemplates/web", "projects/demo-project/global/instanceTemplates/web"]
)
def test_a_template_is_imported_by_its_path_with_or_without_the_project(engine, given):
    made = engine.create(TEMPLATE, "t", {"name": "web", **template()})
    assert engine.import_(TEMPLATE, "t", given).id == made.id


def test_a_regional_template_is_imported_by_its_path_without_the_project(engine):
    made = engine.create(TEMPLATE, "t", {"name": "web", "region": "us-east1", **template()})
    assert engine.import_(TEMPLATE, "t", "regions/us-east1/instanceTemplates/web").id == made.id


@pytest.mark.parametrize("policy", [{"zones": [{"zone": "zones/us-west1-b"}]}, {"locations": {"zones/us-west1-b": {}}}])
def test_zones_of_another_region_than_the_provider_s_are_refused(engine, cloud, policy):
    engine.configure(project="demo-project", region="us-east1", emulatorHost=cloud.host)
    inputs = {name: value for name, value in fleet(1, locationPolicy=policy).items() if name != "region"}
    failures = engine.check(FLEET, "w", inputs).failures
    assert "must be a zone of us-east1, the fleet's region" in failures[0].reason
