"""Tampered pushes: each is refused with the right status, and the reason does not quote the token."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from servers.pushing import (
    AUDIENCE,
    BODY,
    EMAIL,
    GOOD,
    KEY,
    NOW,
    OWN,
    PEM,
    claims,
    headers,
    segment,
    signed,
    token,
    verifier,
)

from gcpx_push import GOOGLE, InvalidToken, PushMiddleware, PushVerifier, receive

OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def _raw(header, signature=b""):
    return f"{segment(header)}.{segment(claims())}.{segment(signature)}"


def _with_public_key():
    """Sign with HMAC and the public key as its secret: a receiver that trusts the header would accept it."""
    head = f"{segment({'alg': 'HS256', 'kid': 'one', 'typ': 'JWT'})}.{segment(claims())}"
    return f"{head}.{segment(hmac.new(PEM, head.encode(), hashlib.sha256).digest())}"


def _resigned(**changes):
    """Change the claims of a token but keep its signature."""
    header, _, signature = token().split(".")
    return f"{header}.{segment(claims(**changes))}.{signature}"


def _signed(payload):
    return signed({"alg": "RS256", "kid": "one"}, payload)


def _under(header):
    return signed(header, claims())


TOKENS = {
    "algorithm none": _raw({"alg": "none", "kid": "one", "typ": "JWT"}),
    "algorithm None in capitals": _raw({"alg": "NONE", "kid": "one"}),
    "no algorithm": _raw({"kid": "one"}),
    "algorithm that is not a string": _raw({"alg": ["RS256"], "kid": "one"}),
    "HS256 with the public key": _with_public_key(),
    "RS512": jwt.encode(claims(), KEY, algorithm="RS512", headers={"kid": "one"}),
    "PS256": jwt.encode(claims(), KEY, algorithm="PS256", headers={"kid": "one"}),
    "another key": token(OTHER),
    "unknown key ID": token(header={"kid": "two"}),
    "no key ID": jwt.encode(claims(), KEY, algorithm="RS256"),
    "key ID that is not a string": _raw({"alg": "RS256", "kid": 1}),
    "key in the header": token(OTHER, header={"jwk": {"kty": "RSA"}}),
    "key by URL in the header": token(OTHER, header={"jku": "https://example.com/keys"}),
    "critical extension": token(header={"crit": ["b64"], "b64": True}),
    "another type": token(header={"typ": "at+jwt"}),
    "truncated signature": token()[:-20],
    "no signature": token().rpartition(".")[0] + ".",
    "changed signature": token()[:-8] + "AAAAAAAA",
    "changed claims": _resigned(email="someone@example.com"),
    "two parts": token().rpartition(".")[0],
    "four parts": token() + ".x",
    "five parts": "a.b.c.d.e",
    "empty": "",
    "dots": "..",
    "no base64": "!!!.???.***",
    "header that is not JSON": f"{segment(b'{')}.{segment(claims())}.x",
    "header that is a list": _raw(["RS256"]),
    "claims that are not JSON": jwt.api_jws.encode(b"nothing", KEY, algorithm="RS256", headers={"kid": "one"}),
    "claims that are a list": jwt.api_jws.encode(b"[]", KEY, algorithm="RS256", headers={"kid": "one"}),
    "another audience": token(aud="https://example.com/other"),
    "audience with a trailing slash": token(aud=f"{AUDIENCE}/"),
    "audience in capitals": token(aud=AUDIENCE.upper()),
    "list of audiences": token(aud=[AUDIENCE]),
    "no audience": token(aud=None),
    "another issuer": token(iss="https://accounts.example.com"),
    "issuer over http": token(iss="http://accounts.google.com"),
    "issuer with a suffix": token(iss="accounts.google.com.example.com"),
    "issuer that is a list": _signed(claims(iss=["accounts.google.com"])),
    "no issuer": token(iss=None),
    "another account": token(email="someone@example.com"),
    "account with a suffix": token(email=f"{EMAIL}.example.com"),
    "no account": token(email=None),
    "not verified": token(email_verified=False),
    "verified as a string": token(email_verified="true"),
    "verified as a number": token(email_verified=1),
    "no verification claim": token(email_verified=None),
    "expired": token(iat=NOW - 3000, exp=NOW - 60),
    "no expiry": token(exp=None),
    "expiry as a string": _signed(claims(exp=str(NOW + 60))),
    "expiry true": _signed(claims(exp=True)),
    "expiry that is huge": _signed(claims(exp=10**400)),
    "expiry with thousands of digits": _signed(
        json.dumps(claims(exp=1)).encode().replace(b'"exp": 1', b'"exp": ' + b"9" * 5000)
    ),
    "expiry as a fraction": _signed(claims(exp=NOW + 60.5)),
    "expiry at infinity": _signed(claims(exp=float("inf"))),
    "good from later on": token(nbf=NOW + 60),
    "good from a text on": _signed(claims(nbf=str(NOW))),
    "time of issue that is not a number": _signed(claims(iat=float("nan"))),
    "another claim that is not a number": _signed(claims(more=float("nan"))),
    "subject as a number": _signed(claims(sub=1)),
    "a claim twice": _signed(json.dumps(claims()).encode().replace(b"{", b'{"email": "someone@example.com", ')),
    "claims in UTF-16": _signed(json.dumps(claims()).encode("utf-16")),
    "claims in UTF-32": _signed(json.dumps(claims()).encode("utf-32-le")),
    "claims with a byte order mark": _signed(b"\xef\xbb\xbf" + json.dumps(claims()).encode()),
    "claims that are not UTF-8": _signed(json.dumps(claims(more="x")).encode().replace(b'"x"', b'"\xff"')),
    "claims with half a surrogate pair": _signed(claims(more="\ud800")),
    "deeply nested claims": _signed(b'{"a":' * 100_000),
    "deeply nested claims that end": _signed(b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "header in UTF-16": _under(json.dumps({"alg": "RS256", "kid": "one"}).encode("utf-16")),
    "header with a byte order mark": _under(b'\xef\xbb\xbf{"alg": "RS256", "kid": "one"}'),
    "header with a name twice": _under(b'{"alg": "none", "alg": "RS256", "kid": "one"}'),
    "header with a constant": _under(b'{"alg": "RS256", "kid": "one", "more": NaN}'),
    "padding after the signature": token() + "==",
    "a line break after the signature": token() + "\n",
    "issued in the future": token(iat=NOW + 600, exp=NOW + 4200),
    "no time of issue": token(iat=None),
    "older than an hour": token(iat=NOW - 3700, exp=NOW + 600),
    "very long": "a" * 20_000 + ".b.c",
    "deeply nested header": f"{segment(b'[' * 5000)}.{segment(claims())}.x",
}
HEADERS = {
    "no header": None,
    "empty header": "",
    "only the scheme": "Bearer",
    "scheme and a space": "Bearer ",
    "two spaces": f"Bearer  {token()}",
    "lower case": f"bearer {token()}",
    "capitals": f"BEARER {token()}",
    "tab": f"Bearer\t{token()}",
    "text after the token": f"Bearer {token()} x",
    "another scheme": f"Basic {token()}",
    "token alone": token(),
    "twice": f"Bearer {token()}, Bearer {token()}",
    "oversized": f"Bearer {'a' * 100_000}",
    "not ASCII": "Bearer äöü.ß.é",
}
BODIES = {
    "no JSON": b"hello",
    "broken JSON": BODY[:-3],
    "empty": b"",
    "not UTF-8": BODY.replace(b'"b"', b'"\xff"'),
    "UTF-16": BODY.decode().encode("utf-16"),
    "a list": b"[]",
    "a string": b'"x"',
    "no message": b'{"data": "aGVsbG8="}',
    "message that is a text": b'{"message": "x"}',
    "data that is not base64": b'{"message": {"data": "not base64!"}}',
    "data cut off": b'{"message": {"data": "aGVsbG8"}}',
    "data that is a number": b'{"message": {"data": 1}}',
    "two messages": BODY[:-1] + b', "message": {}}',
    "a constant": b'{"message": {"data": ""}, "more": NaN}',
    "UTF-16 without a mark": BODY.decode().encode("utf-16-le"),
    "UTF-32": BODY.decode().encode("utf-32"),
    "a byte order mark": b"\xef\xbb\xbf" + BODY,
    "half a surrogate pair": b'{"message": {"data": "", "attributes": {"a": "\\ud800"}}}',
    "a huge number": b'{"message": {"data": ""}, "deliveryAttempt": ' + b"9" * 5000 + b"}",
    "an attempt that is a string": b'{"message": {"data": ""}, "deliveryAttempt": "1"}',
    "an ID that is a number": b'{"message": {"data": "", "messageId": 1}}',
    "a subscription that is a list": b'{"message": {"data": ""}, "subscription": []}',
    "data that is null": b'{"message": {"data": null}}',
    "data with a line break": b'{"message": {"data": "aGVs\\nbG8="}}',
    "attributes that are an empty list": b'{"message": {"data": "", "attributes": []}}',
    "attributes that are null": b'{"message": {"data": "", "attributes": null}}',
    "attributes that are false": b'{"message": {"data": "", "attributes": false}}',
    "attributes that are an empty string": b'{"message": {"data": "", "attributes": ""}}',
    "attributes that are 0": b'{"message": {"data": "", "attributes": 0}}',
    "attributes that are a list": b'{"message": {"data": "", "attributes": ["a"]}}',
    "attribute that is a number": b'{"message": {"data": "", "attributes": {"a": 1}}}',
    "deeply nested": b"[" * 100_000,
}
TYPES = ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonp"]


def _receive(by=None, *, method="POST", sent=None, query="", body=BODY):
    return receive(by or verifier(), method, sent or GOOD, query, body)


def test_a_valid_push_is_accepted():
    answer = _receive()

    assert (answer.status, answer.reason) == (204, "")
    assert (answer.message.text, answer.message.attributes) == ("hello", {"a": "b"})
    assert answer.claims.email == EMAIL


@pytest.mark.parametrize("issuer", ["accounts.google.com", "https://accounts.google.com"])
def test_the_issuer_may_have_a_scheme_or_none(issuer):
    assert issuer in GOOGLE.names
    assert _receive(sent=headers(f"Bearer {token(iss=issuer)}")).status == 204


@pytest.mark.parametrize(("changes", "skew", "status"), [
    ({"iat": NOW - 3600, "exp": NOW + 60}, 10, 204), ({"iat": NOW - 3640, "exp": NOW + 60}, 10, 400),
    ({"iat": NOW - 99, "exp": NOW - 5}, 60, 204), ({"iat": NOW - 99, "exp": NOW - 65}, 60, 400),
    ({"iat": NOW + 30}, 60, 204), ({"iat": NOW + 95}, 60, 400),
    ({"nbf": NOW - 5}, 0, 204), ({"nbf": NOW + 55}, 60, 204), ({"nbf": NOW + 65}, 60, 400),
])  # fmt: skip
def test_times_are_checked_with_the_clock_skew(changes, skew, status):
    skewed = verifier(clock_skew=skew)

    assert _receive(skewed, sent=headers(f"Bearer {token(**changes)}")).status == status


@pytest.fixture
def _quiet(caplog):
    caplog.set_level(logging.DEBUG)
    yield
    assert "eyJ" not in caplog.text


def _refused(answer, *texts):
    assert answer.status == 400
    assert answer.reason
    assert answer.message is None
    for text in texts:
        assert not text or len(text) < 12 or text not in answer.reason


@pytest.mark.usefixtures("_quiet")
@pytest.mark.parametrize("case", TOKENS)
def test_a_tampered_token_is_refused(case):
    _refused(_receive(sent=headers(f"Bearer {TOKENS[case]}")), *TOKENS[case].split("."))


@pytest.mark.usefixtures("_quiet")
@pytest.mark.parametrize("case", HEADERS)
def test_a_malformed_header_is_refused(case):
    _refused(_receive(sent=headers(HEADERS[case])), HEADERS[case])


@pytest.mark.parametrize("case", BODIES)
def test_a_body_that_is_not_a_push_is_refused(case):
    _refused(_receive(body=BODIES[case]))


@pytest.mark.parametrize("kind", TYPES)
def test_another_content_type_is_refused(kind):
    _refused(_receive(sent=headers(GOOD["Authorization"], kind)))


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8"])
def test_the_content_type_may_have_capitals_and_parameters(kind):
    assert _receive(sent=headers(GOOD["Authorization"], kind)).status == 204


@pytest.mark.parametrize("method", ["GET", "PUT", "post", ""])
def test_another_method_is_not_allowed(method):
    assert _receive(method=method).status == 405


def _carrying(**attributes):
    return json.dumps({"message": {"data": "", "attributes": attributes}}).encode()


@pytest.mark.parametrize(("query", "body", "status"), [
    (f"token={OWN}", BODY, 204), (f"a=b&token={OWN}", BODY, 204), ("", _carrying(token=OWN), 204),
    (f"token={OWN}", _carrying(token=OWN), 204),
    ("", BODY, 400), ("token=", BODY, 400), ("token=other", BODY, 400), ("", _carrying(token="other"), 400),
    (f"token={OWN}", _carrying(token="other"), 400), (f"token={OWN}&token=other", BODY, 400), ("Token=" + OWN, BODY, 400),
])  # fmt: skip
def test_the_verification_token_is_checked(query, body, status):
    assert _receive(verifier(verification_token=OWN), query=query, body=body).status == status


@pytest.mark.parametrize("case", {**TOKENS, **{f"header: {name}": value for name, value in HEADERS.items()}})
def test_the_middleware_refuses_the_same_tokens(case):
    value = f"Bearer {TOKENS[case]}" if case in TOKENS else HEADERS[case.removeprefix("header: ")]
    sent = {name: text.encode("latin-1", "replace") for name, text in headers(value).items()}

    async def never(_scope, _receive, _send):
        pytest.fail("a refused push reached the application")

    async def send():
        transport = httpx.ASGITransport(PushMiddleware(never, verifier()))
        async with httpx.AsyncClient(transport=transport, base_url="http://receiver") as client:
            return await client.post("/push", content=BODY, headers=sent)

    assert asyncio.run(send()).status_code == 400


VALUES = [None, True, False, 0, -1, 1.5, 1e300, 10**30, "", "x", [], [None], ["accounts.google.com"], {}, {"a": [1]}]
TYPED = {
    "aud": (), "email": (), "iss": (), "iat": (), "exp": (), "email_verified": (True,), "nbf": (0,),
    "sub": ("", "x"), "azp": ("", "x"), "jti": ("", "x"),
}  # fmt: skip
"""Claims, and which of the values each accepts."""
HEADER = {"alg": (), "kid": (), "typ": (), "crit": ()}


def _is_one_of(value, taken):
    return any(type(value) is type(other) and value == other for other in taken)


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("name", TYPED)
def test_a_claim_of_another_type_is_refused(name, value):
    answer = _receive(sent=headers(f"Bearer {_signed(claims() | {name: value})}"))

    assert answer.status == (204 if _is_one_of(value, TYPED[name]) else 400)


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("name", HEADER)
def test_a_header_of_another_type_is_refused(name, value):
    made = _under({"alg": "RS256", "kid": "one"} | {name: value})

    assert _receive(sent=headers(f"Bearer {made}")).status == 400


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_other_claims_may_have_any_value(value):
    assert _receive(sent=headers(f"Bearer {_signed(claims() | {'more': value})}")).status == 204


def test_a_duplicate_header_is_malformed():
    sent = {"authorization": "Bearer x", **GOOD}

    assert _receive(sent=sent).status == 400


@pytest.mark.parametrize("settings", [
    {"audience": ""}, {"service_account_email": ""}, {"verification_token": ""}, {"authenticated": False},
    {"authenticated": False, "verification_token": OWN},
])  # fmt: skip
def test_settings_that_would_accept_anybody_are_refused(settings):
    with pytest.raises(ValueError, match=r"must|requires"):
        PushVerifier(**{"audience": AUDIENCE, "service_account_email": EMAIL, **settings})


@pytest.mark.parametrize(
    "wrong", [(["https://a.example.com"], "push@p.iam.gserviceaccount.com"), ("https://a.example.com", {"push"})]
)
def test_settings_of_another_type_are_refused_when_the_verifier_is_made(wrong):
    with pytest.raises(TypeError, match="must be strings"):
        PushVerifier(*wrong)


@pytest.mark.parametrize(("query", "body", "sent", "status"), [
    (f"token={OWN}", BODY, None, 204), ("", _carrying(token=OWN), None, 400), (f"token={OWN}", _carrying(token=OWN), None, 204),
    ("", BODY, None, 400), ("token=", BODY, None, 400), ("token=other", BODY, None, 400), ("token=%ff", BODY, None, 400),
    (f"token={OWN}", _carrying(token="other"), None, 400), (f"token={OWN}&token=x", BODY, None, 400),
    (f"token={OWN}", BODY, "", 400), (f"token={OWN}", BODY, "Bearer x", 400), (f"token={OWN}", BODY, GOOD["Authorization"], 400),
])  # fmt: skip
def test_without_authentication_the_verification_token_decides(query, body, sent, status):
    own = PushVerifier(verification_token=OWN, authenticated=False)
    answer = _receive(own, sent=headers(sent), query=query, body=body)

    assert (answer.status, answer.claims) == (status, None)
    assert _receive(verifier(verification_token=OWN), sent=headers(None), query=query, body=body).status == 400
    with pytest.raises(InvalidToken):
        own.verify(token())
