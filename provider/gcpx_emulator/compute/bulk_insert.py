"""Bulk creation: many instances in one call."""

from __future__ import annotations

from collections.abc import Iterator

from gcpx_emulator.compute.bulk_names import instance_names
from gcpx_emulator.compute.bulk_operations import BulkCreation, NewInstance
from gcpx_emulator.compute.bulk_placement import Placement, place
from gcpx_emulator.compute.call import Call, handles
from gcpx_emulator.compute.capacity import Hardware
from gcpx_emulator.compute.constraints.checks import check_merged_properties
from gcpx_emulator.compute.deprecations import image_warnings
from gcpx_emulator.compute.encryption import is_customer_supplied
from gcpx_emulator.compute.instance_flexibility import Choice, choices
from gcpx_emulator.compute.instance_templates import linked_template_properties
from gcpx_emulator.compute.instances import check_instance, new_instance
from gcpx_emulator.compute.locations import check_location
from gcpx_emulator.compute.reservations import check_reservation
from gcpx_emulator.compute.resource_policies import check_policies
from gcpx_emulator.compute.shortages import failure_with
from gcpx_emulator.core.errors import invalid, required
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.merge_patch import merge


@handles("compute.regionInstances.bulkInsert", "compute.instances.bulkInsert")
def bulk_insert(call: Call) -> Json:
    """Create instances; if fewer than the minimum can be created, none are."""
    check_location(call)
    properties = _merged_properties(call)
    kinds = choices(call, properties)
    for choice in kinds.values():
        check_instance(choice.properties)
        _check_keys(choice.properties)
    count = _count(call.body)
    _check_shared_disks(properties, count)
    check_policies(call, "resource.instanceProperties", properties, count)
    check_reservation(call, "resource.instanceProperties", properties)
    warnings = image_warnings(call, properties)
    return _creation(call, kinds, count, warnings).start(call)


def _creation(call: Call, kinds: dict[Hardware, Choice], count: int, warnings: Json) -> BulkCreation:
    """Decide which instances are created."""
    placement, minimum = place(call, list(kinds), count), int(call.body.get("minCount") or count)
    if call.failure is not None:
        placement = placement.failing_with(call.failure["errors"])
    names = instance_names(call, placement.zones, count)
    instances = list(_new_instances(call, kinds, placement, names))
    failed = {
        zone: [f"{call.project}/zones/{zone}/instances/{next(names)}" for _ in errors]
        for zone, errors in placement.errors.items()
    }
    failure = call.failure or (None if placement.total >= minimum else _minimum_not_reached(placement, minimum))
    return BulkCreation(placement, instances, failed, failure, warnings)


def _merged_properties(call: Call) -> Json:
    """Return the properties in the call, merged into those of the template if it names one (RFC 7396)."""
    own, link = call.body.get("instanceProperties") or {}, call.body.get("sourceInstanceTemplate")
    if not link:
        if not own:
            raise required("resource.instanceProperties")
        return dict(merge({}, own))
    merged: Json = merge(linked_template_properties(call, "resource.sourceInstanceTemplate", link), own)
    check_merged_properties(call.method, merged)
    return merged


def _check_keys(properties: Json) -> None:
    for disk in properties.get("disks") or ():
        if is_customer_supplied(disk.get("diskEncryptionKey")):
            raise invalid("resource.instanceProperties.disks", "", "Customer-supplied keys cannot be used in bulk.")


def _check_shared_disks(properties: Json, count: int) -> None:
    """Refuse to let several instances write to one disk."""
    for index, disk in enumerate(properties.get("disks") or ()):
        if count > 1 and disk.get("source") and disk.get("mode") != "READ_ONLY":
            field = f"resource.instanceProperties.disks[{index}].mode"
            raise invalid(field, disk.get("mode", ""), "A disk of several instances must be read-only.")


def _count(body: Json) -> int:
    """Return the number of instances; refuse one that does not fit the names."""
    names, pattern = body.get("perInstanceProperties") or {}, body.get("namePattern")
    if not names and not pattern:
        raise required("resource.namePattern")
    if names and pattern:
        raise invalid("resource.namePattern", pattern, "Conflicts with perInstanceProperties.")
    count = int(body.get("count") or len(names))
    if not count:
        raise required("resource.count")
    if names and count != len(names):
        raise invalid("resource.count", count, "Must be the number of perInstanceProperties.")
    return count


def _new_instances(
    call: Call, kinds: dict[Hardware, Choice], placement: Placement, names: Iterator[str]
) -> Iterator[NewInstance]:
    own_properties = call.body.get("perInstanceProperties") or {}
    for zone, placed in placement.placed.items():
        for hardware in placed:
            name = next(names)
            path = f"{call.project}/zones/{zone}/instances/{name}"
            hostname = (own_properties.get(name) or {}).get("hostname")
            own = {"hostname": hostname} if hostname else {}
            yield NewInstance(path, *new_instance(call, path, kinds[hardware].properties | own))


def _minimum_not_reached(placement: Placement, minimum: int) -> Json:
    message = f"Requested minimum count of {minimum} VMs could not be created."
    reached = {"code": "VM_MIN_COUNT_NOT_REACHED", "message": message}
    return failure_with(*placement.causes) | {"errors": [reached, *placement.causes]}
