"""Shielded VMs and Confidential VMs: their declaration and rules."""

from __future__ import annotations

from typing import Any

from gcpx.compute.documentation import rest
from gcpx.model.fields import Record, field, record
from gcpx.model.rules import Violation, rule


@rule(
    "enableIntegrityMonitoring requires enableVtpm",
    rest("instances", "shieldedInstanceConfig.enableIntegrityMonitoring"),
)
def integrity_monitoring_requires_vtpm(values: dict[str, Any]) -> list[Violation]:
    """Refuse integrity monitoring where the vTPM is turned off."""
    if values.get("enableVtpm") is False and values.get("enableIntegrityMonitoring") is True:
        return [("enableIntegrityMonitoring", "requires enableVtpm: true")]
    return []


@record
class ShieldedInstanceConfig(Record):
    """Shielded VM options."""

    RULES = (integrity_monitoring_requires_vtpm,)

    enable_integrity_monitoring: bool = field(
        "Monitor the integrity of the boot process. Requires `enableVtpm`. Default: true.", default=True
    )
    enable_secure_boot: bool = field(
        "Enable Secure Boot, which boots only signed software. Default: false.", default=False
    )
    enable_vtpm: bool = field("Give instances a virtual Trusted Platform Module (vTPM). Default: true.", default=True)


@record
class ShieldedVmConfig(Record):
    """Shielded VM options in their deprecated form; use `shieldedInstanceConfig`."""

    enable_integrity_monitoring: bool = field("Monitor the integrity of the boot process.", beta=True)
    enable_secure_boot: bool = field("Enable Secure Boot, which boots only signed software.", beta=True)
    enable_vtpm: bool = field("Give instances a virtual Trusted Platform Module (vTPM).", beta=True)


@record
class ConfidentialInstanceConfig(Record):
    """Confidential VM options."""

    confidential_instance_type: str = field(
        "The technology: AMD's `SEV` or `SEV_SNP`, Intel's `TDX`, Arm's `CCA`, or `BMSAI` for bare metal. Default: `SEV`. `SEV_SNP` and `TDX` require `onHostMaintenance: TERMINATE`.",
        beta=True,
        enum=("BMSAI", "CCA", "SEV", "SEV_SNP", "TDX"),
    )
    enable_confidential_compute: bool = field("Create the instances as Confidential VMs.")
