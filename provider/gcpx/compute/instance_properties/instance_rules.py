"""What Google refuses late, when an instance or a template is made: said at preview.

Each rule names where it comes from: a section of the Compute API documentation, the published description of the API,
or Compute Engine's own answer. What may be right for a machine family that is newer than a rule only warns.
"""

from __future__ import annotations

import re
from typing import Any

from gcpx.model.rules import Failure, elements, nested, number, rule, text
from gcpx.model.values import UNKNOWN

LATE = "Compute Engine, when the resource is made"
_LOCAL_SSD_HOURS, _HOUR = 168, 3600
_MOST_CUSTOM_CPUS, _MEMORY_STEP = 32, 256
_LONGEST_VALUE, _MOST_METADATA = 262_144, 512 * 1024
_MOST_NICS = 8
_RESERVATION_KEY = re.compile(r"(?:[a-z]+\.)?googleapis\.com/reservation-name")


@rule("all keys and values of metadata are under 512 KB of UTF-8, each value at most 262,144 bytes", "compute 2.2, 8")
def metadata_fits(values: dict[str, Any]) -> list[Failure]:
    """Count bytes, not characters."""
    failures: list[Failure] = []
    total = 0
    for index, item in elements(values, "items"):
        size = len(text(item, "value").encode("utf-8", "surrogatepass"))
        total += size + len(text(item, "key").encode("utf-8", "surrogatepass"))
        if size > _LONGEST_VALUE:
            failures.append((("items", index, "value"), f"must have at most {_LONGEST_VALUE:,} bytes, not {size:,}"))
    if total >= _MOST_METADATA:
        failures.append(("items", f"must have fewer than {_MOST_METADATA:,} bytes of keys and values, not {total:,}"))
    return failures


@rule("each metadata key appears once", LATE)
def metadata_keys_are_different(values: dict[str, Any]) -> list[Failure]:
    """Find keys that are given twice."""
    seen: set[str] = set()
    failures: list[Failure] = []
    for index, item in elements(values, "items"):
        key = text(item, "key")
        if key and key in seen:
            failures.append((("items", index, "key"), "must appear only once; each key has one value"))
        seen.add(key)
    return failures


@rule("localSsdRecoveryTimeout is whole hours, 0 to 168 of them", "compute 2.2, 8")
def recovery_is_in_hours(values: dict[str, Any]) -> list[Failure]:
    """Divide by the hour."""
    timeout = nested(values, "localSsdRecoveryTimeout")
    seconds, nanos = number(timeout, "seconds"), number(timeout, "nanos")
    failures: list[Failure] = []
    if seconds is not None and (seconds % _HOUR or not 0 <= seconds <= _LOCAL_SSD_HOURS * _HOUR):
        failures.append(("localSsdRecoveryTimeout.seconds", "must be whole hours (3600), 0 to 168 of them"))
    if nanos:
        failures.append(("localSsdRecoveryTimeout.nanos", "must be 0; the timeout is in whole hours"))
    return failures


@rule("Spot and preemptible instances are ended, never moved (onHostMaintenance) or restarted (automaticRestart)", LATE)
def spot_is_ended(values: dict[str, Any]) -> list[Failure]:
    """Refuse moves and restarts for Spot."""
    if values.get("provisioningModel") != "SPOT" and values.get("preemptible") is not True:
        return []
    failures: list[Failure] = []
    if values.get("onHostMaintenance") == "MIGRATE":
        failures.append(("onHostMaintenance", "must be TERMINATE for Spot and preemptible instances"))
    if values.get("automaticRestart") is True:
        failures.append(("automaticRestart", "must be false for Spot and preemptible instances"))
    return failures


@rule("instanceTerminationAction is for Spot instances, or with maxRunDuration or terminationTime", LATE)
def an_end_needs_a_reason(values: dict[str, Any]) -> list[Failure]:
    """Miss what would end a standard instance."""
    action, model = values.get("instanceTerminationAction"), values.get("provisioningModel", "STANDARD")
    ends = ("maxRunDuration", "terminationTime")
    if (
        action is None
        or model != "STANDARD"
        or values.get("preemptible")
        or any(values.get(name) is not None for name in ends)
    ):
        return []
    return [("instanceTerminationAction", "needs provisioningModel: SPOT, maxRunDuration or terminationTime")]


@rule("SPECIFIC_RESERVATION needs key and values; ANY_RESERVATION and NO_RESERVATION take neither", "compute 2.2")
def reservations_are_named(values: dict[str, Any]) -> list[Failure]:
    """Hold type, key and values together."""
    kind = values.get("consumeReservationType", "ANY_RESERVATION")
    if kind in ("ANY_RESERVATION", "NO_RESERVATION"):
        given = (name for name in ("key", "values") if values.get(name))
        return [(name, "needs consumeReservationType: SPECIFIC_RESERVATION") for name in given]
    if kind == "SPECIFIC_RESERVATION":
        missing = (name for name in ("key", "values") if not values.get(name))
        return [(name, "is required with SPECIFIC_RESERVATION") for name in missing]
    return []


