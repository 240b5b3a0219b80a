"""An issuer's public keys: fetched once, kept as long as the issuer says, fetched again when a key is unknown."""

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

from gcpx.push import strict_json

_DEFAULT_LIFE: Final = 3600.0
"""Seconds to keep keys for which the issuer names no time."""
_PAUSE: Final = 30.0
"""Seconds between two fetches for unknown keys, so that made-up key IDs cause no flood of calls."""
_UNREADABLE: Final = (AttributeError, KeyError, PyJWTError, TypeError, UnsupportedAlgorithm, ValueError)
"""What the readers of keys raise, depending on what is wrong with one."""
_LONGEST: Final = 1 << 20
_MAX_AGE: Final = re.compile(r"(?:^|[,\s])max-age=(\d+)")


class CertificatesError(Exception):
    """The issuer's keys cannot be fetched; the push may be good, so Pub/Sub should try again later."""


@attrs.define(eq=False)
class Certificates:
    """The keys behind one address, or keys that were given and need no network.

    Attributes:
        url: answers with PEM texts by key ID, or with a JSON Web Key Set.
        timeout: seconds that one fetch may take.
    """

    url: str | None
    timeout: float = 10.0
    _now: Callable[[], float] = attrs.field(default=time.time, alias="now")
    _keys: dict[str, Any] = attrs.field(factory=dict, init=False, repr=False)
    _fresh_until: float = attrs.field(default=0.0, init=False)
    _not_before: float = attrs.field(default=float("-inf"), init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)

    @classmethod
    def given(cls, document: Mapping[str, Any]) -> Certificates:
        """Use a document of keys that is at hand: PEM texts by key ID, or a JSON Web Key Set."""
        made = cls(None)
        made._keys = _read(document)
        return made

    def key(self, key_id: str) -> Any | None:
        """Find a public key; None when the issuer has none of that ID.

        Raises:
            CertificatesError: when there are no keys at all, and none can be fetched.
        """
        if self.url is not None and (key_id not in self._keys or self._now() >= self._fresh_until):
            with self._lock:
                self._renew(key_id)
        return self._keys.get(key_id)

    def _renew(self, key_id: str) -> None:
        """Fetch, unless another thread just did; keys that were good serve on while the issuer cannot be reached."""
        now = self._now()
        stale = now >= self._fresh_until
        if (key_id in self._keys and not stale) or now < self._not_before:
            if not self._keys:
                raise CertificatesError("the issuer's certificates could not be fetched a few seconds ago")
            return
        if not stale:
            self._not_before = now + _PAUSE
        try:
            self._fetch(now)
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            self._not_before = now + _PAUSE
            if not self._keys:
                raise CertificatesError(
                    f"the issuer's certificates could not be fetched: {type(error).__name__}"
                ) from error

    def _fetch(self, now: float) -> None:
        response = httpx.get(str(self.url), timeout=self.timeout)
        response.raise_for_status()
        if len(response.content) > _LONGEST:
            raise ValueError("too long")
        self._keys = _read(strict_json.parse(response.content))
        self._fresh_until = now + _life(response.headers)


def _life(headers: Mapping[str, str]) -> float:
    """Read how long the answer may be kept, less the time that it has spent in caches."""
    control = headers.get("cache-control", "")
    if "no-store" in control or "no-cache" in control:
        return 0.0
    found = _MAX_AGE.search(control)
    age = headers.get("age", "0")
    return max(0.0, float(found[1]) - (float(age) if age.isdecimal() else 0.0)) if found else _DEFAULT_LIFE


def _read(document: Any) -> dict[str, Any]:
    """Read either form; a single key that cannot be read spoils no other."""
    if not isinstance(document, Mapping):
        raise ValueError("not a JSON object")  # noqa: TRY004 - a bad document, not a bad call
    listed = document.get("keys")
    if isinstance(listed, list):
        found = {str(item.get("kid")): _from_jwk(item) for item in listed if isinstance(item, Mapping)}
    else:
        found = {str(key_id): _from_pem(text) for key_id, text in document.items()}
    keys = {key_id: key for key_id, key in found.items() if key is not None}
    if not keys:
        raise ValueError("no key")
    return keys


def _from_jwk(item: Mapping[str, Any]) -> Any | None:
    try:
        return PyJWK(dict(item)).key
    except _UNREADABLE:
        return None


def _from_pem(text: Any) -> Any | None:
    try:
        data = str(text).encode()
        if "BEGIN CERTIFICATE" in str(text):
            return x509.load_pem_x509_certificate(data).public_key()
        return serialization.load_pem_public_key(data)
    except _UNREADABLE:
        return None
