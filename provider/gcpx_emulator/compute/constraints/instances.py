"""Constraints of instances and their properties, except for disks, network interfaces and labels."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Final

from gcpx_emulator.compute.constraints.methods import TEMPLATES
from gcpx_emulator.core.constraints import Constraint, at_least, between, matches
from gcpx_emulator.core.json_data import Json

_LONGEST_VALUE, _MOST_METADATA = 262_144, 512 * 1024
_HOUR: Final = 3600
_MOST_CPUS, _MEMORY_STEP = 32, 256
_CUSTOM_MACHINE_TYPE: Final = re.compile(r"(?P<family>[a-z]\w*-)?custom-(?P<cpus>\d{1,9})-(?P<memory>\d{1,9})(?:-ext)?")
_SHARED_CORE: Final = re.compile(r"(?:[a-z]\w*-)?custom-(?:small|medium|micro)-\d{1,9}")
"""Custom machine types with a shared core, which have a name in place of the number of CPUs."""
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE)
_HOSTNAME: Final = re.compile(
    r"(?=.{1,253}$)[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)*"
)
_HOSTNAME_MESSAGE: Final = "Must be a host name (RFC 1035): labels of 1 to 63 characters, at most 253 in all."
_NAME_NOT_URL: Final = matches(r"[^/]+")


def _bytes(text: Any) -> int:
    return len((text or "").encode("utf-8", "surrogatepass"))


def _metadata_fits(metadata: Json) -> bool:
    items = [item for item in metadata.get("items") or () if item]
    return sum(_bytes(item.get("key")) + _bytes(item.get("value")) for item in items) < _MOST_METADATA


def _metadata_keys_differ(metadata: Json) -> bool:
    keys = [item.get("key") for item in metadata.get("items") or () if item]
    return len(keys) == len(set(keys))


def _is_machine_type(link: Any) -> bool:
    """Accept machine types; custom ones must be within bounds, but a family may have more CPUs."""
    name = link.rpartition("/")[2]
    custom = _CUSTOM_MACHINE_TYPE.fullmatch(name)
    if custom is None:
        return "custom-" not in name or _SHARED_CORE.fullmatch(name) is not None
    cpus, memory = int(custom["cpus"]), int(custom["memory"])
    has_cpus = cpus == 1 or (cpus > 0 and cpus % 2 == 0 and (custom["family"] or cpus <= _MOST_CPUS))
    return bool(has_cpus) and memory > 0 and memory % _MEMORY_STEP == 0


def _is_time(text: Any) -> bool:
    try:
        return _TIME.fullmatch(text) is not None and bool(datetime.fromisoformat(text.upper()))
    except ValueError:
        return False


def _is_not_preemptible_and_kept(scheduling: Json) -> bool:
    preemptible = scheduling.get("provisioningModel") == "SPOT" or scheduling.get("preemptible") is True
    is_kept = scheduling.get("automaticRestart") is True or scheduling.get("onHostMaintenance") == "MIGRATE"
    return not (preemptible and is_kept)


def _has_one_end(scheduling: Json) -> bool:
    return not (scheduling.get("maxRunDuration") and scheduling.get("terminationTime"))


def _names_reservation(affinity: Json) -> bool:
    kind = affinity.get("consumeReservationType") or "ANY_RESERVATION"
    if kind == "SPECIFIC_RESERVATION":
        return bool(affinity.get("key") and affinity.get("values"))
    return kind not in {"ANY_RESERVATION", "NO_RESERVATION"} or not (affinity.get("key") or affinity.get("values"))


def _device_names_differ(instance: Json) -> bool:
    names = [disk["deviceName"] for disk in instance.get("disks") or () if disk and disk.get("deviceName")]
    return len(names) == len(set(names))


def _stays_with_its_accelerators(instance: Json) -> bool:
    counts = [int(item.get("acceleratorCount") or 0) for item in instance.get("guestAccelerators") or () if item]
    return not any(counts) or (instance.get("scheduling") or {}).get("onHostMaintenance") != "MIGRATE"


def _has_source_of_params(template: Json) -> bool:
    return not template.get("sourceInstanceParams") or bool(template.get("sourceInstance"))


def _has_custom_image_if_needed(config: Json) -> bool:
    return (config.get("instantiateFrom") == "CUSTOM_IMAGE") == bool(config.get("customImage"))


def _of_instance(schema: str) -> tuple[Constraint, ...]:
    """Return the constraints that instances and instance properties share."""
    machine_type = (
        f"Custom machine types are custom-CPUS-MEMORY with 1 CPU or an even number up to {_MOST_CPUS}, and memory in "
        f"steps of {_MEMORY_STEP} MB."
    )
    maintenance = "Must be TERMINATE with guestAccelerators."
    accounts = "At most one service account is supported."
    return (
        Constraint(schema, "machineType", machine_type, _is_machine_type),
        Constraint(schema, "disks", "Each device name must be different.", _device_names_differ, of_object=True),
        Constraint(schema, "scheduling.onHostMaintenance", maintenance, _stays_with_its_accelerators, of_object=True),
        Constraint(schema, "serviceAccounts", accounts, lambda items: len(items) <= 1),
    )


_METADATA: Final = (
    Constraint(
        "Metadata",
        "items[].key",
        "Must be 1 to 128 letters, digits, hyphens and underscores.",
        matches(r"[a-zA-Z0-9_-]{1,128}"),
    ),
    Constraint("Metadata", "items[]", "A key is required.", lambda item: item.get("key") is not None),
    Constraint(
        "Metadata",
        "items[].value",
        f"Must be at most {_LONGEST_VALUE} bytes.",
        lambda value: _bytes(value) <= _LONGEST_VALUE,
        secret=True,
    ),
    Constraint(
        "Metadata", "items", "All keys and values together must be under 512 KB.", _metadata_fits, of_object=True
    ),
    Constraint("Metadata", "items", "Keys must not be repeated.", _metadata_keys_differ, of_object=True),
)
_SCHEDULING: Final = (
    Constraint("Duration", "seconds", "Must be between 0 and 315576000000.", between(0, 315_576_000_000)),
    Constraint("Duration", "nanos", "Must be between 0 and 999999999.", between(0, 999_999_999)),
    Constraint(
        "Scheduling", "hostErrorTimeoutSeconds", "Must be between 90 and 330, in steps of 30.", between(90, 330, 30)
    ),
    Constraint(
        "Scheduling",
        "localSsdRecoveryTimeout.seconds",
        "Must be a whole number of hours, 0 to 168.",
        between(0, 168 * _HOUR, _HOUR),
    ),
    Constraint(
        "Scheduling", "localSsdRecoveryTimeout.nanos", "Must be 0, since the timeout is in whole hours.", between(0, 0)
    ),
    Constraint("Scheduling", "terminationTime", "Conflicts with maxRunDuration.", _has_one_end, of_object=True),
    Constraint("Scheduling", "terminationTime", "Must be a time in RFC 3339.", _is_time),
    Constraint(
        "Scheduling",
        "preemptible",
        "Spot and preemptible instances cannot have onHostMaintenance MIGRATE or automaticRestart true.",
        _is_not_preemptible_and_kept,
        of_object=True,
    ),
)
CONSTRAINTS: Final = (
    *_of_instance("Instance"),
    *_of_instance("InstanceProperties"),
    *_METADATA,
    *_SCHEDULING,
    Constraint("InstanceProperties", "machineType", "The machine type must be a name, not a URL.", matches(r"[^/]*")),
    Constraint("InstanceProperties", "resourcePolicies[]", "Must be a name, not a URL.", _NAME_NOT_URL),
    Constraint("Instance", "hostname", _HOSTNAME_MESSAGE, matches(_HOSTNAME)),
    Constraint("BulkInsertInstanceResourcePerInstanceProperties", "hostname", _HOSTNAME_MESSAGE, matches(_HOSTNAME)),
    Constraint("AcceleratorConfig", "acceleratorCount", "Must not be negative.", at_least(0)),
    Constraint(
        "AcceleratorConfig",
        "acceleratorType",
        "Must be a name, not a URL, in a template.",
        _NAME_NOT_URL,
        methods=TEMPLATES,
    ),
    Constraint(
        "ReservationAffinity",
        "consumeReservationType",
        "SPECIFIC_RESERVATION requires key and values; ANY_RESERVATION and NO_RESERVATION exclude them.",
        _names_reservation,
        of_object=True,
    ),
    Constraint(
        "InstanceTemplate", "sourceInstanceParams", "Needs sourceInstance.", _has_source_of_params, of_object=True
    ),
    Constraint(
        "DiskInstantiationConfig",
        "customImage",
        "Must be set with instantiateFrom CUSTOM_IMAGE, and only with it.",
        _has_custom_image_if_needed,
        of_object=True,
    ),
)
