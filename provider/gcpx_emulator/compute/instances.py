"""Instances."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.addresses import AddressPool, conflict_of
from gcpx_emulator.compute.call import Call, check_ready, handles, last_part
from gcpx_emulator.compute.capacity import Hardware, shortage_of_one
from gcpx_emulator.compute.collection import Collection
from gcpx_emulator.compute.disks import check_unused, check_zone, disk_path, new_disk, use_disk
from gcpx_emulator.compute.encryption_keys import check_key
from gcpx_emulator.compute.fingerprints import fingerprint, with_fingerprint
from gcpx_emulator.compute.images import image_warnings
from gcpx_emulator.compute.instance_lifecycle import STOPPING, effects_on_disks, in_creation, started
from gcpx_emulator.compute.instance_properties import accounts_of_instance, check_disk, fields_of_disk, kept_properties
from gcpx_emulator.compute.instance_templates import linked_template_properties
from gcpx_emulator.compute.instance_view import dns_warnings
from gcpx_emulator.compute.locations import ZONAL
from gcpx_emulator.compute.machine_images import linked_image_properties
from gcpx_emulator.compute.machine_references import check_machine, minimum_platform
from gcpx_emulator.compute.machine_types import check_in_zone, included_local_ssds
from gcpx_emulator.compute.networks import all_connected
from gcpx_emulator.compute.placement import check_policies, check_reservation, policy_path
from gcpx_emulator.core.clock import pacific_timestamp
from gcpx_emulator.core.errors import invalid, required
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.operations import Effect, put


def _create(call: Call, path: str, _head: Json) -> Json:
    """Create an instance and its new disks; it is provisioned and staged until the operation ends."""
    for index, disk in enumerate(call.body.get("disks") or ()):  # only templates and bulk creations name disks so
        if disk.get("source") and "/" not in disk["source"]:
            raise invalid(f"resource.disks[{index}].source", disk["source"], "The URL is malformed.")
    properties = _merged_properties(call)
    check_in_zone(call, str(properties.get("machineType", "")))
    check_disks(properties, is_restored="sourceMachineImage" in properties)
    check_machine(call, properties)
    check_policies(call, "resource", properties)
    check_reservation(call, "resource", properties)
    warnings = [*image_warnings(call, properties).get("warnings", ()), *dns_warnings(properties)]
    field, pool = "resource.networkInterfaces", AddressPool(call)
    interfaces = all_connected(call, field, properties.get("networkInterfaces") or [{}])
    conflict = conflict_of(call, field, interfaces)
    shortage = shortage_of_one(call, call.path["zone"], Hardware.of(properties), pool.space(interfaces))
    properties |= {"networkInterfaces": interfaces}
    instance, disk_effects = new_instance(call, path, properties, common_fields(call, properties), pool)
    failure = call.failure or shortage or conflict
    if failure is None:
        call.store.put(path, in_creation(call, instance))
    details = {"warnings": warnings} if warnings else {}
    return call.insert(path, instance, *disk_effects, details=details, failure=failure)


def _merged_properties(call: Call) -> Json:
    """Return the properties of the template or machine image that the call names, overridden by those in the call."""
    template, body = call.query.get("sourceInstanceTemplate"), call.body
    image = call.query.get("sourceMachineImage") or body.get("sourceMachineImage")
    if image:
        own = {"disks", "sourceMachineImage", "sourceMachineImageEncryptionKey"}
        return linked_image_properties(call, image) | {name: body[name] for name in body.keys() - own}
    return (linked_template_properties(call, "sourceInstanceTemplate", template) if template else {}) | body


def check_disks(properties: Json, *, is_restored: bool = False) -> None:
    """Refuse disks that new instances cannot have.

    `is_restored` says that the disks get their content from a machine image.
    """
    if not properties.get("disks"):
        raise required("resource.disks")
    for index, disk in enumerate(properties["disks"]):
        check_disk(f"resource.disks[{index}]", disk, index, by_name=False, needs_source=not is_restored)


def common_fields(call: Call, properties: Json) -> Json:
    """Write the fields that all new instances with these properties share; their interfaces are connected already."""
    kept = kept_properties(call, properties)
    kept.pop("params", None)
    if minimum_platform(kept) is None:
        kept.pop("minCpuPlatform", None)
    policies = {"resourcePolicies": [call.url(policy_path(call, link)) for link in kept.get("resourcePolicies", ())]}
    accounts = {"serviceAccounts": accounts_of_instance(call, kept.get("serviceAccounts") or [])}
    return {
        **kept,
        **(policies if "resourcePolicies" in kept else {}),
        **(accounts if "serviceAccounts" in kept else {}),
        "kind": "compute#instance",
        "creationTimestamp": pacific_timestamp(call.now),
        "labelFingerprint": fingerprint(properties.get("labels") or {}),
        "fingerprint": fingerprint(properties),
        "startRestricted": False,
        "satisfiesPzi": False,
        "deletionProtection": properties.get("deletionProtection", False),
    }


def new_instance(call: Call, path: str, properties: Json, common: Json, pool: AddressPool) -> tuple[Json, list[Effect]]:
    """Write a new, running instance; return it with the effects of its creation on disks.

    `common` are its `common_fields`; `pool` gives its interfaces their addresses.
    """
    parent, _, name = path.rpartition("/instances/")
    instance = common | {
        "id": call.store.new_id(),
        "name": name,
        "machineType": call.url(f"{parent}/machineTypes/{last_part(str(properties['machineType']))}"),
        "zone": call.url(parent),
        "selfLink": call.url(path),
        **started(call.store, common | {"name": name}, call.end),
    }
    disks = zip(common["disks"], properties["disks"], strict=True)
    attached = [_attached_disk(call, path, disk, given.get("diskEncryptionKey")) for disk, given in disks]
    instance["disks"] = [disk for disk, _ in attached]
    instance["disks"] += _included_disks(call, last_part(instance["machineType"]), instance["disks"])
    instance |= _shielded(properties, instance["disks"])
    sources = [disk["source"] for disk in instance["disks"] if "source" in disk]
    for index, source in enumerate(sources):
        if source in sources[:index]:
            raise invalid(f"resource.disks[{index}]", source, "The disk is named more than once.")
    instance["networkInterfaces"] = [with_fingerprint(pool.assign(nic)) for nic in common["networkInterfaces"]]
    return instance, [effect for _, effect in attached if effect]


def _included_disks(call: Call, machine_type: str, disks: list[Json]) -> list[Json]:
    """Return the local SSDs that the machine type of a new instance includes, unless the request has asked for them.

    Source: the page "About Local SSD disks".
    """
    given = sum(disk["type"] == "SCRATCH" for disk in disks)
    count, size = included_local_ssds(call.store, machine_type)
    return [
        {
            "kind": "compute#attachedDisk",
            "type": "SCRATCH",
            "mode": "READ_WRITE",
            "boot": False,
            "autoDelete": True,
            "deviceName": f"local-ssd-{number}",
            "interface": "NVME",
            "diskSizeGb": size,
            "index": len(disks) + number - given,
        }
        for number in range(given, count)
    ]


def _shielded(properties: Json, disks: list[Json]) -> Json:
    """Return the Shielded VM settings, which an instance has if its system can boot with UEFI."""
    given = properties.get("shieldedInstanceConfig") or properties.get("shieldedVmConfig")
    features = [feature["type"] for disk in disks for feature in disk.get("guestOsFeatures", ())]
    if given is None and "UEFI_COMPATIBLE" not in features:
        return {}
    defaults = {"enableSecureBoot": False, "enableVtpm": True, "enableIntegrityMonitoring": True}
    policy = {"updateAutoLearnPolicy": True}
    return {"shieldedInstanceConfig": defaults | (given or {}), "shieldedInstanceIntegrityPolicy": policy}


def _attached_disk(call: Call, instance: str, disk: Json, key: Json | None) -> tuple[Json, Effect | None]:
    """Complete an attached disk; return it with the effect on the disk itself, which is created unless it exists.

    `instance` is the instance's path, `key` the encryption key that the client sent for the disk.
    """
    parameters = disk.get("initializeParams", {})
    disk = {name: value for name, value in disk.items() if name != "initializeParams"}
    if disk.get("type") == "SCRATCH":
        return disk, None
    path = disk_path(call, instance, disk, parameters)
    field = f"resource.disks[{disk['index']}]"
    existing = call.linked("disk", f"{field}.source", path) if disk.get("source") else call.store.get(path)
    if existing is None:
        check_ready(call, path)
        own = {"diskEncryptionKey": key, "users": [call.url(instance)]}
        features = [*disk.get("guestOsFeatures", ()), *parameters.get("guestOsFeatures", ())]
        fields = {"sizeGb": disk.get("diskSizeGb"), **parameters, **own, "guestOsFeatures": features}
        new = new_disk(call, path, fields, f"{field}.initializeParams")
        return disk | fields_of_disk(call, path, new), put(path, new)
    check_zone(call, f"{field}.source", path, instance)
    check_unused(call, path, disk["mode"])
    check_key(f"{field}.diskEncryptionKey", key, existing)
    return disk | fields_of_disk(call, path, existing), use_disk(call, path, instance)


_INSTANCES: Final = Collection(name="instances", singular="instance", create=_create, scopes=ZONAL)
_INSTANCES.register("aggregatedList", "get", "insert", "list", "setLabels")


@handles("compute.instances.delete")
def delete_instance(call: Call) -> Json:
    """Delete an instance, and its disks with `autoDelete`."""
    path = f"{call.parent}/instances/{call.path['instance']}"
    instance = call.read(path)
    if instance.get("deletionProtection"):
        raise invalid("resource.deletionProtection", "true", "The instance is protected against deletion.")
    check_ready(call, path)
    if call.failure is None:
        call.store.put(path, instance | {"status": STOPPING})
    return call.delete(path, *effects_on_disks(call.store, path, instance))
