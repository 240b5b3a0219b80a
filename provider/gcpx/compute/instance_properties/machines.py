"""The machines of instances: machine types, accelerators, scheduling, reservations, shielded VMs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, Final

from gcpx.compute.reference import SPOT_VMS, rest
from gcpx.model.fields import Failure, Record, exclusive, field, nested, number, record, requirement, rule, text
from gcpx.model.links import name_of
from gcpx.model.patterns import Form, Known
from gcpx.model.times import RFC_3339, exact_moment

if TYPE_CHECKING:
    from gcpx.compute.value_types import (
        AdvancedMachineFeaturesValues,
        ConfidentialInstanceConfigValues,
        InstancePropertiesValues,
        ReservationAffinityValues,
        SchedulingValues,
        ShieldedInstanceConfigValues,
    )

FAMILIES: Final = tuple(
    """
    a2-highgpu a2-megagpu a2-ultragpu a3-edgegpu a3-highgpu a3-megagpu a3-ultragpu a4-highgpu a4x-highgpu
    a4x-maxgpu c2-standard c2d-highcpu c2d-highmem c2d-standard c3-highcpu c3-highmem c3-standard c3d-highcpu
    c3d-highmem c3d-standard c4-highcpu c4-highmem c4-standard c4a-highcpu c4a-highmem c4a-standard c4d-highcpu
    c4d-highmem c4d-standard c4n-highcpu c4n-highmem c4n-standard ct3-hightpu ct3p-hightpu ct4p-hightpu ct5l-hightpu
    ct5lp-hightpu ct5p-hightpu ct6e-standard e2-highcpu e2-highmem e2-medium e2-micro e2-small e2-standard f1-micro
    g1-small g2-standard g4-standard h3-standard h4d-highmem h4d-standard m1-megamem m1-ultramem m2-hypermem
    m2-megamem m2-ultramem m2-ultramemx m3-megamem m3-ultramem m4-hypermem m4-megamem m4-ultramem m4n-hypermem
    m4n-megamem m4n-ultramem
    n1-highcpu n1-highmem n1-megamem n1-standard n1-ultramem n2-highcpu n2-highmem n2-standard n2d-highcpu
    n2d-highmem n2d-standard n4-highcpu n4-highmem n4-standard n4a-highcpu n4a-highmem n4a-standard n4d-highcpu
    n4d-highmem n4d-standard t2a-standard t2d-standard tpu7x-standard x4-megamem z3-highmem
    """.split()  # noqa: SIM905 - easier to read and to compare than a list
)
"""How the names of predefined machine types begin: with a series and a class.

Source: the output of `gcloud compute machine-types list` of 2026-07-01, which the repository
Cyclenerd/google-cloud-pricing-cost-calculator at GitHub publishes; for A4X, C4N and TPUs, the pages of their series.
"""
MACHINE_TYPE: Final = Form(
    r"(?:[^\s]+/)?[a-z][-a-z0-9]*",
    "a machine type's name, such as e2-small: lower-case letters, digits and hyphens",
    known=Known("machine type", FAMILIES, r"(?:.*/)?(?![a-z0-9]+-custom-)([a-z0-9]+-[a-z]+)(?:-.*)?"),
)
_SOURCE: Final = rest("instances", "machineType")
_MOST_CPUS: Final = 32
_MEMORY_STEP: Final = 256
_MOST_THREADS: Final = 2


@rule("", "machineType custom-CPUS-MEMORY must have 1 CPU or an even number up to 32, and multiples of 256 MB", _SOURCE)
def custom_machine_types_are_within_limits(values: InstancePropertiesValues) -> list[Failure]:
    machine = text(values, "machineType").rpartition("/")[2]
    parts = re.fullmatch(r"custom-(\d{1,9})-(\d{1,9})", machine)
    if parts is None:
        form = "must be custom-CPUS-MEMORY, with the memory in MB, such as custom-4-8192"
        return [Failure("machineType", form)] if re.match(r"custom\b", machine) else []
    cpus, memory = int(parts[1]), int(parts[2])
    failures: list[Failure] = []
    if cpus != 1 and (cpus % 2 or not 0 < cpus <= _MOST_CPUS):
        failures.append(Failure("machineType", f"must have 1 CPU, or an even number up to {_MOST_CPUS}, not {cpus}"))
    if memory % _MEMORY_STEP or not memory:
        failures.append(Failure("machineType", f"must have memory in multiples of {_MEMORY_STEP} MB, not {memory} MB"))
    return failures


@requirement(
    "machineType",
    "should have 1 CPU or an even number, and memory in multiples of 256 MB, in FAMILY-custom-CPUS-MEMORY; it is sent "
    "unchanged, because a family may allow other sizes",
    _SOURCE,
    warns=True,
)
def custom_machine_types_of_families_have_usual_sizes(values: InstancePropertiesValues) -> bool:
    parts = re.fullmatch(r"(?:.*/)?\w+-custom-(\w+?)-(\d{1,9})(?:-ext)?", text(values, "machineType"))
    if parts is None:
        return True
    cpus, memory = parts[1], int(parts[2])
    is_odd = cpus.isdigit() and int(cpus) != 1 and (int(cpus) % 2 or not int(cpus))
    return not is_odd and not memory % _MEMORY_STEP


_ALIKE: Final = frozenset({"c2", "c2d", "e2", "f1", "g1", "m1", "m2", "n1", "n2", "n2d", "t2d"})
"""The series between which an instance can move; the others have disks and network cards of their own.

