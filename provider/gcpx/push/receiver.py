"""A whole push, from request to answer, without a web framework."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs

import attrs

from gcpx.push.certificates import CertificatesError
from gcpx.push.errors import MalformedRequest, PushError, WrongMethod
from gcpx.push.message import PushMessage
from gcpx.push.verifier import Claims, PushVerifier

LONGEST_BODY: Final = 20 << 20
"""Bytes: a message holds at most 10 MB, which base64 and JSON make longer."""


@attrs.frozen
class Answer:
    """What to answer, and what was received.

    Attributes:
        status: 204 for a good push, else 400, 405, or 503 when the issuer's keys cannot be had; Pub/Sub then tries
            again.
        reason: what is wrong, in words that hold nothing of the request.
        message: the message of a good push.
        claims: what its token says.
    """

    status: int
    reason: str = ""
    message: PushMessage | None = None
    claims: Claims | None = None


def receive(verifier: PushVerifier, method: str, headers: Mapping[str, str], query_string: str, body: bytes) -> Answer:
    """Check a request and read its message. Never raises: whatever is wrong becomes an answer.

    A caller that handles the message itself answers with `status`, which is 204 where everything is in order.
    """
    try:
        check_method(method)
        lowered = {name.lower(): value for name, value in headers.items()}
        claims = verifier.verify_headers(lowered)
        return Answer(HTTPStatus.NO_CONTENT, "", read(verifier, lowered, query_string, body), claims)
    except PushError as error:
        return Answer(error.status, str(error))
    except CertificatesError as error:
        return Answer(HTTPStatus.SERVICE_UNAVAILABLE, str(error))


def check_method(method: str) -> None:
    """Refuse what is no POST."""
    if method != "POST":
        raise WrongMethod("a push is a POST")


def read(verifier: PushVerifier, headers: Mapping[str, str], query_string: str, body: bytes) -> PushMessage:
    """Read the message of a request whose token is good, and check the receiver's own token."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise MalformedRequest("the content type is not application/json")
    if len(body) > LONGEST_BODY:
        raise MalformedRequest(f"the body is longer than {LONGEST_BODY:,} bytes")
    message = PushMessage.parse(body)
    if verifier.verification_token is not None:
        _check_own_token(verifier.verification_token, query_string, message)
    return message


def _check_own_token(wanted: str, query_string: str, message: PushMessage) -> None:
    """Compare every token that came along; at least one has to."""
    given = [*parse_qs(query_string, keep_blank_values=True).get("token", ()), *_attribute(message)]
    if not given or not all(hmac.compare_digest(text.encode("utf-8", "replace"), wanted.encode()) for text in given):
        raise MalformedRequest("the verification token is another one")


def _attribute(message: PushMessage) -> list[str]:
    return [message.attributes["token"]] if "token" in message.attributes else []
