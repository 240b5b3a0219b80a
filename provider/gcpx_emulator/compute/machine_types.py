"""Machine types: Google's, custom ones, and the changes made at `/_emulator/machine-types`."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import attrs

from gcpx_emulator.compute import machine_families
from gcpx_emulator.compute.call import Call, handles, last_part
from gcpx_emulator.compute.lists import aggregate, list_page
from gcpx_emulator.compute.locations import ZONAL, ZONES, check_location, zones_of
from gcpx_emulator.core.controls import ControlBody, Field, is_object, is_whole, setting, some
from gcpx_emulator.core.errors import ApiError, invalid, not_found, required
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.listing import Page, page_of
from gcpx_emulator.core.store import Store

_MB: Final = 1024
_EVERYWHERE: Final = frozenset(ZONES)


@attrs.frozen
class MachineType:
    """A machine type.

    Attributes:
        zones: where it exists.
        item: the fields that the API shows in every zone.
    """

    name: str
    cpus: int
    zones: frozenset[str]
    item: Json = attrs.field(repr=False, eq=False)

    @property
    def series(self) -> str:
        """The series, such as `n1`, to which types without a series in their name belong."""
        first = self.name.partition("-")[0]
        return "n1" if first == "custom" else first


_ARCHITECTURES: Final = ("ARM64", "X86_64")
_NAME: Final = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")


def _are_zones(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(zone, str) and zone in _EVERYWHERE for zone in value)


def _is_added(value: Any) -> bool:
    accepted = {
        "architecture": lambda given: given in _ARCHITECTURES,
        "guestCpus": lambda given: is_whole(given, 1),
        "memoryMb": lambda given: is_whole(given, 1),
        "zones": _are_zones,
    }
    return is_object(value) and all(key in accepted and accepted[key](given) for key, given in value.items())


def _by_name(is_one: Any, value: Any) -> bool:
    return is_object(value) and all(_NAME.fullmatch(name) and is_one(one) for name, one in value.items())


_CHANGES: Final = setting(
    "machine-types",
    ControlBody(
        "machine-types",
        {
            "added": Field(
                "an object with guestCpus, memoryMb, architecture and zones by machine type",
                functools.partial(_by_name, _is_added),
            ),
            "removed": Field(
                f"a list of zones ({some(ZONES)}) by machine type", functools.partial(_by_name, _are_zones)
            ),
        },
    ).check,
)


@attrs.frozen
class _Catalogue:
    """All machine types.

    Attributes:
        by_name: predefined and added types; custom types are made on demand.
        removed: the zones that a type was removed from, by its name; custom types may be removed, too.
    """

    by_name: Mapping[str, MachineType]
    removed: Mapping[str, frozenset[str]]

    def find(self, name: str) -> MachineType | None:
        """Return the machine type of this name, if there is one in any zone."""
        found = self.by_name.get(name) or _custom(name)
        if found is None or name not in self.removed:
            return found
        zones = found.zones - self.removed[name]
        return attrs.evolve(found, zones=zones) if zones else None

    def listed(self, zone: str) -> Iterator[MachineType]:
        """Yield the types that lists of a zone show, by name; lists leave out custom ones."""
        return (
            machine
            for name, machine in self.by_name.items()
            if zone in machine.zones and zone not in self.removed.get(name, ())
        )


def _catalogue(store: Store) -> _Catalogue:
    changes = _CHANGES.read(store)
    return _changed(json.dumps(changes, sort_keys=True)) if changes else _Catalogue(_of_google(), {})


@functools.lru_cache(maxsize=8)
def _changed(changes: str) -> _Catalogue:
    """Return the catalogue after changes, the JSON of the setting."""
    given = json.loads(changes)
    by_name = dict(_of_google())
    for name, fields in given.get("added", {}).items():
        by_name[name] = _added(name, fields, by_name.get(name))
    removed = {name: frozenset(zones) or _EVERYWHERE for name, zones in given.get("removed", {}).items()}
    return _Catalogue(dict(sorted(by_name.items())), removed)


def _added(name: str, fields: Json, known: MachineType | None) -> MachineType:
    """Make a type that is new, or a known type with more zones or other fields."""
    zones = frozenset(fields.get("zones") or _EVERYWHERE)
    if known is None:
        cpus, memory = fields.get("guestCpus", 1), fields.get("memoryMb", _MB)
        known = _machine_type(name, cpus, memory, zones, architecture=fields.get("architecture", "X86_64"))
    changes = {key: fields[key] for key in ("guestCpus", "memoryMb", "architecture") if key in fields}
    item = known.item | changes
    return MachineType(name, item["guestCpus"], known.zones | zones, item)


def find_machine_type(store: Store, name: str) -> MachineType | None:
    """Return the machine type of this name, if there is one in any zone."""
    return _catalogue(store).find(name)


def is_offered(store: Store, name: str, zone: str) -> bool:
    """Return whether a zone has a machine type."""
    found = find_machine_type(store, name)
    return found is not None and zone in found.zones


def included_local_ssds(store: Store, name: str) -> tuple[int, str]:
    """Return the number of local SSDs that a machine type includes, and the size of each in GB."""
    found = find_machine_type(store, name)
    count = found.item.get("bundledLocalSsds", {}).get("partitionCount", 0) if found else 0
    return count, "3000" if _series(name) == "z3" else "375"


def can_change(present: str, wanted: str) -> bool:
    """Return whether an instance can change from a machine type to another one, both given by their names.

    Source: the page "Edit the machine type of a compute instance".
    """
    series = {_series(present), _series(wanted)}
    return len(series) == 1 or series <= machine_families.INTERCHANGEABLE


def count_cpus(store: Store, names: Iterable[str]) -> int:
    """Add up the CPUs of instances, given by their machine types' names; a removed type counts as one CPU."""
    catalogue = _catalogue(store)
    return sum(found.cpus if (found := catalogue.find(name)) else 1 for name in names)


