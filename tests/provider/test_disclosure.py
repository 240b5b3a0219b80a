"""No failure, warning, error or output shows a secret, no matter how the secret was given.

Holds SECURITY.md: "They are masked even if".
"""

from __future__ import annotations

import base64
import json

import pytest
from engines import driver
from engines.driver import failing, rpc, secret, struct
from rolling.fleets import set_limits
from samples import INPUTS
from values.programs import FLEET, KEY, NOTIFICATION, PROJECT, TEMPLATE, fleet, key, notification, template

from gcpx.config import KIND
from gcpx.model.fields import ListOf, MapOf, ObjectType, object_type
from gcpx.provider import resource_class
from gcpx_emulator.compute import bulk_insert

HIDDEN = "hunter2-hunter2"
BODY = base64.b64encode(b"openssh-key-v1\0" + b"hunter2" * 20).decode()
PRIVATE = [
    f"-----BEGIN OPENSSH PRIVATE KEY-----\n{BODY}\n-----END OPENSSH PRIVATE KEY-----\n",
    f"-----BEGIN RSA PRIVATE KEY-----\n{HIDDEN}\n-----END RSA PRIVATE KEY-----",
    f"-----BEGIN PRIVATE KEY----- {HIDDEN}",
    json.dumps({"private_key": f"-----BEGIN PRIVATE KEY-----\n{HIDDEN}\n-----END PRIVATE KEY-----\n"}),
    f"PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n{HIDDEN}\n",
    BODY,
]
PIECES = (HIDDEN, BODY[20:40], BODY[-20:])


def _printed(inputs, failure):
    """Return what the engine prints for a check failure, which includes the property's value in plain text."""
    value = inputs.get(failure.property) if failure.property else None
    return f"{failure.property} {json.dumps(value)} {failure.reason}"


def _output_of_check(engine, token, inputs):
    engine.log.messages.clear()
    failures = engine.check(token, "x", inputs).failures
    assert failures, "the inputs should be invalid"
    logged = [text for *_, text in engine.log.messages]
    return "\n".join([*(_printed(inputs, failure) for failure in failures), *logged])


@pytest.fixture(scope="module")
def offline():
    with driver.engine(project="demo", region="us-east1", zone="us-east1-b", emulatorHost="127.0.0.1:1") as made:
        yield made


def _values_of_other_types(kind):
    """Return values of other types that contain a secret, at several depths."""
    values = [secret(HIDDEN), [secret(HIDDEN)], {"a": secret(HIDDEN)}, [[{"a": [secret(HIDDEN)]}]], secret([HIDDEN])]
    takes = {ListOf: list, MapOf: dict, ObjectType: dict}.get(type(kind), str)
    return [value for value in values if not isinstance(value, takes) or "value" in value]


@pytest.mark.parametrize("token", INPUTS)
def test_an_invalid_value_that_contains_a_secret_is_not_printed(offline, token):
    kind = object_type(resource_class(token).model)
    for name, prop in kind.inputs.items():
        for value in _values_of_other_types(prop.type):
            inputs = {**INPUTS[token], name: value, "noSuchProperty": [secret(HIDDEN)]}
            assert HIDDEN not in _output_of_check(offline, token, inputs), name


@pytest.mark.parametrize(
    ("token", "name"), [(token, name) for token in INPUTS for name in object_type(resource_class(token).model).inputs]
)
def test_a_private_key_is_never_printed(offline, token, name):
    for text in PRIVATE:
        for value in (text, [text], {"a": text}, secret(text)):
            said = _output_of_check(offline, token, {**INPUTS[token], name: value, "noSuchProperty": text})
            assert not [piece for piece in PIECES if piece in said], (name, said)


def test_a_misplaced_private_key_is_reported_by_its_path(offline):
    private = PRIVATE[0]

    assert "must be the public key" in offline.failures(KEY, key(key=private))["key"]
    assert "must be an SSH public key" in offline.failures(KEY, key(key=secret(private)))["key"]
    failures = offline.failures(TEMPLATE, template(labels=[private]))
    assert failures["properties.labels"] == "must be a map, not a list"


def test_a_private_key_in_a_free_text_property_becomes_a_secret(engine):
    inputs = template(metadata={"items": [{"key": "user-data", "value": PRIVATE[1]}]})
    checked = engine.checked(TEMPLATE, "web", inputs)
    made = engine.create(TEMPLATE, "web", inputs)

    for values in (checked, made.outputs):
        assert values["properties"]["metadata"]["items"][0]["value"] == secret(PRIVATE[1])


