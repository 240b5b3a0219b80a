"""verifyPushToken: an invalid token is a result, and certificates that cannot be fetched are an error."""

from __future__ import annotations

import zlib
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from engines import driver
from engines.clock import HANGS
from engines.driver import failing, secret
from google.protobuf import empty_pb2
from servers import plain_http, raw_server
from servers.tokens import AUDIENCE, EMAIL, issue_token

VERIFY = "gcpx:pubsub:verifyPushToken"


def _arguments(token):
    return {"token": secret(token), "audience": AUDIENCE, "serviceAccountEmail": EMAIL}


def _verify(engine, cloud, **order):
    return engine.invoke(VERIFY, **_arguments(issue_token(cloud, **order)))


def test_a_valid_token_gives_its_claims_and_an_invalid_one_the_reason(engine, cloud):
    valid, invalid = _verify(engine, cloud), _verify(engine, cloud, audience="you")

    assert valid["valid"] is True
    assert valid["claims"]["email"] == EMAIL
    assert valid["claims"]["emailVerified"] is True
    assert invalid == {"valid": False, "reason": "the token is for another audience"}
    assert cloud.calls("oauth2") == ["oauth2.certs"]


def test_a_token_is_verified_with_given_certificates_without_the_network(engine, cloud):
    certificates = plain_http.get(f"http://{cloud.host}/oauth2/v1/certs").json()
    arguments = _arguments(issue_token(cloud))
    cloud.emulator.requests.kept.clear()

    assert engine.invoke(VERIFY, **arguments, certificates=certificates)["valid"]
    assert cloud.calls() == []
    with failing() as failures:
        engine.invoke(VERIFY, **arguments, certificates={"a": "b"})
    assert "PEM" in failures[0].message


@pytest.mark.parametrize("claims", [
    {"iss": ["accounts.google.com"]}, {"exp": 10**400}, {"sub": 1}, {"azp": {}}, {"nbf": 1 << 39}, {"nbf": "0"},
])  # fmt: skip
def test_a_claim_of_a_wrong_type_makes_the_token_invalid(engine, cloud, claims):
    verdict = _verify(engine, cloud, claims=claims)

    assert verdict["valid"] is False
    assert verdict["reason"]


@pytest.mark.parametrize("missing", ["audience", "serviceAccountEmail"])
def test_audience_and_service_account_must_not_be_empty(engine, cloud, missing):
    with failing() as failures:
        engine.invoke(VERIFY, **(_arguments(issue_token(cloud)) | {missing: ""}))

    assert f"{missing}: is required" in failures[0].message


def test_the_assertion_of_an_identity_aware_proxy_is_verified_on_request(engine, cloud):
    audience = "/projects/123456789012/global/backendServices/7"
    arguments = _arguments(issue_token(cloud, iap=True, audience=audience)) | {"audience": audience}

    assert engine.invoke(VERIFY, **arguments, identityAwareProxy=True)["valid"]
    assert not engine.invoke(VERIFY, **arguments)["valid"]
    assert cloud.calls("iap") == ["iap.publicKeys"]


def test_the_audience_behind_a_proxy_is_that_of_the_proxy(engine, cloud):
    refused = engine.refusals(VERIFY, **_arguments(issue_token(cloud)), identityAwareProxy=True)

    assert "must be the service behind the proxy, such as /projects/" in refused["audience"]


def test_a_cancellation_does_not_wait_for_the_certificates(engine, cloud):
    token = issue_token(cloud)
    with ThreadPoolExecutor() as pool, failing() as failures:
        cloud.interceptor.hold()
        verification = pool.submit(engine.invoke, VERIFY, **_arguments(token))
        cloud.interceptor.wait_until_held()
        engine.stub.Cancel(empty_pb2.Empty())
        try:
            verification.result(HANGS)
        finally:
            cloud.interceptor.release()

    assert failures[0].code == grpc.StatusCode.CANCELLED


def test_certificates_are_unpacked_only_up_to_their_limit(cloud):
    bomb = zlib.compressobj(wbits=31)
    body = bomb.compress(bytes(8 << 20)) + bomb.flush()
    answer = raw_server.response(body, "200 OK", "Content-Encoding: gzip")
    with (
        raw_server.answering(lambda _: [answer]) as server,
        driver.engine(project="demo-project", emulatorHost=server.host) as made,
        failing() as failures,
    ):
        made.invoke(VERIFY, **_arguments(issue_token(cloud)))

    assert "the response is larger than 1,048,576 bytes" in failures[0].message


def test_certificates_that_cannot_be_fetched_are_an_error(engine, cloud):
    cloud.fail("oauth2.certs", status=503)
    with failing() as failures:
        _verify(engine, cloud)

    assert "set certificates" in failures[0].message
