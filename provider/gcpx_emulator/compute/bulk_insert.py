"""Bulk creation: many instances in one call, with their machine types, zones, names and operations."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from typing import Final

import attrs

from gcpx_emulator.compute.addresses import AddressPool, conflict_of
from gcpx_emulator.compute.call import Call, handles, last_part
from gcpx_emulator.compute.capacity import (
    AddressSpace,
    Hardware,
    Room,
    addresses_exhausted,
    failure_with,
    left_in_region,
    quota_exceeded,
    refuse_at_request,
    room_in,
    stock_out,
    zones_with_room,
)
from gcpx_emulator.compute.constraints import check_merged_properties
from gcpx_emulator.compute.encryption_keys import is_customer_supplied
from gcpx_emulator.compute.images import image_warnings
from gcpx_emulator.compute.instance_lifecycle import in_creation
from gcpx_emulator.compute.instance_templates import linked_template_properties
from gcpx_emulator.compute.instances import check_disks, common_fields, new_instance
from gcpx_emulator.compute.locations import check_location, region_in, region_of, zones_of
from gcpx_emulator.compute.machine_references import check_machine
from gcpx_emulator.compute.machine_types import (
    accelerator_zones,
    check_anywhere,
    find_machine_type,
    is_offered,
    not_in_zone,
)
from gcpx_emulator.compute.networks import all_connected
from gcpx_emulator.compute.placement import check_policies, check_reservation
from gcpx_emulator.compute.work import Work
from gcpx_emulator.core.errors import ApiError, already_exists, check_given, invalid, not_found, required
from gcpx_emulator.core.json_data import Json, merge
from gcpx_emulator.core.operations import Effect, delete, put
from gcpx_emulator.core.projects import project_number

_MACHINE_TYPE: Final = "resource.instanceProperties.machineType"


@handles("compute.regionInstances.bulkInsert", "compute.instances.bulkInsert")
def bulk_insert(call: Call) -> Json:
    """Create instances; if fewer than the minimum can be created, none are."""
    check_location(call)
    if "zone" in call.path and call.body.get("locationPolicy"):
        raise ApiError(501, f"{call.method.id} with 'locationPolicy' is not emulated")
    properties = _merged_properties(call)
    field = "resource.instanceProperties.networkInterfaces"
    interfaces = all_connected(call, field, properties.get("networkInterfaces") or [{}])
    properties |= {"networkInterfaces": interfaces}
    kinds, count = _existing(call, choices(call, properties)), _count(call.body)
    for choice in kinds.values():
        check_disks(choice.properties)
        check_machine(call, choice.properties)
        _check_disks(choice.properties, count)
    call = attrs.evolve(call, failure=call.failure or conflict_of(call, field, interfaces, count))
    check_policies(call, "resource.instanceProperties", properties, count)
    check_reservation(call, "resource.instanceProperties", properties)
    warnings = image_warnings(call, properties)
    pool = AddressPool(call, count)
    placement = place(call, list(kinds), count, pool.space(interfaces))
    return _start(call, placement, _members(call, kinds, placement, count, pool), warnings)


def _existing(call: Call, kinds: dict[Hardware, Choice]) -> dict[Hardware, Choice]:
    """Leave out the choices whose machine type does not exist; refuse the creation if none is left.

    Source: the page "About instance flexibility for VMs created in bulk".
    """
    existing = {kind: choice for kind, choice in kinds.items() if find_machine_type(call.store, kind.machine_type)}
    if not existing:
        name = next(iter(kinds)).machine_type
        if not name:
            raise required(_MACHINE_TYPE)
        check_anywhere(call.store, _MACHINE_TYPE, name)
    return existing


def _merged_properties(call: Call) -> Json:
    """Return the properties in the call, merged into those of the template if it names one (RFC 7396)."""
    own, link = call.body.get("instanceProperties") or {}, call.body.get("sourceInstanceTemplate")
    if not link:
        check_given(call.body, "instanceProperties")
        return dict(merge({}, own))
    merged: Json = merge(linked_template_properties(call, "resource.sourceInstanceTemplate", link), own)
    check_merged_properties(call.method, merged)
    return merged


def _check_disks(properties: Json, count: int) -> None:
    """Refuse customer-supplied keys, and a disk that several instances would write to."""
    for index, disk in enumerate(properties.get("disks") or ()):
        if is_customer_supplied(disk.get("diskEncryptionKey")):
            raise invalid("resource.instanceProperties.disks", "", "Customer-supplied keys cannot be used in bulk.")
        if count > 1 and disk.get("source") and disk.get("mode") != "READ_ONLY":
            field = f"resource.instanceProperties.disks[{index}].mode"
            raise invalid(field, disk.get("mode", ""), "A disk of several instances must be read-only.")


def _count(body: Json) -> int:
    """Return the number of instances; refuse a number that does not fit the names."""
    names, pattern = body.get("perInstanceProperties") or {}, body.get("namePattern")
    if not names:
        check_given(body, "namePattern")
    if names and pattern:
        raise invalid("resource.namePattern", pattern, "Conflicts with perInstanceProperties.")
    count = int(body.get("count") or len(names))
    if not count:
        raise required("resource.count")
    if names and count != len(names):
        raise invalid("resource.count", count, "Must be the number of perInstanceProperties.")
    return count


@attrs.frozen
class Choice:
    """One machine type that instances may have.

    Attributes:
        properties: the properties of instances with this machine type.
    """

    rank: int
    hardware: Hardware
    properties: Json


def choices(call: Call, properties: Json) -> dict[Hardware, Choice]:
    """List the choices for instances with these properties, in the order of use.

    Lower ranks come first, and within a rank the machine type for which the region has the most room.
    """
    policy = call.body.get("instanceFlexibilityPolicy") or {}
    if not policy:
        name = last_part(str(properties.get("machineType", "")))
        own = properties | {"machineType": name}
        hardware = Hardware.of(own)
        return {hardware: Choice(0, hardware, own)}
    if "zone" in call.path:
        raise invalid("resource.instanceFlexibilityPolicy", "", "Only regional bulk creations support it.")
    found = sorted(_selected(policy, properties), key=lambda choice: (choice.rank, -_room_in_region(call, choice)))
    if not found:
        raise required("resource.instanceFlexibilityPolicy.instanceSelections")
    by_hardware: dict[Hardware, Choice] = {}
    for choice in found:
        # Of several selections with the same machine type, the first applies.
        by_hardware.setdefault(choice.hardware, choice)
    return by_hardware


def _selected(policy: Json, properties: Json) -> Iterator[Choice]:
    for name, selection in (policy.get("instanceSelections") or {}).items():
        if not selection.get("machineTypes"):
            raise required(f"resource.instanceFlexibilityPolicy.instanceSelections.{name}.machineTypes")
        changes = {
            key: selection[key] for key in ("disks", "guestAccelerators", "minCpuPlatform") if selection.get(key)
        }
        for machine_type in selection["machineTypes"]:
            own = properties | changes | {"machineType": machine_type}
            yield Choice(int(selection.get("rank") or 0), Hardware.of(own), own)


def _room_in_region(call: Call, choice: Choice) -> int:
    return sum(room_in(call, zone, [choice.hardware]).free for zone in zones_of(region_in(call)))


@attrs.frozen
class Placement:
    """The instances that are created in each zone, and the errors of the others.

    Attributes:
        zones: every zone that may be used.
        wanted: the target shape's distribution of all instances, also of those without room.
        placed: the hardware of the instances that are created.
        errors: one error for each instance that is not created.
        failure: the failure of the whole creation, if it fails; then the created instances are deleted again.
    """

    zones: list[str]
    wanted: dict[str, int]
    placed: dict[str, list[Hardware]]
    errors: dict[str, list[Json]]
    failure: Json | None


def place(call: Call, kinds: list[Hardware], count: int, space: AddressSpace) -> Placement:
    """Distribute this number of instances, as the location policy of the call says; preferred kinds come first.

    Raises:
        ApiError: 403, if quotas are checked at the request and this one does not allow the minimum.
    """
    rooms, region = room_by_zone(call, kinds), region_in(call)
    shape = (call.body.get("locationPolicy") or {}).get("targetShape", "ANY_SINGLE_ZONE")
    wanted, minimum = spread(count, rooms, shape), int(call.body.get("minCount") or count)
    quota = left_in_region(call, region, "instances")
    if quota < minimum:
        refuse_at_request(call, region)
    if call.failure is not None:
        errors = {zone: call.failure["errors"][:1] * number for zone, number in wanted.items()}
        return Placement(list(rooms), wanted, {zone: [] for zone in wanted}, errors, call.failure)
    left, placed = min(quota, space.left), {}
    for zone, number in wanted.items():
        placed[zone] = rooms[zone].fill(min(number, left))
        left -= len(placed[zone])
    errors = {zone: list(_errors(call, zone, rooms[zone], placed, wanted[zone], space)) for zone in wanted}
    is_reached = sum(map(len, placed.values())) >= minimum
    return Placement(list(rooms), wanted, placed, errors, None if is_reached else _minimum_not_reached(errors, minimum))


def room_by_zone(call: Call, kinds: list[Hardware]) -> dict[str, Room]:
    """Return the room in each zone that may be used."""
    if "zone" in call.path:
        (zone,) = _with_machine_type(call, [call.path["zone"]], kinds)
        return {zone: room_in(call, zone, kinds)}
    policy = call.body.get("locationPolicy") or {}
    locations = {last_part(link): location for link, location in (policy.get("locations") or {}).items()}
    zones = zones_of(call.path["region"])
    unknown = set(locations) - set(zones)
    if unknown:
        names = ", ".join(sorted(unknown))
        raise invalid("resource.locationPolicy.locations", names, "Not a zone of the region.")
    usable = _usable_zones(zones, locations, [item["zone"] for item in policy.get("zones") or ()])
    if not usable:
        raise invalid("resource.locationPolicy", "", "No zone is left.")
    usable = _with_machine_type(call, usable, kinds)
    caps = {zone: (locations.get(zone, {}).get("constraints") or {}).get("maxCount") for zone in usable}
    return {zone: room_in(call, zone, kinds, most=caps[zone]) for zone in usable}


def _with_machine_type(call: Call, zones: list[str], kinds: list[Hardware]) -> list[str]:
    """Leave out zones without any of the machine types or its accelerators; refuse the creation if no zone is left."""
    chosen = [zone for zone in zones if any(is_offered(call.store, kind.machine_type, zone) for kind in kinds)]
    if not chosen:
        raise not_in_zone(_MACHINE_TYPE, kinds[0].machine_type, zones[0])
    accelerated = [zone for zone in chosen if any(_has_accelerators(kind, zone) for kind in kinds)]
    if not accelerated:
        name = kinds[0].attachment.partition(":")[0]
        raise not_found(f"{call.project}/zones/{chosen[0]}/acceleratorTypes/{name}")
    return accelerated


def _has_accelerators(kind: Hardware, zone: str) -> bool:
    names = [item.partition(":")[0] for item in kind.attachment.split(",") if item]
    return all(zone in accelerator_zones().get(name, ()) for name in names)


def _usable_zones(zones: list[str], locations: Json, links: list[str]) -> list[str]:
    """Leave out zones that are denied and, if there are links, all zones without a link.

    A zone that is allowed excludes no other: gcloud's help of `--location-policy` and Google's Cluster Toolkit say so.
    """
    denied = {zone for zone, location in locations.items() if location.get("preference") == "DENY"}
    chosen = {last_part(link) for link in links} or set(zones)
    return [zone for zone in zones if zone in chosen - denied]


def spread(count: int, rooms: dict[str, Room], shape: str) -> dict[str, int]:
    """Distribute instances over zones as a target shape says; those for which no zone has room are wanted, too.

    `BALANCED` prefers room to balance, and is as even as the room of the zones allows, as Google's reference of
    `TargetShape` says.
    """
    if shape == "BALANCED":
        most, wanted = {zone: len(room.fill(count)) for zone, room in rooms.items()}, dict.fromkeys(rooms, 0)
        for _ in range(count):
            free = [zone for zone in rooms if wanted[zone] < most[zone]]
            wanted[min(free or rooms, key=wanted.__getitem__)] += 1
        return wanted
    if shape == "ANY_SINGLE_ZONE":
        # Zones are compared by the number of instances that fit, and then by the number on each preferred hardware.
        filled = {zone: room.fill(count) for zone, room in rooms.items()}
        fitting = {zone: [len(chosen), *map(chosen.count, rooms[zone].by_hardware)] for zone, chosen in filled.items()}
        return {max(fitting, key=fitting.__getitem__): count}
    return _anywhere(count, rooms)


def _anywhere(count: int, rooms: dict[str, Room]) -> dict[str, int]:
    """Use up the preferred hardware in all zones before the next; the last zone takes the instances that do not fit."""
    wanted, left = dict.fromkeys(rooms, 0), count
    kinds = next(iter(rooms.values())).by_hardware
    for hardware in kinds:
        for zone, room in rooms.items():
            taken = min(left, room.by_hardware[hardware], room.total - wanted[zone])
            wanted[zone] += taken
            left -= taken
    last = next(reversed(rooms))
    wanted[last] += left
    return {zone: number for zone, number in wanted.items() if number}


def _errors(
    call: Call, zone: str, room: Room, placed: dict[str, list[Hardware]], wanted: int, space: AddressSpace
) -> Iterator[Json]:
    """Yield an error for each instance that a zone should get but does not, because the zone or the region is full."""
    missing = wanted - len(placed[zone])
    without_room = min(missing, wanted - min(wanted, room.free))
    if without_room:
        first = next(iter(room.by_hardware))
        yield from [stock_out(call, zone, first, zones_with_room(call, zone, first, placed))] * without_room
    if missing > without_room:
        region = region_of(zone)
        of_quota = left_in_region(call, region, "instances") <= space.left
        error = quota_exceeded(call, region) if of_quota else addresses_exhausted(call, space.subnetwork)
        yield from [error] * (missing - without_room)


def _minimum_not_reached(errors: dict[str, list[Json]], minimum: int) -> Json:
    """Return the failure of a creation with these errors."""
    causes: list[Json] = []
    for error in (error for in_zone in errors.values() for error in in_zone):
        if error not in causes:
            causes.append(error)
    message = f"Requested minimum count of {minimum} VMs could not be created."
    reached = {"code": "VM_MIN_COUNT_NOT_REACHED", "message": message}
    return failure_with(*causes) | {"errors": [reached, *causes]}


@attrs.frozen
class Members:
    """The instances of a bulk creation.

    Attributes:
        created: the path, the resource and the effects on disks of each created instance.
        missing: the path and the error of each instance that is not created.
    """

    created: list[tuple[str, Json, list[Effect]]]
    missing: list[tuple[str, Json]]


def _members(call: Call, kinds: dict[Hardware, Choice], placement: Placement, count: int, pool: AddressPool) -> Members:
    """Name all instances, and write the created ones."""
    names, own_properties = instance_names(call, placement.zones, count), call.body.get("perInstanceProperties") or {}
    common = {hardware: common_fields(call, choice.properties) for hardware, choice in kinds.items()}
    created = []
    for zone, hardware in ((zone, hardware) for zone, placed in placement.placed.items() for hardware in placed):
        name = next(names)
        path = f"{call.project}/zones/{zone}/instances/{name}"
        hostname = (own_properties.get(name) or {}).get("hostname")
        own = {"hostname": hostname} if hostname else {}
        created.append((path, *new_instance(call, path, kinds[hardware].properties, common[hardware] | own, pool)))
    missing = [
        (f"{call.project}/zones/{zone}/instances/{next(names)}", error)
        for zone, errors in placement.errors.items()
        for error in errors
    ]
    return Members(created, missing)


def instance_names(call: Call, zones: list[str], count: int) -> Iterator[str]:
    """Return the names in the call, or the next ones of its name pattern; none may be in use in these zones."""
    listed = call.body.get("perInstanceProperties")
    if not listed:
        return _numbered_names(call, zones, count)
    for name in listed:
        if any(call.store.get(f"{call.project}/zones/{zone}/instances/{name}") is not None for zone in zones):
            raise already_exists(f"instances/{name}")
    return iter(listed)


def _numbered_names(call: Call, zones: list[str], count: int) -> Iterator[str]:
    """Yield names with the numbers that follow the highest one in use."""
    pattern = call.body["namePattern"]
    width = pattern.count("#")
    first = 1 + max((number for zone in zones for number in _numbers(call, zone, pattern)), default=0)
    if len(str(first + count - 1)) > width:
        raise invalid("resource.namePattern", pattern, "Has too few # for the names that are needed.")
    yield from (pattern.replace("#" * width, f"{number:0{width}}") for number in range(first, first + count))


def _numbers(call: Call, zone: str, pattern: str) -> Iterator[int]:
    """Yield the numbers in those names of a zone's instances that fit a name pattern."""
    run = "#" * pattern.count("#")
    form = re.compile(re.escape(pattern).replace(re.escape(run), rf"(\d{{{len(run)}}})"))
    for instance in call.store.list(f"{call.project}/zones/{zone}/instances"):
        match = form.fullmatch(instance["name"])
        if match:
            yield int(match[1])