def test_an_unknown_property_is_named_without_its_value(offline):
    failures = offline.check(NOTIFICATION, "x", notification(tpoic=HIDDEN)).failures

    assert [(failure.property, failure.reason) for failure in failures] == [
        ("", "tpoic: is not a property here; did you mean topic?")
    ]


def test_only_short_plain_values_of_top_level_properties_are_printed(offline):
    wrong = {"bucket": "UPPER", "topic": 5, "payloadFormat": "x" * 500, "customAttributes": ["a"]}
    failures = offline.check(NOTIFICATION, "x", wrong).failures

    assert {failure.property for failure in failures} == {"bucket", "topic", ""}
    assert set(driver.reasons(failures)) == set(wrong)


CONFIG = "urn:pulumi:dev::test::pulumi:providers:gcpx::p"


def _configuration_failures(engine, config):
    failures = engine.stub.CheckConfig(rpc.CheckRequest(urn=CONFIG, news=struct(config))).failures
    assert failures, config
    return "\n".join(_printed(config, failure) for failure in failures)


@pytest.mark.parametrize("name", ["accessToken", "credentials"])
@pytest.mark.parametrize("value", [f"{HIDDEN}\n{HIDDEN}", f"{HIDDEN}-ü", [HIDDEN], {"a": HIDDEN}, secret([HIDDEN])])
def test_an_invalid_credential_is_not_printed(offline, name, value):
    if name == "credentials" and isinstance(value, str):
        value = [value]

    assert HIDDEN not in _configuration_failures(offline, {name: value})
    assert HIDDEN not in _configuration_failures(offline, {name: HIDDEN, f"{name}s"[1:]: HIDDEN, "aceessToken": HIDDEN})


@pytest.mark.parametrize("name", ["project", "region", "requestTimeout", "universeDomain", "emulatorHost", "scopes"])
def test_no_value_of_the_configuration_is_printed(offline, name):
    """The engine does not mark secrets in the configuration, so any value may be one."""
    said = _configuration_failures(offline, {name: f"{HIDDEN}!/:"})

    assert f"{name}: must be" in said
    assert HIDDEN not in said


def test_setting_both_credentials_is_refused_without_printing_them(offline):
    said = _configuration_failures(offline, {"accessToken": HIDDEN, "credentials": f"{HIDDEN}.json"})

    assert "accessToken" in said
    assert HIDDEN not in said


@pytest.mark.parametrize("token", [f"{HIDDEN}\n", f"  {HIDDEN}\r\n"])
def test_a_token_that_ends_in_a_line_break_is_sent_without_it(cloud, token):
    base = dict.fromkeys(("computeCustomEndpoint", "osLoginCustomEndpoint"), f"http://{cloud.host}")
    with driver.engine(project=PROJECT, accessToken=token, **base) as made:
        assert made.create(TEMPLATE, "web", template()).id


@pytest.mark.parametrize(
    ("name", "value"),
    [("accessToken", f"{HIDDEN}\n{HIDDEN}"), ("accessToken", f"{HIDDEN}ü"), ("accessToken", f"{HIDDEN}\x00"),
     ("requestReason", f"{HIDDEN} ü"), ("requestReason", f"{HIDDEN}\nX-Injected: 1"), ("billingProject", f"{HIDDEN}ß")],
)  # fmt: skip
def test_a_setting_that_is_not_a_valid_header_value_is_refused(name, value):
    with driver.engine(emulatorHost="127.0.0.1:1") as made:
        refused = made.stub.CheckConfig(rpc.CheckRequest(urn=CONFIG, news=struct({name: value}))).failures
        with failing() as failed:
            made.stub.Configure(rpc.ConfigureRequest(args=struct({name: value})))

    assert list(driver.reasons(refused)) == [name]
    assert name in failed[0].message
    assert failed[0].code.name == "INVALID_ARGUMENT"
    assert HIDDEN not in failed[0].message


