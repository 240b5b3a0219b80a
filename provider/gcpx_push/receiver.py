"""Checks a whole push, from request to answer, without a web framework."""

from __future__ import annotations

import hmac
import logging
import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs

import attrs

from gcpx_push.claims import Claims
from gcpx_push.errors import BodyTooLong, CertificatesError, MalformedRequest, PushError, WrongMethod
from gcpx_push.message import PushMessage
from gcpx_push.verifier import PushVerifier

_LOG: Final = logging.getLogger("gcpx_push")
_MAX_BODY: Final = 16 << 20
"""The maximum size of a body in bytes. A message has at most 10 MB, about 14 MB in base64 and JSON."""
_BODY_START: Final = re.compile(rb"[ \t\r\n]*(\{|\Z)")
_MOST_WHITE_SPACE: Final = (64 << 10) - 1
"""The maximum number of bytes before the JSON object of a body."""


@attrs.frozen
class Answer:
    """The answer to a push, and the message of a valid one.

    Attributes:
        status: the HTTP status: 204 for a valid push, 400, 405 or 413 for another, and 503 if the issuer's keys
            cannot be fetched, so that Pub/Sub retries.
        reason: why the push is not accepted, without quoting it; empty for a valid push.
        message: the message of a valid push, otherwise None.
        claims: the claims of its token; None if the subscription has no authentication.
    """

    status: int
    reason: str = ""
    message: PushMessage | None = None
    claims: Claims | None = None


def receive(verifier: PushVerifier, method: str, headers: Mapping[str, str], query_string: str, body: bytes) -> Answer:
    """Check a request and read its message. Every error becomes an answer; it raises nothing.

    Args:
        verifier: checks the token.
        method: the HTTP method.
        headers: values by name, in any case.
        query_string: the query of the URL, without the question mark.
        body: the whole body.

    Returns:
        The answer. With status 204, the message is valid and still has to be handled.
    """
    try:
        claims = check_head(verifier, method, headers.items(), query_string)
        check_body_start(body)
        return Answer(HTTPStatus.NO_CONTENT, "", read_message(verifier, query_string, body), claims)
    except (PushError, CertificatesError) as error:
        return refusal(error)


def receive_head(verifier: PushVerifier, method: str, headers: Mapping[str, str], query_string: str) -> Answer | None:
    """Check a request except for its body, before the server waits for the body; return the refusal, or None.

    The arguments are those of `receive`, which must still check the whole request. It raises nothing.
    """
    try:
        check_head(verifier, method, headers.items(), query_string)
    except (PushError, CertificatesError) as error:
        return refusal(error)
    return None


def refusal(error: PushError | CertificatesError) -> Answer:
    """Log a push that is refused, or cannot be checked now; return the answer."""
    _LOG.warning("answered a push with status %d: %s", error.status, error)
    return Answer(error.status, str(error))


def check_head(
    verifier: PushVerifier, method: str, headers: Iterable[tuple[str, str]], query_string: str
) -> Claims | None:
    """Check everything that comes before the body; return the claims, or None without authentication.

    Raises:
        PushError: if the push must be refused.
        CertificatesError: if the issuer's keys cannot be fetched.
    """
    if method != "POST":
        raise WrongMethod("the method must be POST")
    values: dict[str, list[str]] = {}
    for name, value in headers:
        values.setdefault(name.lower(), []).append(value)
    # As HTTP defines it; a duplicate token is then malformed.
    joined = {name: ", ".join(several) for name, several in values.items()}
    claims = verifier.verify_headers(joined)
    if joined.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise MalformedRequest("the content type must be application/json")
    length = joined.get("content-length", "")
    if length.isdecimal():
        _check_length(float(length))
    # Without a signed token, the query must authenticate the push: a token in the message would come too late.
    _check_verification_tokens(verifier, _query_tokens(query_string), complete=not verifier.authenticated)
    return claims


def check_body_start(body: bytes | bytearray, white_space: int = 0) -> int:
    """Check a body, or the part of it received so far.

    Args:
        body: the body, or the part of it.
        white_space: the result of the last call for a shorter part, or 0.

    Returns:
        The number of bytes of white space at its beginning.

    Raises:
        BodyTooLong: if it is longer than any push.
        MalformedRequest: if it cannot become a JSON object.
    """
    _check_length(len(body))
    found = _BODY_START.match(body, white_space)
    if found is None or found.start(1) > _MOST_WHITE_SPACE:
        raise MalformedRequest("the body must be a JSON object in UTF-8")
    return found.start(1)


def read_message(verifier: PushVerifier, query_string: str, body: bytes) -> PushMessage:
    """Read the message of a request whose head has been checked, and check the verification token.

    Raises:
        MalformedRequest: if it is not the body of a push, or the verification token is missing or wrong.
    """
    message = PushMessage.parse(body)
    attribute = [message.attributes["token"]] if "token" in message.attributes else []
    _check_verification_tokens(verifier, [*_query_tokens(query_string), *attribute], complete=True)
    return message


def _check_length(length: float) -> None:
    if length > _MAX_BODY:
        raise BodyTooLong(f"the body must not be longer than {_MAX_BODY:,} bytes")


def _query_tokens(query_string: str) -> list[str]:
    return parse_qs(query_string, keep_blank_values=True, errors="surrogateescape").get("token", [])


def _check_verification_tokens(verifier: PushVerifier, received: list[str], *, complete: bool) -> None:
    """Check every verification token; a complete request must have at least one."""
    if verifier.verification_token is None:
        return
    expected = verifier.verification_token.encode()
    equal = [hmac.compare_digest(text.encode("utf-8", "surrogatepass"), expected) for text in received]
    if not all(equal) or (complete and not equal):
        raise MalformedRequest("the verification token must match the receiver's")
