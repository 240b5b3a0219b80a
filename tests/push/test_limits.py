"""What strangers can make a receiver do is limited: it reads no body of theirs, and nothing that grows in memory."""

from __future__ import annotations

import asyncio
import math

import pytest
from servers.pushing import token, verifier

from gcpx_push import CertificatesError, PushMiddleware, PushVerifier, receive, receive_head, strict_json

OWN = PushVerifier(verification_token="own", authenticated=False)
HEADERS = {"Content-Type": "application/json"}
EMAIL = "pusher@example.com"


@pytest.mark.parametrize("skew", [math.nan, math.inf, -math.inf, -1, 301, 365 * 86_400.0])
def test_a_skew_that_accepts_expired_tokens_is_refused(skew):
    with pytest.raises(ValueError, match="clock_skew must be"):
        PushVerifier("me", EMAIL, clock_skew=skew)


@pytest.mark.parametrize("skew", [0, 0.5, 300])
def test_every_skew_of_real_clocks_is_accepted(skew):
    assert PushVerifier("me", EMAIL, clock_skew=skew).clock_skew == skew


def test_a_token_that_is_too_long_is_refused_before_it_is_read():
    answer = receive(
        PushVerifier("me", EMAIL), "POST", {**HEADERS, "Authorization": f"Bearer {'a' * 16_385}"}, "", b"{}"
    )

    assert answer.status == 400
    assert answer.reason == "the token is longer than 16,384 characters"


@pytest.mark.parametrize("query", ["", "token=", "token=other", "token=own&token=other", "other=own"])
def test_without_authentication_the_token_in_the_query_comes_before_the_body(query):
    read = []

    async def body():
        read.append(1)
        return {"type": "http.request", "body": b"{", "more_body": False}

    async def send(_):
        pass

    scope = {
        "type": "http",
        "method": "POST",
        "headers": [(b"content-type", b"application/json")],
        "query_string": query.encode(),
    }
    asyncio.run(PushMiddleware(None, OWN)(scope, body, send))
    answer = receive(OWN, "POST", HEADERS, query, b'{"message": {"attributes": {"token": "own"}}}')

    assert read == []
    assert answer.status == 400
    assert "verification token" in answer.reason


def test_without_authentication_the_right_token_in_the_query_is_enough():
    assert receive(OWN, "POST", HEADERS, "token=own", b'{"message": {}}').status == 204


def test_the_head_is_checked_without_the_body():
    assert receive_head(OWN, "POST", HEADERS, "token=own") is None
    assert receive_head(OWN, "GET", HEADERS, "token=own").status == 405
    assert receive_head(OWN, "POST", HEADERS, "").status == 400
    assert receive_head(OWN, "POST", {**HEADERS, "Content-Length": "99999999"}, "token=own").status == 413


def test_the_head_cannot_be_checked_while_there_are_no_keys():
    class Unreachable:
        def key(self, _):
            raise CertificatesError("no keys")

    verifier = PushVerifier("me", EMAIL, certificates=Unreachable())
    token = "eyJhbGciOiJSUzI1NiIsImtpZCI6ImEifQ.e30.e30"
    assert receive_head(verifier, "POST", {**HEADERS, "Authorization": f"Bearer {token}"}, "").status == 503


@pytest.mark.parametrize("unit", [b"[],", b"{},", b"1,", b'"",'])
def test_a_document_with_too_many_values_is_refused_before_it_is_parsed(unit):
    with pytest.raises(ValueError, match="not JSON"):
        strict_json.parse(b"[" + unit * 300_000 + b"1]")


def test_the_attributes_of_a_push_may_be_full_of_separators():
    text = b'{"a": "' + b"," * 102_400 + b'"}'
    assert len(strict_json.parse(text)["a"]) == 102_400


def test_a_receiver_remembers_only_the_latest_thousand_tokens():
    receiver = verifier()
    tokens = [token(nonce=number) for number in range(1030)]
    first = [receiver.verify(one) for one in tokens]

    assert receiver.verify(tokens[-1]) is first[-1]
    assert receiver.verify(tokens[-1000]) is first[-1000]
    assert receiver.verify(tokens[0]) == first[0]
    assert receiver.verify(tokens[0]) is not first[0], "it was forgotten, and verified again"
