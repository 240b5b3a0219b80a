"""The keys of the issuer: they are fetched once, cached, and fetched again when they expire or one is unknown."""

from __future__ import annotations

import plain_http
import pytest
from clock import FakeClock
from programs import PROJECT

from gcpx_push import IAP, Certificates, CertificatesError, InvalidToken, PushVerifier

EMAIL = "pusher@example.com"


def _post(cloud, path, **body):
    return plain_http.post(f"http://{cloud.host}{path}", json=body).json()


def _token(cloud, **order):
    return _post(cloud, "/_emulator/tokens", audience="me", **order)["token"]


@pytest.fixture
def clock(cloud):
    """One clock for the emulator, which signs, and for the receiver."""
    cloud.emulator.clock = FakeClock(1_700_000_000.0)
    return cloud.emulator.clock


def _verifier(cloud, clock, path="/oauth2/v1/certs", **more):
    keys = Certificates(f"http://{cloud.host}{path}", timeout=600, now=clock.now)
    return PushVerifier("me", EMAIL, certificates=keys, now=clock.now, **more)


def test_keys_are_fetched_once_for_many_tokens(cloud, clock):
    verifier = _verifier(cloud, clock)
    tokens = [_token(cloud, claims={"nonce": str(number)}) for number in range(5)]

    assert {verifier.verify(token).email for token in tokens} == {EMAIL}
    assert cloud.calls("oauth2") == ["oauth2.certs"]


def test_keys_can_come_from_a_json_web_key_set(cloud, clock):
    assert _verifier(cloud, clock, path="/oauth2/v3/certs").verify(_token(cloud)).audience == "me"


def test_keys_are_fetched_again_when_they_have_expired(cloud, clock):
    verifier = _verifier(cloud, clock)
    verifier.verify(_token(cloud))
    clock.advance(20_001)

    assert verifier.verify(_token(cloud)).email == EMAIL
    assert cloud.calls("oauth2") == ["oauth2.certs"] * 2


def test_unknown_keys_are_fetched_at_once_but_not_again_and_again(cloud, clock):
    verifier = _verifier(cloud, clock)
    old = _token(cloud)
    verifier.verify(old)
    _post(cloud, "/_emulator/keys/rotate")

    assert verifier.verify(_token(cloud)).email == EMAIL
    assert verifier.verify(old).email == EMAIL, "a verified token stays valid until it expires"
    for _ in range(5):
        _post(cloud, "/_emulator/keys/rotate")
        with pytest.raises(InvalidToken, match="does not have"):
            verifier.verify(_token(cloud))
    assert cloud.calls("oauth2") == ["oauth2.certs"] * 2
    clock.advance(31)
    assert verifier.verify(_token(cloud)).email == EMAIL


def test_expired_keys_remain_in_use_while_the_issuer_cannot_be_reached(cloud, clock):
    verifier = _verifier(cloud, clock)
    verifier.verify(_token(cloud))
    cloud.fail("oauth2.certs", status=503)
    clock.advance(20_001)

    assert verifier.verify(_token(cloud)).email == EMAIL


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 503},
        {"body": "{"},
        {"body": "[]"},
        {"body": "{}"},
        {"body": '{"keys": [{}]}'},
        {"body": '{"keys": [{"kid": "a", "kty": "RSA", "n": 5, "e": "AQAB"}]}'},
        {"body": '{"keys": [{"kid": "a", "kty": ["RSA"], "n": {}, "e": null}]}'},
        {"body": '{"a": {"b": 1}, "c": "-----BEGIN CERTIFICATE-----"}'},
        {"body": '{"a":' * 100_000},
        {"body": "9" * 5000},
        {"body": '{"a": "b"}'},
        {"drop": "before"},
    ],
)
def test_a_token_cannot_be_checked_without_keys(cloud, clock, fault):
    verifier, token = _verifier(cloud, clock), _token(cloud)
    cloud.fail("oauth2.certs", **fault)

    with pytest.raises(CertificatesError):
        verifier.verify(token)
    with pytest.raises(CertificatesError, match="a few seconds ago"):
        verifier.verify(token)


def test_a_malformed_address_of_the_keys_is_an_error(cloud, clock):
    verifier = PushVerifier("me", EMAIL, certificates=Certificates("http://127.0.0.1:99999/"), now=clock.now)

    with pytest.raises(CertificatesError):
        verifier.verify(_token(cloud))


def test_a_missing_file_of_certificate_authorities_is_an_error(cloud, clock, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", "/nonexistent/authorities.pem")
    verifier, token = _verifier(cloud, clock), _token(cloud)

    with pytest.raises(CertificatesError, match="FileNotFoundError"):
        verifier.verify(token)


def test_given_certificates_need_no_network_access(cloud, clock):
    document = plain_http.get(f"http://{cloud.host}/oauth2/v1/certs").json()
    token = _token(cloud)
    cloud.emulator.requests.kept.clear()
    verifier = PushVerifier("me", EMAIL, certificates=Certificates.given(document), now=clock.now)

    assert verifier.verify(token).email == EMAIL
    assert cloud.calls() == []
    with pytest.raises(ValueError, match="no key"):
        Certificates.given({"a": "nothing"})


def test_a_verified_token_is_not_verified_again_until_it_expires(cloud, clock):
    verifier = _verifier(cloud, clock)
    token = _token(cloud)
    first = verifier.verify(token)

    assert verifier.verify(token) is first
    clock.advance(3612)
    with pytest.raises(InvalidToken, match="expired"):
        verifier.verify(token)


def test_behind_a_proxy_the_token_of_the_proxy_is_checked(cloud, clock):
    audience = f"/projects/{PROJECT}/global/backendServices/1"
    claims = {"iss": "https://cloud.google.com/iap", "aud": audience}
    proxied = _token(cloud, iap=True, claims={**claims, "email_verified": False})
    keys = Certificates(f"http://{cloud.host}/iap/verify/public_key", timeout=600)
    verifier = PushVerifier(audience, EMAIL, issuer=IAP, certificates=keys, now=clock.now)

    assert verifier.verify_headers({"x-svc-iap-jwt-assertion": proxied}).email == EMAIL
    for token in (_token(cloud, claims=claims), _token(cloud, iap=True), proxied[:-4]):
        with pytest.raises(InvalidToken):
            verifier.verify_headers({"x-svc-iap-jwt-assertion": token})
