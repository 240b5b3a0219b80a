"""No setting, input or response makes a call fail with an internal error."""

from __future__ import annotations

import random

import grpc
import pytest
from engines import driver
from engines.clock import HANGS
from engines.driver import rpc, secret, struct
from values.programs import FLEET, KEY, NOTIFICATION, PROJECT, TEMPLATE, fleet, key, notification, template

from gcpx.config import KIND, settings
from gcpx.gcp.errors import from_operation, from_response

CONFIG = "urn:pulumi:dev::test::pulumi:providers:gcpx::p"
TEXTS = [
    "", " ", "localhost:abc", "[::1", "[::1]:80", "http://[::1", "http://[:::::]:1", "http://a:b@c:99999", "http://\x00", "ü", "a\nb",
    "\u202e", "🙂", "x" * 5000, "NaN", "1e999", "-1", "0", "0s", "99999999999999999999h", "[1]", '["\\ud800"]', '{"type":["x"]}',
    '{"type":"service_account"}', '{"type":"external_account","credential_source":"x"}', '{"type":"authorized_user"}',
    '{"type":"service_account","private_key":"x","client_email":"e","token_uri":"u"}', "~nobody/x", "[" * 100_000, "\x7f", "//", "http://",
    "${x}", "%00", "..", "a b", "true", "no", "null", "٣",
]  # fmt: skip
VALUES = [*TEXTS, 0, 1.5, 1e300, True, None, [], ["ü"], {}, {"a": "b"}, [None], secret("ü")]


def _errors_with(engine, config):
    """Check, set and use a configuration; return the codes and messages of the calls that fail."""
    found = []

    def call(method, request):
        try:
            return getattr(engine.stub, method)(request, timeout=HANGS)
        except grpc.RpcError as error:
            found.append((error.code(), error.details()))
            return None

    checked = call("CheckConfig", rpc.CheckRequest(urn=CONFIG, news=struct(config)))
    assert checked is not None
    configured = call("Configure", rpc.ConfigureRequest(args=struct(config)))
    assert (configured is None) == bool(checked.failures), (config, found)
    if configured is not None and not config.get("validateOnline"):
        inputs = struct(template() | {"name": "web"})
        call("Create", rpc.CreateRequest(urn=engine.urn(TEMPLATE, "w"), properties=inputs, type=TEMPLATE, timeout=0.01))
    return found


@pytest.mark.parametrize("name", sorted(KIND.inputs))
def test_any_value_of_a_setting_is_accepted_or_refused_by_name(name):
    with driver.engine(emulatorHost="127.0.0.1:1") as made:
        for value in VALUES:
            base = {} if name == "emulatorHost" else {"emulatorHost": "127.0.0.1:1"}
            if name in {"accessToken", "credentials"} or name.endswith("Endpoint"):
                base = {"project": "demo", "computeCustomEndpoint": "http://127.0.0.1:1", "accessToken": "t"}
            if name == "credentials":
                base.pop("accessToken")
            for code, words in _errors_with(made, {**base, name: value}):
                assert code.name not in {"INTERNAL", "UNKNOWN"}, (value, words)
                assert "127.0.0.1:1" in words or name in words or "project" in words or "token" in words, (value, words)


WORDS = [("1", True), ("0", False), ("true", True), ("FALSE", False), ("Yes", True), ("no", False), ("ON", True), ("off", False),
         ("t", True), ("F", False), ("y", True), ("N", False), (" 1\n", True)]  # fmt: skip


@pytest.mark.parametrize(("text", "meant"), WORDS)
def test_every_common_spelling_of_a_boolean_is_accepted(monkeypatch, text, meant):
    assert settings({}, {"GCPX_VALIDATE_ONLINE": text}).validate_online is meant
    assert settings({"validateOnline": text}, {}).validate_online is meant
    found = settings({"billingProject": "payer"}, {"USER_PROJECT_OVERRIDE": text})
    assert found.quota_project == ("payer" if meant else None)
    monkeypatch.setenv("GCPX_VALIDATE_ONLINE", text)
    with driver.engine(emulatorHost="127.0.0.1:1") as made:
        assert not made.stub.CheckConfig(rpc.CheckRequest(urn=CONFIG)).failures


