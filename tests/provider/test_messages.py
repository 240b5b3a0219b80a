"""A refusal says what is required, then once what was given, and then what to do next.

Holds reliability.md: "the number in another resource of this stack".
"""

from __future__ import annotations

import grpc
import pytest
from engines import driver
from engines.clocked import ClockedProvider
from engines.driver import failing, rpc, struct
from engines.import_commands import ImportCommand, fits, import_commands
from generate.rule_rows import rows
from servers.raw_server import answering, response
from values.programs import (
    ATTACHMENT,
    BUCKET,
    FLEET,
    IMAGE,
    KEY,
    NOTIFICATION,
    PROJECT,
    TEMPLATE,
    attachment,
    fleet,
    image,
    key,
    notification,
    template,
)


def _disk(**parameters):
    return template(disks=[{"boot": True, "initializeParams": {"sourceImage": "family/x", **parameters}}])


def _failures(engine, token, inputs):
    return [(failure.property, failure.reason) for failure in engine.check(token, "x", inputs).failures]


@pytest.mark.parametrize(("token", "inputs", "prop", "reason"), [
    (TEMPLATE, _disk(diskSizeGb="20GB"), "", 'properties.disks[0].initializeParams.diskSizeGb: must be an integer, not the string "20GB"'),
    (TEMPLATE, _disk(diskSizeGb=9), "", "properties.disks[0].initializeParams.diskSizeGb: must be at least 10 GB for a disk of type pd-* or without a type"),
    (TEMPLATE, _disk(replicaZones=["a"]), "", "properties.disks[0].initializeParams.replicaZones: must have exactly 2 elements, not 1"),
    (TEMPLATE, template(scheduling={"hostErrorTimeoutSeconds": 100}), "", "properties.scheduling.hostErrorTimeoutSeconds: must be a multiple of 30, not 100"),
    (TEMPLATE, template(disks=[{"mode": "READ_RITE"}]), "", 'properties.disks[0].mode: must be one of READ_ONLY, READ_WRITE, not "READ_RITE"; did you mean READ_WRITE?'),
    (TEMPLATE, template(canIpForward="yes"), "", 'properties.canIpForward: must be true or false, not the string "yes"'),
    (TEMPLATE, template(labels=["a"]), "", "properties.labels: must be a map, not a list"),
    (NOTIFICATION, notification(bucket="UPPER"), "bucket", "must be the name of a bucket without gs://: 3 to 222 lower-case letters, digits, hyphens, underscores and dots"),
    (NOTIFICATION, notification(bucket="gs://my-uploads"), "bucket", "must be the name of a bucket without gs://: 3 to 222 lower-case letters, digits, hyphens, underscores and dots"),
    (TEMPLATE, _disk(diskType="PD-SSD"), "", 'properties.disks[0].initializeParams.diskType: must be the name of a disk type, such as pd-ssd: lower-case letters, digits and hyphens, not "PD-SSD"'),
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
    ({"tags": ["web"]}, "properties.tags", 'must be written `tags: {items: ["http"]}`, not a list'),
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
     "sourceInstanceTemplate: must name something that exists: create it first, correct sourceInstanceTemplate, or run `pulumi refresh` if it was deleted"),
    (NOTIFICATION, notification(bucket="no-such-bucket"), "bucket: must exist: create the bucket no-such-bucket first, or correct the name ("),
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
    assert (failed[0].code, failed[0].partial) == (grpc.StatusCode.ALREADY_EXISTS, None)
    return failed[0].message


def test_a_name_conflict_is_reported_with_a_command_that_can_be_copied(engine, cloud):
    with driver.engine(project=PROJECT, emulatorHost=cloud.host) as another:
        another.create(TEMPLATE, "one", {**template(), "name": "web"})
    said = _conflict(engine)

    assert f"{WEB} exists" in said
    assert import_commands(said) == [ImportCommand(TEMPLATE, "two", WEB, [])]
    assert import_commands(_conflict(engine, "it's ::here"))[0].name == "it's ::here"
    assert "set the resource option aliases" in said
    assert "deleteBeforeReplace" in said
    assert fits(said), said
    assert said.count("exists") == 1, "one text says it"


def test_a_conflict_of_an_attachment_repeats_nothing_of_google(engine, cloud):
    cloud.make_instance()
    cloud.make_disk()
    with driver.engine(project=PROJECT, emulatorHost=cloud.host) as another:
        made = another.create(ATTACHMENT, "one", attachment())
    with failing() as failed:
        engine.create(ATTACHMENT, "two", attachment(autoDelete=True))
    said = failed[0].message

    assert said.startswith(f"{made.id} is attached already and was not attached by this resource with these inputs.\n")
    assert import_commands(said) == [ImportCommand(ATTACHMENT, "two", made.id, [])]
    assert fits(said), said
    assert said.count("attached already") == 1
    assert "HTTP" not in said


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


@pytest.fixture
def without_credentials(monkeypatch, tmp_path):
    """Leave this machine without Application Default Credentials."""
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))


