"""Bulk creation: many instances in one call."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

from gcpx_emulator.compute.bulk_names import instance_names
from gcpx_emulator.compute.bulk_placement import Placement, place
from gcpx_emulator.compute.call import Call, handles
from gcpx_emulator.compute.constraints.checks import check_merged_properties
from gcpx_emulator.compute.deprecations import image_warnings
from gcpx_emulator.compute.encryption import is_customer_supplied
from gcpx_emulator.compute.instance_templates import linked_template_properties
from gcpx_emulator.compute.instances import check_instance, new_instance
from gcpx_emulator.compute.links import last_part
from gcpx_emulator.compute.locations import check_location
from gcpx_emulator.compute.operation_resource import Work
from gcpx_emulator.core.effects import Effect, put
from gcpx_emulator.core.errors import invalid, required
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.merge_patch import merge


@handles("compute.regionInstances.bulkInsert", "compute.instances.bulkInsert")
def bulk_insert(call: Call) -> Json:
    """Create instances; if fewer than the minimum can be created, none are."""
    check_location(call)
    properties = _merged_properties(call)
    check_instance(properties | {"machineType": last_part(str(properties.get("machineType", "")))})
    _check_keys(properties)
    count = _count(call.body)
    _check_shared_disks(properties, count)
    placement, minimum = place(call, count), int(call.body.get("minCount") or count)
    names = _names_by_zone(call, placement, count)
    failure = None if placement.total >= minimum else _minimum_not_reached(placement, minimum)
    succeeds = failure is None and call.failure is None
    effects = list(_effects(call, properties, names)) if succeeds else []
    details = image_warnings(call, properties) | _progress(placement, succeeds=succeeds)
    work = Work(kind="bulkInsert", target=call.parent, target_id="0", effects=effects, failure=failure, details=details)
    return call.start(work)


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


def _names_by_zone(call: Call, placement: Placement, count: int) -> dict[str, list[str]]:
    names = instance_names(call, placement.zones, count)
    return {zone: [next(names) for _ in range(number)] for zone, number in placement.placed.items()}


def _effects(call: Call, properties: Json, names_by_zone: dict[str, list[str]]) -> Iterator[Effect]:
    own_properties = call.body.get("perInstanceProperties") or {}
    for zone, names in names_by_zone.items():
        for name in names:
            path = f"{call.project}/zones/{zone}/instances/{name}"
            hostname = (own_properties.get(name) or {}).get("hostname")
            own = {"hostname": hostname} if hostname else {}
            instance, disk_effects = new_instance(call, path, {**properties, **own})
            yield from (put(path, instance), *disk_effects)


def _progress(placement: Placement, *, succeeds: bool) -> Json:
    """Write the fields of the operation that show how many instances are created in each zone."""
    status = {
        f"zones/{zone}": {
            "status": "DONE" if succeeds else "ROLLING_BACK",
            "targetVmCount": wanted,
            "createdVmCount": placement.placed[zone],
            "failedToCreateVmCount": wanted - placement.placed[zone],
            "deletedVmCount": 0 if succeeds else placement.placed[zone],
        }
        for zone, wanted in placement.wanted.items()
    }
    metadata = {"perLocationStatus": status}
    return {"operationGroupId": str(uuid.uuid4()), "instancesBulkInsertOperationMetadata": metadata}


def _minimum_not_reached(placement: Placement, minimum: int) -> Json:
    message = f"Requested minimum count of {minimum} VMs could not be created."
    error = {"code": "VM_MIN_COUNT_NOT_REACHED", "message": message}
    return {"errors": [*([placement.shortage] if placement.shortage else []), error], "httpErrorStatusCode": 503}