@pytest.mark.parametrize("name", ["GCPX_VALIDATE_ONLINE", "USER_PROJECT_OVERRIDE"])
@pytest.mark.parametrize("text", ["perhaps", "2", "tru", "null", "[]"])
def test_an_invalid_boolean_is_refused_with_its_environment_variable(monkeypatch, name, text):
    with driver.engine(emulatorHost="127.0.0.1:1") as made:
        monkeypatch.setenv(name, text)
        (failure,) = made.stub.CheckConfig(rpc.CheckRequest(urn=CONFIG)).failures
        with driver.failing() as failed:
            made.stub.Configure(rpc.ConfigureRequest(args=struct({"project": "p"})))

    assert failure.property == ""
    assert failure.reason == f'the environment variable {name} must be true or false, not the string "{text}"'
    assert failed[0].code == grpc.StatusCode.INVALID_ARGUMENT
    assert name in failed[0].message


VARIABLES = [variable for prop in KIND.inputs.values() for variable in prop.traits.environment]


@pytest.mark.parametrize("name", VARIABLES)
def test_an_unusable_environment_variable_is_named(monkeypatch, name):
    for other in VARIABLES:
        monkeypatch.delenv(other, raising=False)
    with driver.engine() as made:
        monkeypatch.setenv(name, "a\nü\udcff b")
        failures = made.stub.CheckConfig(rpc.CheckRequest(urn=CONFIG)).failures

    if "CREDENTIALS" not in name and "KEYFILE" not in name:
        assert [name in failure.reason for failure in failures] == [True]


@pytest.mark.parametrize("host", ["localhost:abc", "[::1", "127.0.0.1:99999", "http://127.0.0.1:abc"])
def test_a_malformed_host_is_refused_with_the_part_that_is_wrong(host):
    with driver.engine(emulatorHost="127.0.0.1:1") as made:
        failures = driver.reasons(
            made.stub.CheckConfig(rpc.CheckRequest(urn=CONFIG, news=struct({"emulatorHost": host}))).failures
        )

    assert ("PORT is a port number" if "[" not in host else "HOST is a host name") in failures["emulatorHost"]


@pytest.mark.parametrize(("count", "least"), [("3.0", "2.0"), ("3e0", "2e0"), (" 3 ", "02"), (3.0, 2.0)])
def test_an_integer_may_be_written_in_any_notation(engine, count, least):
    made = engine.create(FLEET, "f", fleet(count, minCount=least))

    assert made.outputs["memberCount"] == 3
    assert engine.failures(FLEET, fleet(count, minCount="4.0"))["minCount"] == "must be at most count, 3"
    regions = engine.invoke("gcpx:compute:listRegions", maxResults="2.0")
    assert len(regions["items"]) == 2


@pytest.mark.parametrize(
    "number", ["1e40", "9" * 400, "1e999999999", 1e300, "18446744073709551616", "-9223372036854775809"]
)
def test_a_number_beyond_64_bits_is_refused(engine, number):
    disk = {"boot": True, "initializeParams": {"sourceImage": "family/debian-12", "diskSizeGb": number}}

    assert (
        "must be"
        in engine.failures(TEMPLATE, template(disks=[disk]))["properties.disks[0].initializeParams.diskSizeGb"]
    )
    assert "must be an integer of at most 64 bits" in engine.failures(FLEET, fleet(number))["count"]


LARGE = "9007199254740993"


def test_an_integer_too_large_for_a_float_is_kept_exactly(engine, cloud):
    disk = {"boot": True, "initializeParams": {"sourceImage": "family/debian-12", "provisionedThroughput": LARGE}}
    made = engine.create(TEMPLATE, "web", {**template(disks=[disk]), "name": "web"})
    body = cloud.get(f"projects/{PROJECT}/global/instanceTemplates/web")
    live = engine.refresh(made)

    assert body["properties"]["disks"][0]["initializeParams"]["provisionedThroughput"] == LARGE
    assert made.outputs["properties"]["disks"][0]["initializeParams"]["provisionedThroughput"] == LARGE
    assert live.outputs["properties"]["disks"][0]["initializeParams"]["provisionedThroughput"] == LARGE
    assert engine.drift(made) == set()
    disk["initializeParams"]["provisionedThroughput"] = "9007199254740992"
    changed = engine.diff(made, {**template(disks=[disk]), "name": "web"})
    assert list(changed.detailedDiff) == ["properties.disks[0].initializeParams.provisionedThroughput"]


