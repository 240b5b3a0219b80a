"""A whole push, from request to answer, without a web framework."""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs

import attrs

from gcpx.push.certificates import CertificatesError
from gcpx.push.errors import BodyTooLong, MalformedRequest, PushError, WrongMethod
from gcpx.push.message import PushMessage
from gcpx.push.verifier import Claims, PushVerifier

LONGEST_BODY: Final = 16 << 20
"""Bytes: a message holds at most 10 MB, which base64 and JSON make about 14 MB."""
_START: Final = re.compile(rb"[ \t\r\n]{0,65535}(\{|\Z)")
"""How a body begins: its object follows within 64 KiB."""


@attrs.frozen
class Answer:
    """What to answer, and what was received.

    Attributes:
        status: 204 for a good push, else 400, 405, 413, or 503 when the issuer's keys cannot be fetched; Pub/Sub then
            tries again.
        reason: what is wrong, in words that hold nothing of the request.
        message: the message of a good push.
        claims: what its token says; None where the subscription has no authentication.
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
        claims = check_head(verifier, method, headers.items(), query_string)
        check_start(body)
        return Answer(HTTPStatus.NO_CONTENT, "", read(verifier, query_string, body), claims)
    except (PushError, CertificatesError) as error:
        return refusal(error)


def refusal(error: PushError | CertificatesError) -> Answer:
    """Write the answer to what is refused, or cannot be checked now."""
    status = error.status if isinstance(error, PushError) else HTTPStatus.SERVICE_UNAVAILABLE
    return Answer(status, str(error))


def check_head(
    verifier: PushVerifier, method: str, headers: Iterable[tuple[str, str]], query_string: str
) -> Claims | None:
    """Check everything that comes before the body."""
    if method != "POST":
        raise WrongMethod("the method must be POST")
    joined = _joined(headers)
    claims = verifier.verify_headers(joined)
    if joined.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise MalformedRequest("the content type must be application/json")
    length = joined.get("content-length", "")
    if length.isdecimal():
        check_length(float(length))
    _check_own_token(verifier, _given(query_string), complete=False)
    return claims


def _joined(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Join headers of one name, as HTTP has it: a token that is given twice is then malformed."""
    found: dict[str, list[str]] = {}
    for name, value in headers:
        found.setdefault(name.lower(), []).append(value)
    return {name: ", ".join(values) for name, values in found.items()}


def check_length(length: float) -> None:
    """Refuse a body that is longer than any push."""
    if length > LONGEST_BODY:
        raise BodyTooLong(f"the body must not be longer than {LONGEST_BODY:,} bytes")


def check_start(body: bytes | bytearray) -> None:
    """Refuse a body, or the beginning of one, that cannot become a push."""
    check_length(len(body))
    if not _START.match(body):
        raise MalformedRequest("the body must be a JSON object in UTF-8")


def read(verifier: PushVerifier, query_string: str, body: bytes) -> PushMessage:
    """Read the message of a request whose head is good, and check the receiver's own token."""
    message = PushMessage.parse(body)
    attribute = [message.attributes["token"]] if "token" in message.attributes else []
    _check_own_token(verifier, [*_given(query_string), *attribute], complete=True)
    return message


def _given(query_string: str) -> list[str]:
    return parse_qs(query_string, keep_blank_values=True, errors="surrogateescape").get("token", [])


def _check_own_token(verifier: PushVerifier, given: list[str], *, complete: bool) -> None:
    """Compare every token that came along; at least one has to, once all of the request is known."""
    if verifier.verification_token is None:
        return
    wanted = verifier.verification_token.encode()
    equal = [hmac.compare_digest(text.encode("utf-8", "surrogatepass"), wanted) for text in given]
    if not all(equal) or (complete and not equal):
        raise MalformedRequest("the verification token must match the receiver's")
