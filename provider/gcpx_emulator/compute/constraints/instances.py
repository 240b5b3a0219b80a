"""What instances are made of, but for their disks, networks and labels."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Final

from gcpx_emulator.core.constraints import TEMPLATES, Rule, at_least, between, like
from gcpx_emulator.core.discovery import Json

_LONGEST_VALUE, _MOST_METADATA = 262_144, 512 * 1024
_HOUR: Final = 3600
_MOST_CPUS, _MEMORY_STEP = 32, 256
_CUSTOM: Final = re.compile(r"(?P<family>[a-z]\w*-)?custom-(?P<cpus>\d{1,9})-(?P<memory>\d{1,9})(?:-ext)?")
_SIZED: Final = re.compile(r"(?:[a-z]\w*-)?custom-(?:small|medium|micro)-\d{1,9}")
"""Shared-core custom types, whose CPUs have a name in place of a number."""
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE)
_HOSTNAME: Final = re.compile(
    r"(?=.{1,253}$)[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)*"
)
_HOSTNAME_WORDS: Final = "Must be a host name as RFC 1035 has it: labels of 1 to 63 characters, at most 253 in all."


def _size(text: Any) -> int:
    return len((text or "").encode("utf-8", "surrogatepass"))


def _metadata_fits(metadata: Json) -> bool:
    items = [item for item in metadata.get("items") or () if item]
    return sum(_size(item.get("key")) + _size(item.get("value")) for item in items) < _MOST_METADATA


def _keys_differ(metadata: Json) -> bool:
    keys = [item.get("key") for item in metadata.get("items") or () if item]
    return len(keys) == len(set(keys))


def _machine_exists(machine: Any) -> bool:
    """Hold custom machine types to their bounds; families go beyond 32 CPUs."""
    name = machine.rpartition("/")[2]
    found = _CUSTOM.fullmatch(name)
    if found is None:
        return "custom-" not in name or _SIZED.fullmatch(name) is not None
    cpus, memory = int(found["cpus"]), int(found["memory"])
    whole = cpus == 1 or (cpus > 0 and cpus % 2 == 0 and (found["family"] or cpus <= _MOST_CPUS))
    return bool(whole) and memory > 0 and memory % _MEMORY_STEP == 0


def _is_time(text: Any) -> bool:
    try:
        return _TIME.fullmatch(text) is not None and bool(datetime.fromisoformat(text.upper()))
    except ValueError:
        return False


def _is_moved_or_restarted(scheduling: Json) -> bool:
    spot = scheduling.get("provisioningModel") == "SPOT" or scheduling.get("preemptible") is True
    return spot and (scheduling.get("automaticRestart") is True or scheduling.get("onHostMaintenance") == "MIGRATE")


def _reservation_is_named(affinity: Json) -> bool:
    kind = affinity.get("consumeReservationType") or "ANY_RESERVATION"
    if kind == "SPECIFIC_RESERVATION":
        return bool(affinity.get("key") and affinity.get("values"))
    return kind not in {"ANY_RESERVATION", "NO_RESERVATION"} or not (affinity.get("key") or affinity.get("values"))


def _devices_differ(found: Json) -> bool:
    names = [disk["deviceName"] for disk in found.get("disks") or () if disk and disk.get("deviceName")]
    return len(names) == len(set(names))


def _stays_with_its_accelerators(found: Json) -> bool:
    counts = [int(item.get("acceleratorCount") or 0) for item in found.get("guestAccelerators") or () if item]
    return not any(counts) or (found.get("scheduling") or {}).get("onHostMaintenance") != "MIGRATE"


def _instance(schema: str) -> tuple[Rule, ...]:
    """Write what instances and their properties have in common."""
    machines = (
        f"Custom machine types are custom-CPUS-MEMORY with 1 CPU or an even number up to {_MOST_CPUS}, and memory in "
        f"steps of {_MEMORY_STEP} MB."
    )
    stay = "Must be TERMINATE with guestAccelerators."
    return (
        Rule(schema=schema, field="machineType", words=machines, holds=_machine_exists),
        Rule(schema=schema, field="disks", words="Device names must be different.", holds=_devices_differ, across=True),
        Rule(
            schema=schema,
            field="scheduling.onHostMaintenance",
            words=stay,
            holds=_stays_with_its_accelerators,
            across=True,
        ),
        Rule(
            schema=schema,
            field="serviceAccounts",
            words="At most one service account is supported.",
            holds=lambda accounts: len(accounts) <= 1,
        ),
    )


_METADATA: Final = (
    Rule(
        schema="Metadata",
        field="items[].key",
        words="Must be 1 to 128 letters, digits, hyphens and underscores.",
        holds=like(r"[a-zA-Z0-9_-]{1,128}"),
    ),
    Rule(
        schema="Metadata", field="items[]", words="A key is required.", holds=lambda item: item.get("key") is not None
    ),
    Rule(
        schema="Metadata",
        field="items[].value",
        words=f"Must be at most {_LONGEST_VALUE} bytes.",
        holds=lambda value: _size(value) <= _LONGEST_VALUE,
        secret=True,
    ),
    Rule(
        schema="Metadata",
        field="items",
        words="All keys and values together must be under 512 KB.",
        holds=_metadata_fits,
        across=True,
    ),
    Rule(schema="Metadata", field="items", words="Keys must be different.", holds=_keys_differ, across=True),
)
_SCHEDULING: Final = (
    Rule(
        schema="Duration",
        field="seconds",
        words="Must be between 0 and 315576000000.",
        holds=between(0, 315_576_000_000),
    ),
    Rule(schema="Duration", field="nanos", words="Must be between 0 and 999999999.", holds=between(0, 999_999_999)),
    Rule(
        schema="Scheduling",
        field="hostErrorTimeoutSeconds",
        words="Must be between 90 and 330, in steps of 30.",
        holds=between(90, 330, 30),
    ),
    Rule(
        schema="Scheduling",
        field="localSsdRecoveryTimeout.seconds",
        words="Must be whole hours, 0 to 168 of them.",
        holds=between(0, 168 * _HOUR, _HOUR),
    ),
    Rule(
        schema="Scheduling",
        field="localSsdRecoveryTimeout.nanos",
        words="Must be 0, since the timeout is in whole hours.",
        holds=between(0, 0),
    ),
    Rule(
        schema="Scheduling",
        field="terminationTime",
        words="Conflicts with maxRunDuration.",
        holds=lambda found: not (found.get("maxRunDuration") and found.get("terminationTime")),
        across=True,
    ),
    Rule(schema="Scheduling", field="terminationTime", words="Must be a time in RFC 3339.", holds=_is_time),
    Rule(
        schema="Scheduling",
        field="preemptible",
        words="Spot and preemptible instances are neither moved (onHostMaintenance) nor restarted (automaticRestart).",
        holds=lambda found: not _is_moved_or_restarted(found),
        across=True,
    ),
)
RULES: Final = (
    *_instance("Instance"),
    *_instance("InstanceProperties"),
    *_METADATA,
    *_SCHEDULING,
    Rule(
        schema="InstanceProperties",
        field="machineType",
        words="The machine type must be a name, not a URL.",
        holds=like(r"[^/]*"),
    ),
    Rule(
        schema="InstanceProperties",
        field="resourcePolicies[]",
        words="Must be a name, not a URL.",
        holds=like(r"[^/]+"),
    ),
    Rule(schema="Instance", field="hostname", words=_HOSTNAME_WORDS, holds=like(_HOSTNAME)),
    Rule(
        schema="BulkInsertInstanceResourcePerInstanceProperties",
        field="hostname",
        words=_HOSTNAME_WORDS,
        holds=like(_HOSTNAME),
    ),
    Rule(schema="AcceleratorConfig", field="acceleratorCount", words="Must not be negative.", holds=at_least(0)),
    Rule(
        schema="AcceleratorConfig",
        field="acceleratorType",
        words="Must be a name, not a URL, in a template.",
        holds=like(r"[^/]+"),
        only=TEMPLATES,
    ),
    Rule(
        schema="ReservationAffinity",
        field="consumeReservationType",
        words="SPECIFIC_RESERVATION needs key and values; ANY_RESERVATION and NO_RESERVATION take neither.",
        holds=_reservation_is_named,
        across=True,
    ),
    Rule(
        schema="InstanceTemplate",
        field="sourceInstanceParams",
        words="Needs sourceInstance.",
        holds=lambda found: not found.get("sourceInstanceParams") or bool(found.get("sourceInstance")),
        across=True,
    ),
    Rule(
        schema="DiskInstantiationConfig",
        field="customImage",
        words="Goes with instantiateFrom CUSTOM_IMAGE, which needs it.",
        holds=lambda config: (config.get("instantiateFrom") == "CUSTOM_IMAGE") == bool(config.get("customImage")),
        across=True,
    ),
)
