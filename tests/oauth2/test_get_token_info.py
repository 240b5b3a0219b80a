"""`getTokenInfo`: what Google says about an ID token, and that the token itself is never shown."""

from __future__ import annotations

import json

import driver
import httpx
import pytest
from driver import failing, secret
from programs import PROJECT
from steered import HANGS

GET_TOKEN_INFO = "gcpx:oauth2:getTokenInfo"
EMAIL = "pusher@example.com"


@pytest.fixture
def token(cloud):
    body = {"email": EMAIL, "audience": "me"}
    return httpx.post(f"http://{cloud.host}/_emulator/tokens", json=body, trust_env=False, timeout=HANGS).json()[
        "token"
    ]


def test_a_token_is_inspected_and_never_shown(engine, cloud, token):
    found = engine.invoke(GET_TOKEN_INFO, idToken=secret(token))

    assert (found["email"], found["emailVerified"], found["alg"], found["aud"]) == (EMAIL, "true", "RS256", "me")
    assert set(found) == {"alg", "aud", "azp", "email", "emailVerified", "exp", "iat", "iss", "kid", "sub", "typ"}
    assert [entry["path"] for entry in cloud.requests("oauth2.tokeninfo")] == ["/tokeninfo"]
    assert token not in json.dumps(list(cloud.emulator.requests.kept))


@pytest.mark.parametrize("wrap", [secret, str])
def test_an_invalid_token_is_an_error_that_does_not_show_it(engine, cloud, token, wrap):
    invalid = token[:-3]
    cloud.fail("oauth2.tokeninfo", status=400, message=f"bad token {invalid}")
    with failing() as failures:
        engine.invoke(GET_TOKEN_INFO, idToken=wrap(invalid))

    assert invalid not in failures[0].message
    assert "[secret]" in failures[0].message
    with failing() as failures:
        engine.invoke(GET_TOKEN_INFO, idToken=wrap(invalid))
    assert "invalid_token" in failures[0].message


def test_no_credentials_are_sent(cloud, token):
    endpoint = f"http://{cloud.host}"
    with driver.engine(oauth2CustomEndpoint=endpoint, project=PROJECT, accessToken="ya29.not-to-be-sent") as engine:
        engine.invoke(GET_TOKEN_INFO, idToken=token)

    assert [entry["authorized"] for entry in cloud.requests("oauth2.tokeninfo")] == [False]
