"""Every source of access tokens: what is asked of it, when a token is renewed, and what its failures say.

Holds settings.md: "Tokens are renewed"; "A fixed `accessToken`"; "gcpx requests a token for each API"; "The metadata
server is".
"""

from __future__ import annotations

import json
import re
import threading
from base64 import urlsafe_b64decode
from concurrent.futures import ThreadPoolExecutor

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from engines import driver
from engines.clock import HANGS
from engines.clocked import ClockedProvider
from engines.driver import failing, rpc, struct
from servers.token_server import ROBOT, Answer, token_server
from values.programs import KEY, NOTIFICATION, PROJECT, TEMPLATE, key, notification, template

from gcpx_http.hosts import is_protected

COMPUTE_SCOPE = "https://www.googleapis.com/auth/compute"
HIDDEN = "hunter2-hunter2"


@pytest.fixture
def tokens():
    with token_server() as found:
        yield found


@pytest.fixture(scope="module")
def pem():
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return made.private_bytes(*form).decode()


def _robot(tokens, pem):
    return {
        "type": "service_account", "client_email": ROBOT, "private_key": pem, "private_key_id": "1",
        "token_uri": f"{tokens.url}/token",
    }  # fmt: skip


def _external(tokens, source):
    return {
        "type": "external_account", "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "token_url": f"{tokens.url}/sts",
        "credential_source": source,
    }  # fmt: skip


def _engine(cloud, credentials, **more):
    base = f"http://{cloud.host}"
    endpoints = {"computeCustomEndpoint": base, "osLoginCustomEndpoint": base, "storageCustomEndpoint": base}
    given = {"credentials": json.dumps(credentials)} if credentials else {}
    return driver.engine(ClockedProvider(), project=PROJECT, **endpoints, **given, **more)


def _scope(asked):
    """Return the scope in the assertion of a service account."""
    claims = asked.body["assertion"].split(".")[1]
    return json.loads(urlsafe_b64decode(claims + "=="))["scope"]


def test_each_api_gets_a_token_of_its_own_scope(cloud, tokens, pem):
    with _engine(cloud, _robot(tokens, pem)) as made:
        made.create(KEY, "k", key())
        made.create(TEMPLATE, "web", template())
        made.create(NOTIFICATION, "n", notification())

    scopes = [_scope(asked).rpartition("/")[2] for asked in tokens.asked]
    assert scopes == ["compute", "devstorage.read_write"], "OS Login accepts the scope of Compute"


def test_an_external_account_exchanges_the_token_of_a_file(cloud, tokens, tmp_path, pem):
    (tmp_path / "subject").write_text("subject-of-file")
    with _engine(cloud, _external(tokens, {"file": str(tmp_path / "subject")})) as made:
        made.create(TEMPLATE, "web", template())

    (asked,) = tokens.asked
    assert asked.path == "/sts"
    assert asked.body["subject_token"] == "subject-of-file"
    assert asked.body["scope"] == COMPUTE_SCOPE


def test_an_external_account_exchanges_the_token_of_a_url(cloud, tokens, pem):
    source = {"url": f"{tokens.url}/subject", "format": {"type": "json", "subject_token_field_name": "token"}}
    with _engine(cloud, _external(tokens, source)) as made:
        made.create(TEMPLATE, "web", template())

    assert [asked.path for asked in tokens.asked] == ["/subject", "/sts"]
    assert tokens.asked[1].body["subject_token"] == "subject-of-url"


def test_an_external_user_exchanges_the_refresh_token(cloud, tokens):
    names = {"client_id": "c", "client_secret": "s", "refresh_token": "refresh", "token_url": f"{tokens.url}/sts"}
    user = {"type": "external_account_authorized_user", **names, "token_info_url": f"{tokens.url}/info"}
    with _engine(cloud, user) as made:
        made.create(TEMPLATE, "web", template())

    (asked,) = tokens.asked
    assert (asked.path, asked.body["refresh_token"]) == ("/sts", "refresh")


ALLOWED = "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"
SUBJECT = {
    "version": 1, "success": True, "token_type": "urn:ietf:params:oauth:token-type:jwt", "id_token": "subject-of-program",
    "expiration_time": 2**40,
}  # fmt: skip
BROKEN_PROGRAMS = {
    "echo hunter2-hunter2 >&2; exit 3": "it ended with exit code 3",
    "echo hunter2-hunter2": "it did not print JSON",
    "echo '{}'": "it did not print the fields",
    """echo '{"version": 1, "success": false, "code": "401", "message": "hunter2-hunter2"}'""": "it reported a failure",
    f"echo '{json.dumps({**SUBJECT, 'expiration_time': 1})}'": "its token has expired",
    f"echo '{json.dumps({**SUBJECT, 'version': 2})}'": "it printed a version of the response that is not supported",
}


