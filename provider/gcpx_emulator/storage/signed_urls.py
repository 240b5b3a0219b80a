"""Signed URLs, in the forms V4 and V2, that the service account of intercepted programs has signed.

Source: the pages "Signed URLs", "Canonical requests" and "V2 signing process".
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.errors import EXPIRED, WRONG_SIGNATURE, ApiError, invalid, required

_V4, _V2 = "X-Goog-Signature", "Signature"
_ALGORITHM: Final = "GOOG4-RSA-SHA256"
_FORM: Final = "%Y%m%dT%H%M%SZ"
_LONGEST: Final = 604_800
"""The longest lifetime of a signed URL in the form V4, in seconds."""
_OF_V4: Final = ("X-Goog-Algorithm", "X-Goog-Credential", "X-Goog-Date", "X-Goog-Expires", "X-Goog-SignedHeaders", _V4)
_OF_V2: Final = ("GoogleAccessId", "Expires", _V2)
PARAMETERS: Final = {name: {"location": "query", "type": "string"} for name in (*_OF_V4, *_OF_V2)}
"""The parameters of signed URLs."""


def check_signature(call: Call) -> None:
    """Refuse a request with a signature that is wrong or has expired; one without a signature is accepted."""
    if _V4 in call.query:
        _check_v4(call)
    elif _V2 in call.query:
        _check_v2(call)


def _check_v4(call: Call) -> None:
    query = _complete(call, _OF_V4)
    scope = query["X-Goog-Credential"].partition("/")[2]
    if query["X-Goog-Algorithm"] != _ALGORITHM:
        raise ApiError(
            501, f"{call.method.id} with a URL signed by another algorithm than {_ALGORITHM} is not emulated"
        )
    try:
        begin = datetime.strptime(query["X-Goog-Date"], _FORM).replace(tzinfo=UTC).timestamp()
        signature, lifetime = bytes.fromhex(query[_V4]), int(query["X-Goog-Expires"])
    except ValueError:
        raise invalid(_V4, "", "The date, the lifetime and the signature must be well-formed.") from None
    if not 0 < lifetime <= _LONGEST:
        raise invalid("X-Goog-Expires", lifetime, f"Must be between 1 and {_LONGEST}.")
    _check_time(call, begin + lifetime)
    request = hashlib.sha256(_canonical_request(call).encode()).hexdigest()
    _verify(call, signature, f"{_ALGORITHM}\n{query['X-Goog-Date']}\n{scope}\n{request}")


def _canonical_request(call: Call) -> str:
    names = call.query.get("X-Goog-SignedHeaders", "")
    given = ((quote(name, safe="~"), quote(value, safe="~")) for name, value in call.query.items() if name != _V4)
    query = "&".join(f"{name}={value}" for name, value in sorted(given))
    headers = "".join(f"{name}:{' '.join(call.headers.get(name, '').split())}\n" for name in names.split(";"))
    payload = call.headers.get("x-goog-content-sha256", "UNSIGNED-PAYLOAD")
    return "\n".join([call.method.http_method, _resource(call), query, headers, names, payload])


def _check_v2(call: Call) -> None:
    query = _complete(call, _OF_V2)
    try:
        signature, expires = base64.b64decode(query[_V2], validate=True), int(query["Expires"])
    except (binascii.Error, ValueError):
        raise invalid(_V2, "", "The time and the signature must be well-formed.") from None
    _check_time(call, expires)
    own = sorted(name for name in call.headers if name.startswith("x-goog-"))
    headers = "".join(f"{name}:{call.headers[name]}\n" for name in own)
    standard = [call.headers.get(name, "") for name in ("content-md5", "content-type")]
    _verify(call, signature, "\n".join([call.method.http_method, *standard, str(expires), headers + _resource(call)]))


def _resource(call: Call) -> str:
    return f"/{quote(call.path['bucket'])}/{quote(call.path['object'], safe='/~')}"


def _complete(call: Call, names: Iterable[str]) -> dict[str, str]:
    """Return the query, which must have these parameters."""
    for name in names:
        if not call.query.get(name):
            raise required(name)
    return dict(call.query)


def _check_time(call: Call, end: float) -> None:
    if end < call.cloud.now():
        raise ApiError(400, "The provided token has expired.", EXPIRED)


def _verify(call: Call, signature: bytes, content: str) -> None:
    if not call.cloud.signer.has_signed(signature, content.encode()):
        words = "The request signature we calculated does not match the signature you provided."
        raise ApiError(403, f"{words} Check your Google secret key and signing method.", WRONG_SIGNATURE)
