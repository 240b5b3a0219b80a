"""Credentials: which tokens are sent, where they are never sent, and the other headers of a call.

Holds settings.md: "Credentials and tokens are sent only"; "They are sent over https"; "Plain http is allowed"; "The
same holds for the ID tokens"; "An emulator on another host"; "Others on the network"; "gcpx requests a token for each
API".
"""

from __future__ import annotations

import json
import time
from base64 import urlsafe_b64decode
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from engines import driver
from engines.driver import failing
from servers import raw_server
from values.programs import KEY, PROJECT, TEMPLATE, key, template


@pytest.fixture
def tokens():
    """A token server that issues numbered tokens; gives its URL and the requests that it got."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            asked.append({"path": self.path, "body": body})
            token = f"token-{len(asked)}"
            expiry = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
            answer = {
                "access_token": token,
                "expires_in": 3600,
                "token_type": "Bearer",
                "accessToken": token,
                "expireTime": expiry,
            }
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, args=(0.01,)).start()
    yield f"http://127.0.0.1:{server.server_port}/token", asked
    server.shutdown()
    server.server_close()


def _service_account(token_uri: str) -> dict[str, str]:
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = made.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    email = "robot@demo-project.iam.gserviceaccount.com"
    return {
        "type": "service_account",
        "client_email": email,
        "private_key": pem.decode(),
        "token_uri": token_uri,
        "private_key_id": "1",
    }


def _endpoints(cloud) -> dict[str, str]:
    base = f"http://{cloud.host}"
    return {
        "computeCustomEndpoint": f"{base}/compute/v1/",
        "osLoginCustomEndpoint": base,
        "storageCustomEndpoint": f"{base}/storage/v1/",
    }


def test_an_emulator_gets_no_credentials(engine, cloud):
    engine.create(TEMPLATE, "web", template())

    assert {entry["authorized"] for entry in cloud.emulator.requests.kept} == {False}


def test_an_access_token_goes_to_a_loopback_endpoint_that_the_user_set(cloud):
    with driver.engine(project=PROJECT, accessToken=driver.secret("ya29.secret-token"), **_endpoints(cloud)) as made:
        made.create(TEMPLATE, "web", template())

    assert {entry["authorized"] for entry in cloud.emulator.requests.kept} == {True}


_TOKEN_CALLS = {
    "gcpx:oauth2:getTokenInfo": ("the token", {"idToken": "e30.e30.e30"}),
    "gcpx:pubsub:verifyPushToken": (
        "the issuer's certificates",
        {"token": "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.e30.e30", "audience": "me", "serviceAccountEmail": "a@b.c"},
    ),
}
"""What the functions of the OAuth 2.0 API take, and what would be sent or believed."""


def _without_encryption(monkeypatch, config, call):
    """Return the error of a call to another host, to which nothing must have been sent."""
    with raw_server.answering(lambda _: [raw_server.response(b"{}")]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://{proxy.host}")  # whatever is sent to another host arrives there
        with driver.engine(project=PROJECT, **config) as made, failing() as failed:
            call(made)
    assert proxy.requests == []
    return failed[0].message


def test_credentials_never_go_over_plain_http_to_another_host(monkeypatch):
    config = {"accessToken": "t", "computeCustomEndpoint": "http://192.0.2.1"}
    message = _without_encryption(monkeypatch, config, lambda made: made.create(TEMPLATE, "web", template()))

    assert "does not call 192.0.2.1 over plain http, because others could read or change the credentials" in message
    assert "set gcpx:computeCustomEndpoint to a URL that begins with https://" in message
    assert "gcpx:emulatorHost" in message


@pytest.mark.parametrize("function", _TOKEN_CALLS)
@pytest.mark.parametrize(
    ("setting", "value", "host"),
    [
        ("oauth2CustomEndpoint", "http://192.0.2.1", "192.0.2.1"),
        ("oauth2CustomEndpoint", "http://169.254.169.254", "169.254.169.254"),
        ("emulatorHost", "192.0.2.1:8095", "192.0.2.1"),
        ("emulatorHost", "http://emulator.example", "emulator.example"),
    ],
)
def test_tokens_and_certificates_never_go_over_plain_http_to_another_host(monkeypatch, function, setting, value, host):
    what, arguments = _TOKEN_CALLS[function]
    message = _without_encryption(monkeypatch, {setting: value}, lambda made: made.invoke(function, **arguments))

    assert f"does not call {host} over plain http, because others could read or change {what};" in message
    assert f"set gcpx:{setting} to a URL that begins with https://, or make it lead to this machine" in message
    assert ("set certificates" in message) == (what != "the token")


def test_an_emulator_on_another_host_gets_what_needs_no_token(monkeypatch):
    with raw_server.answering(lambda _: [raw_server.response(b'{"items": []}')]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://{proxy.host}")
        with driver.engine(project=PROJECT, emulatorHost="emulator.example:8095") as made:
            made.invoke("gcpx:compute:listRegions")

    (line,) = proxy.requests
    assert line.startswith(f"GET http://emulator.example:8095/compute/beta/projects/{PROJECT}/regions?")


@pytest.mark.parametrize("form", ["text", "file"])
def test_a_service_accounts_key_is_exchanged_once_for_the_narrowest_scope(cloud, tokens, tmp_path, form):
    uri, asked = tokens
    text = json.dumps(_service_account(uri))
    (tmp_path / "key.json").write_text(text)
    given = text if form == "text" else str(tmp_path / "key.json")
    with driver.engine(project=PROJECT, credentials=given, **_endpoints(cloud)) as made:
        made.create(TEMPLATE, "web", template())
        made.create(KEY, "k", key())

    assert len(asked) == 1, "one token serves both APIs, since they accept the same scope"
    assert {entry["authorized"] for entry in cloud.emulator.requests.kept} == {True}


def test_a_token_that_google_refuses_is_replaced_once(cloud, tokens):
    uri, asked = tokens
    with driver.engine(project=PROJECT, credentials=json.dumps(_service_account(uri)), **_endpoints(cloud)) as made:
        cloud.fail("compute.instanceTemplates.insert", status=401)
        made.create(TEMPLATE, "web", template())

    assert len(asked) == 2


def test_configured_scopes_are_requested(cloud, tokens):
    uri, asked = tokens
    scopes = ["https://www.googleapis.com/auth/cloud-platform"]
    with driver.engine(
        project=PROJECT, credentials=json.dumps(_service_account(uri)), scopes=scopes, **_endpoints(cloud)
    ) as made:
        made.create(TEMPLATE, "web", template())
    assertion = parse_qs(asked[0]["body"])["assertion"][0].split(".")[1]

    assert json.loads(urlsafe_b64decode(assertion + "=="))["scope"] == scopes[0]


def test_headers_name_gcpx_the_quota_project_and_the_reason(cloud):
    config = {"userProjectOverride": "true", "billingProject": "payer", "requestReason": "ticket 7"}
    with driver.engine(project=PROJECT, emulatorHost=cloud.host, **config) as made:
        made.create(TEMPLATE, "web", template())
    headers = cloud.emulator.requests.kept[0]["headers"]

    assert headers["user-agent"].startswith("pulumi-gcpx/")
    assert (headers["x-goog-user-project"], headers["x-goog-request-reason"]) == ("payer", "ticket 7")
