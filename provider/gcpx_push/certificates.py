"""The public keys of an issuer, fetched and cached."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

import attrs
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from jwt import PyJWK, PyJWTError

from gcpx_http.connections import Received, UnreadableBodyError, UnusableEnvironmentError, page
from gcpx_http.hosts import is_protected
from gcpx_push import strict_json
from gcpx_push.errors import CertificatesError

_DEFAULT_LIFETIME: Final = 3600.0
"""The default time to cache keys, in seconds."""
_LONGEST_LIFETIME: Final = 86_400.0
"""The longest time to cache keys in seconds, whatever the response says: a revoked key must not stay in use."""
_LONGEST_STALE: Final = 86_400.0
"""The longest time for which expired keys stay in use, in seconds, while the issuer cannot be reached."""
_PAUSE: Final = 30.0
"""Seconds between fetches, after a failure or for unknown key IDs, and the shortest time to cache keys, so that forged
tokens do not cause many fetches."""
_MOST_BYTES: Final = 1 << 20
"""The maximum size of a document with keys, in bytes."""
_MAX_AGE: Final = re.compile(r"(?:^|[,\s])max-age=([0-9]+)")
_OUR_WORDS: Final = (CertificatesError, UnreadableBodyError, UnusableEnvironmentError)
_KEY_ERRORS: Final = (AttributeError, KeyError, PyJWTError, TypeError, UnsupportedAlgorithm, ValueError)
"""The exceptions of parsers for malformed keys."""


def download(url: str, timeout: float) -> Received:
    """Return an issuer's page; raises the same as `page`, and CertificatesError for a status other than 200."""
    found = page(url, timeout, _MOST_BYTES)
    if found.status != HTTPStatus.OK:
        raise CertificatesError(f"the issuer answered with HTTP {found.status}")
    return found


