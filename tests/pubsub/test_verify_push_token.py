"""`verifyPushToken`: whether the token of a push is valid, and why not."""

from __future__ import annotations

import httpx
import pytest
from driver import failing, secret
from steered import HANGS

VERIFY = "gcpx:pubsub:verifyPushToken"
EMAIL = "pusher@example.com"


def _token(cloud, **order):
    body = {"email": EMAIL, "audience": "me", **order}
    return httpx.post(f"http://{cloud.host}/_emulator/tokens", json=body, trust_env=False, timeout=HANGS).json()[
        "token"
    ]


def _verify(engine, token, **more):
    return engine.invoke(VERIFY, token=secret(token), audience="me", serviceAccountEmail=EMAIL, **more)


def test_a_valid_token_has_claims_and_an_invalid_one_a_reason(engine, cloud):
    valid, invalid = _verify(engine, _token(cloud)), _verify(engine, _token(cloud, audience="you"))

    assert valid["valid"] is True
    assert valid["claims"]["email"] == EMAIL
    assert valid["claims"]["emailVerified"] is True
    assert invalid == {"valid": False, "reason": "the token is for another audience"}
    assert cloud.calls("oauth2") == ["oauth2.certs"]


def test_a_token_is_verified_without_the_network_by_given_certificates(engine, cloud):
    certificates = httpx.get(f"http://{cloud.host}/oauth2/v1/certs", trust_env=False, timeout=HANGS).json()
    token = _token(cloud)
    cloud.emulator.requests.kept.clear()

    assert _verify(engine, token, certificates=certificates)["valid"]
    assert cloud.calls() == []
    with failing() as failures:
        _verify(engine, token, certificates={"a": "b"})
    assert "PEM" in failures[0].message


@pytest.mark.parametrize("claims", [
    {"iss": ["accounts.google.com"]}, {"exp": 10**400}, {"sub": 1}, {"azp": {}}, {"nbf": 1 << 39}, {"nbf": "0"},
])  # fmt: skip
def test_a_claim_of_a_wrong_type_makes_the_token_invalid(engine, cloud, claims):
    result = _verify(engine, _token(cloud, claims=claims))

    assert result["valid"] is False
    assert result["reason"]


@pytest.mark.parametrize("empty", ["audience", "serviceAccountEmail"])
def test_audience_and_account_must_not_be_empty(engine, cloud, empty):
    arguments = {"token": secret(_token(cloud)), "audience": "me", "serviceAccountEmail": EMAIL}
    with failing() as failures:
        engine.invoke(VERIFY, **(arguments | {empty: ""}))

    assert "must not be empty" in failures[0].message


def test_an_identity_aware_proxys_token_is_valid_only_for_a_proxy(engine, cloud):
    token = _token(cloud, iap=True, claims={"iss": "https://cloud.google.com/iap"})

    assert _verify(engine, token, identityAwareProxy=True)["valid"]
    assert not _verify(engine, token)["valid"]


def test_certificates_that_cannot_be_fetched_are_an_error(engine, cloud):
    cloud.fail("oauth2.certs", status=503)
    with failing() as failures:
        _verify(engine, _token(cloud))

    assert "give certificates" in failures[0].message
