"""Constraints of disks, and of the keys that they are encrypted with."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final

from gcpx_emulator.compute.constraints.methods import NEW_DISKS, TEMPLATES
from gcpx_emulator.compute.names import NAME, NAME_MESSAGE
from gcpx_emulator.core.constraints import Accepts, Constraint, at_least, at_most_one, between, matches
from gcpx_emulator.core.json_data import Json

_SMALLEST: Final = 10
"""GB of the smallest persistent disk, and of every public image."""
_PROVISIONED_IOPS: Final = between(10_000, 120_000)
_PARAMETERS: Final = "AttachedDiskInitializeParams"
_KEY: Final = "CustomerEncryptionKey"
_REPLICAS: Final = 2
_RAW_KEY_BYTES, _WRAPPED_KEY_BYTES = 32, 256


def _is_persistent(disk_type: Any) -> bool:
    """Return whether this is the type of a persistent disk, to which the documented bounds apply."""
    return str(disk_type or "pd-standard").rpartition("/")[2].startswith("pd-")


def _has_size(size: str, disk_type: str) -> Accepts:
    def accepts(disk: Json) -> bool:
        return disk.get(size) is None or int(disk[size]) >= (_SMALLEST if _is_persistent(disk.get(disk_type)) else 1)

    return accepts


def _has_room_for_image(size: str) -> Accepts:
    def accepts(disk: Json) -> bool:
        return not disk.get("sourceImage") or disk.get(size) is None or int(disk[size]) >= _SMALLEST

    return accepts


def _attached_disk_has_size(disk: Json) -> bool:
    if disk.get("diskSizeGb") is None or disk.get("type") == "SCRATCH":
        return True
    return _has_size("diskSizeGb", "diskType")({**(disk.get("initializeParams") or {}), **disk})


def _has_iops(disk_type: str) -> Accepts:
    def accepts(disk: Json) -> bool:
        iops = disk.get("provisionedIops")
        return iops is None or (_PROVISIONED_IOPS(iops) if _is_persistent(disk.get(disk_type)) else int(iops) >= 1)

    return accepts


def _replicas_are_apart(disk: Json) -> bool:
    zones = [str(zone).rpartition("/")[2] for zone in disk.get("replicaZones") or ()]
    return len(set(zones)) == len(zones) and len({zone.rpartition("-")[0] for zone in zones}) <= 1


def _is_key(size: int) -> Accepts:
    """Accept base64 of this many bytes."""

    def accepts(key: Any) -> bool:
        try:
            return len(base64.b64decode("".join(key.split()), validate=True)) == size
        except (binascii.Error, ValueError):
            return False

    return accepts


def _new_disk(schema: str, size: str, disk_type: str) -> tuple[Constraint, ...]:
    """Return the constraints of a schema for new disks, whose size and type are in these fields."""
    sizes = f"Must be at least {_SMALLEST} GB; disk types other than pd-* take at least 1 GB."
    image = f"Must not be less than the size of the image, {_SMALLEST} GB."
    iops = "Must be between 10000 and 120000; disk types other than pd-* take at least 1."
    apart = "Must be two different zones of one region."
    return (
        Constraint(schema, size, sizes, _has_size(size, disk_type), of_object=True),
        Constraint(schema, size, image, _has_room_for_image(size), of_object=True, methods=NEW_DISKS),
        Constraint(schema, "provisionedIops", iops, _has_iops(disk_type), of_object=True),
        Constraint(schema, "provisionedThroughput", "Must be at least 1.", at_least(1)),
        Constraint(schema, "replicaZones", apart, _replicas_are_apart, of_object=True),
    )


CONSTRAINTS: Final = (
    *_new_disk(_PARAMETERS, "diskSizeGb", "diskType"),
    *_new_disk("Disk", "sizeGb", "type"),
    Constraint(_PARAMETERS, "diskName", NAME_MESSAGE, matches(NAME)),
    Constraint(
        _PARAMETERS,
        "replicaZones",
        "Exactly two replica zones must be specified.",
        lambda zones: len(zones) == _REPLICAS,
    ),
    Constraint(
        _PARAMETERS,
        "sourceImage",
        "Conflicts with another source; set one of sourceImage, sourceSnapshot and sourceInstantSnapshot.",
        at_most_one("sourceImage", "sourceSnapshot", "sourceInstantSnapshot"),
        of_object=True,
    ),
    Constraint(
        "Disk",
        "sourceImage",
        "Conflicts with another source; set one of sourceImage, sourceSnapshot, sourceInstantSnapshot and sourceDisk.",
        at_most_one("sourceImage", "sourceSnapshot", "sourceInstantSnapshot", "sourceDisk"),
        of_object=True,
    ),
    Constraint(
        _PARAMETERS,
        "resourcePolicies[]",
        "Must be a name, not a URL, in a template.",
        matches(r"[^/]+"),
        methods=TEMPLATES,
    ),
    Constraint(
        "AttachedDisk", "diskSizeGb", f"Must be at least {_SMALLEST} GB.", _attached_disk_has_size, of_object=True
    ),
    Constraint(
        "AttachedDisk",
        "source",
        "Must be the name of a zonal disk or the URL of a regional one, in a template.",
        matches(r"[^/]+|(?:.*/)?regions/[^/]+/disks/[^/]+"),
        methods=TEMPLATES,
    ),
    Constraint(_KEY, "rawKey", "Must be 32 bytes in base64 (RFC 4648).", _is_key(_RAW_KEY_BYTES), secret=True),
    Constraint(
        _KEY, "rsaEncryptedKey", "Must be 256 bytes in base64 (RFC 4648).", _is_key(_WRAPPED_KEY_BYTES), secret=True
    ),
    Constraint(
        _KEY,
        "rawKey",
        "Conflicts with another key; set one of rawKey, rsaEncryptedKey and kmsKeyName.",
        at_most_one("rawKey", "rsaEncryptedKey", "kmsKeyName"),
        of_object=True,
        secret=True,
    ),
)