def _refused_call():
    with driver.engine(project=PROJECT, computeCustomEndpoint="http://127.0.0.1:1") as engine, failing() as failed:
        engine.create(TEMPLATE, "web", template())
    return failed[0].message


@pytest.mark.usefixtures("without_credentials")
def test_without_credentials_a_call_names_the_emulator_besides_the_ways_to_log_in():
    said = _refused_call()

    assert "gcloud auth application-default login" in said
    assert "GCPX_EMULATOR_HOST=127.0.0.1:8095" in said
    assert "Google did not issue" not in said, "Google was not asked"


@pytest.mark.parametrize(
    ("content", "words"), [(None, "there is no file key.json in"), ("{", "the file is key.json in")]
)
@pytest.mark.usefixtures("without_credentials")
def test_a_missing_or_broken_key_file_is_named(monkeypatch, tmp_path, engine, content, words):
    file = tmp_path / "key.json"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    assert f"{words} {tmp_path}" in _refused_call()

    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS")
    monkeypatch.setenv("GOOGLE_CREDENTIALS", str(file))
    urn = "urn:pulumi:dev::t::pulumi:providers:gcpx::p"
    (failure,) = engine.stub.CheckConfig(rpc.CheckRequest(urn=urn, news=struct({}))).failures
    assert f"{words} {tmp_path}" in failure.reason


@pytest.mark.usefixtures("without_credentials")
def test_a_key_that_was_pasted_in_place_of_a_path_is_not_shown(monkeypatch):
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "aHVudGVyMi1odW50ZXIy/aHVudGVyMg==")

    assert "aHVudGVyM" not in _refused_call()


@pytest.mark.parametrize("status", ["501 Unsupported method", "502 Bad Gateway", "405 Not Allowed"])
def test_a_page_of_another_server_is_named_by_its_title_with_the_settings_to_check(status):
    page = f"<!DOCTYPE HTML>\n<html><head>\n<title>{status}</title></head>\n<body>a\nb</body></html>".encode()
    with (
        answering(lambda _: [response(page, status, "Connection: close")]) as server,
        driver.engine(ClockedProvider(), project=PROJECT, emulatorHost=server.host) as engine,
        failing() as failed,
    ):
        engine.create(TEMPLATE, "web", template())

    assert f'a page with the title "{status}"' in failed[0].message
    assert "Check the endpoint settings of gcpx (emulatorHost" in failed[0].message
    assert "Google's side" not in failed[0].message
    assert "\n" not in failed[0].message


@pytest.mark.parametrize(("more", "path"), [
    ({"machineType": "e9-small"}, "instanceProperties.machineType"),
    ({"disks": [{"boot": True, "initializeParams": {"sourceImage": "nobody"}}]}, "instanceProperties.disks[0].initializeParams.sourceImage"),
])  # fmt: skip
def test_an_invalid_value_is_reported_once_and_by_its_path(engine, more, path):
    with failing() as failed:
        engine.create(FLEET, "w", fleet(3, **more))

    assert failed[0].message.startswith(f"{path}: ")
    assert failed[0].message.count("Invalid value for field") == 1


