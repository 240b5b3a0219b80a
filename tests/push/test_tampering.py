"""Every way to tamper with a push: refused with the right status, in words that hold nothing of the token."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import time

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from gcpx.push import GOOGLE, Certificates, PushMiddleware, PushVerifier, receive

AUDIENCE = "https://example.com/push"
EMAIL = "pusher@demo-project.iam.gserviceaccount.com"
OWN = "my-verification-token"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PEM = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
KEYS = {"one": PEM.decode()}
BODY = json.dumps({"message": {"data": base64.b64encode(b"hello").decode(), "attributes": {"a": "b"}}}).encode()


def _segment(value):
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def _claims(**changes):
    now = int(time.time())
    made = {"aud": AUDIENCE, "azp": "1", "sub": "1", "email": EMAIL, "email_verified": True,
            "iss": "https://accounts.google.com", "iat": now - 5, "exp": now + 3595}  # fmt: skip
    return {key: value for key, value in (made | changes).items() if value is not None}


def _token(key=KEY, header=None, **changes):
    return jwt.encode(_claims(**changes), key, algorithm="RS256", headers={"kid": "one", **(header or {})})


def _raw(header, claims=None, signature=b""):
    return f"{_segment(header)}.{_segment(claims or _claims())}.{_segment(signature)}"


def _with_public_key():
    """Sign with HMAC, the public key for a secret: a receiver that believes the header would take it."""
    head = f"{_segment({'alg': 'HS256', 'kid': 'one', 'typ': 'JWT'})}.{_segment(_claims())}"
    return f"{head}.{_segment(hmac.new(PEM, head.encode(), hashlib.sha256).digest())}"


def _resigned(**changes):
    """Put other claims under a good signature."""
    header, _, signature = _token().split(".")
    return f"{header}.{_segment(_claims(**changes))}.{signature}"


NOW = int(time.time())
TOKENS = {
    "algorithm none": _raw({"alg": "none", "kid": "one", "typ": "JWT"}),
    "algorithm None in capitals": _raw({"alg": "NONE", "kid": "one"}),
    "no algorithm": _raw({"kid": "one"}),
    "algorithm that is no text": _raw({"alg": ["RS256"], "kid": "one"}),
    "HS256 with the public key": _with_public_key(),
    "RS512": jwt.encode(_claims(), KEY, algorithm="RS512", headers={"kid": "one"}),
    "PS256": jwt.encode(_claims(), KEY, algorithm="PS256", headers={"kid": "one"}),
    "another key": _token(OTHER),
    "unknown key ID": _token(header={"kid": "two"}),
    "no key ID": jwt.encode(_claims(), KEY, algorithm="RS256"),
    "key ID that is no text": _raw({"alg": "RS256", "kid": 1}),
    "key in the header": _token(OTHER, header={"jwk": {"kty": "RSA"}}),
    "key by URL in the header": _token(OTHER, header={"jku": "https://example.com/keys"}),
    "critical extension": _token(header={"crit": ["b64"], "b64": True}),
    "another type": _token(header={"typ": "at+jwt"}),
    "truncated signature": _token()[:-20],
    "no signature": _token().rpartition(".")[0] + ".",
    "changed signature": _token()[:-8] + "AAAAAAAA",
    "changed claims": _resigned(email="someone@example.com"),
    "two parts": _token().rpartition(".")[0],
    "four parts": _token() + ".x",
    "five parts": "a.b.c.d.e",
    "empty": "",
    "dots": "..",
    "no base64": "!!!.???.***",
    "header that is no JSON": f"{_segment(b'{')}.{_segment(_claims())}.x",
    "header that is a list": _raw(["RS256"]),
    "claims that are no JSON": jwt.api_jws.encode(b"nothing", KEY, algorithm="RS256", headers={"kid": "one"}),
    "claims that are a list": jwt.api_jws.encode(b"[]", KEY, algorithm="RS256", headers={"kid": "one"}),
    "another audience": _token(aud="https://example.com/other"),
    "audience with a slash more": _token(aud=f"{AUDIENCE}/"),
    "audience in capitals": _token(aud=AUDIENCE.upper()),
    "list of audiences": _token(aud=[AUDIENCE]),
    "no audience": _token(aud=None),
    "another issuer": _token(iss="https://accounts.example.com"),
    "issuer over http": _token(iss="http://accounts.google.com"),
    "issuer with more": _token(iss="accounts.google.com.example.com"),
    "issuer that is no text": _raw({"alg": "RS256", "kid": "one"}, _claims(iss=["accounts.google.com"])),
    "no issuer": _token(iss=None),
    "another account": _token(email="someone@example.com"),
    "account with more": _token(email=f"{EMAIL}.example.com"),
    "no account": _token(email=None),
    "not verified": _token(email_verified=False),
    "verified as text": _token(email_verified="true"),
    "verified as a number": _token(email_verified=1),
    "nothing about verification": _token(email_verified=None),
    "expired": _token(iat=NOW - 3000, exp=NOW - 60),
    "no expiry": _token(exp=None),
    "expiry as text": _raw({"alg": "RS256", "kid": "one"}, _claims(exp=str(NOW + 60))),
    "expiry true": jwt.api_jws.encode(
        json.dumps(_claims(exp=True)).encode(), KEY, algorithm="RS256", headers={"kid": "one"}
    ),
    "issued in the future": _token(iat=NOW + 600, exp=NOW + 4200),
    "not issued": _token(iat=None),
    "older than an hour": _token(iat=NOW - 3700, exp=NOW + 600),
    "very long": "a" * 20_000 + ".b.c",
    "deeply nested header": f"{_segment(b'[' * 5000)}.{_segment(_claims())}.x",
}
GOOD = f"Bearer {_token()}"
HEADERS = {
    "no header": None,
    "empty header": "",
    "only the word": "Bearer",
    "word and blank": "Bearer ",
    "two blanks": f"Bearer  {_token()}",
    "lower case": f"bearer {_token()}",
    "capitals": f"BEARER {_token()}",
    "tab": f"Bearer\t{_token()}",
    "something behind": f"Bearer {_token()} x",
    "another scheme": f"Basic {_token()}",
    "token alone": _token(),
    "twice": f"Bearer {_token()}, Bearer {_token()}",
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
    "a text": b'"x"',
    "no message": b'{"data": "aGVsbG8="}',
    "message that is a text": b'{"message": "x"}',
    "data that is no base64": b'{"message": {"data": "not base64!"}}',
    "data cut off": b'{"message": {"data": "aGVsbG8"}}',
    "data that is a number": b'{"message": {"data": 1}}',
    "attributes that are a list": b'{"message": {"data": "", "attributes": ["a"]}}',
    "attribute that is a number": b'{"message": {"data": "", "attributes": {"a": 1}}}',
    "deeply nested": b"[" * 100_000,
}
TYPES = ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonp"]


def _verifier(**more):
    return PushVerifier(AUDIENCE, EMAIL, certificates=Certificates.given(KEYS), **more)


def _headers(authorization=GOOD, kind="application/json"):
    return {
        name: value for name, value in (("Authorization", authorization), ("Content-Type", kind)) if value is not None
    }


def _receive(verifier=None, *, method="POST", headers=None, query="", body=BODY):
    return receive(verifier or _verifier(), method, headers or _headers(), query, body)


def test_a_good_push_is_taken():
    answer = _receive()

    assert (answer.status, answer.reason) == (204, "")
    assert (answer.message.text, answer.message.attributes) == ("hello", {"a": "b"})
    assert answer.claims.email == EMAIL


@pytest.mark.parametrize("issuer", ["accounts.google.com", "https://accounts.google.com"])
def test_the_issuer_may_be_with_and_without_scheme(issuer):
    assert issuer in GOOGLE.names
    assert _receive(headers=_headers(f"Bearer {_token(iss=issuer)}")).status == 204


@pytest.mark.parametrize(("changes", "skew", "status"), [
    ({"iat": NOW - 3600, "exp": NOW + 60}, 10, 204), ({"iat": NOW - 3640, "exp": NOW + 60}, 10, 400),
    ({"iat": NOW - 99, "exp": NOW - 5}, 60, 204), ({"iat": NOW - 99, "exp": NOW - 65}, 60, 400),
    ({"iat": NOW + 30}, 60, 204), ({"iat": NOW + 95}, 60, 400),
])  # fmt: skip
def test_times_hold_within_the_skew(changes, skew, status):
    verifier = _verifier(clock_skew=skew, now=lambda: NOW)

    assert _receive(verifier, headers=_headers(f"Bearer {_token(**changes)}")).status == status


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
    _refused(_receive(headers=_headers(f"Bearer {TOKENS[case]}")), *TOKENS[case].split("."))


@pytest.mark.usefixtures("_quiet")
@pytest.mark.parametrize("case", HEADERS)
def test_a_malformed_header_is_refused(case):
    _refused(_receive(headers=_headers(HEADERS[case])), HEADERS[case])


@pytest.mark.parametrize("case", BODIES)
def test_a_body_that_is_no_push_is_refused(case):
    _refused(_receive(body=BODIES[case]))


@pytest.mark.parametrize("kind", TYPES)
def test_another_content_type_is_refused(kind):
    _refused(_receive(headers=_headers(kind=kind)))


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8"])
def test_json_by_any_spelling_is_taken(kind):
    assert _receive(headers=_headers(kind=kind)).status == 204


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
def test_the_receivers_own_token_is_asked_for(query, body, status):
    assert _receive(_verifier(verification_token=OWN), query=query, body=body).status == status


def _send(method, path="/push", guarded=None, **request):
    """Send one request through the middleware."""

    async def take(request):
        return Response(request.scope["gcpx.push"].text, headers={"length": str(len(await request.body()))})

    app = Starlette(routes=[Route("/push", take, methods=["GET", "POST"]), Route("/free", lambda _: Response("free"))])

    async def send():
        transport = httpx.ASGITransport(PushMiddleware(app, _verifier(), path=guarded))
        async with httpx.AsyncClient(transport=transport, base_url="http://receiver") as client:
            return await client.request(method, path, **request)

    return asyncio.run(send())


@pytest.mark.parametrize("case", {**TOKENS, **{f"header: {name}": value for name, value in HEADERS.items()}})
def test_the_middleware_never_fails(case):
    value = f"Bearer {TOKENS[case]}" if case in TOKENS else HEADERS[case.removeprefix("header: ")]
    headers = {name: text.encode("latin-1", "replace") for name, text in _headers(value).items()}

    assert _send("POST", content=BODY, headers=headers).status_code == 400


def test_the_middleware_hands_the_message_on():
    answer = _send("POST", content=BODY, headers=_headers())

    assert (answer.status_code, answer.text, answer.headers["length"]) == (200, "hello", str(len(BODY)))


def test_the_middleware_says_what_is_allowed():
    answer = _send("GET", headers=_headers())

    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_the_middleware_guards_one_path_where_it_is_told_to():
    assert _send("GET", "/free", guarded="/push").text == "free"
    assert _send("POST", guarded="/push").status_code == 400
    assert _send("GET", "/free").status_code == 405


def test_a_body_that_never_ends_is_refused():
    async def endless():
        for _ in range(100):
            yield b" " * (1 << 20)

    assert _send("POST", content=endless(), headers=_headers()).status_code == 400


def test_the_table_is_long_enough():
    assert len(TOKENS) + len(HEADERS) + len(BODIES) + len(TYPES) >= 40
