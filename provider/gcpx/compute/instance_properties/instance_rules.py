"""Rules across several subjects of one instance's properties, such as its GPUs and its scheduling.

Google refuses violations only when an instance or template is created; a preview refuses them at once. Rules only warn
about what a machine family that is newer than the rule may allow.
"""

from __future__ import annotations

from typing import Any, Final

from gcpx.compute.documentation import (
    CONFIDENTIAL_VMS,
    HOST_MAINTENANCE,
    NESTED_VIRTUALIZATION,
    TIER_1_NETWORKING,
    rest,
)
from gcpx.model.rules import Violation, elements, nested, number, rule, text
from gcpx.model.values import UNKNOWN

_MOST_INTERFACES: Final = 8


@rule("the boot disk must be disks[0], and the only disk with boot: true", rest("instances", "disks[].index"))
def boot_disk_is_the_first_disk(values: dict[str, Any]) -> list[Violation]:
    """Refuse boot disks other than the first disk."""
    return [
        (("disks", index, "boot"), "must be set only on the first disk: move the boot disk to disks[0]")
        for index, disk in elements(values, "disks")
        if index and disk.get("boot") is True
    ]


@rule("each of the disks of an instance must have a different deviceName", rest("instances", "disks[].deviceName"))
def device_names_are_unique(values: dict[str, Any]) -> list[Violation]:
    """Refuse device names that appear again."""
    first: dict[str, int] = {}
    failures: list[Violation] = []
    for index, disk in elements(values, "disks"):
        name = text(disk, "deviceName")
        if name and first.setdefault(name, index) != index:
            failures.append(
                (("disks", index, "deviceName"), f"must differ from the deviceName of disks[{first[name]}]")
            )
    return failures


def _migrates(values: dict[str, Any]) -> bool:
    return nested(values, "scheduling").get("onHostMaintenance") == "MIGRATE"


@rule("guestAccelerators require scheduling with onHostMaintenance: TERMINATE", HOST_MAINTENANCE)
def gpus_require_terminate_on_maintenance(values: dict[str, Any]) -> list[Violation]:
    """Refuse live migration of instances with GPUs."""
    counts = [number(item, "acceleratorCount") for _, item in elements(values, "guestAccelerators")]
    if any(counts) and _migrates(values):
        return [("scheduling.onHostMaintenance", "must be TERMINATE with guestAccelerators")]
    return []


@rule(
    "confidentialInstanceConfig with SEV_SNP or TDX requires scheduling with onHostMaintenance: TERMINATE",
    CONFIDENTIAL_VMS,
)
def confidential_types_require_terminate_on_maintenance(values: dict[str, Any]) -> list[Violation]:
    """Refuse live migration of the confidential types that do not support it."""
    kind = nested(values, "confidentialInstanceConfig").get("confidentialInstanceType")
    if kind in ("SEV_SNP", "TDX") and _migrates(values):
        return [("scheduling.onHostMaintenance", f"must be TERMINATE with confidentialInstanceType: {kind}")]
    return []


def _virtio_interfaces(values: dict[str, Any], reason: str) -> list[Violation]:
    """Return the reason for each network interface with nicType VIRTIO_NET."""
    return [
        (("networkInterfaces", index, "nicType"), reason)
        for index, interface in elements(values, "networkInterfaces")
        if interface.get("nicType") == "VIRTIO_NET"
    ]


@rule(
    "networkInterfaces of confidential instances should have nicType: GVNIC, unless the family supports another",
    rest("instances", "networkInterfaces[].nicType"),
    warns=True,
)
def confidential_instances_use_gvnic(values: dict[str, Any]) -> list[Violation]:
    """Warn about VIRTIO_NET, which only some machine families support in confidential instances."""
    config = nested(values, "confidentialInstanceConfig")
    if config.get("enableConfidentialCompute") is not True and config.get("confidentialInstanceType") is None:
        return []
    return _virtio_interfaces(
        values, "should be GVNIC, which every confidential instance supports; it is sent unchanged"
    )


@rule(
    "networkPerformanceConfig with TIER_1 bandwidth requires networkInterfaces with nicType: GVNIC", TIER_1_NETWORKING
)
def tier_1_bandwidth_requires_gvnic(values: dict[str, Any]) -> list[Violation]:
    """Refuse VIRTIO_NET with TIER_1 bandwidth."""
    if nested(values, "networkPerformanceConfig").get("totalEgressBandwidthTier") != "TIER_1":
        return []
    return _virtio_interfaces(values, "must be GVNIC with TIER_1 bandwidth")


@rule(
    "networkInterfaces should have at most 8 elements, nic0 to nic7",
    rest("instances", "networkInterfaces[].name"),
    warns=True,
)
def network_interfaces_are_at_most_8(values: dict[str, Any]) -> list[Violation]:
    """Warn about more interfaces than the documentation names; dynamic ones may be more."""
    given = values.get("networkInterfaces")
    if not isinstance(given, list) or len(given) <= _MOST_INTERFACES:
        return []
    reason = f"should have at most {_MOST_INTERFACES} elements, the documented maximum, not {len(given)}; they are sent unchanged"
    return [("networkInterfaces", reason)]


@rule(
    "advancedMachineFeatures should not have enableNestedVirtualization if machineType is an e2 type",
    NESTED_VIRTUALIZATION,
    warns=True,
)
def e2_does_not_support_nested_virtualization(values: dict[str, Any]) -> list[Violation]:
    """Warn about nested virtualization on the e2 family."""
    nests = nested(values, "advancedMachineFeatures").get("enableNestedVirtualization") is True
    if not nests or not text(values, "machineType").rpartition("/")[2].startswith("e2-"):
        return []
    reason = "should be left out: e2 machine types do not support it; it is sent unchanged"
    return [("advancedMachineFeatures.enableNestedVirtualization", reason)]


def boot_disk_is_missing(properties: dict[str, Any]) -> list[Violation]:
    """Return a failure if instance properties have no boot disk, as creating an instance requires.

    Paths are within `properties`. Disks that are not known yet may be the boot disk, so they are no failure.
    """
    disks = properties.get("disks")
    if disks in (None, []):
        return [("disks", "must contain a boot disk: disks[0] with boot: true and the image that it is created from")]
    if not isinstance(disks, list) or any(_may_boot(disk) for disk in disks):
        return []
    return [("disks", "must contain a boot disk: set boot: true on disks[0]")]


def _may_boot(disk: Any) -> bool:
    return not isinstance(disk, dict) or disk.get("boot") in (True, UNKNOWN)