def _program(folder, text):
    """Write a program; return the source that runs it."""
    path = folder / "program"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return {"executable": {"command": str(path)}}


def test_an_external_account_exchanges_the_token_of_a_program(cloud, tokens, tmp_path, monkeypatch):
    monkeypatch.setenv(ALLOWED, "1")
    with _engine(cloud, _external(tokens, _program(tmp_path, f"echo '{json.dumps(SUBJECT)}'"))) as made:
        made.create(TEMPLATE, "web", template())

    (asked,) = tokens.asked
    assert (asked.path, asked.body["subject_token"]) == ("/sts", "subject-of-program")


@pytest.mark.parametrize(("text", "words"), BROKEN_PROGRAMS.items())
def test_a_program_that_gives_no_token_is_told_without_its_output(cloud, tokens, tmp_path, monkeypatch, text, words):
    monkeypatch.setenv(ALLOWED, "1")
    with _engine(cloud, _external(tokens, _program(tmp_path, text))) as made, failing() as failed:
        made.create(TEMPLATE, "web", template())

    assert f"credential_source.executable gave no subject token: {words}" in failed[0].message
    assert HIDDEN not in failed[0].message
    assert (tokens.asked, cloud.calls()) == ([], [])


def test_a_program_that_does_not_exist_is_told(cloud, tokens, tmp_path, monkeypatch):
    monkeypatch.setenv(ALLOWED, "1")
    source = {"executable": {"command": str(tmp_path / "missing")}}
    with _engine(cloud, _external(tokens, source)) as made, failing() as failed:
        made.create(TEMPLATE, "web", template())

    assert "it cannot be started" in failed[0].message


def _workforce_user(tokens):
    return {
        "type": "external_account_authorized_user", "client_id": "c", "client_secret": HIDDEN, "refresh_token": HIDDEN,
        "audience": "//iam.googleapis.com/locations/global/workforcePools/w/providers/p",
        "token_url": f"{tokens.url}/oauthtoken",
    }  # fmt: skip


def test_a_user_of_a_workforce_pool_refreshes_its_token(cloud, tokens):
    with _engine(cloud, _workforce_user(tokens)) as made:
        made.create(TEMPLATE, "web", template())

    assert {(asked.path, asked.body["grant_type"]) for asked in tokens.asked} == {("/oauthtoken", "refresh_token")}


@pytest.mark.parametrize("description", ["", ', "error_description": "hunter2-hunter2"'])
def test_the_code_of_a_refusal_by_the_security_token_service_is_told(cloud, tokens, description):
    tokens.next = [Answer(400, f'{{"error": "invalid_grant"{description}}}'.encode())]
    with _engine(cloud, _workforce_user(tokens)) as made, failing() as failed:
        made.create(TEMPLATE, "web", template())

    assert "the token server answered invalid_grant, so the key or the refresh token has expired" in failed[0].message
    assert HIDDEN not in failed[0].message


@pytest.mark.parametrize("place", ["variable", "well-known file"])
def test_application_default_credentials_are_found(cloud, tokens, tmp_path, monkeypatch, place, pem):
    folder = tmp_path / "gcloud"
    folder.mkdir()
    file = folder / "application_default_credentials.json"
    file.write_text(json.dumps(_robot(tokens, pem)))
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(folder if place == "well-known file" else tmp_path))
    if place == "variable":
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    with _engine(cloud, None) as made:
        made.create(TEMPLATE, "web", template())

    assert list(map(_scope, tokens.asked)) == [COMPUTE_SCOPE]


def test_a_token_server_that_hangs_holds_up_only_calls_without_a_token(cloud, tokens, pem):
    asked, released = threading.Event(), threading.Event()

    def hang():
        asked.set()
        assert released.wait(HANGS)

    with _engine(cloud, _robot(tokens, pem), requestTimeout="1h") as made, ThreadPoolExecutor() as pool:
        made.create(NOTIFICATION, "n", notification())
        tokens.before = hang
        try:
            waiting = pool.submit(made.create, TEMPLATE, "web", template())
            assert asked.wait(HANGS)
            pool.submit(made.create, NOTIFICATION, "m", notification(objectNamePrefix="m")).result(HANGS)
        finally:
            released.set()
        waiting.result(HANGS)


def test_a_token_is_renewed_before_it_expires_and_not_earlier(cloud, tokens, pem):
    with _engine(cloud, _robot(tokens, pem)) as made:
        tokens.lifetime = 100  # less than the time before the expiry in which google-auth renews
        made.create(TEMPLATE, "web", template())
        calls = len(cloud.emulator.requests.kept)
        assert len(tokens.asked) == calls, "a token that is about to expire is renewed for each call"
        tokens.lifetime = 3600
        made.create(TEMPLATE, "another", template())

    assert len(tokens.asked) == calls + 1


