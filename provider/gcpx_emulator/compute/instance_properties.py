"""What instances are made of: checked on the way in, filled in with defaults for keeping."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any, Final

from gcpx_emulator.compute.catalog import DISKS, ZONES
from gcpx_emulator.compute.encryption import shown_key
from gcpx_emulator.compute.images import image_path
from gcpx_emulator.core.errors import invalid, required
from gcpx_emulator.core.handlers import Call
from gcpx_emulator.core.store import Json

_NOT_STORED: Final = ("resourceManagerTags",)
_ONE_ACCESS: Final = {"accessConfigs": "ONE_TO_ONE_NAT", "ipv6AccessConfigs": "DIRECT_IPV6"}


def fingerprint(value: Any) -> str:
    """Hash a value as the API's fingerprints do: any change changes it."""
    return base64.b64encode(hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()[:8]).decode()


def full(call: Call, link: str, project: str) -> str:
    """Make a partial URL a full one."""
    path = re.sub(r"^https?://[^/]+/compute/(?:v1|beta)/", "", link)
    return f"{call.base}/{path}" if path.startswith("projects/") else f"{call.base}/projects/{project}/{path}"


def check_properties(properties: Json) -> Json:
    """Refuse properties that no template can have."""
    if not properties:
        raise required("resource.properties")
    machine = properties.get("machineType")
    if not machine:
        raise required("resource.properties.machineType")
    if "/" in machine:
        raise invalid("resource.properties.machineType", machine, "The machine type must be a name, not a URL.")
    if not properties.get("disks"):
        raise required("resource.properties.disks")
    if not properties.get("networkInterfaces"):
        raise required("resource.properties.networkInterfaces")
    for index, disk in enumerate(properties["disks"]):
        check_disk(f"resource.properties.disks[{index}]", disk, index, by_name=True)
    return properties


def check_disk(where: str, disk: Json, index: int, *, by_name: bool) -> None:
    """Refuse a disk that cannot be."""
    new, source = disk.get("initializeParams"), disk.get("source")
    if new is not None and source is not None:
        raise invalid(where, source, "Cannot have both source and initializeParams.")
    if disk.get("boot") and index:
        raise invalid(f"{where}.boot", "true", "Only the first disk can be the boot disk.")
    if disk.get("boot") and not source and not any(
        (new or {}).get(key) for key in ("sourceImage", "sourceSnapshot", "sourceInstantSnapshot")
    ):  # fmt: skip
        raise required(f"{where}.initializeParams.sourceImage")
    kind = (new or {}).get("diskType", "")
    if by_name and "/" in kind:
        raise invalid(f"{where}.initializeParams.diskType", kind, "The disk type must be a name, not a URL.")
    if kind and kind.rpartition("/")[2] not in DISKS:
        raise invalid(f"{where}.initializeParams.diskType", kind, "The disk type does not exist.")


def stored_properties(call: Call, properties: Json) -> Json:
    """Give properties the form in which they are kept: defaults filled in, secrets left out."""
    kept = {key: value for key, value in properties.items() if key not in _NOT_STORED}
    kept["disks"] = [stored_disk(call, disk, index) for index, disk in enumerate(properties.get("disks") or [])]
    kept["networkInterfaces"] = [
        _stored_interface(call, nic, index) for index, nic in enumerate(properties.get("networkInterfaces") or [])
    ]
    kept["scheduling"] = _stored_scheduling(
        properties.get("scheduling") or {}, fixed=bool(properties.get("guestAccelerators"))
    )
    metadata = properties.get("metadata") or {}
    content = {"items": metadata["items"]} if metadata.get("items") else {}
    kept["metadata"] = {"kind": "compute#metadata", "fingerprint": fingerprint(content), **content}
    tags = {"items": sorted((properties.get("tags") or {}).get("items") or [])}
    kept["tags"] = (tags if tags["items"] else {}) | {"fingerprint": fingerprint(tags)}
    return kept


def _stored_scheduling(given: Json, *, fixed: bool) -> Json:
    spot = given.get("provisioningModel") == "SPOT" or given.get("preemptible", False)
    defaults = {
        "onHostMaintenance": "TERMINATE" if spot or fixed else "MIGRATE",
        "automaticRestart": not spot,
        "preemptible": spot,
        "provisioningModel": "STANDARD",  # preemptible alone is the older kind of instance, which is no Spot one
    }
    return defaults | given


def stored_disk(call: Call, disk: Json, index: int) -> Json:
    """Give an attached disk the form in which it is kept."""
    project = call.path["project"]
    kept = {key: value for key, value in disk.items() if key != "forceAttach"}
    scratch = disk.get("type") == "SCRATCH"
    defaults = {
        "kind": "compute#attachedDisk",
        "type": "PERSISTENT",
        "mode": "READ_WRITE",
        "boot": False,
        "autoDelete": False,
        "deviceName": f"{'local-ssd' if scratch else 'persistent'}-disk-{index}",
        "interface": "SCSI",
    }
    if kept.get("initializeParams"):
        kept["initializeParams"] = _stored_parameters(call, kept["initializeParams"])
    if "/" in kept.get("source", ""):
        kept["source"] = full(call, kept["source"], project)
    key = shown_key(f"resource.disks[{index}].diskEncryptionKey", kept.pop("diskEncryptionKey", None))
    return defaults | kept | ({"diskEncryptionKey": key} if key else {}) | {"index": index}


def of_disk(call: Call, path: str, disk: Json) -> Json:
    """Say of an attached disk what follows from the disk itself."""
    key = {"diskEncryptionKey": disk["diskEncryptionKey"]} if "diskEncryptionKey" in disk else {}
    return {"source": f"{call.base}/{path}", "diskSizeGb": disk["sizeGb"], **key}


def _stored_parameters(call: Call, given: Json) -> Json:
    hidden = (*_NOT_STORED, "sourceImageEncryptionKey", "sourceSnapshotEncryptionKey", "architecture")
    kept = {key: value for key, value in given.items() if key not in hidden}
    if "sourceImage" in kept:
        kept["sourceImage"] = f"{call.base}/{image_path(call, 'sourceImage', kept['sourceImage'])}"
    return {"diskType": "pd-standard"} | kept


def _stored_interface(call: Call, nic: Json, index: int) -> Json:
    project, kept = call.path["project"], dict(nic)
    if kept.get("subnetwork"):
        kept["subnetwork"] = full(call, _with_scope(kept["subnetwork"], "subnetworks", call), project)
    if not kept.get("network") and not kept.get("networkAttachment"):
        # Every subnetwork here is one of its project's network `default`, which is the only one.
        host = re.search(r"projects/[^/]+/", kept.get("subnetwork", ""))
        kept["network"] = f"{host[0] if host else ''}global/networks/default"
    if kept.get("network"):
        kept["network"] = full(call, _with_scope(kept["network"], "networks", call), project)
    for name, kind in _ONE_ACCESS.items():
        if kept.get(name):
            label = "External NAT" if name == "accessConfigs" else "External IPv6"
            defaults = {"kind": "compute#accessConfig", "type": kind, "name": label, "networkTier": "PREMIUM"}
            kept[name] = [defaults | config for config in kept[name]]
    return {"kind": "compute#networkInterface", "name": f"nic{index}", **kept}


def _with_scope(link: str, collection: str, call: Call) -> str:
    if "/" in link:
        return link
    place = call.path.get("region") or call.path.get("zone", next(iter(ZONES)) + "-b").rpartition("-")[0]
    return f"global/networks/{link}" if collection == "networks" else f"regions/{place}/subnetworks/{link}"