def check_in_zone(call: Call, link: str) -> MachineType:
    """Refuse the link to a machine type that the zone of the call does not have; return the machine type."""
    name, zone = last_part(link), call.path["zone"]
    if not name:
        raise required("resource.machineType")
    found = find_machine_type(call.store, name)
    if found is None or zone not in found.zones:
        raise not_in_zone("resource.machineType", link, zone)
    return found


def not_in_zone(field: str, link: str, zone: str) -> ApiError:
    """Say that a zone does not have a machine type."""
    return invalid(field, link, f"Machine type with name '{last_part(link)}' does not exist in zone '{zone}'.")


def check_anywhere(store: Store, field: str, name: str) -> None:
    """Refuse the name of a machine type that no zone has."""
    if find_machine_type(store, name) is None:
        raise invalid(field, name, "Instance properties must provide existing machine type.")


@functools.cache
def _of_google() -> Mapping[str, MachineType]:
    """Compute Google's machine types from the tables, by name and in the order of names."""
    zones = dict(_zones())
    found: dict[str, MachineType] = {}
    for line in machine_families.TYPES.strip().splitlines():
        kind, sizes, each, accelerators, ssds = _cells(line, 5)
        accelerator, *numbers = accelerators.split() or [""]
        partitions = ssds.split()
        for index, size in enumerate(sizes.split()):
            cpus, _, memory = size.partition("=")
            number = numbers[index] if "*g" in kind else cpus
            name = kind.replace("*", number)
            found[name] = _machine_type(
                name,
                int(cpus),
                # Google rounds the memory, except for this type.
                (int if name == "g1-small" else round)(float(memory or int(cpus) * float(each)) * _MB),
                zones.get(name) or zones[kind],
                architecture="ARM64" if _series(name) in machine_families.ARM else "X86_64",
                accelerators={accelerator: int(numbers[index])} if accelerator else {},
                partitions=int(partitions[index]) if partitions else 0,
                deprecated=kind in machine_families.DEPRECATED,
            )
    return dict(sorted(found.items()))


def _cells(line: str, number: int) -> list[str]:
    cells = [cell.strip() for cell in line.split("|")]
    return cells + [""] * (number - len(cells))


def _series(name: str) -> str:
    return name.partition("-")[0]