@pytest.mark.parametrize(("skew", "words"), [(900.0, "15 minutes behind"), (-900.0, "15 minutes ahead of")])
def test_a_wrong_clock_is_named_when_it_is_why_no_token_is_issued(cloud, tokens, pem, skew, words):
    tokens.skew = skew
    tokens.next = [Answer(400, b'{"error": "invalid_grant", "error_description": "Invalid JWT: hunter2-hunter2"}')]
    with _engine(cloud, _robot(tokens, pem)) as made, failing() as failed:
        made.create(TEMPLATE, "web", template())

    assert f"the clock of this machine is {words} the server's" in failed[0].message
    assert HIDDEN not in failed[0].message


def test_a_refused_token_is_renewed_once_and_then_told(cloud, tokens, pem):
    with _engine(cloud, _robot(tokens, pem)) as made, failing() as failed:
        cloud.fail("compute.instanceTemplates.insert", status=401, times=5)
        made.create(TEMPLATE, "web", template())

    assert (len(tokens.asked), len(cloud.calls())) == (2, 2)
    assert failed[0].code.name == "UNAUTHENTICATED"


def test_a_given_access_token_that_is_refused_is_not_sent_again(cloud):
    with _engine(cloud, None, accessToken=HIDDEN) as made, failing() as failed:
        cloud.fail("compute.instanceTemplates.insert", status=401, times=5)
        made.create(TEMPLATE, "web", template())

    assert len(cloud.calls()) == 1
    assert "does not accept gcpx:accessToken" in failed[0].message
    assert HIDDEN not in failed[0].message


TRANSIENT = [Answer(500, b"hunter2-hunter2"), Answer(503, b"", {"Retry-After": "3"}), Answer(429), Answer(408)]
FINAL = [
    (Answer(400, b'{"error": "invalid_grant", "error_description": "hunter2-hunter2"}'), "answered invalid_grant"),
    (Answer(401, b'{"error": "invalid_client"}'), "answered invalid_client"),
    (Answer(403, b"<html>hunter2-hunter2</html>"), "refused the request (HTTP 403)"),
    (Answer(302, b"", {"Location": "http://192.0.2.1/hunter2-hunter2"}), "refused the request (HTTP 302)"),
    (Answer(200, b"<html>hunter2-hunter2</html>"), "contains no valid token"),
    (Answer(200, b""), "contains no valid token"),
    (Answer(200, b"[" * 100_000), "contains no valid token"),
    (Answer(200, b'{"access_token": {"a": 1}, "expires_in": 3600}'), ""),
    (Answer(200, b'{"access_token": "t", "expires_in": 1e300}'), "contains no valid token"),
    (Answer(200, b'{"access_token": "hunter2-hunter2\\n", "expires_in": 3600}'), "one line of ASCII"),
]


@pytest.mark.parametrize("answer", TRANSIENT, ids=lambda answer: str(answer.status))
def test_a_token_server_that_fails_for_a_while_is_asked_again(cloud, tokens, answer, pem):
    tokens.next = [answer, answer]
    with _engine(cloud, _robot(tokens, pem)) as made:
        assert made.create(TEMPLATE, "web", template()).id

    assert len(tokens.asked) == 3


def test_a_token_server_that_fails_for_good_is_told_within_the_patience(cloud, tokens, pem):
    tokens.next = [Answer(503)] * 1000
    with _engine(cloud, _robot(tokens, pem)) as made, failing() as failed:
        made.create(TEMPLATE, "web", template())

    assert "the token server 127.0.0.1 failed (HTTP 503)" in failed[0].message
    assert 3 <= len(tokens.asked) <= 40
    assert cloud.calls() == []


@pytest.mark.parametrize(("answer", "words"), FINAL, ids=lambda item: str(item)[:40])
def test_an_answer_without_a_token_is_told_once_and_without_its_text(cloud, tokens, answer, words, pem):
    tokens.next = [answer]
    with _engine(cloud, _robot(tokens, pem)) as made, failing() as failed:
        made.create(TEMPLATE, "web", template())

    assert words in failed[0].message
    assert HIDDEN not in failed[0].message
    assert failed[0].code.name in {"UNAUTHENTICATED", "INVALID_ARGUMENT"}
    assert len(tokens.asked) == 1
    assert cloud.calls() == []


def test_a_token_server_that_does_not_answer_is_named(cloud, tokens, pem):
    with _engine(cloud, {**_robot(tokens, pem), "token_uri": "http://127.0.0.1:1/"}) as made, failing() as failed:
        made.create(TEMPLATE, "web", template())

    assert "the token server 127.0.0.1 did not answer" in failed[0].message