_CANCELED: Final = {"code": "OPERATION_CANCELED_BY_USER", "message": "Operation was canceled by user ''."}
"""The error of an instance that had room, if the whole creation fails."""


def _start(call: Call, placement: Placement, members: Members, warnings: Json) -> Json:
    """Start the operations of the instances and of the whole creation; return the latter.

    The instances exist while the operations run, and no longer if the creation fails.
    """
    group, failure = {"operationGroupId": str(uuid.uuid4())}, placement.failure
    canceled = failure_with(_CANCELED) if failure else None
    works = [
        Work(kind="insert", target=path, target_id=instance["id"], failure=canceled, details=group)
        for path, instance, _ in members.created
    ]
    ids = call.group_ids(len(members.missing))
    works += [
        Work(kind="insert", target=path, target_id=target_id, failure=failure_with(error), details=group)
        for (path, error), target_id in zip(members.missing, ids, strict=True)
    ]
    by_zone = {
        f"zones/{zone}": {
            "status": "ROLLING_BACK" if failure else "DONE",
            "targetVmCount": wanted,
            "createdVmCount": len(placement.placed[zone]),
            "failedToCreateVmCount": len(placement.errors[zone]),
            "deletedVmCount": len(placement.placed[zone]) if failure else 0,
        }
        for zone, wanted in placement.wanted.items()
    }
    whole = Work(
        kind="bulkInsert",
        target=call.project,
        target_id=project_number(call.path["project"]),
        effects=[effect for path, instance, on_disks in members.created for effect in (put(path, instance), *on_disks)],
        undoing=[delete(path) for path, _, _ in members.created],
        failure=failure,
        details=warnings | group | {"instancesBulkInsertOperationMetadata": {"perLocationStatus": by_zone}},
    )
    with call.store.transaction():
        for path, instance, _ in members.created:
            call.store.put(path, in_creation(call, instance))
    return call.start(whole, works)
