"""Machine types, processor options and accelerators: their declaration and rules."""

from __future__ import annotations

import re
from typing import Any, Final

from gcpx.compute.documentation import rest
from gcpx.model.fields import Record, field, record
from gcpx.model.links import name_of
from gcpx.model.rules import Violation, number, rule, text

MACHINE_TYPE: Final = (
    re.compile(r"(?:[^\s]+/)?[a-z][-a-z0-9]*"),
    "a machine type's name, such as e2-small: lower-case letters, digits and hyphens",
)
_SOURCE: Final = rest("instances", "machineType")
_MOST_CPUS: Final = 32
_MEMORY_STEP: Final = 256
_MOST_THREADS: Final = 2


@rule("machineType custom-CPUS-MEMORY must have 1 CPU or an even number up to 32, and multiples of 256 MB", _SOURCE)
def custom_machine_types_are_within_limits(values: dict[str, Any]) -> list[Violation]:
    """Refuse custom machine types without a family that are out of bounds; families have their own bounds."""
    machine = text(values, "machineType").rpartition("/")[2]
    parts = re.fullmatch(r"custom-(\d{1,9})-(\d{1,9})", machine)
    if parts is None:
        form = "must be custom-CPUS-MEMORY, with the memory in MB, such as custom-4-8192"
        return [("machineType", form)] if re.match(r"custom\b", machine) else []
    cpus, memory = int(parts[1]), int(parts[2])
    failures: list[Violation] = []
    if cpus != 1 and (cpus % 2 or not 0 < cpus <= _MOST_CPUS):
        failures.append(("machineType", f"must have 1 CPU, or an even number up to {_MOST_CPUS}, not {cpus}"))
    if memory % _MEMORY_STEP or not memory:
        failures.append(("machineType", f"must have memory in multiples of {_MEMORY_STEP} MB, not {memory} MB"))
    return failures


@rule(
    "machineType FAMILY-custom-CPUS-MEMORY should have 1 CPU or an even number, and multiples of 256 MB",
    _SOURCE,
    warns=True,
)
def custom_machine_types_of_families_have_usual_sizes(values: dict[str, Any]) -> list[Violation]:
    """Warn about sizes that `custom-CPUS-MEMORY` does not allow; a family may allow them."""
    parts = re.fullmatch(r"(?:.*/)?\w+-custom-(\w+?)-(\d{1,9})(?:-ext)?", text(values, "machineType"))
    if parts is None:
        return []
    cpus, memory = parts[1], int(parts[2])
    is_odd = cpus.isdigit() and int(cpus) != 1 and (int(cpus) % 2 or not int(cpus))
    if not is_odd and not memory % _MEMORY_STEP:
        return []
    reason = f"should have 1 CPU or an even number, and memory in multiples of {_MEMORY_STEP} MB; it is sent unchanged"
    return [("machineType", reason)]


@rule("threadsPerCore should be 1 or 2", rest("instances", "advancedMachineFeatures.threadsPerCore"), warns=True)
def threads_per_core_are_at_most_two(values: dict[str, Any]) -> list[Violation]:
    """Warn about more threads than any known CPU has."""
    threads = number(values, "threadsPerCore")
    if threads is None or threads <= _MOST_THREADS:
        return []
    return [
        ("threadsPerCore", "should be 1 or 2, because no known CPU has more threads per core; it is sent unchanged")
    ]


@record
class AdvancedMachineFeatures(Record):
    """CPU and firmware options."""

    RULES = (threads_per_core_are_at_most_two,)

    enable_nested_virtualization: bool = field(
        "Let instances run virtual machines of their own. Machine types of the e2 family do not support it. Default: false.",
        default=False,
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
    turbo_mode: str = field("The turbo frequency mode, such as `ALL_CORE_MAX`. Default: that of the CPU platform.")
    visible_core_count: int = field(
        "The number of physical cores that an instance sees, such as `4`; at least 1. Default: derived from the number of CPUs of the machine type.",
        minimum=1,
    )


@record
class AcceleratorConfig(Record):
    """GPUs or other accelerators of one type."""

    accelerator_count: int = field("The number of accelerators per instance, such as `1`; at least 0.", minimum=0)
    accelerator_type: str = field(
        "The accelerator type, such as `nvidia-l4`. Instance templates accept only its name.", normalize=name_of
    )
