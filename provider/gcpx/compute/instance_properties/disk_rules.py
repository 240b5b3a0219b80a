"""Rules across the properties of one disk. The declaration of disks is in `disks`.

Rules refuse what no disk type or machine family allows; they warn about what a newer one may allow.
"""

from __future__ import annotations

from typing import Any, Final

from gcpx.compute.documentation import LOCAL_SSDS, rest
from gcpx.model.rules import Violation, nested, number, rule, text
from gcpx.model.values import UNKNOWN

_SIZE: Final = rest("instances", "disks[].initializeParams.diskSizeGb")
_IOPS: Final = rest("instances", "disks[].initializeParams.provisionedIops")
_LEAST_SIZE: Final = 10
_LEAST_IOPS: Final = 10_000
_MOST_IOPS: Final = 120_000
_LOCAL_SSD_SIZES: Final = (375, 3000, 3500, 6000, 7000, 14_000)
_REGIONAL_ZONES: Final = 2


def _disk_type(parameters: dict[str, Any]) -> str:
    """Return the bare disk type of initializeParams; empty where it is not given or unknown."""
    return text(parameters, "diskType").rpartition("/")[2]


@rule("diskSizeGb must be at least 10 for a disk of type pd-*", _SIZE)
def persistent_disks_have_at_least_10_gb(values: dict[str, Any]) -> list[Violation]:
    """Refuse small persistent disks; a disk without a type counts as pd-standard."""
    disk_type, size = _disk_type(values) or "pd-standard", number(values, "diskSizeGb")
    is_persistent = values.get("diskType") is not UNKNOWN and disk_type.startswith("pd-")
    if not is_persistent or size is None or size >= _LEAST_SIZE:
        return []
    return [("diskSizeGb", f"must be at least {_LEAST_SIZE} GB for a {disk_type} disk")]


@rule("diskSizeGb should be at least 10 for other disk types, unless the type allows less", _SIZE, warns=True)
def other_disks_have_at_least_10_gb(values: dict[str, Any]) -> list[Violation]:
    """Warn about small disks of types other than pd-*."""
    disk_type, size = _disk_type(values), number(values, "diskSizeGb")
    if not disk_type or disk_type.startswith("pd-") or size is None or size >= _LEAST_SIZE:
        return []
    return [("diskSizeGb", f"should be at least {_LEAST_SIZE} GB, the documented minimum; it is sent unchanged")]


@rule("provisionedIops of a pd-extreme disk must be 10,000 to 120,000", _IOPS)
def pd_extreme_iops_are_in_range(values: dict[str, Any]) -> list[Violation]:
    """Refuse numbers out of range for pd-extreme."""
    iops = number(values, "provisionedIops")
    if _disk_type(values) != "pd-extreme" or iops is None or _LEAST_IOPS <= iops <= _MOST_IOPS:
        return []
    return [("provisionedIops", f"must be {_LEAST_IOPS:,} to {_MOST_IOPS:,} for a pd-extreme disk")]


@rule("provisionedIops should be 10,000 to 120,000, unless the disk type has other limits", _IOPS, warns=True)
def other_iops_are_in_range(values: dict[str, Any]) -> list[Violation]:
    """Warn about numbers out of range for other disk types."""
    disk_type, iops = values.get("diskType"), number(values, "provisionedIops")
    is_other = disk_type is not UNKNOWN and _disk_type(values) != "pd-extreme"
    if not is_other or iops is None or _LEAST_IOPS <= iops <= _MOST_IOPS:
        return []
    reason = f"should be {_LEAST_IOPS:,} to {_MOST_IOPS:,}, the documented range; it is sent unchanged"
    return [("provisionedIops", reason)]


@rule(
    "replicaZones must be two different zones of the same region",
    rest("instances", "disks[].initializeParams.replicaZones"),
)
def replica_zones_differ_within_one_region(values: dict[str, Any]) -> list[Violation]:
    """Refuse the same zone twice, and zones of two regions; their number is checked with the property."""
    given = values.get("replicaZones")
    zones = [zone.rpartition("/")[2] for zone in given if isinstance(zone, str)] if isinstance(given, list) else []
    if len(zones) == _REGIONAL_ZONES and zones[0] == zones[1]:
        return [("replicaZones", "must name two different zones")]
    if len({zone.rpartition("-")[0] for zone in zones}) > 1:
        return [("replicaZones", "must name two zones of the same region, which is the instance's region")]
    return []


