"""Packages that the plugin loads late are in its archive: for credentials, tokens of pushes and filters."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from engines import driver
from engines.clock import HANGS
from servers.token_server import ROBOT, token_server
from servers.tokens import AUDIENCE, EMAIL, issue_token
from values.programs import PROJECT, TEMPLATE, template

from release import archive_check

pytestmark = pytest.mark.languages


@pytest.fixture
def tokens():
    with token_server() as found:
        yield found


@contextmanager
def _engine(unpacked, **config):
    """Run the plugin of the archive, and configure it."""
    with archive_check.started(unpacked) as stub:
        stub.Handshake(driver.rpc.ProviderHandshakeRequest(), wait_for_ready=True, timeout=HANGS)
        made = driver.Engine(stub, driver.EngineLog())
        made.configure(project=PROJECT, **config)
        yield made


def _service_account(tokens):
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    pem = key.private_bytes(*form).decode()
    names = {"type": "service_account", "client_email": ROBOT, "private_key_id": "1"}
    return {**names, "private_key": pem, "token_uri": f"{tokens.url}/token"}


def _external_account(tokens):
    audience = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q"
    source = {"url": f"{tokens.url}/subject", "format": {"type": "json", "subject_token_field_name": "token"}}
    kind = {"type": "external_account", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt"}
    return {**kind, "audience": audience, "token_url": f"{tokens.url}/sts", "credential_source": source}


def _external_user(tokens):
    audience = "//iam.googleapis.com/locations/global/workforcePools/p/providers/q"
    kind = {"type": "external_account_authorized_user", "client_id": "c", "client_secret": "s", "refresh_token": "r"}
    return {**kind, "audience": audience, "token_url": f"{tokens.url}/sts", "token_info_url": f"{tokens.url}/info"}


@pytest.mark.parametrize("credentials", [_service_account, _external_account, _external_user])
def test_the_archive_gets_tokens_for_credentials(unpacked, cloud, tokens, credentials):
    base = f"http://{cloud.host}"
    config = {"credentials": json.dumps(credentials(tokens)), "computeCustomEndpoint": base}
    with _engine(unpacked, **config) as engine:
        engine.create(TEMPLATE, "web", template())

    assert tokens.asked
    assert {entry["authorized"] for entry in cloud.emulator.requests.kept} == {True}


@pytest.mark.parametrize("path", ["", "/opt/example/lib"])
def test_a_program_that_prints_a_token_gets_the_library_path_of_the_user(
    unpacked, cloud, tokens, tmp_path, monkeypatch, path
):
    printed = {"version": 1, "success": True, "token_type": "urn:ietf:params:oauth:token-type:jwt", "id_token": "t"}
    answer = json.dumps({**printed, "expiration_time": 2**40})
    (tmp_path / "program").write_text(f"#!/bin/sh\necho \"$LD_LIBRARY_PATH\" > {tmp_path / 'path'}\necho '{answer}'\n")
    (tmp_path / "program").chmod(0o755)
    monkeypatch.setenv("GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES", "1")
    if path:
        monkeypatch.setenv("LD_LIBRARY_PATH", path)
    source = {"executable": {"command": str(tmp_path / "program"), "timeout_millis": 60_000}}
    credentials = json.dumps({**_external_account(tokens), "credential_source": source})
    with _engine(unpacked, credentials=credentials, computeCustomEndpoint=f"http://{cloud.host}") as engine:
        engine.create(TEMPLATE, "web", template())

    assert (tmp_path / "path").read_text().strip() == path


def test_the_archive_verifies_tokens_and_parses_filters(unpacked, cloud):
    arguments = {"token": driver.secret(issue_token(cloud)), "audience": AUDIENCE, "serviceAccountEmail": EMAIL}
    with _engine(unpacked, emulatorHost=cloud.host) as engine:
        assert engine.invoke("gcpx:pubsub:verifyPushToken", **arguments)["valid"]
        assert "filter" in engine.refusals("gcpx:compute:listInstanceTemplates", filter="name eq")
