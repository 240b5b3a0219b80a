"""Lists of different sizes, and push tokens that are new or verified before; each compared within one run."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

import attrs
import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from google.cloud import compute_v1
from google.oauth2 import id_token
from measurement import SUBNETWORK, Row, make_subnetwork
from sizes import sized

from gcpx.protocol import proto
from gcpx.protocol.wire import encode
from gcpx_emulator.testing.google_clients import connect
from gcpx_push import Certificates, PushVerifier

_LIST: Final = "gcpx:compute:aggregatedListInstances"
SIZES: Final = sized((100, 1_000, 10_000), (2, 4))
_GROWTH: Final = 1.25
_CACHED: Final = 20
_AUDIENCE: Final = "https://example.com/push"
_EMAIL: Final = "pusher@example.com"
TOKENS: Final = sized((10, 100, 1_000), (1, 2))
NEW: Final = "gcpx, new tokens"
KNOWN: Final = "gcpx, tokens verified before"
GOOGLE: Final = "google-auth"


@attrs.frozen
class Timed:
    """So many instances that a contender has listed, or so many push tokens that it has verified, and its seconds."""

    contender: str
    size: int
    seconds: float


def lists(stub: Any, host: str) -> Iterator[Timed]:
    """Time aggregated lists of a growing number of instances: those of the plugin, of Google's client, and of httpx."""
    stub.Configure(proto.provider.ConfigureRequest(args=encode({"project": "p", "emulatorHost": host})))
    google = connect(compute_v1.InstancesClient, host, "p")
    contenders = {
        "gcpx": partial(_by_plugin, stub),
        "script": partial(_by_google, google),
        "httpx": partial(_by_hand, host),
    }
    make_subnetwork(host)
    there = 0
    for size in SIZES:
        for first in range(there, size, 1000):
            _grow(host, min(1000, size - first))
        there = size
        times: dict[str, list[float]] = {name: [] for name in contenders}
        for _ in range(5):
            for name, listed in contenders.items():
                began = time.perf_counter()
                found = listed()
                times[name].append(time.perf_counter() - began)
                assert found == size, (name, found)
        for name, taken in times.items():
            yield Timed(name, size, statistics.median(taken))


def growth(found: list[Timed]) -> Iterator[Row]:
    """Compare the time for each instance in the largest list with that in the smallest, and with the other ways."""
    seconds = {(one.contender, one.size): one.seconds for one in found}
    small, large = SIZES[0], SIZES[-1]
    each = [seconds["gcpx", size] / size * 1e6 for size in (large, small)]
    yield Row(f"list {large:,} instances, for each", *each, "us", f"list of {small:,}", _GROWTH)
    for other, name in (("script", "Google's client"), ("httpx", "httpx and json alone")):
        yield Row(f"list {large:,} instances", seconds["gcpx", large], seconds[other, large], "s", name)


def _grow(host: str, count: int) -> None:
    disk = {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": "family/debian-12"}}
    properties = {"machineType": "e2-small", "disks": [disk], "networkInterfaces": [{"subnetwork": SUBNETWORK}]}
    body = {"count": str(count), "namePattern": "m-######", "instanceProperties": properties}
    path = "/compute/beta/projects/p/regions/us-east1/instances/bulkInsert"
    httpx.post(f"http://{host}{path}", json=body, trust_env=False, timeout=60).raise_for_status()


def _by_plugin(stub: Any) -> int:
    answer = stub.Invoke(proto.provider.InvokeRequest(tok=_LIST))
    scopes = getattr(answer, "return").fields["items"].struct_value.fields.values()
    return sum(len(scope.struct_value.fields["instances"].list_value.values) for scope in scopes)


def _by_google(client: Any) -> int:
    request = compute_v1.AggregatedListInstancesRequest(project="p", max_results=500)
    return sum(len(scope.instances) for _, scope in client.aggregated_list(request=request))


def _by_hand(host: str) -> int:
    """List as a dynamic provider would."""
    count, token = 0, ""
    with httpx.Client(base_url=f"http://{host}/compute/v1/projects/p", trust_env=False, timeout=60) as client:
        while True:
            query = {"maxResults": 500, **({"pageToken": token} if token else {})}
            page = client.get("/aggregated/instances", params=query).raise_for_status().json()
            count += sum(len(scope.get("instances", ())) for scope in page.get("items", {}).values())
            token = page.get("nextPageToken", "")
            if not token:
                return count


def tokens() -> Iterator[Timed]:
    """Time new tokens and tokens verified before, and Google's own function, with local certificates."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = {"one": key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()}
    for size in TOKENS:
        signed = [_signed(key, number) for number in range(size)]
        verifier = PushVerifier(_AUDIENCE, _EMAIL, certificates=Certificates.given(pem))
        headers = [{"authorization": f"Bearer {token}"} for token in signed]
        certificates = _Certificates(pem)
        yield Timed(NEW, size, _seconds(headers, verifier.verify_headers))
        yield Timed(KNOWN, size, _seconds(headers, verifier.verify_headers))
        google = partial(id_token.verify_token, request=certificates, audience=_AUDIENCE)
        yield Timed(GOOGLE, size, _seconds(signed, google))


def verification(found: list[Timed]) -> Iterator[Row]:
    """Compare the time for each token."""
    new, known, google = (
        next(one.seconds for one in found if one.contender == name and one.size == TOKENS[-1]) / TOKENS[-1] * 1e6
        for name in (NEW, KNOWN, GOOGLE)
    )
    yield Row("push token, new", new, google, "us", "google-auth")
    yield Row("push token, new", new, known, "us", "known token", _CACHED, least=True)
    yield Row("push token by google-auth", google, known, "us", "known token by gcpx")


def _seconds(items: list[Any], work: Callable[[Any], Any]) -> float:
    """Return the seconds for all items, if each of them took as long as the median."""
    times = []
    for item in items:
        begun = time.perf_counter()
        work(item)
        times.append(time.perf_counter() - begun)
    return statistics.median(times) * len(items)


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
