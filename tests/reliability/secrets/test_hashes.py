"""What a state without its secrets, a label or a request ID says of secret metadata went through the slow hash.

Holds SECURITY.md: "contain metadata and customer-supplied keys only as a slow hash".
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Any

import pytest
from engines import driver
from engines.clocked import ClockedProvider
from engines.driver import secret
from rolling.fleets import set_limits
from secret_values.planted_secrets import without_secrets
from values.programs import FLEET, IMAGE, NOTIFICATION, PROJECT, TEMPLATE, fleet, image, notification, template

from gcpx.model.slow_hash import slow_hash

METHODS = ("compute.instanceTemplates.insert", "compute.regionInstances.bulkInsert")
PINS = ("104729", "611953")
"""Two values of a secret."""
IN_B = {"zones": [{"zone": "zones/us-east1-b"}]}
IN_C = {"zones": ["us-east1-c"]}
INSTANCE = f"projects/{PROJECT}/zones/us-east1-c/instances/web-001"


def _metadata(pin: str) -> dict[str, Any]:
    return {"metadata": {"items": [{"key": "pin", "value": secret(pin)}]}}


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield everything in a value by its path."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in pairs:
        yield from _leaves(item, f"{path}/{key}")
    if not isinstance(value, dict | list):
        yield path, value


def _life(cloud: Any, pin: str) -> set[tuple[str, Any]]:
    """Create resources with a secret; return all that a state without it, labels and request IDs say."""
    cloud.emulator.reset()
    cloud.make_bucket()
    cloud.make_topics()
    cloud.make_instance()
    set_limits(cloud, zones={"us-east1-b": 0})
    with driver.engine(ClockedProvider(), project=PROJECT, emulatorHost=cloud.host) as engine:
        web, workers = (template(), fleet(1, locationPolicy=IN_B, fallbacks=[IN_C | {"machineType": "e2-medium"}]))
        web["properties"] |= _metadata(pin)
        workers["instanceProperties"] |= _metadata(pin)
        made = [
            engine.create(TEMPLATE, "web", {"name": "web", **web}),
            engine.create(FLEET, "workers", workers | {"fleetId": "workers"}),
            engine.create(IMAGE, "i", image(labels={"pin": secret(pin)}) | {"name": "i"}),
            engine.create(NOTIFICATION, "n", notification(customAttributes={"pin": secret(pin)})),
        ]
        states = [without_secrets(resource.outputs) for resource in made]
    sent = [entry["query"]["requestId"] for method in METHODS for entry in cloud.requests(method)]
    labels = cloud.get(INSTANCE)["labels"]
    assert "gcpx-fallback" in labels
    assert pin not in f"{states} {sent} {labels}"
    return set(_leaves({"states": states, "sent": sent, "labels": labels}))


@pytest.fixture
def no_slow_hash(monkeypatch):
    """Let the slow hash say nothing of the secrets."""

    def without_pins(text: bytes, *, dklen: int, **_: Any) -> bytes:
        return hashlib.shake_128(re.sub("|".join(PINS).encode(), b"", text)).digest(dklen)

    slow_hash.cache_clear()
    monkeypatch.setattr(hashlib, "scrypt", without_pins)
    yield
    slow_hash.cache_clear()


@pytest.mark.usefixtures("no_slow_hash")
def test_only_the_slow_hash_tells_one_secret_from_another(cloud):
    first, again, other = (_life(cloud, pin) for pin in (PINS[0], *PINS))

    assert (first & again) - other == set()


def test_a_slow_hash_takes_megabytes(monkeypatch):
    costs = []
    monkeypatch.setattr(hashlib, "scrypt", lambda _, **given: costs.append(128 * given["n"] * given["r"]) or b"")
    slow_hash.__wrapped__(PINS[0])

    assert costs == [8 << 20]
