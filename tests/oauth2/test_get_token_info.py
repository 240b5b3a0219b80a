"""getTokenInfo: what Google says about an ID token, which no message and no record shows."""

from __future__ import annotations

import json

import pytest
from engines import driver
from engines.driver import failing, secret
from servers.tokens import AUDIENCE, EMAIL, issue_token
from values.programs import PROJECT

INFO = "gcpx:oauth2:getTokenInfo"


def test_a_token_is_inspected_and_never_shown(engine, cloud):
    token = issue_token(cloud)
    found = engine.invoke(INFO, idToken=secret(token))

    assert (found["email"], found["emailVerified"], found["alg"], found["aud"]) == (EMAIL, "true", "RS256", AUDIENCE)
    assert set(found) == {"alg", "aud", "azp", "email", "emailVerified", "exp", "iat", "iss", "kid", "sub", "typ"}
    assert [entry["path"] for entry in cloud.requests("oauth2.tokeninfo")] == ["/tokeninfo"]
    assert token not in json.dumps(list(cloud.emulator.requests.kept))


@pytest.mark.parametrize("wrap", [secret, str])
def test_an_invalid_token_is_an_error_that_does_not_show_it(engine, cloud, wrap):
    token = issue_token(cloud)[:-3]
    cloud.fail("oauth2.tokeninfo", status=400, message=f"bad token {token}")
    with failing() as failures:
        engine.invoke(INFO, idToken=wrap(token))

    assert token not in failures[0].message
    assert "[secret]" in failures[0].message
    with failing() as failures:
        engine.invoke(INFO, idToken=wrap(token))
    assert "invalid_token" in failures[0].message


def test_a_token_is_inspected_without_credentials(cloud):
    endpoint = f"http://{cloud.host}"
    with driver.engine(oauth2CustomEndpoint=endpoint, project=PROJECT, accessToken="ya29.not-to-be-sent") as engine:
        engine.invoke(INFO, idToken=issue_token(cloud))

    assert [entry["authorized"] for entry in cloud.requests("oauth2.tokeninfo")] == [False]
