"""Fingerprints: hashes of content, by which Compute notices that a change was made to something that has changed."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from gcpx_emulator.core.json_data import Json


def fingerprint(value: Any) -> str:
    """Hash a JSON value; equal values have equal fingerprints."""
    return base64.urlsafe_b64encode(hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()[:8]).decode()


def metadata_with_fingerprint(items: list[Json]) -> Json:
    """Write metadata."""
    content = {"items": items} if items else {}
    return {"kind": "compute#metadata", "fingerprint": fingerprint(content), **content}


def tags_with_fingerprint(items: list[str]) -> Json:
    """Write network tags, sorted."""
    content = {"items": sorted(items)}
    return (content if items else {}) | {"fingerprint": fingerprint(content)}


def with_fingerprint(interface: Json) -> Json:
    """Give a network interface its fingerprint, in place of any that a client sent."""
    content = {key: value for key, value in interface.items() if key != "fingerprint"}
    return content | {"fingerprint": fingerprint(content)}


def with_label_fingerprint(resource: Json) -> Json:
    """Give a resource the fingerprint of its labels."""
    return resource | {"labelFingerprint": fingerprint(resource.get("labels") or {})}