INVALID = [
    ("{", "must be a JSON object, or the path of a readable file"),
    ("/no/such/file-hunter2", "must be a JSON object, or the path of a readable file"),
    ("[1]", "must be a JSON object, or the path of a readable file"),
    ('{"type": "hunter2"}', "must have one of the types authorized_user"),
    ('{"type": ["hunter2"]}', "must have one of the types authorized_user"),
    ('{"type": "service_account", "client_email": "hunter2"}', "must have every field of their type"),
    (
        '{"type": "service_account", "client_email": "hunter2", "private_key": "hunter2", "token_uri": "https://t"}',
        "must have every field of their type",
    ),
    (
        json.dumps({"type": "authorized_user", "client_id": "c", "client_secret": "hunter2", "refresh_token": "hunter2",
                    "token_uri": "http://192.0.2.1/hunter2"}),
        "must contain only URLs that begin with https://",
    ),
    (
        json.dumps({"type": "external_account", "audience": "a", "subject_token_type": "t", "token_url": "https://t",
                    "credential_source": {"url": "http://example.com/hunter2"}}),
        "must contain only URLs that begin with https://",
    ),
    (
        json.dumps({"type": "external_account", "audience": "a", "subject_token_type": "t", "token_url": "https://t",
                    "credential_source": {"executable": {"command": "hunter2"}}}),
        "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES",
    ),
]  # fmt: skip


@pytest.mark.parametrize("marked", [False, True], ids=["plain", "secret"])
@pytest.mark.parametrize(("text", "words"), INVALID, ids=lambda text: text[:30])
def test_malformed_credentials_are_told_by_the_preview_without_their_content(engine, text, words, marked):
    given = driver.secret(text) if marked else text
    request = rpc.CheckRequest(urn="urn:pulumi:dev::t::pulumi:providers:gcpx::p", news=struct({"credentials": given}))
    failures = engine.stub.CheckConfig(request).failures

    assert any(words in failure.reason for failure in failures), failures
    assert not any("hunter2" in failure.reason for failure in failures)


def test_the_metadata_server_of_azure_may_be_a_source():
    source = {"url": "http://169.254.169.254/metadata/identity/oauth2/token"}
    text = {"type": "external_account", "audience": "a", "subject_token_type": "t", "token_url": "https://t"}
    with driver.engine(emulatorHost="127.0.0.1:1") as made:
        news = struct({"credentials": json.dumps({**text, "credential_source": source})})
        request = rpc.CheckRequest(urn="urn:pulumi:dev::t::pulumi:providers:gcpx::p", news=news)

        assert not made.stub.CheckConfig(request).failures


@pytest.mark.parametrize("host", ["[fe80::1]", "[fe80::1%25eth0]", "192.0.2.1", "169.254.7.7", "169.254.169.253"])
def test_no_token_goes_over_plain_http_to_another_machine_of_the_network(engine, host):
    text = {"type": "external_account", "audience": "a", "subject_token_type": "t", "token_url": f"http://{host}/t"}
    news = struct({"credentials": json.dumps({**text, "credential_source": {"file": "/no/such/file"}})})
    request = rpc.CheckRequest(urn="urn:pulumi:dev::t::pulumi:providers:gcpx::p", news=news)

    assert engine.stub.CheckConfig(request).failures
    assert not is_protected(f"http://{host}/t", metadata=True)


@pytest.mark.parametrize("variable", ["GCE_METADATA_HOST", "GCE_METADATA_ROOT", "GCE_METADATA_IP"])
@pytest.mark.parametrize("value", ["metadata.example", "metadata.example:8080", "METADATA.example"])
def test_a_metadata_server_that_the_environment_names_gets_its_requests_over_plain_http(monkeypatch, variable, value):
    url = "http://metadata.example/computeMetadata/v1/"
    before = is_protected(url, metadata=True)
    monkeypatch.setenv(variable, value)

    assert not before
    assert is_protected(url, metadata=True)
    assert not is_protected(url)
    assert not is_protected("http://other.example/", metadata=True)


@pytest.mark.parametrize("value", ["", "[", ":"])
def test_a_malformed_metadata_server_in_the_environment_counts_as_none(monkeypatch, value):
    monkeypatch.setenv("GCE_METADATA_HOST", value)

    assert not is_protected("http://metadata.example/", metadata=True)
    assert is_protected("http://metadata.google.internal/", metadata=True)


def test_an_emulator_without_a_port_is_refused(engine):
    news = struct({"emulatorHost": "localhost"})
    request = rpc.CheckRequest(urn="urn:pulumi:dev::t::pulumi:providers:gcpx::p", news=news)
    (failure,) = engine.stub.CheckConfig(request).failures

    assert re.search("a host and a port|PORT", failure.reason)