Source: the page "Edit the machine type of a compute instance".
"""
_WITH_LOCAL_SSDS: Final = ("a2-ultragpu-", "a3-", "a4-")


def includes_local_ssds(machine_type: str) -> bool:
    """Return whether a machine type includes local SSDs.

    Source: the page "About Local SSD disks".

    >>> [includes_local_ssds(name) for name in ("c3-standard-4-lssd", "a3-ultragpu-8g-nolssd", "z3-highmem-8-highlssd")]
    [True, False, True]
    """
    return not machine_type.endswith("-nolssd") and (
        "lssd" in machine_type or machine_type.startswith(_WITH_LOCAL_SSDS)
    )


def can_change_machine_type(present: str, wanted: str) -> bool:
    """Return whether a stopped instance can change from one machine type to another, both given by their names.

    >>> can_change_machine_type("n2-standard-4", "e2-small"), can_change_machine_type("n2-standard-4", "c3-standard-4")
    (True, False)
    """
    series = {_series(present), _series(wanted)}
    return present == wanted or ((len(series) == 1 or series <= _ALIKE) and not includes_local_ssds(wanted))


def _series(machine_type: str) -> str:
    first = machine_type.partition("-")[0]
    return "n1" if first == "custom" else first


@requirement(
    "threadsPerCore",
    "should be 1 or 2, because no known CPU has more threads per core; it is sent unchanged",
    rest("instances", "advancedMachineFeatures.threadsPerCore"),
    warns=True,
)
def threads_per_core_are_at_most_two(values: AdvancedMachineFeaturesValues) -> bool:
    threads = number(values, "threadsPerCore")
    return threads is None or threads <= _MOST_THREADS


@record
class AdvancedMachineFeatures(Record):
    """CPU and firmware options."""

    RULES = (threads_per_core_are_at_most_two,)

    enable_nested_virtualization: bool = field(
        "Let instances run virtual machines of their own. Machine types of the e2 family do not support it. Default: false."
    )
    enable_uefi_networking: bool = field("Enable UEFI networking when an instance is created.")
    performance_monitoring_unit: str = field(
        "The performance counters that instances can read: `ARCHITECTURAL` for the events that the architecture defines, `STANDARD` for most events of cores and L2 caches, `ENHANCED` for these and the events of the last-level cache.",
        enum=("ARCHITECTURAL", "ENHANCED", "STANDARD"),
    )
    threads_per_core: int = field(
        "The number of threads per physical core, such as `1`, which turns simultaneous multithreading off. Default: the most that the CPU supports. Known CPUs support 1 and 2.",
        minimum=1,
        source=rest("instances", "advancedMachineFeatures.threadsPerCore"),
    )
    turbo_mode: str = field("The turbo frequency mode, such as `ALL_CORE_MAX`. Default: the mode of the CPU platform.")
    visible_core_count: int = field(
        "The number of physical cores that an instance sees, such as `4`; at least 1. Default: derived from the number of CPUs of the machine type.",
        minimum=1,
    )


@record
class AcceleratorConfig(Record):
    """GPUs or other accelerators of one type."""

    HINTS: ClassVar = {
        "count": "must be written `acceleratorCount` here",
        "type": "must be written `acceleratorType` here",
    }

    accelerator_count: int = field("The number of accelerators per instance, such as `1`; at least 0.", minimum=0)
    accelerator_type: str = field(
        "The accelerator type, such as `nvidia-l4`. Instance templates accept only its name.", normalize=name_of
    )


_HOUR: Final = 3600
_MOST_RECOVERY_HOURS: Final = 168


@rule(
    "localSsdRecoveryTimeout",
    "must be a whole number of hours, 0 to 168",
    rest("instances", "scheduling.localSsdRecoveryTimeout"),
)
def local_ssd_recovery_timeout_is_whole_hours(values: SchedulingValues) -> list[Failure]:
    timeout = nested(values, "localSsdRecoveryTimeout")
    seconds, nanos = number(timeout, "seconds"), number(timeout, "nanos")
    failures: list[Failure] = []
    if seconds is not None and (seconds % _HOUR or not 0 <= seconds <= _MOST_RECOVERY_HOURS * _HOUR):
        reason = f"must be whole hours, in seconds: a multiple of {_HOUR}, at most {_MOST_RECOVERY_HOURS * _HOUR:,}"
        failures.append(Failure("localSsdRecoveryTimeout.seconds", reason))
    if nanos:
        failures.append(
            Failure("localSsdRecoveryTimeout.nanos", "must be 0, because the timeout is a whole number of hours")
        )
    return failures


@requirement(
    "provisioningModel",
    "must be SPOT, or left out, with preemptible: true",
    "[Google's error in a public report](https://github.com/skypilot-org/skypilot/issues/3235)",
    about="provisioningModel",
)
def preemptible_instances_are_of_the_spot_model(values: SchedulingValues) -> bool:
    return values.get("preemptible") is not True or values.get("provisioningModel", "SPOT") == "SPOT"


@rule("", "Spot and preemptible instances must have onHostMaintenance: TERMINATE and automaticRestart: false", SPOT_VMS)
def spot_instances_do_not_migrate_or_restart(values: SchedulingValues) -> list[Failure]:
    if values.get("provisioningModel") != "SPOT" and values.get("preemptible") is not True:
        return []
    failures: list[Failure] = []
    if values.get("onHostMaintenance") == "MIGRATE":
        failures.append(Failure("onHostMaintenance", "must be TERMINATE for Spot and preemptible instances"))
    if values.get("automaticRestart") is True:
        failures.append(Failure("automaticRestart", "must be false for Spot and preemptible instances"))
    return failures


@requirement(
    "instanceTerminationAction",
    "requires provisioningModel: SPOT, maxRunDuration or terminationTime",
    rest("instances", "scheduling.instanceTerminationAction"),
    about="instanceTerminationAction",
)
def termination_action_requires_spot_or_a_run_limit(values: SchedulingValues) -> bool:
    is_limited = any(values.get(name) is not None for name in ("maxRunDuration", "terminationTime"))
    is_spot = values.get("provisioningModel", "STANDARD") != "STANDARD" or bool(values.get("preemptible"))
    return is_limited or is_spot


@record
class Duration(Record):
    """A length of time: `seconds` and `nanos` together."""

    seconds: int = field(
        "Whole seconds, such as `3600`: 0 to 315,576,000,000.",
        int64=True,
        minimum=0,
        maximum=315_576_000_000,
        source=rest("instances", "scheduling.maxRunDuration.seconds"),
    )
    nanos: int = field(
        "Nanoseconds to add to `seconds`: 0 to 999,999,999. Default: 0.",
        minimum=0,
        maximum=999_999_999,
        default=0,
        source=rest("instances", "scheduling.maxRunDuration.nanos"),
    )


@record
class SchedulingGracefulShutdown(Record):
    """Whether instances shut down gracefully, and how long that may take."""

    enabled: bool = field("Give the guest time to finish its work before the instance stops.")
    max_duration: Duration = field(
        "The longest time that a graceful shutdown may take, such as `{seconds: 600}`; after that, the instance is stopped."
    )


@record
class SchedulingNodeAffinity(Record):
    """A condition on the labels of the sole-tenant nodes that instances run on."""

    key: str = field("The key of the node's label, such as `workload`.")
    operator: str = field(
        "`IN` to run on nodes whose label has one of `values`, `NOT_IN` to avoid them.",
        enum=("IN", "NOT_IN"),
        source=rest("instances", "scheduling.nodeAffinities[].operator"),
    )
    values: list[str] = field("Values of the node's label, such as `[frontend]`.", identity="set")


@record
class SchedulingOnInstanceStopAction(Record):
    """What happens when an instance is stopped at the end of `maxRunDuration` or at `terminationTime`."""

    discard_local_ssd: bool = field("Discard the data on local SSDs. Default: false, which preserves it.")


_TIME: Final = Form(RFC_3339, "a time in RFC 3339 format, such as 2026-12-31T23:59:59Z")


@record
class Scheduling(Record):
    """When and where instances run, and how they are stopped."""

    RULES = (
        exclusive("maxRunDuration", "terminationTime", source=rest("instances", "scheduling.maxRunDuration")),
        local_ssd_recovery_timeout_is_whole_hours,
        preemptible_instances_are_of_the_spot_model,
        spot_instances_do_not_migrate_or_restart,
        termination_action_requires_spot_or_a_run_limit,
    )

    @staticmethod
    def implied(values: SchedulingValues) -> dict[str, Any]:
        """Return Google's values for Spot and preemptible instances: they are neither migrated nor restarted."""
        if values.get("provisioningModel") == "SPOT":
            return {"preemptible": True, "automaticRestart": False, "onHostMaintenance": "TERMINATE"}
        return {"automaticRestart": False, "onHostMaintenance": "TERMINATE"} if values.get("preemptible") else {}

    automatic_restart: bool = field(
        "Restart the instance when Compute Engine terminates it, but never when a user does. Default: true; false for Spot and preemptible instances, which cannot be restarted.",
        default=True,
    )
    availability_domain: int = field(
        "The availability domain to run in, such as `1`: from 1 to the number of domains in the spread placement policy.",
        minimum=1,
    )
    expose_host_topology: bool = field(
        "Show the hashed ID of the physical host in the `resourceStatus` of the instance."
    )
    graceful_shutdown: SchedulingGracefulShutdown = field(
        "Whether instances shut down gracefully, such as `{enabled: true, maxDuration: {seconds: 600}}`."
    )
    host_error_timeout_seconds: int = field(
        "How many seconds the detection of a host error may take, such as `120`: 90 to 330, in steps of 30. Default: Compute Engine's standard recovery.",
        beta=True,
        minimum=90,
        maximum=330,
        multiple_of=30,
        source=rest("instances", "scheduling.hostErrorTimeoutSeconds"),
    )
    instance_termination_action: str = field(
        "What happens to a Spot instance on preemption, and to any instance at the end of `maxRunDuration` or at `terminationTime`: `STOP` or `DELETE`. On standard instances, it requires `maxRunDuration` or `terminationTime`. Default: `STOP`.",
        enum=("DELETE", "STOP"),
        default="STOP",
    )
    local_ssd_recovery_timeout: Duration = field(
        "How long to try to recover the data of local SSDs, such as `{seconds: 7200}`: a whole number of hours, 0 to 168. Default: 1 hour.",
        default={"seconds": _HOUR},
    )
    location_hint: str = field("An opaque hint for placing the instance near other resources, for internal tools.")
    maintenance_freeze_duration_hours: int = field(
        "For how many hours after the creation no maintenance is scheduled, such as `24`; at least 0.",
        beta=True,
        minimum=0,
    )
    maintenance_interval: str = field(
        "How often planned maintenance happens: as soon as updates are available (`AS_NEEDED`), at intervals (`PERIODIC`), or at intervals on third-generation machines (`RECURRENT`).",
        beta=True,
        enum=("AS_NEEDED", "PERIODIC", "RECURRENT"),
        source=rest("instances", "scheduling.maintenanceInterval"),
    )
    max_run_duration: Duration = field(
        "How long the instance runs before it is stopped or deleted (`instanceTerminationAction`), such as `{seconds: 86400}`. Conflicts with `terminationTime`.",
        beta=True,
    )
    min_node_cpus: int = field(
        "The minimum number of virtual CPUs that the instance uses on a sole-tenant node, such as `2`; at least 0.",
        minimum=0,
    )
    node_affinities: list[SchedulingNodeAffinity] = field(
        "Conditions on the sole-tenant nodes to run on, such as `[{key: workload, operator: IN, values: [frontend]}]`. They override `reservationAffinity`. Bulk creation does not support them.",
        identity=("key",),
    )
    on_host_maintenance: str = field(
        "What host maintenance does with the instance: `MIGRATE` moves it while it runs, `TERMINATE` stops it. Default: `MIGRATE`; `TERMINATE` for Spot and preemptible instances and those with GPUs, which cannot be migrated.",
        enum=("MIGRATE", "TERMINATE"),
        default="MIGRATE",
    )
    on_instance_stop_action: SchedulingOnInstanceStopAction = field(
        "What happens when the instance is stopped at the end of `maxRunDuration` or at `terminationTime`, such as `{discardLocalSsd: true}`.",
        beta=True,
    )
    preemptible: bool = field(
        "Create preemptible instances, which are neither migrated nor restarted. Default: false; true with `provisioningModel: SPOT`."
    )
    preemption_notice_duration: Duration = field(
        "The time between the notice of a preemption, which the guest can read from the metadata server, and the signal to shut down, such as `{seconds: 60}`. For Spot instances only. Default: none."
    )
    provisioning_model: str = field(
        "How capacity is provisioned: `STANDARD` without a time limit, `SPOT` at a discount and without a guaranteed run time, `FLEX_START` with a limited run time, `RESERVATION_BOUND` for as long as the reservation. Default: `STANDARD`.",
        enum=("FLEX_START", "RESERVATION_BOUND", "SPOT", "STANDARD"),
        default="STANDARD",
    )
    skip_guest_os_shutdown: bool = field(
        "Stop the instance without giving the guest time to shut down. Default: false, which gives it 120 seconds, or 30 on Spot instances."
    )
    termination_time: str = field(
        "When the instance is stopped or deleted (`instanceTerminationAction`), in RFC 3339 format, such as `2026-12-31T23:59:59Z`. Conflicts with `maxRunDuration`.",
        beta=True,
        pattern=_TIME,
        source=rest("instances", "scheduling.terminationTime"),
        normalize=exact_moment,
    )