@rule("the key to choose a reservation by name is compute.googleapis.com/reservation-name", "compute 2.2", warns=True)
def reservations_have_the_known_key(values: dict[str, Any]) -> list[Failure]:
    """Warn of other keys, which are labels of reservations."""
    key = text(values, "key")
    if not key or _RESERVATION_KEY.fullmatch(key):
        return []
    return [
        ("key", "selects reservations by label; to choose one by name, use compute.googleapis.com/reservation-name")
    ]


@rule("integrity monitoring needs the vTPM", LATE)
def monitoring_needs_the_tpm(values: dict[str, Any]) -> list[Failure]:
    """Refuse monitoring without a TPM."""
    if values.get("enableVtpm") is False and values.get("enableIntegrityMonitoring") is True:
        return [("enableIntegrityMonitoring", "needs enableVtpm: true")]
    return []


@rule("threadsPerCore is 1 or 2", LATE, warns=True)
def cores_have_two_threads(values: dict[str, Any]) -> list[Failure]:
    """Warn of more threads than any processor of today has."""
    threads = number(values, "threadsPerCore")
    if threads is None or threads <= 2:  # noqa: PLR2004 - as the words say
        return []
    return [("threadsPerCore", "is more than 2, the most that any known processor has; it is sent unchanged")]


_TAG_KEY = re.compile(r"tagKeys/\d+|[^\s/]+/[^\s/]+")
_TAG_VALUE = re.compile(r"tagValues/\d+|[^\s/]+")


@rule("resourceManagerTags are tagKeys/ID to tagValues/ID, or PARENT/KEY to VALUE", "compute 2.2", warns=True)
def tags_are_of_a_known_form(values: dict[str, Any]) -> list[Failure]:
    """Warn of tags in neither form."""
    tags = nested(values, "resourceManagerTags")
    wrong = (
        key
        for key, value in tags.items()
        if not _TAG_KEY.fullmatch(key) or (isinstance(value, str) and not _TAG_VALUE.fullmatch(value))
    )
    return [
        (("resourceManagerTags", key), "is neither tagKeys/ID to tagValues/ID nor PARENT/KEY to VALUE") for key in wrong
    ]


@rule(
    "the bare custom machine type has 1 CPU or an even number up to 32, and memory in steps of 256 MB", "compute 2.4, 8"
)
def custom_machines_fit(values: dict[str, Any]) -> list[Failure]:
    """Hold the bare form to its bounds; families such as n2-custom have their own."""
    machine = text(values, "machineType").rpartition("/")[2]
    found = re.fullmatch(r"custom-(\d{1,9})-(\d{1,9})", machine)
    if found is None:
        words = "must be custom-CPUS-MEMORY, with the memory in MB, such as custom-4-8192"
        return [("machineType", words)] if re.match(r"custom\b", machine) else []
    processors, memory = int(found[1]), int(found[2])
    failures: list[Failure] = []
    if processors != 1 and (processors % 2 or not 0 < processors <= _MOST_CUSTOM_CPUS):
        failures.append(("machineType", f"must have 1 CPU, or an even number up to 32, not {processors}"))
    if memory % _MEMORY_STEP or not memory:
        failures.append(("machineType", f"must have memory in multiples of {_MEMORY_STEP} MB, not {memory} MB"))
    return failures


@rule(
    "a custom machine type of a family has an even number of CPUs, and memory in steps of 256 MB",
    "compute 2.4",
    warns=True,
)
def custom_families_mostly_fit(values: dict[str, Any]) -> list[Failure]:
    """Warn of what the bare form would not take, since families go further."""
    found = re.fullmatch(r"(?:.*/)?\w+-custom-(\w+?)-(\d{1,9})(?:-ext)?", text(values, "machineType"))
    if found is None:
        return []
    processors, memory = found[1], int(found[2])
    odd = processors.isdigit() and int(processors) != 1 and (int(processors) % 2 or not int(processors))
    if not odd and not memory % _MEMORY_STEP:
        return []
    return [
        (
            "machineType",
            "differs from the documented custom types: an even number of CPUs, and memory in steps of 256 MB",
        )
    ]


@rule("the boot disk is the first disk, and only one disk is a boot disk", LATE)
def the_boot_disk_comes_first(values: dict[str, Any]) -> list[Failure]:
    """Find boot disks further down."""
    places = [index for index, disk in elements(values, "disks") if disk.get("boot") is True]
    return [
        (("disks", index, "boot"), "must be on the first disk alone; move the boot disk to disks[0]")
        for index in places
        if index
    ]