def test_an_integer_too_large_for_a_float_is_imported_exactly(engine, cloud):
    disk = {"boot": True, "initializeParams": {"sourceImage": "family/debian-12", "provisionedThroughput": LARGE}}
    made = engine.create(TEMPLATE, "web", template(disks=[disk]))
    found = engine.import_(TEMPLATE, "web", made.id)

    assert found.inputs["properties"]["disks"][0]["initializeParams"]["provisionedThroughput"] == LARGE


QUOTA = {"metricName": "compute.googleapis.com/cpus", "dimensions": {"region": "us-east1"}}


@pytest.mark.parametrize("limit", [{}, {"limit": None}, {"limit": "many"}, {"limit": {}}, {"limit": 24}])
def test_a_quota_is_named_with_or_without_its_limit(engine, cloud, limit):
    error = {
        "errors": [{"code": "QUOTA_EXCEEDED", "message": "m", "errorDetails": [{"quotaInfo": {**QUOTA, **limit}}]}]
    }
    cloud.fail("compute.instanceTemplates.insert", operation=error)
    with driver.failing() as failed:
        engine.create(TEMPLATE, "web", template())

    assert failed[0].code == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "compute.googleapis.com/cpus" in failed[0].message
    assert "in region us-east1" in failed[0].message


def _random_json(chance, depth=0):
    names = ["error", "errors", "details", "message", "reason", "status", "help", "links", "url", "quotaInfo", "limit", "code",
             "dimensions", "metricName", "errorDetails", "localizedMessage", "error_description"]  # fmt: skip
    if depth > 5 or chance.random() < 0.2:
        return chance.choice([None, 1, 1.5, True, "x", "\ud800", "", [], {}])
    if chance.random() < 0.4:
        return [_random_json(chance, depth + 1) for _ in range(chance.randrange(3))]
    return {chance.choice(names): _random_json(chance, depth + 1) for _ in range(chance.randrange(5))}


def test_an_error_response_of_any_shape_becomes_a_message():
    chance = random.Random(7)
    for _ in range(20_000):
        body = _random_json(chance)
        assert str(from_response("GET x", chance.choice([400, 403, 404, 429, 500]), body))
        assert str(from_operation("insert x", body if isinstance(body, dict) else {"error": body}))


def test_an_error_response_with_half_a_surrogate_pair_is_reported(engine, cloud):
    body = r'{"error": {"code": 400, "message": "half \ud800 of it"}}'
    cloud.fail("compute.instanceTemplates.insert", status=400, body=body)
    with driver.failing() as failed:
        engine.create(TEMPLATE, "web", template())

    assert failed[0].code == grpc.StatusCode.INVALID_ARGUMENT
    assert "half ? of it" in failed[0].message


@pytest.mark.parametrize(("token", "inputs"), [(TEMPLATE, template()), (NOTIFICATION, notification()), (KEY, key())])
def test_a_value_that_fits_no_header_or_url_is_not_an_internal_error(token, inputs):
    with driver.engine(emulatorHost="127.0.0.1:1", project="demo") as made:
        for value in ("a\x00b", "ü\n", "a" * 100_000, "[::1"):
            news = {**inputs, "name": value, "project": value, "bucket": value, "user": value}
            wanted = struct({name: item for name, item in news.items() if name in inputs or token == TEMPLATE})
            with driver.failing() as failed:
                made.stub.Create(
                    rpc.CreateRequest(urn=made.urn(token, "w"), properties=wanted, type=token, timeout=0.01)
                )
            assert failed[0].code != grpc.StatusCode.INTERNAL, failed[0].message