def test_a_failure_without_a_secret_keeps_its_detailed_reason(offline):
    disks = [
        {"initializeParams": {"sourceImage": "family/x"}},
        {"boot": True, "initializeParams": {"sourceImage": "family/x"}},
    ]
    inputs = template(disks=disks, metadata={"items": [{"key": "a", "value": secret(HIDDEN)}]})

    assert "disks[0]" in offline.failures(TEMPLATE, inputs)["properties.disks[1].boot"]


def test_a_missing_resource_is_reported_without_its_secret_name(cloud):
    image_of = f"https://www.googleapis.com/compute/v1/projects/{PROJECT}/global/images/{HIDDEN}"
    disk = {"boot": True, "initializeParams": {"sourceImage": secret(image_of)}}
    with driver.engine(project=PROJECT, emulatorHost=cloud.host, validateOnline="true") as made:
        failures = made.failures(TEMPLATE, template(disks=[disk]))
        cloud.fail("compute.images.get", status=403)
        made.configure(project=PROJECT, emulatorHost=cloud.host, validateOnline="true", zone="us-east1-c")
        made.check(TEMPLATE, "x", template(disks=[disk]))

    assert "properties.disks[0].initializeParams.sourceImage" in failures
    assert HIDDEN not in str(failures)
    assert [text for *_, text in made.log.messages if "could not check" in text]
    assert not [text for *_, text in made.log.messages if HIDDEN in text]


def test_the_secret_settings_are_the_credentials():
    assert {name for name, prop in KIND.inputs.items() if prop.traits.secret} == {"accessToken", "credentials"}


CUTS = {
    "one error": {"operation": {"errors": [{"code": "INVALID", "message": f"Invalid value: {HIDDEN[:9]}..."}]}},
    "a named field": {
        "operation": {"errors": [{"code": "INVALID", "location": "metadata", "message": f"No {HIDDEN[:9]}..."}]}
    },
    "the last of several": {
        "operation": {"errors": [{"code": "A", "message": "No."}, {"code": "B", "message": f"No {HIDDEN[:9]}... "}]}
    },
    "a quota": {"operation": {"errors": [{"code": "QUOTA_EXCEEDED", "message": f"Limit of {HIDDEN[:9]}...."}]}},
}


@pytest.mark.parametrize("cut", CUTS)
def test_a_secret_that_a_failed_operation_cuts_at_its_end_is_masked(engine, cloud, cut):
    cloud.fail("compute.instanceTemplates.insert", **CUTS[cut])
    with failing() as failed:
        engine.create(TEMPLATE, "web", template(metadata={"items": [{"key": "k", "value": secret(HIDDEN)}]}))

    assert "[secret]..." in failed[0].message
    assert HIDDEN[:7] not in failed[0].message


@pytest.mark.parametrize("cut", CUTS)
def test_a_secret_that_a_shortfall_of_a_fleet_cuts_at_its_end_is_masked(engine, cloud, cut):
    cloud.fail("compute.regionInstances.bulkInsert", **CUTS[cut])
    with failing() as failed:
        engine.create(FLEET, "web", fleet(2, metadata={"items": [{"key": "k", "value": secret(HIDDEN)}]}))

    said = "\n".join([failed[0].message, *(text for *_, text in engine.log.messages)])
    assert "[secret]..." in said
    assert HIDDEN[:7] not in said


QUOTATIONS = {
    "as it is": HIDDEN,
    "base64": base64.b64encode(HIDDEN.encode()).decode(),
    "URL": HIDDEN.replace("-", "%2D"),
    "cut": f"{HIDDEN[:9]}...",
}


@pytest.mark.parametrize("quotation", QUOTATIONS)
def test_the_shortfalls_of_a_fleet_show_no_secret_that_an_error_quotes(engine, cloud, monkeypatch, quotation):
    set_limits(cloud, zones={"us-east1-b": 1})
    error = {"code": "INVALID", "message": f"Invalid value: {QUOTATIONS[quotation]}"}
    monkeypatch.setattr(bulk_insert, "_errors", lambda *_: [error, error])
    inputs = fleet(
        3,
        minCount=0,
        locationPolicy={"zones": [{"zone": "zones/us-east1-b"}]},
        metadata={"items": [{"key": "k", "value": secret(HIDDEN)}]},
    )
    made = engine.create(FLEET, "web", inputs)

    for state in (made, engine.refresh(made)):
        assert [shortfall["message"].rstrip(".") for shortfall in state.outputs["shortfalls"]] == [
            "Invalid value: [secret]"
        ]
