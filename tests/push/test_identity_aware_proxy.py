"""Behind Identity-Aware Proxy, the proxy's own assertion is checked, with the names and the form that Google gives it."""

from __future__ import annotations

import base64
import json
import os
import re

import jwt
import pytest
from engines.clock import HANGS
from servers import plain_http
from servers.tokens import EMAIL, issue_token
from values.programs import PROJECT
from workspace import ROOT

from gcpx_push import IAP, Certificates, InvalidToken, PushVerifier, receive, receive_head

HEADER = "x-goog-iap-jwt-assertion"
SPECIFIED = "x-svc-iap-jwt-assertion"
AUDIENCES = [
    f"/projects/123456789012/apps/{PROJECT}",
    "/projects/123456789012/global/backendServices/1234567890123456789",
    "/projects/123456789012/locations/us-east1/services/receiver",
]
BACKEND = AUDIENCES[1]
BODY = json.dumps({"message": {"messageId": "7", "data": base64.b64encode(b"hello").decode()}}).encode()
PAGES = ["public_key", "public_key-jwk"]


def _verifier(cloud, audience=BACKEND, page=PAGES[0]):
    keys = Certificates(f"http://{cloud.host}/iap/verify/{page}", timeout=HANGS)
    return PushVerifier(audience, EMAIL, issuer=IAP, certificates=keys)


def _assertion(cloud, audience=BACKEND, **order):
    return issue_token(cloud, iap=True, audience=audience, **order)


def _push(cloud, headers):
    sent = {"content-type": "application/json", **headers}
    head = receive_head(_verifier(cloud), "POST", sent, "")
    answer = receive(_verifier(cloud), "POST", sent, "", BODY)
    assert (head and head.status) == (None if answer.status == 204 else answer.status)
    return answer


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("audience", AUDIENCES)
def test_the_emulator_signs_assertions_as_the_proxy_does(cloud, page, audience):
    token = _assertion(cloud, audience)
    claims = _verifier(cloud, audience, page).verify(token).claims

    assert jwt.get_unverified_header(token)["alg"] == "ES256"
    assert set(claims) == {"aud", "azp", "email", "exp", "iat", "iss", "sub"}
    assert (claims["iss"], claims["aud"], claims["azp"]) == ("https://cloud.google.com/iap", audience, audience)
    assert claims["sub"].startswith("accounts.google.com:")
    assert claims["exp"] - claims["iat"] == 600


@pytest.mark.parametrize("name", [HEADER, "X-Goog-IAP-JWT-Assertion", SPECIFIED])
def test_a_push_with_an_assertion_is_accepted_whatever_is_in_authorization(cloud, name):
    own = issue_token(cloud, audience="client-id.apps.googleusercontent.com")
    for more in ({}, {"Authorization": f"Bearer {own}"}, {"Authorization": "Bearer of something else"}):
        answer = _push(cloud, {name: _assertion(cloud), **more})
        assert (answer.status, answer.claims.email, answer.message.data) == (204, EMAIL, b"hello")


def test_googles_name_of_the_header_comes_first(cloud):
    good, bad = _assertion(cloud), _assertion(cloud, claims={"email": "mallory@example.com"})

    assert _push(cloud, {SPECIFIED: bad, HEADER: good}).status == 204
    assert _push(cloud, {SPECIFIED: good, HEADER: bad}).reason == "the token belongs to another account"
    assert _push(cloud, {SPECIFIED: good, HEADER: ""}).status == 400


def test_a_push_that_went_around_the_proxy_is_refused(cloud):
    token = issue_token(cloud, audience=BACKEND)
    answer = _push(cloud, {"Authorization": f"Bearer {token}"})

    assert (answer.status, answer.reason) == (400, f"the header {HEADER} is missing")


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        ({"iap": False}, "is not signed with ES256"),
        ({"audience": AUDIENCES[0]}, "is for another audience"),
        ({"claims": {"iss": "https://accounts.google.com"}}, "was issued by another issuer"),
        ({"claims": {"email": f"accounts.google.com:{EMAIL}"}}, "belongs to another account"),
        ({"claims": {"exp": 1}}, "has expired"),
    ],
)
def test_another_token_in_the_header_of_the_proxy_is_refused(cloud, order, reason):
    token = issue_token(cloud, **{"iap": True, "audience": BACKEND, **order})
    with pytest.raises(InvalidToken, match=reason):
        _verifier(cloud).verify_headers({HEADER: token})


@pytest.mark.parametrize("audience", ["client-id.apps.googleusercontent.com", "https://example.com/push", "projects/1"])
def test_an_audience_that_the_proxy_never_signs_is_refused_at_the_start(audience):
    with pytest.raises(ValueError, match="audience must be the service behind the proxy, such as /projects/"):
        PushVerifier(audience, EMAIL, issuer=IAP)


@pytest.mark.parametrize("audience", [None, "https://example.com/push", "/projects/demo/apps/demo"])
def test_the_emulator_signs_no_assertion_for_an_audience_that_the_proxy_never_has(cloud, audience):
    order = {"iap": True} | ({} if audience is None else {"audience": audience})
    refused = plain_http.post(f"http://{cloud.host}/_emulator/tokens", json=order)

    assert refused.status_code == 400
    assert "/projects/NUMBER/apps/PROJECT" in refused.text


def test_the_verifier_in_the_guide_checks_assertions(monkeypatch):
    guide = (ROOT / "docs" / "push-receivers.md").read_text().partition("## Identity-Aware Proxy")[2]
    (code,) = re.findall(r"```python\n(.*?)```", guide.partition("\n## ")[0], re.DOTALL)
    monkeypatch.setenv("PUSH_AUDIENCE", BACKEND)
    monkeypatch.setenv("PUSH_SERVICE_ACCOUNT", EMAIL)
    names = {"os": os}
    exec(code, names)

    assert (names["verifier"].issuer, names["verifier"].audience) == (IAP, BACKEND)
