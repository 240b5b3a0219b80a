"""The properties of instances and templates: checks, and the stored form with defaults."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.call import Call, last_part
from gcpx_emulator.compute.constraints import TEMPLATES
from gcpx_emulator.compute.encryption_keys import shown_key, shown_keys
from gcpx_emulator.compute.fingerprints import metadata_with_fingerprint, tags_with_fingerprint
from gcpx_emulator.compute.machine_types import check_anywhere
from gcpx_emulator.compute.networks import find_subnetwork, network_path, subnetwork_path
from gcpx_emulator.compute.predefined_resources import DISK_TYPES
from gcpx_emulator.core.errors import invalid, required
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.projects import default_service_account
from gcpx_emulator.core.store import Store

_NOT_KEPT: Final = ("resourceManagerTags",)
_KEYS: Final = ("instanceEncryptionKey", "sourceMachineImageEncryptionKey")
_PARAMETERS_NOT_KEPT: Final = (*_NOT_KEPT, "sourceImageEncryptionKey", "sourceSnapshotEncryptionKey", "architecture")
_SHARED_WITH_THE_DISK: Final[tuple[str, ...]] = ("architecture", "diskEncryptionKey", "guestOsFeatures", "licenses")
_BOOT_SOURCES: Final = ("sourceImage", "sourceSnapshot", "sourceInstantSnapshot")
_ACCESS_CONFIGS: Final = {
    "accessConfigs": {"type": "ONE_TO_ONE_NAT", "name": "External NAT"},
    "ipv6AccessConfigs": {"type": "DIRECT_IPV6", "name": "External IPv6"},
}
"""The defaults of each kind of access config."""


def check_properties(store: Store, properties: Json) -> None:
    """Refuse properties that a template cannot have."""
    if not properties:
        raise required("resource.properties")
    for name in ("machineType", "disks", "networkInterfaces"):
        if not properties.get(name):
            raise required(f"resource.properties.{name}")
    check_anywhere(store, "resource.properties.machineType", properties["machineType"])
    for index, disk in enumerate(properties["disks"]):
        check_disk(f"resource.properties.disks[{index}]", disk, index, by_name=True)
    links = [interface.get("subnetwork") for interface in properties["networkInterfaces"]]
    for index, link in enumerate(links):  # whether the subnetwork exists or not
        if link and link in links[:index]:
            why = "Subnetworks must be distinct for NICs in the same instance."
            raise invalid(f"resource.properties.networkInterfaces[{index}].subnetwork", link, why)


def check_disk(field: str, disk: Json, index: int, *, by_name: bool, needs_source: bool = True) -> None:
    """Refuse an attached disk that cannot be at this index; `by_name` refuses a URL as its type, as templates do.

    `needs_source` requires a source for a new boot disk.
    """
    parameters, source = disk.get("initializeParams"), disk.get("source")
    if parameters is not None and source is not None:
        raise invalid(field, source, "Cannot have both source and initializeParams.")
    if disk.get("boot"):
        if index:
            raise invalid(f"{field}.boot", "true", "Boot disk must be the first disk attached to the instance.")
        if needs_source and not source and not any((parameters or {}).get(name) for name in _BOOT_SOURCES):
            raise required(f"{field}.initializeParams.sourceImage")
    disk_type = (parameters or {}).get("diskType", "")
    if by_name and "/" in disk_type:
        raise invalid(f"{field}.initializeParams.diskType", disk_type, "The disk type must be a name, not a URL.")
    if disk_type and last_part(disk_type) not in DISK_TYPES:
        raise invalid(f"{field}.initializeParams.diskType", disk_type, "The disk type does not exist.")


def kept_properties(call: Call, properties: Json) -> Json:
    """Write the stored form of properties: with defaults, and without secrets."""
    kept = {name: value for name, value in properties.items() if name not in (*_NOT_KEPT, *_KEYS)}
    kept |= shown_keys(properties, _KEYS)
    disks, interfaces = properties.get("disks") or [], properties.get("networkInterfaces") or []
    scheduling = properties.get("scheduling") or {}
    is_spot = scheduling.get("provisioningModel") == "SPOT" or scheduling.get("preemptible", False)
    is_fixed = is_spot or bool(properties.get("guestAccelerators"))  # to its host
    default_scheduling = {
        "onHostMaintenance": "TERMINATE" if is_fixed else "MIGRATE",
        "automaticRestart": not is_spot,
        "preemptible": is_spot,
        "provisioningModel": "STANDARD",  # also for preemptible instances, the predecessor of Spot
    }
    return kept | {
        "disks": [kept_disk(call, disk, index) for index, disk in enumerate(disks)],
        "networkInterfaces": [kept_interface(call, nic, index) for index, nic in enumerate(interfaces)],
        "scheduling": default_scheduling | scheduling,
        "metadata": metadata_with_fingerprint((properties.get("metadata") or {}).get("items") or []),
        "tags": tags_with_fingerprint((properties.get("tags") or {}).get("items") or []),
    }


def accounts_of_instance(call: Call, accounts: list[Json]) -> list[Json]:
    """Return the service accounts of an instance, which shows an address in place of `default`.

    Source: recorded instances have an address, and recorded templates have `default`, which gcloud sends for both.
    """
    address = default_service_account(call.path["project"])
    return [account | {"email": address} if account.get("email") == "default" else account for account in accounts]


def kept_disk(call: Call, disk: Json, index: int) -> Json:
    """Write the stored form of an attached disk."""
    kept = {name: value for name, value in disk.items() if name != "forceAttach"}
    given = kept.get("initializeParams")
    if given:
        # The disk of an instance has them; a template does not show them.
        not_kept = _PARAMETERS_NOT_KEPT if call.method.id.startswith(TEMPLATES) else _NOT_KEPT
        parameters = {name: value for name, value in given.items() if name not in not_kept}
        kept["initializeParams"] = {"diskType": "pd-standard"} | parameters
    if "/" in kept.get("source", ""):
        kept["source"] = call.full_url(kept["source"])
    if not kept.get("deviceName"):
        kept.pop("deviceName", None)
    key = shown_key(kept.pop("diskEncryptionKey", None))
    defaults = {
        "kind": "compute#attachedDisk",
        "type": "PERSISTENT",
        "mode": "READ_WRITE",
        "boot": False,
        "autoDelete": False,
        "deviceName": f"{'local-ssd' if disk.get('type') == 'SCRATCH' else 'persistent'}-disk-{index}",
        "interface": "SCSI",
    }
    return defaults | kept | ({"diskEncryptionKey": key} if key else {}) | {"index": index}


def fields_of_disk(call: Call, path: str, disk: Json) -> Json:
    """Return the fields of an attached disk that follow from the disk itself."""
    shared = {field: disk[field] for field in _SHARED_WITH_THE_DISK if field in disk}
    return {"source": call.url(path), "diskSizeGb": disk["sizeGb"], **shared}


def kept_interface(call: Call, interface: Json, index: int) -> Json:
    """Write the stored form of a network interface."""
    kept = dict(interface)
    network, subnetwork = kept.get("network"), kept.get("subnetwork")
    if subnetwork:
        path = subnetwork_path(call, subnetwork)
        kept["subnetwork"] = call.url(path)
        found = find_subnetwork(call, path)
        default = f"{path.partition('/regions/')[0]}/global/networks/default"
        network = network or (found["network"] if found else default)
    if network or not kept.get("networkAttachment"):
        kept["network"] = call.url(network_path(call, network or "default"))
    for name, defaults in _ACCESS_CONFIGS.items():
        if kept.get(name):
            common = {"kind": "compute#accessConfig", "networkTier": "PREMIUM", **defaults}
            kept[name] = [common | config for config in kept[name]]
    # The service names interfaces, whatever the request calls them.
    return {"kind": "compute#networkInterface", **kept, "name": f"nic{index}"}