@rule(
    "",
    "consumeReservationType SPECIFIC_RESERVATION requires key and values; ANY_RESERVATION and NO_RESERVATION exclude them",
    rest("instances", "reservationAffinity.consumeReservationType"),
)
def specific_reservations_require_key_and_values(values: ReservationAffinityValues) -> list[Failure]:
    kind = values.get("consumeReservationType", "ANY_RESERVATION")
    if kind in ("ANY_RESERVATION", "NO_RESERVATION"):
        given = (name for name in ("key", "values") if values.get(name))
        return [Failure(name, "requires consumeReservationType: SPECIFIC_RESERVATION") for name in given]
    if kind == "SPECIFIC_RESERVATION":
        missing = (name for name in ("key", "values") if not values.get(name))
        return [Failure(name, "is required with SPECIFIC_RESERVATION") for name in missing]
    return []


_NAME_KEY: Final = re.compile(r"(?:[a-z]+\.)?googleapis\.com/reservation-name")


@requirement(
    "key",
    "should be compute.googleapis.com/reservation-name, which selects a reservation by its name; other keys select by "
    "label, and are sent unchanged",
    rest("instances", "reservationAffinity.key"),
    warns=True,
)
def reservation_key_selects_by_name(values: ReservationAffinityValues) -> bool:
    key = text(values, "key")
    return not key or _NAME_KEY.fullmatch(key) is not None


