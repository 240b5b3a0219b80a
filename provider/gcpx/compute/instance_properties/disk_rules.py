"""What Google refuses late about disks and their keys: said at preview. `instance_rules` says how to read these."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from gcpx.compute.instance_properties.instance_rules import LATE
from gcpx.model.rules import Failure, nested, number, rule, text
from gcpx.model.values import UNKNOWN

_SMALLEST_DISK = 10
_LEAST_IOPS, _MOST_IOPS = 10_000, 120_000
_LOCAL_SSD_SIZES = (375, 3000, 3500, 6000, 7000, 14_000)
_RAW_KEY, _WRAPPED_KEY = 32, 256


def _disk_type(values: dict[str, Any]) -> str:
    return text(values, "diskType").rpartition("/")[2]


@rule("a customer-supplied key is base64 (RFC 4648): rawKey has 32 bytes, rsaEncryptedKey 256", "compute 2.2")
def keys_are_whole(values: dict[str, Any]) -> list[Failure]:
    """Decode customer-supplied keys."""
    failures: list[Failure] = []
    for name, size in (("rawKey", _RAW_KEY), ("rsaEncryptedKey", _WRAPPED_KEY)):
        given = text(values, name)
        if given and _decoded_size(given) != size:
            failures.append((name, f"must be {size} bytes in base64 (RFC 4648)"))
    return failures


def _decoded_size(given: str) -> int:
    try:
        return len(base64.b64decode("".join(given.split()), validate=True))
    except (binascii.Error, ValueError):
        return -1


@rule("a pd-* disk has at least 10 GB", "compute 2.2, 8")
def persistent_disks_are_not_small(values: dict[str, Any]) -> list[Failure]:
    """Hold pd-* disks to their least size; other families have their own."""
    kind, size = _disk_type(values) or "pd-standard", number(values, "diskSizeGb")
    if values.get("diskType") is UNKNOWN or not kind.startswith("pd-") or size is None or size >= _SMALLEST_DISK:
        return []
    return [("diskSizeGb", f"must be at least {_SMALLEST_DISK} GB for a {kind} disk")]


@rule("other disk types have at least 10 GB, unless their own documentation allows less", "compute 2.2, 8", warns=True)
def other_disks_are_seldom_small(values: dict[str, Any]) -> list[Failure]:
    """Warn of small disks of other families."""
    kind, size = _disk_type(values), number(values, "diskSizeGb")
    if not kind or kind.startswith("pd-") or size is None or size >= _SMALLEST_DISK:
        return []
    return [("diskSizeGb", f"is below the documented minimum of {_SMALLEST_DISK} GB; it is sent unchanged")]


@rule("provisionedIops of a pd-extreme disk is 10,000 to 120,000", "compute 2.2, 8")
def extreme_disks_have_their_iops(values: dict[str, Any]) -> list[Failure]:
    """Hold pd-extreme to its bounds."""
    iops = number(values, "provisionedIops")
    if _disk_type(values) != "pd-extreme" or iops is None or _LEAST_IOPS <= iops <= _MOST_IOPS:
        return []
    return [("provisionedIops", "must be 10,000 to 120,000 for a pd-extreme disk")]


@rule("provisionedIops is 10,000 to 120,000, unless the disk type has other bounds", "compute 2.2, 8", warns=True)
def other_disks_have_other_iops(values: dict[str, Any]) -> list[Failure]:
    """Warn of other families, which have bounds of their own."""
    kind, iops = values.get("diskType"), number(values, "provisionedIops")
    known = kind is not UNKNOWN and _disk_type(values) != "pd-extreme"
    if not known or iops is None or _LEAST_IOPS <= iops <= _MOST_IOPS:
        return []
    return [("provisionedIops", "is outside the documented 10,000 to 120,000; it is sent unchanged")]


@rule("the replicas of a regional disk are in two different zones of one region", "compute 2.2, 8")
def replicas_are_apart(values: dict[str, Any]) -> list[Failure]:
    """Compare the two zones."""
    given = values.get("replicaZones")
    zones = [zone.rpartition("/")[2] for zone in given if isinstance(zone, str)] if isinstance(given, list) else []
    if len(zones) == 2 and zones[0] == zones[1]:  # noqa: PLR2004 - a regional disk has two
        return [("replicaZones", "must name two different zones")]
    if len({zone.rpartition("-")[0] for zone in zones}) > 1:
        return [("replicaZones", "must name two zones of one region, the instance's")]
    return []


@rule("a boot disk is created from an image or a snapshot, or is an existing disk", "compute 2.2")
def boot_disks_have_a_source(values: dict[str, Any]) -> list[Failure]:
    """Miss what to boot from."""
    made = values.get("initializeParams")
    if values.get("boot") is not True or values.get("source") is not None or not isinstance(made, dict | None):
        return []
    sources = ("sourceImage", "sourceSnapshot", "sourceInstantSnapshot", "diskName")
    if made is not None and any(made.get(name) is not None for name in sources):
        return []
    place = "initializeParams" if made is None else "initializeParams.sourceImage"
    return [
        (
            place,
            "is required: a boot disk is created from an image or a snapshot (initializeParams), or is an existing disk (source)",
        )
    ]


def _is_local(values: dict[str, Any]) -> bool:
    return _disk_type(nested(values, "initializeParams")) == "local-ssd"


@rule("a SCRATCH disk has diskType local-ssd, and a local-ssd disk has type SCRATCH", LATE)
def scratch_is_local_ssd(values: dict[str, Any]) -> list[Failure]:
    """Hold the two words for a local SSD together."""
    kind, disk_type = values.get("type"), nested(values, "initializeParams").get("diskType")
    if kind == "SCRATCH" and not _is_local(values) and disk_type is not UNKNOWN:
        return [("initializeParams.diskType", "must be local-ssd where type is SCRATCH")]
    if _is_local(values) and kind not in ("SCRATCH", UNKNOWN):
        return [("type", "must be SCRATCH where initializeParams.diskType is local-ssd")]
    return []


@rule("a local SSD is blank: it is not a boot disk, and it is not created from an image, snapshot or disk", LATE)
def scratch_is_blank(values: dict[str, Any]) -> list[Failure]:
    """Refuse contents for local SSDs."""
    if values.get("type") != "SCRATCH":
        return []
    reason = "must be left out with type SCRATCH: a local SSD is blank"
    failures: list[Failure] = [(name, reason) for name in ("source",) if values.get(name) is not None]
    if values.get("boot") is True:
        failures.append(("boot", reason))
    made = nested(values, "initializeParams")
    names = ("sourceImage", "sourceSnapshot", "sourceInstantSnapshot", "replicaZones")
    return failures + [(("initializeParams", name), reason) for name in names if made.get(name) is not None]


@rule("a local SSD above 375 GB has the interface NVME", LATE)
def large_local_ssds_are_nvme(values: dict[str, Any]) -> list[Failure]:
    """Refuse SCSI for large local SSDs."""
    size = number(nested(values, "initializeParams"), "diskSizeGb")
    if _is_local(values) and size is not None and size > _LOCAL_SSD_SIZES[0] and values.get("interface") == "SCSI":
        return [("interface", f"must be NVME for a local SSD above {_LOCAL_SSD_SIZES[0]} GB")]
    return []


@rule("a local SSD has 375 GB, or a size that its machine family offers", LATE, warns=True)
def local_ssds_have_their_sizes(values: dict[str, Any]) -> list[Failure]:
    """Warn of sizes that no family of today has."""
    size = number(nested(values, "initializeParams"), "diskSizeGb")
    if not _is_local(values) or size is None or size in _LOCAL_SSD_SIZES:
        return []
    return [
        ("initializeParams.diskSizeGb", f"is not a known size of a local SSD ({', '.join(map(str, _LOCAL_SSD_SIZES))})")
    ]