def _zones() -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the zones of each name in the table of zones."""
    for names, places in re.findall(r"((?:^\S.*\n)+)((?:^ .*\n)+)", machine_families.ZONES, re.MULTILINE):
        chosen: set[str] = set()
        for place in places.split():
            if place == "*":
                chosen.update(ZONES)
            elif place.startswith("-"):
                chosen.difference_update(_zones_at(place[1:]))
            else:
                chosen.update(_zones_at(place))
        for name in names.split():
            yield name, frozenset(chosen)


_WORKSTATIONS: Final = ("nvidia-l4", "nvidia-rtx-pro-6000", "nvidia-tesla-p100", "nvidia-tesla-p4", "nvidia-tesla-t4")
"""The accelerators that virtual workstations can have, too; their names then end in `-vws`."""


@functools.cache
def accelerator_zones() -> Mapping[str, frozenset[str]]:
    """Return the zones of each type of accelerators, in the order of names."""
    found = {
        name: frozenset(zone for place in places.split() for zone in _zones_at(place))
        for name, places in machine_families.FOR_N1.items()
    }
    for machine in _of_google().values():
        for item in machine.item.get("accelerators", ()):
            name = item["guestAcceleratorType"]
            found[name] = found.get(name, frozenset()) | machine.zones
    return dict(sorted((found | {f"{name}-vws": found[name] for name in _WORKSTATIONS}).items()))


def _zones_at(place: str) -> list[str]:
    """Name the zones of a place, such as `us-central1` or `us-central1-ac`."""
    region, _, letters = place.rpartition("-")
    return zones_of(place) if letters[-1].isdecimal() else [f"{region}-{letter}" for letter in letters]


def _machine_type(
    name: str,
    cpus: int,
    memory: int,
    zones: frozenset[str],
    *,
    architecture: str = "X86_64",
    accelerators: Mapping[str, int] | None = None,
    partitions: int = 0,
    deprecated: bool = False,
    number: int | None = None,
    description: str = "",
    is_shared: bool = False,
) -> MachineType:
    """Make a machine type with the fields that the API shows; `memory` is in MB, `number` its numeric ID."""
    is_shared = is_shared or name in machine_families.SHARED_CORE
    plural = "s" if cpus > 1 else ""
    core = " (shared physical core)" if is_shared else ""
    separator = " and" if is_shared else ","
    item: Json = {
        "kind": "compute#machineType",
        "id": str(number or _number(name)),
        "creationTimestamp": "1969-12-31T16:00:00.000-08:00",
        "name": name,
        "description": description or f"{cpus} vCPU{plural}{core}{separator} {round(memory / _MB, 1):g} GB RAM",
        "guestCpus": cpus,
        "memoryMb": memory,
        "imageSpaceGb": 0,
        "isSharedCpu": is_shared,
        "architecture": architecture,
    }
    if _series(name) in machine_families.WITH_PERSISTENT_DISKS or "custom" in name:
        disks, size = (16, "3072") if is_shared else (128, "263168")
        item |= {"maximumPersistentDisks": disks, "maximumPersistentDisksSizeGb": size}
    if accelerators:
        item["accelerators"] = [
            {"guestAcceleratorType": kind, "guestAcceleratorCount": count} for kind, count in accelerators.items()
        ]
    if partitions:
        item["bundledLocalSsds"] = {"defaultInterface": "NVME", "partitionCount": partitions}
    if deprecated:
        item["deprecated"] = {"state": "DEPRECATED"}
    return MachineType(name, cpus, zones, item)


_KNOWN_NUMBERS: Final = {"f1-micro": 1000, "g1-small": 2000}


def _number(name: str) -> int:
    """Return the numeric ID of a type, the same in every zone. Few are known; others are derived from the name."""
    return _KNOWN_NUMBERS.get(name) or 10**15 + int.from_bytes(hashlib.sha256(name.encode()).digest()[:6])


_CUSTOM_NAME: Final = re.compile(
    r"(?:(?P<series>[a-z]\w*)-)?custom-(?P<cpus>\d{1,4}|[a-z]+)-(?P<memory>\d{1,9})(?P<ext>-ext)?"
)
_MEMORY_STEP: Final = 256


@functools.lru_cache(maxsize=1024)
def _custom(name: str) -> MachineType | None:
    """Return the custom machine type with this name; None if its series has no such custom type."""
    parts = _CUSTOM_NAME.fullmatch(name)
    if parts is None or int(parts["memory"]) % _MEMORY_STEP:
        return None
    series, memory = parts["series"] or "n1", int(parts["memory"])
    if parts["cpus"].isdecimal():
        cpus, is_shared = int(parts["cpus"]), False
        fits = _fits_series(series, cpus, memory, is_extended=bool(parts["ext"]))
    else:
        least, most = machine_families.CUSTOM_SHARED_CORE.get(parts["cpus"], (0, -1))
        cpus, is_shared = 2, True
        fits = series == "e2" and least <= memory <= most and not parts["ext"]
    if not fits:
        return None
    return _machine_type(
        name,
        cpus,
        memory,
        _of_google()[f"{series}-standard-4"].zones,  # predefined and custom types of a series are in the same zones
        architecture="ARM64" if series in machine_families.ARM else "X86_64",
        number=(cpus << 32) + memory if series == "n1" else None,
        description="Custom created machine type.",
        is_shared=is_shared,
    )


def _fits_series(series: str, cpus: int, memory: int, *, is_extended: bool) -> bool:
    for line in machine_families.CUSTOM.strip().splitlines():
        name, allowed, limits, extension = _cells(line, 4)
        if name == series:
            least, most = map(int, limits.split() or (0, memory))
            has_memory = least * cpus <= memory and (is_extended or memory <= most * cpus)
            return cpus in _numbers(allowed) and has_memory and (not is_extended or extension == "ext")
    return False


def _numbers(text: str) -> set[int]:
    """Read numbers and ranges with a step, such as `1 2-96/2`."""
    found: set[int] = set()
    for part in text.split():
        numbers, _, step = part.partition("/")
        first, has_end, last = numbers.partition("-")
        found.update(range(int(first), int(last) + 1, int(step)) if has_end or step else (int(first),))
    return found


def _shown(call: Call, machine: MachineType, zone: str) -> Json:
    """Describe a machine type in a zone."""
    link = call.url(f"{call.project}/zones/{zone}/machineTypes/{machine.name}")
    return {**machine.item, "zone": zone, "selfLink": link}


@handles("compute.machineTypes.get")
def get_machine_type(call: Call) -> Json:
    """Read a machine type by name or numeric ID; custom ones, too."""
    check_location(call)
    catalogue, zone, wanted = _catalogue(call.store), call.path["zone"], call.path["machineType"]
    found = catalogue.find(wanted)
    if found is None and wanted.isdecimal():
        found = next((machine for machine in catalogue.listed(zone) if machine.item["id"] == wanted), None)
    if found is None or zone not in found.zones:
        raise not_found(f"{call.parent}/machineTypes/{wanted}")
    return _shown(call, found, zone)


@handles("compute.machineTypes.list")
def list_machine_types(call: Call) -> Json:
    """List the machine types of a zone."""
    check_location(call)
    path = f"{call.parent}/machineTypes"
    return list_page(call, "compute#machineTypeList", path, lambda: _page(call, [path]))


@handles("compute.machineTypes.aggregatedList")
def aggregate_machine_types(call: Call) -> Json:
    """List the machine types of every zone.

    The zones of us-central1 come first, as in a response of 2017, which had its zones in no order.
    """
    scopes = sorted(ZONAL, key=lambda scope: not scope.startswith("zones/us-central1-"))
    kind = "compute#machineTypeAggregatedList"
    return aggregate(call, "machineTypes", kind, scopes, lambda paths: _page(call, sorted(paths)))


def _page(call: Call, collections: list[str]) -> Page:
    """Read a page of the machine types of zones; `collections` are the paths of their collections."""
    catalogue = _catalogue(call.store)

    def rows_after(last: str) -> Iterator[tuple[str, Json]]:
        for path in collections:
            zone = path.split("/")[3]
            for machine in catalogue.listed(zone) if path >= last.rpartition("/")[0] else ():
                if f"{path}/{machine.name}" > last:
                    yield f"{path}/{machine.name}", _shown(call, machine, zone)

    return page_of(rows_after, call.query)