@record
class ReservationAffinity(Record):
    """The reservations that instances consume."""

    HINTS: ClassVar = {
        "specificReservation": "must be written `key: KEY, values: [VALUE]` here",
        "type": "must be written `consumeReservationType` here",
    }
    RULES = (specific_reservations_require_key_and_values, reservation_key_selects_by_name)

    consume_reservation_type: str = field(
        "Which reservations to consume: any that fits (`ANY_RESERVATION`), those that `key` and `values` select (`SPECIFIC_RESERVATION`), or none (`NO_RESERVATION`). Values with `THEN` also say what happens when these have no capacity left. Default: `ANY_RESERVATION`.",
        enum=(
            "ANY_RESERVATION",
            "ANY_RESERVATION_THEN_FAIL",
            "NO_RESERVATION",
            "SPECIFIC_RESERVATION",
            "SPECIFIC_THEN_ANY_RESERVATION",
            "SPECIFIC_THEN_NO_RESERVATION",
        ),
        default="ANY_RESERVATION",
        source=rest("instances", "reservationAffinity.consumeReservationType"),
    )
    key: str = field(
        "The label key that selects reservations; `compute.googleapis.com/reservation-name` selects them by name. Required with `SPECIFIC_RESERVATION`."
    )
    values: list[str] = field(
        "The label values that select reservations: names such as `my-reservation`, or `projects/my-project/reservations/my-reservation` for a shared one. Required with `SPECIFIC_RESERVATION`.",
        identity="set",
    )