@rule(
    "a boot disk must be created from an image or a snapshot (initializeParams), or be an existing disk (source)",
    rest("instances", "disks[].source"),
)
def boot_disks_have_a_source(values: dict[str, Any]) -> list[Violation]:
    """Require the image, snapshot or disk that a boot disk boots from."""
    parameters = values.get("initializeParams")
    if values.get("boot") is not True or values.get("source") is not None or not isinstance(parameters, dict | None):
        return []
    sources = ("sourceImage", "sourceSnapshot", "sourceInstantSnapshot", "diskName")
    if parameters is not None and any(parameters.get(name) is not None for name in sources):
        return []
    place = "initializeParams" if parameters is None else "initializeParams.sourceImage"
    reason = "is required: a boot disk is created from an image or a snapshot (initializeParams), or is an existing disk (source)"
    return [(place, reason)]


def _is_local_ssd(values: dict[str, Any]) -> bool:
    return _disk_type(nested(values, "initializeParams")) == "local-ssd"


@rule("type: SCRATCH and diskType: local-ssd must be set together", LOCAL_SSDS)
def scratch_disks_are_local_ssds(values: dict[str, Any]) -> list[Violation]:
    """Refuse one of the two settings of a local SSD without the other."""
    kind, disk_type = values.get("type"), nested(values, "initializeParams").get("diskType")
    if kind == "SCRATCH" and not _is_local_ssd(values) and disk_type is not UNKNOWN:
        return [("initializeParams.diskType", "must be local-ssd if type is SCRATCH")]
    if _is_local_ssd(values) and kind not in ("SCRATCH", UNKNOWN):
        return [("type", "must be SCRATCH if initializeParams.diskType is local-ssd")]
    return []


@rule("a local SSD must be blank: not a boot disk, and not created from an image, snapshot or disk", LOCAL_SSDS)
def local_ssds_are_blank(values: dict[str, Any]) -> list[Violation]:
    """Refuse what would give a local SSD contents."""
    if values.get("type") != "SCRATCH":
        return []
    reason = "must be left out with type SCRATCH: a local SSD is blank"
    failures: list[Violation] = [("source", reason)] if values.get("source") is not None else []
    if values.get("boot") is True:
        failures.append(("boot", reason))
    parameters = nested(values, "initializeParams")
    names = ("sourceImage", "sourceSnapshot", "sourceInstantSnapshot", "replicaZones")
    return failures + [(("initializeParams", name), reason) for name in names if parameters.get(name) is not None]


@rule("a local SSD of more than 375 GB must have interface: NVME", LOCAL_SSDS)
def large_local_ssds_require_nvme(values: dict[str, Any]) -> list[Violation]:
    """Refuse the SCSI interface for large local SSDs."""
    size = number(nested(values, "initializeParams"), "diskSizeGb")
    is_large = _is_local_ssd(values) and size is not None and size > _LOCAL_SSD_SIZES[0]
    if is_large and values.get("interface") == "SCSI":
        return [("interface", f"must be NVME for a local SSD of more than {_LOCAL_SSD_SIZES[0]} GB")]
    return []


@rule(
    "initializeParams of a local SSD should have a diskSizeGb of 375, or another size that its machine family offers",
    LOCAL_SSDS,
    warns=True,
)
def local_ssds_have_a_known_size(values: dict[str, Any]) -> list[Violation]:
    """Warn about sizes that no known machine family offers."""
    size = number(nested(values, "initializeParams"), "diskSizeGb")
    if not _is_local_ssd(values) or size is None or size in _LOCAL_SSD_SIZES:
        return []
    known = ", ".join(map(str, _LOCAL_SSD_SIZES))
    return [("initializeParams.diskSizeGb", f"should be a known size of a local SSD: {known}; it is sent unchanged")]
