"""Strategies for valid inputs: random combinations of values from the corpus, with arbitrary texts and secrets."""

from __future__ import annotations

import base64
import struct
from typing import Any

import yaml
from driver import secret
from hypothesis import strategies as st
from programs import ATTACHMENT, BUCKET, DEBIAN, FLEET, IMAGE, KEY, NOTIFICATION, PROJECT, TEMPLATE, VM
from workspace import ROOT

HIDDEN = "hunter2-Grüße"
"""The secret in these inputs; no other value contains it."""


def _pools() -> dict[str, list[Any]]:
    """Collect the values that the templates of the corpus have, by property."""
    pools: dict[str, list[Any]] = {}
    for path in sorted((ROOT / "tests" / "corpus").glob("*.yaml")):
        for spec in yaml.safe_load(path.read_text())["resources"].values():
            for name, value in spec["properties"].get("properties", {}).items() if spec["type"] == TEMPLATE else ():
                if value not in pools.setdefault(name, []):
                    pools[name].append(value)
    return pools


POOLS = _pools()
words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
labels = st.dictionaries(
    st.from_regex(r"[a-z][a-z0-9_-]{0,8}", fullmatch=True),
    st.from_regex(r"[a-z0-9_-]{0,8}", fullmatch=True),
    max_size=3,
)
names = st.from_regex(r"[a-z]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
metadata = st.lists(
    st.fixed_dictionaries(
        {"key": st.from_regex(r"[a-zA-Z0-9_-]{1,8}", fullmatch=True), "value": words | st.just(HIDDEN).map(secret)}
    ),
    max_size=3,
    unique_by=lambda item: item["key"],
).map(lambda items: {"items": items})


def inputs_with(required: dict[str, Any], optional: dict[str, Any]) -> Any:
    """Return a strategy for inputs with the required properties and any of the optional ones."""
    return st.fixed_dictionaries(required, optional=optional)


properties = inputs_with(
    {name: st.sampled_from(POOLS[name]) for name in ("machineType", "disks", "networkInterfaces")},
    {
        name: st.sampled_from(POOLS[name])
        for name in POOLS
        if name not in {"machineType", "disks", "networkInterfaces", "labels", "metadata"}
    }
    | {"labels": labels, "metadata": metadata, "description": words | st.just(HIDDEN).map(secret)},
)
plain_instance = inputs_with(
    {
        "machineType": st.sampled_from(["e2-micro", "e2-small", "n2-standard-2"]),
        "disks": st.just([{"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": DEBIAN}}]),
        "networkInterfaces": st.sampled_from([[{}], [{"network": "default", "accessConfigs": [{}]}]]),
    },
    {
        "labels": labels,
        "metadata": metadata,
        "canIpForward": st.booleans(),
        "tags": st.lists(names, max_size=3, unique=True).map(lambda items: {"items": items}),
    },
)


@st.composite
def public_key(draw: Any) -> str:
    blob = struct.pack(">I", 11) + b"ssh-ed25519" + struct.pack(">I", 32) + draw(st.binary(min_size=32, max_size=32))
    return f"ssh-ed25519 {base64.b64encode(blob).decode()} {draw(st.sampled_from(['', 'me', 'a comment']))}"


INPUTS = {
    TEMPLATE: inputs_with({"properties": properties}, {"description": words, "region": st.just("us-east1")}),
    IMAGE: inputs_with({"sourceInstance": st.just(VM)}, {"description": words | st.just(HIDDEN).map(secret), "labels": labels, "guestFlush": st.booleans(), "storageLocations": st.sampled_from([["us"], ["eu"]])}),
    ATTACHMENT: inputs_with(
        {"instance": st.sampled_from([VM, "zones/us-east1-b/instances/example-vm"]), "disk": st.sampled_from(["example-data", f"projects/{PROJECT}/regions/us-east1/disks/shared"])},
        {"deviceName": names, "mode": st.sampled_from(["READ_WRITE", "READ_ONLY"]), "autoDelete": st.booleans()},
    ),
    FLEET: inputs_with(
        {"region": st.just("us-east1"), "count": st.integers(1, 3), "namePattern": names.map(lambda name: f"{name}-####"), "instanceProperties": plain_instance},
        {"minCount": st.just(1), "locationPolicy": st.sampled_from([{"targetShape": "BALANCED"}, {"locations": {"zones/us-east1-b": {"preference": "ALLOW"}}}])},
    ),
    NOTIFICATION: inputs_with(
        {"bucket": st.just(BUCKET), "topic": st.sampled_from(["uploads", f"projects/{PROJECT}/topics/uploads", "//pubsub.googleapis.com/projects/other/topics/audit"])},
        {
            "eventTypes": st.lists(st.sampled_from(["OBJECT_FINALIZE", "OBJECT_DELETE", "OBJECT_ARCHIVE", "OBJECT_METADATA_UPDATE"]), max_size=4, unique=True),
            "customAttributes": st.dictionaries(names, words | st.just(HIDDEN).map(secret), max_size=3),
            "objectNamePrefix": words,
            "payloadFormat": st.sampled_from(["JSON_API_V1", "NONE"]),
        },
    ),
    KEY: inputs_with({"user": st.sampled_from(["operator@example.com", "users/1234"]), "key": public_key()}, {"expirationTimeUsec": st.sampled_from(["1924991999000000", "2524608000000000"])}),
}  # fmt: skip