@attrs.define(eq=False)
class Certificates:
    """The public keys of an issuer. Several threads may use one instance.

    One fetch is under way at a time, in a thread of its own. Only callers that need it wait for it: the first one with
    an unknown key ID, and every one as long as no keys are known at all.

    Attributes:
        url: the URL of PEM texts by key ID, or of a JSON Web Key Set; None if the keys were given. It begins with
            https://, or leads to this machine, because anybody who can change the keys can forge tokens.
        timeout: the longest time of a whole fetch, in seconds.
    """

    url: str | None
    timeout: float = 10.0
    _now: Callable[[], float] = attrs.field(default=time.monotonic, alias="now")
    _download: Callable[[str, float], Received] = attrs.field(default=download, alias="download", repr=False)
    """Returns a page within some seconds; any exception is a failed fetch."""
    _keys: dict[str, Any] = attrs.field(factory=dict, init=False, repr=False)
    _fresh_until: float = attrs.field(default=float("-inf"), init=False)
    _next_fetch: float = attrs.field(default=float("-inf"), init=False)
    _fetch: _Fetch | None = attrs.field(default=None, init=False, repr=False)
    """The fetch that is under way."""
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)
    """Held for a few lines only, and never during a fetch."""

    def __attrs_post_init__(self) -> None:
        """Refuse a URL with responses that others could change."""
        if self.url is not None and not is_protected(self.url):
            raise ValueError(
                "the url of certificates must begin with https://, or lead to this machine; "
                "Certificates.given(...) takes certificates that were fetched in another way"
            )

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

        It fetches the keys if they have expired or the ID is unknown. Expired keys remain in use during the fetch, and
        while the issuer cannot be reached, for at most a day.

        Raises:
            CertificatesError: no keys are known and they cannot be fetched, or the ID is unknown while a fetch is
                under way.
        """
        if self.url is None:
            return self._keys.get(key_id)
        with self._lock:
            if self._now() > self._fresh_until + _LONGEST_STALE:
                self._keys = {}
            keys = self._keys
            fetch, is_new = self._fetch_for(key_id)
        if key_id in keys:
            return keys[key_id]
        if fetch is not None:
            if keys and not is_new:
                raise CertificatesError("the issuer's certificates are just being fetched")
            self._wait_for(fetch)
        elif not keys:
            raise CertificatesError("the issuer's certificates could not be fetched a few seconds ago")
        return self._keys.get(key_id)

    def _fetch_for(self, key_id: str) -> tuple[_Fetch | None, bool]:
        """Return the current fetch, and whether it was started for this key; None if none is needed now."""
        now = self._now()
        if self._fetch is not None and now >= self._fetch.end:
            self._abandon(self._fetch, now)
        if self._fetch is not None:
            return self._fetch, False
        is_fresh = now < self._fresh_until
        if (is_fresh and key_id in self._keys) or now < self._next_fetch:
            return None, False
        if is_fresh:  # the key ID is unknown, and may be forged
            self._next_fetch = now + _PAUSE
        self._fetch = _Fetch(now, now + self.timeout)
        threading.Thread(target=self._carry_out, args=(self._fetch,), daemon=True).start()
        return self._fetch, True

    def _wait_for(self, fetch: _Fetch) -> None:
        """Wait until a fetch ends, or its time is over; raise CertificatesError if there are still no keys."""
        if not fetch.ended.wait(self.timeout):
            with self._lock:
                self._abandon(fetch, self._now())
        if not self._keys:
            raise CertificatesError(f"the issuer's certificates could not be fetched: {fetch.problem}") from fetch.error

    def _abandon(self, fetch: _Fetch, now: float) -> None:
        """Let the next call start another fetch after a pause, although this one has not ended."""
        if self._fetch is fetch:
            self._fetch = None
            self._next_fetch = now + _PAUSE

    def _carry_out(self, fetch: _Fetch) -> None:
        keys, lifetime = dict[str, Any](), 0.0
        try:
            found = self._download(str(self.url), self.timeout)
            keys, lifetime = _parse_keys(strict_json.parse(found.body)), _lifetime(found.headers)
        except Exception as error:  # noqa: BLE001 - however a fetch fails, the keys are as they were
            fetch.error = error
        with self._lock:
            if self._fetch is fetch:
                self._fetch = None
                if keys:
                    self._keys, self._fresh_until = keys, fetch.begun + max(lifetime, _PAUSE)
                else:
                    self._next_fetch = self._now() + _PAUSE
        fetch.ended.set()


@attrs.define(eq=False)
class _Fetch:
    """A fetch of the keys.

    Attributes:
        begun: the time of its start.
        end: the time after which nobody waits for it any more.
        ended: set when it has ended.
        error: its error, if it failed.
    """

    begun: float
    end: float
    ended: threading.Event = attrs.field(factory=threading.Event)
    error: Exception | None = None

    @property
    def problem(self) -> str:
        """Why there are no keys: only the type of an error with a text that may quote the server."""
        if self.error is None:
            return "no complete answer in time"
        return str(self.error) if isinstance(self.error, _OUR_WORDS) else type(self.error).__name__


def _lifetime(headers: Mapping[str, str]) -> float:
    """Return the seconds for which a response may be cached, minus those already spent in caches."""
    control = headers.get("cache-control", "").lower()
    if "no-store" in control or "no-cache" in control:
        return 0.0
    max_age = _MAX_AGE.search(control)
    if max_age is None:
        return _DEFAULT_LIFETIME
    age = headers.get("age", "0")
    return min(_LONGEST_LIFETIME, max(0.0, float(max_age[1]) - (float(age) if age.isdecimal() else 0.0)))


def _parse_keys(document: Any) -> dict[str, Any]:
    """Read the keys of a document in either form; skip those that are unreadable or have no ID."""
    if not isinstance(document, Mapping):
        raise ValueError("the document is not a JSON object")  # noqa: TRY004 - its content is wrong, not the call
    key_set = document.get("keys")
    if isinstance(key_set, list):
        named = (item for item in key_set if isinstance(item, Mapping) and isinstance(item.get("kid"), str))
        keys = {item["kid"]: _parse_jwk(item) for item in named}
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
