"""The keys of the issuer: they are fetched once, cached, and fetched again when they expire or one is unknown."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import attrs
import httpx
import pytest
from engines.clock import HANGS, FakeClock
from servers import plain_http, raw_server

from gcpx_http.connections import Received
from gcpx_push import Certificates, CertificatesError, InvalidToken, PushVerifier, tokens
from gcpx_push.certificates import download

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


@attrs.define
class _Download:
    """A download that a test can wait for, as nobody else waits for one that replaces expired keys."""

    ended: threading.Semaphore = attrs.Factory(lambda: threading.Semaphore(0))

    def __call__(self, url, timeout):
        try:
            return download(url, timeout)
        finally:
            self.ended.release()


def _verifier(cloud, clock, path="/oauth2/v1/certs", download=download, **more):
    keys = Certificates(f"http://{cloud.host}{path}", timeout=600, now=clock.now, download=download)
    return PushVerifier("me", EMAIL, certificates=keys, now=clock.now, **more)


@attrs.define
class Page:
    """The issuer's page, which is served when the test says so, with a key for each name.

    Attributes:
        held: whether a download waits for `released`.
        begun: released once for each download that was begun.
    """

    document: dict
    control: str = "max-age=100"
    held: bool = False
    fails: bool = False
    begun: threading.Semaphore = attrs.Factory(lambda: threading.Semaphore(0))
    released: threading.Event = attrs.Factory(threading.Event)
    count: int = 0

    def __call__(self, _url, _timeout):
        self.count += 1
        self.begun.release()
        if self.held:
            assert self.released.wait(HANGS)
        if self.fails:
            raise httpx.ConnectError("no")
        return Received(200, {"cache-control": self.control}, json.dumps(self.document).encode())


@pytest.fixture
def page(cloud):
    made = Page(plain_http.get(f"http://{cloud.host}/oauth2/v1/certs").json())
    yield made
    made.released.set()


def _certificates(page, clock, timeout=HANGS):
    return Certificates("https://issuer", timeout, now=clock.now, download=page)


def _known(page):
    return next(iter(page.document))


def test_expired_keys_are_used_during_the_fetch_which_holds_nobody_up(page, clock):
    keys, known = _certificates(page, clock), _known(page)
    assert keys.key(known) is not None
    page.held = True
    clock.advance(101)

    assert all(keys.key(known) is not None for _ in range(100))
    assert page.begun.acquire(timeout=HANGS)
    assert page.begun.acquire(timeout=HANGS)
    assert page.count == 2, "one fetch is under way at a time"


def test_a_forged_key_id_does_not_wait_for_the_fetch_of_another(page, clock):
    keys, known = _certificates(page, clock), _known(page)
    keys.key(known)
    page.held = True
    clock.advance(101)
    keys.key(known)

    for number in range(100):
        with pytest.raises(CertificatesError, match="just being fetched"):
            keys.key(f"forged-{number}")
    assert keys.key(known) is not None
    page.released.set()


def test_only_one_caller_waits_for_a_fetch_of_unknown_keys(page, clock):
    keys, known = _certificates(page, clock), _known(page)
    keys.key(known)
    page.held = True
    page.begun.acquire()
    with ThreadPoolExecutor() as pool:
        first = pool.submit(keys.key, "forged")
        assert page.begun.acquire(timeout=HANGS)
        for number in range(100):
            with pytest.raises(CertificatesError, match="just being fetched"):
                keys.key(f"forged-{number}")
        page.released.set()
        assert first.result(HANGS) is None
    assert page.count == 2


@pytest.mark.parametrize("control", ["max-age=0", "no-store", "no-cache", "max-age=5", ""])
def test_forged_tokens_cause_few_fetches_however_short_keys_live(page, clock, control):
    page.control = control
    keys, known = _certificates(page, clock), _known(page)
    for number in range(100):
        assert keys.key(known) is not None
        assert keys.key(f"forged-{number}") is None

    assert page.count == 2, "one for the keys, and one for an unknown key"


def _assert_fetched_again_after(seconds, page, clock):
    """Assert that keys are used for some seconds, and then fetched again in the background."""
    keys, known = _certificates(page, clock), _known(page)
    keys.key(known)
    assert page.begun.acquire(timeout=HANGS)
    clock.advance(seconds - 1)
    assert keys.key(known) is not None
    assert page.count == 1

    clock.advance(2)
    assert keys.key(known) is not None
    assert page.begun.acquire(timeout=HANGS)


@pytest.mark.parametrize("control", [f"max-age={'9' * 400}", "Max-Age=86400", "public, max-age=86400"])
def test_keys_are_fetched_again_after_a_day_at_the_latest(page, clock, control):
    page.control = control
    _assert_fetched_again_after(86_400, page, clock)


@pytest.mark.parametrize(
    "control", ["no-store", "no-cache", "no-store, max-age=3600", "No-Store", "No-Cache, max-age=900"]
)
def test_keys_that_must_not_be_stored_are_fetched_again_after_half_a_minute(page, clock, control):
    page.control = control
    _assert_fetched_again_after(30, page, clock)


def test_a_fetch_from_an_issuer_that_drips_leaves_no_thread():
    ended, others = threading.Event(), set(threading.enumerate())

    def drip(_):
        yield b"HTTP/1.1 200 OK\r\nX-Header: "
        while not ended.wait(0.001):
            yield b"x"

    with raw_server.answering(drip) as server:
        others |= set(threading.enumerate())
        try:
            with pytest.raises(CertificatesError):
                Certificates(f"http://{server.host}/", timeout=0.2).key("a")
            for thread in set(threading.enumerate()) - others:
                thread.join(HANGS)
                assert not thread.is_alive()
        finally:
            ended.set()


def test_a_fetch_that_does_not_end_is_left_behind(page, clock):
    keys, known = _certificates(page, clock, timeout=10), _known(page)
    keys.key(known)
    page.held = True
    clock.advance(101)
    keys.key(known)
    clock.advance(11)

    assert keys.key(known) is not None
    assert keys.key("forged") is None, "the pause after a failure has begun"
    clock.advance(31)
    keys.key(known)
    for _ in range(3):
        assert page.begun.acquire(timeout=HANGS)
    assert page.count == 3


def test_all_callers_wait_for_the_first_keys_and_there_is_one_fetch(page, clock):
    page.held = True
    keys, known = _certificates(page, clock), _known(page)
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(keys.key, known) for _ in range(8)]
        assert page.begun.acquire(timeout=HANGS)
        page.released.set()
        assert all(each.result(HANGS) is not None for each in waiting)
    assert page.count == 1


def test_a_failed_fetch_lets_everybody_know_at_once(page, clock):
    page.fails = True
    keys = _certificates(page, clock)
    with pytest.raises(CertificatesError, match="ConnectError"):
        keys.key("a")
    for _ in range(100):
        with pytest.raises(CertificatesError, match="a few seconds ago"):
            keys.key("a")
    assert page.count == 1


def test_keys_are_fetched_once_for_many_tokens(cloud, clock):
    verifier = _verifier(cloud, clock)
    tokens = [_token(cloud, claims={"nonce": str(number)}) for number in range(5)]

    assert {verifier.verify(token).email for token in tokens} == {EMAIL}
    assert cloud.calls("oauth2") == ["oauth2.certs"]


def test_keys_can_come_from_a_json_web_key_set(cloud, clock):
    assert _verifier(cloud, clock, path="/oauth2/v3/certs").verify(_token(cloud)).audience == "me"


def test_keys_are_fetched_again_when_they_have_expired(cloud, clock):
    downloads = _Download()
    verifier = _verifier(cloud, clock, download=downloads)
    verifier.verify(_token(cloud))
    assert downloads.ended.acquire(timeout=HANGS)
    clock.advance(20_001)

    assert verifier.verify(_token(cloud)).email == EMAIL
    assert downloads.ended.acquire(timeout=HANGS)
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
    downloads = _Download()
    verifier = _verifier(cloud, clock, download=downloads)
    verifier.verify(_token(cloud))
    assert downloads.ended.acquire(timeout=HANGS)
    cloud.fail("oauth2.certs", status=503)
    clock.advance(20_001)

    assert verifier.verify(_token(cloud)).email == EMAIL
    assert downloads.ended.acquire(timeout=HANGS)
    assert verifier.verify(_token(cloud, claims={"nonce": "2"})).email == EMAIL


def test_expired_keys_are_used_for_a_day_while_the_issuer_cannot_be_reached_and_then_no_more(page, clock):
    keys, known = _certificates(page, clock), _known(page)
    assert keys.key(known) is not None
    page.fails = True
    clock.advance(100 + 86_400)
    assert keys.key(known) is not None
    clock.advance(1)

    with pytest.raises(CertificatesError):
        keys.key(known)
    page.fails = False
    clock.advance(31)
    assert keys.key(known) is not None


def test_a_key_without_an_id_is_no_key(cloud):
    document = plain_http.get(f"http://{cloud.host}/oauth2/v3/certs").json()
    (name, *_) = (key.pop("kid") for key in document["keys"][:1])
    with pytest.raises(ValueError, match="no key"):
        Certificates.given({"keys": document["keys"][:1]})
    named = document["keys"][0] | {"kid": name}
    keys = Certificates.given({"keys": [document["keys"][0], named]})

    assert keys.key(name) is not None
    assert keys.key("None") is None


def test_a_receiver_cannot_change_the_claims_that_pushes_share(cloud, clock):
    claims = _verifier(cloud, clock).verify(_token(cloud, claims={"google": {"roles": ["reader"]}})).claims

    with pytest.raises(TypeError):
        claims["sub"] = "0"
    with pytest.raises(TypeError):
        claims["google"]["roles"] = ["owner"]
    assert claims["google"]["roles"] == ("reader",)


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
    keys = Certificates("https://issuer.example.invalid/", now=clock.now)
    verifier, token = PushVerifier("me", EMAIL, certificates=keys, now=clock.now), _token(cloud)

    with pytest.raises(CertificatesError, match="SSL_CERT_FILE must be the path of a file with certificates"):
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


def test_a_verified_token_is_not_verified_again_until_it_expires(cloud, clock, monkeypatch):
    verifier = _verifier(cloud, clock)
    token, verified = _token(cloud), []
    check = tokens.signed_claims
    monkeypatch.setattr(tokens, "signed_claims", lambda *given: verified.append(given) or check(*given))

    assert verifier.verify(token) == verifier.verify(token)
    assert len(verified) == 1
    clock.advance(3612)
    with pytest.raises(InvalidToken, match="expired"):
        verifier.verify(token)