@requirement(
    "enableIntegrityMonitoring",
    "requires enableVtpm: true",
    rest("instances", "shieldedInstanceConfig.enableIntegrityMonitoring"),
)
def integrity_monitoring_requires_vtpm(values: ShieldedInstanceConfigValues) -> bool:
    return values.get("enableVtpm") is not False or values.get("enableIntegrityMonitoring") is not True


@record
class ShieldedInstanceConfig(Record):
    """Shielded VM options."""

    RULES = (integrity_monitoring_requires_vtpm,)

    enable_integrity_monitoring: bool = field(
        "Monitor the integrity of the boot process. Requires `enableVtpm`. Default: true.", default=True
    )
    enable_secure_boot: bool = field("Enable Secure Boot, which boots only signed software. Default: false.")
    enable_vtpm: bool = field("Give instances a virtual Trusted Platform Module (vTPM). Default: true.", default=True)


@record
class ShieldedVmConfig(Record):
    """Shielded VM options in their deprecated form; use `shieldedInstanceConfig`."""

    enable_integrity_monitoring: bool = field("Monitor the integrity of the boot process.", beta=True, computed=True)
    enable_secure_boot: bool = field("Enable Secure Boot, which boots only signed software.", beta=True, computed=True)
    enable_vtpm: bool = field("Give instances a virtual Trusted Platform Module (vTPM).", beta=True, computed=True)


@record
class ConfidentialInstanceConfig(Record):
    """Confidential VM options."""

    @staticmethod
    def implied(values: ConfidentialInstanceConfigValues) -> dict[str, Any]:
        """Return the technology that Google sets if none is named."""
        return {"confidentialInstanceType": "SEV"} if values.get("enableConfidentialCompute") is True else {}

    confidential_instance_type: str = field(
        "The technology: AMD's `SEV` or `SEV_SNP`, Intel's `TDX`, Arm's `CCA`, or `BMSAI` for bare metal. Default: `SEV`. `SEV_SNP` and `TDX` require `onHostMaintenance: TERMINATE`.",
        beta=True,
        enum=("BMSAI", "CCA", "SEV", "SEV_SNP", "TDX"),
    )
    enable_confidential_compute: bool = field("Create the instances as Confidential VMs.")
