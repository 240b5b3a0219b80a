"""Lists of different sizes, and push tokens that are new or verified before; each compared within one run."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from google.oauth2 import id_token

from gcpx.protocol import proto
from gcpx.protocol.wire import encode
from gcpx_push import Certificates, PushVerifier

_LIST: Final = "gcpx:compute:aggregatedListInstances"
_SIZES: Final = (100, 1_000, 10_000)
_GROWTH: Final = 1.25
_CACHED: Final = 20
_AUDIENCE: Final = "https://example.com/push"
_EMAIL: Final = "pusher@example.com"
_TOKENS: Final = 300


def lists(stub: Any, host: str) -> Iterator[str]:
    """Time the aggregated list with a growing number of instances."""
    stub.Configure(proto.provider.ConfigureRequest(args=encode({"project": "p", "emulatorHost": host})))
    there, costs = 0, {}
    for size in _SIZES:
        for first in range(there, size, 1000):
            _grow(host, min(1000, size - first))
        there = size
        costs[size] = statistics.median(_timed(stub, size) for _ in range(5)) / size * 1e6
    for size, cost in costs.items():
        ratio = cost / costs[_SIZES[0]]
        verdict = "ok" if ratio <= _GROWTH else "OVER"
        name = f"list {size:,} instances"
        yield f"{name:<38}{cost:9.0f} µs an instance  {ratio:6.2f}x   at most {_GROWTH:.2f}x  {verdict}"


def _grow(host: str, count: int) -> None:
    disk = {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": "family/debian-12"}}
    properties = {"machineType": "e2-small", "disks": [disk], "networkInterfaces": [{}]}
    body = {"count": str(count), "namePattern": "m-######", "instanceProperties": properties}
    path = "/compute/beta/projects/p/regions/us-east1/instances/bulkInsert"
    httpx.post(f"http://{host}{path}", json=body, trust_env=False, timeout=60).raise_for_status()


def _timed(stub: Any, size: int) -> float:
    begun = time.perf_counter()
    answer = stub.Invoke(proto.provider.InvokeRequest(tok=_LIST))
    taken = time.perf_counter() - begun
    scopes = getattr(answer, "return").fields["items"].struct_value.fields.values()
    assert sum(len(scope.struct_value.fields["instances"].list_value.values) for scope in scopes) == size
    return taken


def tokens() -> Iterator[str]:
    """Time new tokens and tokens verified before, compared with Google's own function and local certificates."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = {"one": key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()}
    signed = [_signed(key, number) for number in range(_TOKENS)]
    verifier = PushVerifier(_AUDIENCE, _EMAIL, certificates=Certificates.given(pem))
    headers = [{"authorization": f"Bearer {token}"} for token in signed]
    first = _median_microseconds(headers, verifier.verify_headers)
    cached = _median_microseconds(headers, verifier.verify_headers)
    certificates = _Certificates(pem)
    theirs = _median_microseconds(signed, lambda token: id_token.verify_token(token, certificates, audience=_AUDIENCE))
    verdict = "ok" if first / cached >= _CACHED else "UNDER"
    yield f"{'push token, new':<38}{first:9.1f} µs"
    yield f"{'push token, known':<38}{cached:9.1f} µs  {first / cached:6.1f}x   at least {_CACHED}x  {verdict}"
    yield f"{'google.oauth2.id_token.verify_token':<38}{theirs:9.1f} µs, each time; {theirs / cached:.0f}x a known one"


def _median_microseconds(items: list[Any], work: Callable[[Any], Any]) -> float:
    times = []
    for item in items:
        begun = time.perf_counter()
        work(item)
        times.append(time.perf_counter() - begun)
    return statistics.median(times) * 1e6


def _signed(key: Any, number: int) -> str:
    now = int(time.time())
    claims = {"aud": _AUDIENCE, "azp": "1", "sub": str(number), "email": _EMAIL, "email_verified": True,
              "iss": "https://accounts.google.com", "iat": now, "exp": now + 3600}  # fmt: skip
    return jwt.encode(claims, key, algorithm="RS256", headers={"kid": "one"})


class _Certificates:
    """A transport that returns the certificates without a request, so that no network access is measured."""

    def __init__(self, pem: dict[str, str]) -> None:
        self.status, self.headers, self.data = 200, {}, json.dumps(pem).encode()

    def __call__(self, *_: Any, **__: Any) -> _Certificates:
        return self
