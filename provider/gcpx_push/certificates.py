"""The public keys of an issuer, fetched and cached."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs
import httpx
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from jwt import PyJWK, PyJWTError

from gcpx_push import strict_json
from gcpx_push.errors import CertificatesError

_DEFAULT_LIFETIME: Final = 3600.0
"""Seconds to cache keys if the response does not say how long."""
_PAUSE: Final = 30.0
"""Seconds between fetches after a failure, and for unknown key IDs, so that forged tokens do not cause many fetches."""
_MAX_DOCUMENT: Final = 1 << 20
"""Bytes."""
_MAX_AGE: Final = re.compile(r"(?:^|[,\s])max-age=(\d+)")
_KEY_ERRORS: Final = (AttributeError, KeyError, PyJWTError, TypeError, UnsupportedAlgorithm, ValueError)
"""What the parsers of keys raise for different malformed keys."""


@attrs.define(eq=False)
class Certificates:
    """The public keys of an issuer. Several threads may use one instance.

    Attributes:
        url: returns PEM texts by key ID, or a JSON Web Key Set; None if the keys were given.
        timeout: seconds to wait for a connection, and for each part of the response.
    """

    url: str | None
    timeout: float = 10.0
    _now: Callable[[], float] = attrs.field(default=time.time, alias="now")
    _keys: dict[str, Any] = attrs.field(factory=dict, init=False, repr=False)
    _fresh_until: float = attrs.field(default=0.0, init=False)
    _next_fetch: float = attrs.field(default=float("-inf"), init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)

    @classmethod
    def given(cls, document: Mapping[str, Any]) -> Certificates:
        """Use the keys of a document, without network access.

        Args:
            document: PEM certificates or public keys by key ID, or a JSON Web Key Set.

        Raises:
            ValueError: if no key can be read.
        """
        certificates = cls(None)
        certificates._keys = _parse_keys(document)
        return certificates

    def key(self, key_id: str) -> Any | None:
        """Return the public key with this ID, or None if the issuer has no such key.

        Fetches the keys first if they have expired or the ID is unknown. While the issuer cannot be reached, expired
        keys remain in use.

        Raises:
            CertificatesError: if no keys are cached and they cannot be fetched.
        """
        if self.url is not None and self._must_fetch(key_id):
            with self._lock:
                if self._must_fetch(key_id):  # no other thread has fetched in the meantime
                    self._refresh(self._now())
        return self._keys.get(key_id)

    def _must_fetch(self, key_id: str) -> bool:
        return key_id not in self._keys or self._now() >= self._fresh_until

    def _refresh(self, now: float) -> None:
        if now < self._next_fetch:
            if not self._keys:
                raise CertificatesError("the issuer's certificates could not be fetched a few seconds ago")
            return
        if now < self._fresh_until:  # the key ID is unknown, and may be forged
            self._next_fetch = now + _PAUSE
        try:
            self._fetch(now)
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            self._next_fetch = now + _PAUSE
            if not self._keys:
                reason = type(error).__name__
                raise CertificatesError(f"the issuer's certificates could not be fetched: {reason}") from error

    def _fetch(self, now: float) -> None:
        response = httpx.get(str(self.url), timeout=self.timeout)
        response.raise_for_status()
        if len(response.content) > _MAX_DOCUMENT:
            raise ValueError("the document is too long")
        self._keys = _parse_keys(strict_json.parse(response.content))
        self._fresh_until = now + _lifetime(response.headers)


def _lifetime(headers: Mapping[str, str]) -> float:
    """Read for how many seconds a response may be cached, minus those that it has already spent in caches."""
    control = headers.get("cache-control", "")
    if "no-store" in control or "no-cache" in control:
        return 0.0
    max_age = _MAX_AGE.search(control)
    if max_age is None:
        return _DEFAULT_LIFETIME
    age = headers.get("age", "0")
    return max(0.0, float(max_age[1]) - (float(age) if age.isdecimal() else 0.0))


def _parse_keys(document: Any) -> dict[str, Any]:
    """Read the keys of a document in either form, and skip those that cannot be read."""
    if not isinstance(document, Mapping):
        raise ValueError("the document is not a JSON object")  # noqa: TRY004 - its content is wrong, not the call
    key_set = document.get("keys")
    if isinstance(key_set, list):
        keys = {str(item.get("kid")): _parse_jwk(item) for item in key_set if isinstance(item, Mapping)}
    else:
        keys = {str(key_id): _parse_pem(text) for key_id, text in document.items()}
    readable = {key_id: key for key_id, key in keys.items() if key is not None}
    if not readable:
        raise ValueError("the document has no key that can be read")
    return readable


def _parse_jwk(item: Mapping[str, Any]) -> Any | None:
    try:
        return PyJWK(dict(item)).key
    except _KEY_ERRORS:
        return None


def _parse_pem(text: Any) -> Any | None:
    try:
        data = str(text).encode()
        if b"BEGIN CERTIFICATE" in data:
            return x509.load_pem_x509_certificate(data).public_key()
        return serialization.load_pem_public_key(data)
    except _KEY_ERRORS:
        return None