@rule("each disk of an instance has a different device name", LATE)
def devices_are_different(values: dict[str, Any]) -> list[Failure]:
    """Find names that are given twice."""
    seen: dict[str, int] = {}
    failures: list[Failure] = []
    for index, disk in elements(values, "disks"):
        name = text(disk, "deviceName")
        if name and seen.setdefault(name, index) != index:
            failures.append((("disks", index, "deviceName"), f"must differ from that of disks[{seen[name]}]"))
    return failures


@rule("instances with guestAccelerators cannot be live-migrated: onHostMaintenance is TERMINATE", LATE)
def gpus_stay(values: dict[str, Any]) -> list[Failure]:
    """Refuse moves for GPUs."""
    counts = [number(item, "acceleratorCount") for _, item in elements(values, "guestAccelerators")]
    if any(counts) and nested(values, "scheduling").get("onHostMaintenance") == "MIGRATE":
        return [("scheduling.onHostMaintenance", "must be TERMINATE with guestAccelerators")]
    return []


@rule("confidential instances of type SEV_SNP or TDX cannot be live-migrated: onHostMaintenance is TERMINATE", LATE)
def confidential_instances_stay(values: dict[str, Any]) -> list[Failure]:
    """Refuse moves where the technology has none."""
    kind = nested(values, "confidentialInstanceConfig").get("confidentialInstanceType")
    if kind in ("SEV_SNP", "TDX") and nested(values, "scheduling").get("onHostMaintenance") == "MIGRATE":
        return [("scheduling.onHostMaintenance", f"must be TERMINATE with confidentialInstanceType: {kind}")]
    return []


@rule(
    "confidential instances use the network card GVNIC, unless their machine family supports another", LATE, warns=True
)
def confidential_instances_use_gvnic(values: dict[str, Any]) -> list[Failure]:
    """Warn of VirtioNet, which only some families take."""
    config = nested(values, "confidentialInstanceConfig")
    if config.get("enableConfidentialCompute") is not True and config.get("confidentialInstanceType") is None:
        return []
    nics = (index for index, nic in elements(values, "networkInterfaces") if nic.get("nicType") == "VIRTIO_NET")
    return [
        (("networkInterfaces", index, "nicType"), "is not supported by every confidential instance; GVNIC is")
        for index in nics
    ]


@rule("TIER_1 bandwidth needs the network card GVNIC", LATE)
def tier_1_needs_gvnic(values: dict[str, Any]) -> list[Failure]:
    """Refuse VirtioNet for TIER_1."""
    if nested(values, "networkPerformanceConfig").get("totalEgressBandwidthTier") != "TIER_1":
        return []
    nics = (index for index, nic in elements(values, "networkInterfaces") if nic.get("nicType") == "VIRTIO_NET")
    return [(("networkInterfaces", index, "nicType"), "must be GVNIC with TIER_1 bandwidth") for index in nics]


@rule("an instance has at most 8 network interfaces, nic0 to nic7", "compute 2.2", warns=True)
def interfaces_are_few(values: dict[str, Any]) -> list[Failure]:
    """Warn of more than the documentation counts; dynamic ones go further."""
    given = values.get("networkInterfaces")
    if not isinstance(given, list) or len(given) <= _MOST_NICS:
        return []
    return [
        (
            "networkInterfaces",
            f"has {len(given)} elements; the documentation allows {_MOST_NICS}; they are sent unchanged",
        )
    ]


@rule("e2 machines do not support nested virtualization", LATE, warns=True)
def e2_nests_nothing(values: dict[str, Any]) -> list[Failure]:
    """Warn of nested virtualization where the family has none."""
    nests = nested(values, "advancedMachineFeatures").get("enableNestedVirtualization") is True
    if nests and text(values, "machineType").rpartition("/")[2].startswith("e2-"):
        return [("advancedMachineFeatures.enableNestedVirtualization", "is not offered by the e2 family")]
    return []


def boot_disk_is_missing(properties: dict[str, Any]) -> list[Failure]:
    """Miss a boot disk: an instance that is made has one, and it is the first."""
    disks = properties.get("disks")
    if disks in (None, []):
        return [("disks", "must hold a boot disk: disks[0] with boot: true and what it is made from")]
    if not isinstance(disks, list) or any(disk is UNKNOWN or _may_boot(disk) for disk in disks):
        return []
    return [("disks", "must hold a boot disk: set boot: true on disks[0]")]


def _may_boot(disk: Any) -> bool:
    return not isinstance(disk, dict) or disk.get("boot") in (True, UNKNOWN)