@pytest.mark.parametrize("at_request", [False, True])
def test_a_quota_comes_with_one_piece_of_advice(engine, cloud, at_request):
    cloud.post("/_emulator/limits", {"instances": {"us-east1": 1}, "quotaAtRequest": at_request})
    with failing() as failed:
        engine.create(FLEET, "w", fleet(3))

    assert failed[0].message.count("request a higher quota") == 1
    assert failed[0].message.count("Quota 'INSTANCES' exceeded") == 1
    assert ".;" not in failed[0].message


def test_a_regional_template_that_is_imported_by_its_name_alone_is_told_where_gcpx_has_looked(engine):
    engine.create(TEMPLATE, "t", {"name": "web", "region": "us-east1", **template()})
    with failing() as failed:
        engine.import_(TEMPLATE, "t", "web")

    assert f"gcpx looked for projects/{PROJECT}/global/instanceTemplates/web. The forms" in failed[0].message
    assert "projects/PROJECT/regions/REGION/instanceTemplates/NAME" in failed[0].message


def test_a_rule_about_a_secret_value_does_not_repeat_the_property(engine):
    failures = engine.failures(KEY, {"user": "me@example.com", "key": driver.secret("ssh-rsa AAAA")})
    size = _disk(diskSizeGb=driver.secret(9))

    assert failures == {"key": "must be an SSH public key, TYPE BASE64 [COMMENT], with data of that type"}
    assert list(engine.failures(TEMPLATE, size).values()) == [
        "must be at least 10 GB for a disk of type pd-* or without a type"
    ]


def test_a_refusal_that_names_no_permission_does_not_ask_for_the_named_one(engine, cloud):
    cloud.fail("oslogin.users.sshPublicKeys.get", status=403)
    cloud.fail("oslogin.users.importSshPublicKey", status=403)
    with failing() as failed:
        engine.create(KEY, "k", key())

    assert "named permission" not in failed[0].message
    assert failed[0].message.count("gcpx:impersonateServiceAccount") == 1


def test_the_sentences_of_a_message_end_before_the_next_one_begins(engine, cloud):
    error = {
        "code": "QUOTA_EXCEEDED",
        "message": "Too many.",
        "errorDetails": [{"help": {"links": [{"url": "https://e.x"}]}}],
    }
    cloud.fail("compute.instanceTemplates.insert", operation={"errors": [error, {"code": "OTHER", "message": "No."}]})
    with failing() as failed:
        engine.create(TEMPLATE, "t", template())

    assert "Too many. See https://e.x (help); No (QUOTA_EXCEEDED, OTHER). Delete" in failed[0].message


def test_the_first_line_about_an_update_says_what_happens(engine):
    rolling = {"updatePolicy": {"maxUnavailable": 1, "maxSurge": 0}}
    made = engine.create(FLEET, "w", fleet(2, **rolling))
    engine.preview_update(made, fleet(2, machineType="e2-medium", **rolling))
    (first, *others) = engine.log.lasting[-1].splitlines()

    assert first.startswith("what this update does: 2 members are restarted: ")
    assert others
    assert all(line.startswith("- ") for line in others)


def test_the_error_after_a_cancellation_says_what_may_exist_now(engine, cloud):
    cloud.hold_operations()
    inputs = {**template(), "name": "web"}
    with (
        cloud.interceptor.observed(
            lambda _, request: engine.stub.Cancel(driver.empty_pb2.Empty()) if request.endswith("/wait") else None
        ),
        failing() as failed,
    ):
        engine.create(TEMPLATE, "web", inputs)
    cloud.finish_operations()

    assert f"{WEB} may exist, and the state has it as unfinished" in str(failed[0])
