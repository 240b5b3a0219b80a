"""The plugin responds correctly over gRPC to messages in the form in which the engine sends them."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import attrs
import grpc
import pytest
from engines import driver
from engines.clocked import ClockedProvider
from engines.driver import UNKNOWN, failing, plain, reasons, rpc, secret, struct
from google.protobuf import empty_pb2
from values.programs import (
    ATTACHMENT,
    FLEET,
    IMAGE,
    KEY,
    NOTIFICATION,
    TEMPLATE,
    attachment,
    fleet,
    image,
    key,
    notification,
    template,
)

from gcpx.model.fields import object_type
from gcpx.protocol.engine import OLDEST_CLI
from gcpx.provider import resource_class


def test_the_handshake_asks_for_secrets_and_autonaming(engine):
    answer = engine.stub.Handshake(rpc.ProviderHandshakeRequest(engine_address="127.0.0.1:1"))

    assert (answer.accept_secrets, answer.supports_autonaming_configuration) == (True, True)
    assert (answer.accept_resources, answer.accept_outputs) == (False, False)


def test_an_engine_that_sends_no_handshake_is_served(cloud):
    with driver.engine(emulatorHost=cloud.host, project="p") as made:
        made.stub.Configure(
            rpc.ConfigureRequest(variables={"gcpx:config:project": "p", "gcpx:config:emulatorHost": cloud.host})
        )
        resource = made.create(TEMPLATE, "web", template())

    assert resource.id.startswith("projects/p/global/instanceTemplates/web-")


def test_an_old_engine_that_sends_no_type_is_served(engine):
    request = rpc.CheckRequest(urn=engine.urn(f"my:component:Web${TEMPLATE}", "web"), news=struct(template()))

    assert not engine.stub.Check(request).failures


def test_the_plugin_has_the_version_of_its_schema(engine):
    schema = json.loads(engine.stub.GetSchema(rpc.GetSchemaRequest()).schema)

    assert engine.stub.GetPluginInfo(empty_pb2.Empty()).version == schema["version"]


@pytest.mark.parametrize("method", ["Parameterize", "Construct", "Call"])
def test_unsupported_methods_are_unimplemented(engine, method):
    request = {"Parameterize": rpc.ParameterizeRequest, "Construct": rpc.ConstructRequest, "Call": rpc.CallRequest}
    with failing() as failed:
        getattr(engine.stub, method)(request[method]())

    assert failed[0].code == grpc.StatusCode.UNIMPLEMENTED


def test_an_unknown_resource_or_function_is_an_invalid_argument(engine):
    with failing() as failed:
        engine.check("gcpx:compute:Nothing", "x", {})
    with failing() as invoked:
        engine.stub.Invoke(rpc.InvokeRequest(tok="gcpx:compute:nothing"))

    assert "gcpx:compute:Nothing" in failed[0].message
    assert failed[0].code == invoked[0].code == grpc.StatusCode.INVALID_ARGUMENT
    assert "gcpx:compute:listRegions" in invoked[0].message, "it lists the functions"


@pytest.mark.parametrize("urn", ["", "web", "urn:pulumi:dev::test"])
def test_a_urn_without_a_type_is_an_invalid_argument(engine, urn):
    with failing() as failed:
        engine.stub.Diff(rpc.DiffRequest(urn=urn))

    assert failed[0].code == grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize("filtered", [UNKNOWN, secret(UNKNOWN)])
def test_a_function_is_not_called_with_an_unknown_argument(engine, filtered):
    said = engine.refusals("gcpx:compute:listRegions", filter=filtered, itemFields=["name", UNKNOWN])

    assert said == dict.fromkeys(("filter", "itemFields"), "must be known when the function is called")


def test_a_missing_name_is_generated_once_and_kept(engine):
    first = engine.checked(TEMPLATE, "My Web", template())
    again = engine.checked(TEMPLATE, "My Web", template(), first)
    replaced = engine.checked(TEMPLATE, "My Web", template())

    assert first["name"].startswith("my-web-")
    assert again == first
    assert replaced["name"] == first["name"], "the same seed gives the same name"
    assert engine.checked(TEMPLATE, "My Web", first, first) == first


def test_a_name_is_generated_when_the_program_removes_its_own(engine):
    explicit = engine.checked(TEMPLATE, "web", {**template(), "name": "mine"})

    assert engine.checked(TEMPLATE, "web", template(), explicit)["name"].startswith("web-")


@pytest.mark.parametrize(
    ("mode", "proposed", "expected"),
    [("PROPOSE", "Dev_Web-abcdefg", "dev-web-abcdefg"), ("ENFORCE", "exactly-this", "exactly-this")],
)
def test_the_users_autonaming_configuration_is_applied(engine, mode, proposed, expected):
    options = rpc.CheckRequest.AutonamingOptions(mode=mode, proposed_name=proposed)
    response = engine.check(TEMPLATE, "web", template(), autonaming=options)

    assert plain(response.inputs)["name"] == expected


def test_a_name_is_required_if_autonaming_is_disabled(engine):
    options = rpc.CheckRequest.AutonamingOptions(mode="DISABLE")
    response = engine.check(TEMPLATE, "web", template(), autonaming=options)

    assert ["autonaming" in reason for reason in driver.reasons(response.failures).values()] == [True]


def test_check_keeps_unknowns_secrets_and_the_users_spelling(engine):
    inputs = {"name": "web", **template(labels=secret({"a": "b"}), description=UNKNOWN, minCpuPlatform=None)}
    inputs["properties"]["disks"][0]["diskSizeGb"] = "20"

    assert engine.checked(TEMPLATE, "web", inputs) == inputs


def test_check_leaves_out_what_is_empty_at_any_depth(engine):
    full = {"name": "web", **template(labels={"a": ""}, metadata={"items": [{"key": "k", "value": ""}]})}
    inputs = {
        **full,
        "region": "",
        "description": secret(""),
        "properties": {**full["properties"], "resourcePolicies": []},
    }
    inputs["properties"] = secret({**inputs["properties"], "minCpuPlatform": "", "resourceManagerTags": {}})
    inputs["properties"]["value"]["disks"] = [{**disk, "deviceName": ""} for disk in full["properties"]["disks"]]

    assert engine.checked(TEMPLATE, "web", inputs) == {**full, "properties": secret(full["properties"])}


def test_check_keeps_what_is_empty_on_purpose(engine):
    policy, action = {"maxUnavailable": 1}, {"action": "RESTART", "trigger": "1", "members": []}
    chosen = fleet(updatePolicy=policy, rollingAction=action)
    patch = {
        "region": "us-east1",
        "count": 1,
        "namePattern": "web-#",
        "sourceInstanceTemplate": "global/instanceTemplates/t",
    }
    patch["instanceProperties"] = {"description": "", "resourcePolicies": [], "labels": {}}

    assert engine.checked(FLEET, "web", chosen)["rollingAction"] == action
    assert engine.checked(FLEET, "web", patch) == {**patch, **engine.checked(FLEET, "web", patch)}


@pytest.mark.parametrize(("token", "inputs", "name"), [(KEY, key(), "key"), (NOTIFICATION, notification(), "topic")])
def test_a_required_input_that_is_empty_is_missing(engine, token, inputs, name):
    assert engine.failures(token, {**inputs, name: ""})[name].startswith("is required")


def test_an_empty_name_is_generated(engine):
    assert engine.checked(TEMPLATE, "web", {**template(), "name": ""})["name"].startswith("web-")


def test_a_preview_creates_nothing_and_predicts_only_what_is_certain(engine, cloud):
    inputs = engine.checked(TEMPLATE, "web", template())
    predicted = engine.preview(TEMPLATE, "web", inputs)

    assert cloud.calls() == []
    assert "selfLink" not in predicted
    assert predicted["name"] == inputs["name"]
    assert predicted["properties"] == UNKNOWN, "Google adds properties to it"


def _assert_fulfilled(predicted, actual, path=""):
    if predicted == UNKNOWN:
        return
    if isinstance(predicted, dict):
        for name, value in predicted.items():
            assert name in actual or value == UNKNOWN, f"{path}.{name} was predicted"
            _assert_fulfilled(value, actual.get(name), f"{path}.{name}")
    elif isinstance(predicted, list):
        assert len(predicted) == len(actual), path
        for index, value in enumerate(predicted):
            _assert_fulfilled(value, actual[index], f"{path}[{index}]")
    else:
        assert predicted == actual, path


@pytest.mark.parametrize(
    ("token", "inputs", "change"),
    [
        (KEY, key(), {"expirationTimeUsec": "1924991999000000"}),
        (IMAGE, image(name="i"), {"labels": {"a": "b"}}),
        (ATTACHMENT, attachment(), {"autoDelete": True}),
        (FLEET, fleet(), {"count": 5}),
    ],
)
def test_an_update_gives_what_its_preview_predicted(engine, vm, token, inputs, change):
    created = engine.create(token, "x", inputs)
    predicted = engine.preview_update(created, {**inputs, **change})
    updated = engine.update(created, {**inputs, **change}).outputs

    _assert_fulfilled(predicted, updated)
    kind = resource_class(token)
    volatile = {name for name, prop in object_type(kind.model).properties.items() if prop.traits.volatile}
    assert set(updated) - set(predicted) <= volatile | {path[0] for path in kind.in_place} | {"__creation", "__kept"}


def test_a_replacement_names_the_exact_paths_that_changed(engine):
    created = engine.create(TEMPLATE, "web", template(resourceManagerTags={"a.b/c": "1", "x/y": "1"}))
    found = engine.diff(created, template(resourceManagerTags={"a.b/c": "2", "x/y": "1"}, canIpForward=True))

    kinds = {path: rpc.PropertyDiff.Kind.Name(change.kind) for path, change in found.detailedDiff.items()}
    assert kinds == {
        'properties.resourceManagerTags["a.b/c"]': "UPDATE_REPLACE",
        "properties.canIpForward": "ADD_REPLACE",
    }
    assert (list(found.replaces), list(found.diffs)) == (["properties"], ["properties"])
    assert not found.deleteBeforeReplace


def test_a_template_is_deleted_before_a_replacement_with_the_same_name(engine):
    created = engine.create(TEMPLATE, "web", {"name": "web", **template()})

    assert engine.diff(created, {"name": "web", **template(canIpForward=True)}).deleteBeforeReplace
    assert not engine.diff(created, {"name": "other", **template(canIpForward=True)}).deleteBeforeReplace
    assert not engine.diff(created, {"name": "web", "region": "us-east1", **template()}).deleteBeforeReplace


def test_an_unknown_value_is_planned_as_a_replacement(engine):
    created = engine.create(TEMPLATE, "web", template())
    found = engine.diff_checked(created, {**created.inputs, "description": UNKNOWN})

    assert list(found.replaces) == ["description"]


def test_diff_sends_no_request(engine, cloud):
    created = engine.create(TEMPLATE, "web", template())
    before = len(cloud.calls())
    engine.diff(created, template(canIpForward=True))

    assert len(cloud.calls()) == before


def test_a_secret_input_stays_secret_in_every_output(engine):
    created = engine.create(
        TEMPLATE, "web", template(labels={"token": secret("hunter2hunter2")}, description=secret("abc"))
    )
    refreshed, imported = engine.refresh(created), created.outputs["properties"]

    assert imported["labels"]["token"] == secret("hunter2hunter2")
    assert imported["description"] == secret("abc")
    assert refreshed is not None
    assert refreshed.outputs == created.outputs
    assert refreshed.inputs == created.inputs


def test_a_list_with_a_secret_is_secret_as_a_whole_if_google_shows_another_number_of_elements(engine, cloud):
    created = engine.create(TEMPLATE, "web", template(tags={"items": [secret("abc"), "web"]}))
    assert created.outputs["properties"]["tags"]["items"] == [secret("abc"), "web"]
    shown = ["web", "abd", "db"]  # nothing tells whether one of them comes from the secret one
    cloud.change(created.id, lambda body: body["properties"]["tags"].update(items=shown))
    refreshed = engine.refresh(created)

    assert refreshed is not None
    assert refreshed.outputs["properties"]["tags"]["items"] == secret(shown)
    assert refreshed.inputs["properties"]["tags"]["items"] == secret(shown)


def test_an_encryption_key_is_secret_even_if_the_program_does_not_mark_it(engine):
    disk = {
        "boot": True,
        "initializeParams": {
            "sourceImage": "family/debian-12",
            "sourceImageEncryptionKey": {"rawKey": "c2VjcmV0LWtleS1vZi0zMi1ieXRlcy1wcmVjaXNlbHk="},
        },
    }
    checked = engine.checked(TEMPLATE, "web", template(disks=[disk]))
    created = engine.create(TEMPLATE, "web", template(disks=[disk]))

    for values in (checked, created.outputs):
        given = values["properties"]["disks"][0]["initializeParams"]["sourceImageEncryptionKey"]
        assert given["rawKey"] == secret("c2VjcmV0LWtleS1vZi0zMi1ieXRlcy1wcmVjaXNlbHk=")


def test_a_failed_operation_leaves_no_partial_resource(engine, cloud):
    error = {"errors": [{"code": "QUOTA_EXCEEDED", "message": "Quota 'X' exceeded.", "errorDetails": [
        {"quotaInfo": {"metricName": "compute.googleapis.com/templates", "limit": 10, "dimensions": {"region": "us-east1"}}}
    ]}]}  # fmt: skip
    cloud.fail("compute.instanceTemplates.insert", operation=error)
    with failing() as failed:
        engine.create(TEMPLATE, "web", template())

    assert failed[0].code == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "limit of compute.googleapis.com/templates is 10 in region us-east1" in failed[0].message
    assert failed[0].partial is None
    created = engine.create(TEMPLATE, "web", template())
    assert engine.refresh(created) == created, "the failed operation's request ID is not used again"


def test_the_next_up_finishes_a_creation_that_timed_out(engine, cloud):
    provider = ClockedProvider()
    with (
        driver.engine(provider, project="demo-project", emulatorHost=cloud.host) as clocked_engine,
        ThreadPoolExecutor() as pool,
        failing() as failed,
    ):
        cloud.hold_operations()
        creation = pool.submit(clocked_engine.create, TEMPLATE, "web", {"name": "web", **template()}, timeout=60)
        cloud.clock.wait_for_waiting()
        provider.time.advance(70)
        creation.result()
    partial = failed[0].partial

    assert partial.id == "projects/demo-project/global/instanceTemplates/web"
    assert "did not finish in time" in partial.reasons[0]
    cloud.finish_operations()
    state = driver.Resource(engine.urn(TEMPLATE, "web"), partial.id, plain(partial.inputs), plain(partial.properties))
    finished = engine.update(state, {"name": "web", **template()})
    assert finished.outputs["selfLink"].endswith("/instanceTemplates/web")


def test_a_cancelled_create_keeps_the_id_and_the_plugin_stays_usable(engine, cloud):
    path = "projects/demo-project/global/instanceTemplates/web"
    with ThreadPoolExecutor() as pool, cloud.held_operations(), failing() as failed:
        creation = pool.submit(engine.create, TEMPLATE, "web", {"name": "web", **template()})
        cloud.clock.wait_for_waiting()
        engine.stub.Cancel(empty_pb2.Empty())
        cloud.clock.advance(1)  # Google responds before the operation is done, as it does after two minutes
        assert cloud.get(path) is None, "Google is still working on it"
        creation.result()

    assert failed[0].partial.id.endswith("/web")
    assert "cancelled" in failed[0].message
    engine.configure(project="demo-project", emulatorHost=cloud.host)
    assert engine.create(TEMPLATE, "next", template()).id


def test_a_long_operation_reports_progress_under_the_urn(engine, cloud):
    cloud.emulator.operations.latency = 480.0
    created = engine.create(TEMPLATE, "web", {"name": "web", **template()})

    messages = engine.log.wait_for(3, created.urn)
    assert messages == [f"insert global/instanceTemplates/web: {share}%" for share in (25, 50, 75)], "every two minutes"


def test_a_warning_names_the_path_of_a_deprecated_property(engine):
    engine.checked(TEMPLATE, "web", template(shieldedVmConfig={"enableVtpm": True}))

    assert (
        "WARNING",
        engine.urn(TEMPLATE, "web"),
        "properties.shieldedVmConfig is deprecated: use shieldedInstanceConfig",
    ) in engine.log.messages


def test_an_unexpected_exception_asks_for_a_report_and_hides_secrets(engine, caplog):
    state = driver.Resource(engine.urn(KEY, "k"), "users/u/sshPublicKeys/" + "0" * 64, key(), {})
    with failing() as failed:
        engine.stub.Create(rpc.CreateRequest(urn=state.urn, properties=struct({"user": secret("someone@example.com")})))

    assert failed[0].code == grpc.StatusCode.FAILED_PRECONDITION
    assert "please report it" in failed[0].message
    assert "someone@example.com" not in failed[0].message
    caplog.clear()


def test_after_attach_messages_go_to_the_new_engine(engine):
    engine.stub.Attach(_plugin_attach("127.0.0.1:1"))
    engine.checked(TEMPLATE, "web", template(shieldedVmConfig={"enableVtpm": True}))

    assert engine.log.messages == []


def _plugin_attach(address):
    return driver.proto.plugin.PluginAttach(address=address)


def test_a_read_with_partial_state_returns_all_outputs(engine):
    created = engine.create(KEY, "k", key())
    given = attrs.evolve(created, inputs={"user": "operator@example.com"}, outputs={"user": "operator@example.com"})
    found = engine.refresh(given)

    assert found is not None
    assert found.outputs["fingerprint"] == created.outputs["fingerprint"]


ASSET = {driver.SIGNATURE: "c44067f5952c0a294b673a41bacd8c17", "path": "startup.sh"}
ARCHIVE = {driver.SIGNATURE: "0def7320c3a5731c473e5ecbe6d01bc7", "path": "."}
READ_IT = "let the program read the file, and write its text here"


@pytest.mark.parametrize(("properties", "path", "reason"), [
    ({"metadata": {"items": [{"key": "startup-script", "value": ASSET}]}}, "metadata.items[0].value", f"must be a string, not an asset: {READ_IT}"),
    ({"labels": {"a": ARCHIVE}}, "labels.a", "must be a string, not an archive"),
    ({"tags": ASSET}, "tags", f'must be written `tags: {{items: ["http"]}}`, not an asset: {READ_IT}'),
    ({"partnerMetadata": {"a": {"entries": {"b": [ASSET]}}}}, "partnerMetadata.a.entries.b", f"must be JSON, not an asset: {READ_IT}"),
    ({"description": driver.secret(ASSET)}, "description", f"must be a string, not an asset: {READ_IT}"),
    ({"description": {driver.SIGNATURE: "what"}}, "description", "must be a string, not a special value of Pulumi"),
])  # fmt: skip
def test_an_asset_is_refused_at_its_path(engine, properties, path, reason):
    assert engine.failures(TEMPLATE, template(**properties)) == {f"properties.{path}": reason}


def test_an_asset_in_the_configuration_and_in_arguments_is_refused_at_its_path(engine):
    configured = engine.stub.CheckConfig(
        rpc.CheckRequest(urn="urn:pulumi:dev::p::pulumi:providers:gcpx::p", news=struct({"project": ASSET}))
    )

    assert reasons(configured.failures) == {"project": f"must be a string, not an asset: {READ_IT}"}
    assert engine.refusals("gcpx:oauth2:getTokenInfo", idToken=ASSET) == {
        "idToken": f"must be a string, not an asset: {READ_IT}"
    }


@pytest.mark.parametrize(("token", "inputs"), [(TEMPLATE, template()), (IMAGE, image()), (FLEET, fleet())])
def test_a_program_without_a_name_keeps_the_imported_name(engine, vm, token, inputs):
    imported = engine.import_(token, "x", engine.create(token, "of another program", inputs).id)

    assert imported is not None
    assert engine.diff(imported, inputs).changes == rpc.DiffResponse.DIFF_NONE


def test_a_generated_name_becomes_explicit_when_the_program_sets_it(engine):
    created = engine.create(TEMPLATE, "web", template())
    named = {**template(description="another"), "name": created.outputs["name"]}

    assert engine.diff(created, named).deleteBeforeReplace


TOO_OLD = {
    (grpc.StatusCode.UNIMPLEMENTED, "unknown method RequirePulumiVersion"): "later: this one is older.",
    (grpc.StatusCode.UNKNOWN, "Pulumi CLI version 3.1.0 does not satisfy it"): "later: Pulumi CLI version 3.1.0 does",
}


FIRST_CALLS = {
    "GetSchema": rpc.GetSchemaRequest(),
    "CheckConfig": rpc.CheckRequest(urn="urn:pulumi:dev::p::pulumi:providers:gcpx::default"),
    "Configure": rpc.ConfigureRequest(),
}
"""One of these comes first, whatever the CLI does."""


@pytest.mark.parametrize("method", FIRST_CALLS)
@pytest.mark.parametrize(("answer", "words"), TOO_OLD.items(), ids=("older", "named"))
def test_a_cli_that_is_too_old_is_refused(engine, answer, words, method):
    engine.log.too_old = answer
    engine.stub.Handshake(rpc.ProviderHandshakeRequest(engine_address=engine.log.address))
    with failing() as found:
        getattr(engine.stub, method)(FIRST_CALLS[method])

    assert found[0].code is grpc.StatusCode.INVALID_ARGUMENT
    assert f"gcpx needs the Pulumi CLI {OLDEST_CLI} or {words}" in found[0].message
    assert "https://www.pulumi.com/docs/install" in found[0].message


def test_an_engine_that_does_not_answer_is_served(engine):
    engine.stub.Handshake(rpc.ProviderHandshakeRequest(engine_address="127.0.0.1:1"))

    assert engine.stub.GetSchema(rpc.GetSchemaRequest()).schema
