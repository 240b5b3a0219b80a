"""Disks, and the keys that they are encrypted with."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any, Final

from gcpx_emulator.core.constraints import NAME, NAME_WORDS, TEMPLATES, Rule, at_least, at_most_one, between, like
from gcpx_emulator.core.discovery import Json

_SMALLEST: Final = 10
_IOPS: Final = between(10_000, 120_000)
_NEW: Final = "AttachedDiskInitializeParams"
_MADE_NOW: Final = ("compute.disks.", "compute.instances.", "compute.regionDisks.", "compute.regionInstances.")
"""Methods that read the image; a template only names it."""
_REPLICAS: Final = 2
_RAW_KEY, _WRAPPED_KEY = 32, 256


def _is_persistent(disk_type: Any) -> bool:
    """Tell disks of the documented bounds from hyperdisks and local SSDs, which have their own."""
    return str(disk_type or "pd-standard").rpartition("/")[2].startswith("pd-")


def _size_fits(size: str, kind: str) -> Callable[[Any], bool]:
    def holds(disk: Json) -> bool:
        return disk.get(size) is None or int(disk[size]) >= (_SMALLEST if _is_persistent(disk.get(kind)) else 1)

    return holds


def _image_fits(size: str) -> Callable[[Any], bool]:
    """Compare with the size of the public images, which is the same for all of them."""

    def holds(disk: Json) -> bool:
        return not disk.get("sourceImage") or disk.get(size) is None or int(disk[size]) >= _SMALLEST

    return holds


def _attached_size_fits(disk: Json) -> bool:
    if disk.get("diskSizeGb") is None or disk.get("type") == "SCRATCH":
        return True
    return _size_fits("diskSizeGb", "diskType")({**(disk.get("initializeParams") or {}), **disk})


def _iops_fit(kind: str) -> Callable[[Any], bool]:
    def holds(disk: Json) -> bool:
        iops = disk.get("provisionedIops")
        return iops is None or (_IOPS(iops) if _is_persistent(disk.get(kind)) else int(iops) >= 1)

    return holds


def _replicas_are_apart(disk: Json) -> bool:
    zones = [str(zone).rpartition("/")[2] for zone in disk.get("replicaZones") or ()]
    return len(set(zones)) == len(zones) and len({zone.rpartition("-")[0] for zone in zones}) <= 1


def _is_key_of(size: int) -> Callable[[Any], bool]:
    def holds(key: Any) -> bool:
        try:
            return len(base64.b64decode("".join(key.split()), validate=True)) == size
        except (binascii.Error, ValueError):
            return False

    return holds


def _bounds(schema: str, size: str, kind: str) -> tuple[Rule, ...]:
    """Write the rules of a disk that is made now."""
    sizes = f"Must be at least {_SMALLEST} GB; disk types other than pd-* take at least 1 GB."
    image = f"Must not be less than the size of the image, {_SMALLEST} GB."
    iops = "Must be between 10000 and 120000; disk types other than pd-* take at least 1."
    apart = "Must be two different zones of one region."
    return (
        Rule(schema=schema, field=size, words=sizes, holds=_size_fits(size, kind), across=True),
        Rule(schema=schema, field=size, words=image, holds=_image_fits(size), across=True, only=_MADE_NOW),
        Rule(schema=schema, field="provisionedIops", words=iops, holds=_iops_fit(kind), across=True),
        Rule(schema=schema, field="provisionedThroughput", words="Must be at least 1.", holds=at_least(1)),
        Rule(schema=schema, field="replicaZones", words=apart, holds=_replicas_are_apart, across=True),
    )


RULES: Final = (
    *_bounds(_NEW, "diskSizeGb", "diskType"),
    *_bounds("Disk", "sizeGb", "type"),
    Rule(schema=_NEW, field="diskName", words=NAME_WORDS, holds=like(NAME)),
    Rule(
        schema=_NEW,
        field="replicaZones",
        words="Exactly two replica zones must be specified.",
        holds=lambda zones: len(zones) == _REPLICAS,
    ),
    Rule(
        schema=_NEW,
        field="sourceImage",
        words="Conflicts with another source; set one of sourceImage, sourceSnapshot and sourceInstantSnapshot.",
        holds=at_most_one("sourceImage", "sourceSnapshot", "sourceInstantSnapshot"),
        across=True,
    ),
    Rule(
        schema="Disk",
        field="sourceImage",
        words="Conflicts with another source; set one of sourceImage, sourceSnapshot, sourceInstantSnapshot and "
        "sourceDisk.",
        holds=at_most_one("sourceImage", "sourceSnapshot", "sourceInstantSnapshot", "sourceDisk"),
        across=True,
    ),
    Rule(
        schema=_NEW,
        field="resourcePolicies[]",
        words="Must be a name, not a URL, in a template.",
        holds=like(r"[^/]+"),
        only=TEMPLATES,
    ),
    Rule(
        schema="AttachedDisk",
        field="diskSizeGb",
        words=f"Must be at least {_SMALLEST} GB.",
        holds=_attached_size_fits,
        across=True,
    ),
    Rule(
        schema="AttachedDisk",
        field="source",
        words="Must be the name of a zonal disk or the URL of a regional one, in a template.",
        holds=like(r"[^/]+|(?:.*/)?regions/[^/]+/disks/[^/]+"),
        only=TEMPLATES,
    ),
    Rule(
        schema="CustomerEncryptionKey",
        field="rawKey",
        words="Must be 32 bytes in base64 (RFC 4648).",
        holds=_is_key_of(_RAW_KEY),
        secret=True,
    ),
    Rule(
        schema="CustomerEncryptionKey",
        field="rsaEncryptedKey",
        words="Must be 256 bytes in base64 (RFC 4648).",
        holds=_is_key_of(_WRAPPED_KEY),
        secret=True,
    ),
    Rule(
        schema="CustomerEncryptionKey",
        field="rawKey",
        words="Conflicts with another key; set one of rawKey, rsaEncryptedKey and kmsKeyName.",
        holds=at_most_one("rawKey", "rsaEncryptedKey", "kmsKeyName"),
        across=True,
        secret=True,
    ),
)
