"""Compute: instance templates, instances, operations."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any, Final

from gcpx_emulator.catalog import DISKS, MACHINES, ZONES, check_place
from gcpx_emulator.errors import exists, invalid, required
from gcpx_emulator.handler import Call, handles
from gcpx_emulator.listing import listing, page
from gcpx_emulator.operations import timestamp
from gcpx_emulator.store import Json

_NAME: Final = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_CUSTOM: Final = re.compile(r"(?:[a-z]\w+-)?custom-\d+-\d+(?:-ext)?")
_NOT_STORED: Final = ("resourceManagerTags",)
_ONE_ACCESS: Final = {"accessConfigs": "ONE_TO_ONE_NAT", "ipv6AccessConfigs": "DIRECT_IPV6"}


def fingerprint(value: Any) -> str:
    """Hash a value as the API's fingerprints do: any change changes it."""
    return base64.b64encode(hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()[:8]).decode()


def full(call: Call, link: str, project: str) -> str:
    """Make a partial URL a full one."""
    path = re.sub(r"^https?://[^/]+/compute/(?:v1|beta)/", "", link)
    return f"{call.base}/{path}" if path.startswith("projects/") else f"{call.base}/projects/{project}/{path}"


def _check_name(body: Json) -> str:
    name = body.get("name")
    if not name:
        raise required("resource.name")
    if not _NAME.fullmatch(name):
        raise invalid("resource.name", name, "Must be a match of regex '(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)'")
    return str(name)


def _free(call: Call, path: str) -> None:
    if call.store.get(path) is not None or call.operations.pending(path):
        raise exists(path)


@handles("compute.instanceTemplates.insert", "compute.regionInstanceTemplates.insert")
def insert_template(call: Call) -> Json:
    """Make a template, from properties or from an instance."""
    check_place(call)
    name, body = _check_name(call.body), dict(call.body)
    path = f"{call.parent}/instanceTemplates/{name}"
    _free(call, path)
    if body.get("sourceInstance"):
        if "properties" in body:
            raise invalid("resource.sourceInstance", body["sourceInstance"], "Conflicts with properties.")
        properties = _from_instance(call, body)
        body["sourceInstance"] = full(call, body["sourceInstance"], call.path["project"])
    else:
        properties = _check_properties(body.get("properties") or {})
    body.pop("sourceInstanceParams", None)
    number = str(10**18 + call.store.next())
    body |= {
        "kind": "compute#instanceTemplate",
        "id": number,
        "creationTimestamp": timestamp(),
        "selfLink": f"{call.base}/{path}",
        "properties": stored_properties(call, properties),
    }
    if "region" in call.path:
        body["region"] = f"{call.base}/{call.parent}"
    return call.operation("insert", path, number, [{"put": path, "body": body}])


def _check_properties(properties: Json) -> Json:
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
        _check_disk(f"resource.properties.disks[{index}]", disk, index, by_name=True)
    for index, nic in enumerate(properties["networkInterfaces"]):
        _check_interface(f"resource.properties.networkInterfaces[{index}]", nic)
    return properties


def _check_disk(where: str, disk: Json, index: int, *, by_name: bool) -> None:
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
    if len((new or {}).get("replicaZones") or ("", "")) != 2:  # noqa: PLR2004 - the API's own number
        raise invalid(f"{where}.initializeParams.replicaZones", new, "Exactly two replica zones must be specified.")


def _check_interface(where: str, nic: Json) -> None:
    for name, kind in _ONE_ACCESS.items():
        configs = nic.get(name) or []
        if len(configs) > 1:
            raise invalid(f"{where}.{name}", len(configs), "At most one access config is supported.")
        if configs and configs[0].get("type", kind) != kind:
            raise invalid(f"{where}.{name}[0].type", configs[0]["type"], f"Must be {kind}.")


def stored_properties(call: Call, properties: Json) -> Json:
    """Give properties the form in which they are kept: defaults filled in, secrets left out."""
    kept = {key: value for key, value in properties.items() if key not in _NOT_STORED}
    kept["disks"] = [_stored_disk(call, disk, index) for index, disk in enumerate(properties.get("disks") or [])]
    kept["networkInterfaces"] = [
        _stored_interface(call, nic, index) for index, nic in enumerate(properties.get("networkInterfaces") or [])
    ]
    kept["scheduling"] = _stored_scheduling(properties.get("scheduling") or {})
    metadata = properties.get("metadata") or {}
    content = {"items": metadata["items"]} if metadata.get("items") else {}
    kept["metadata"] = {"kind": "compute#metadata", "fingerprint": fingerprint(content), **content}
    tags = {"items": sorted((properties.get("tags") or {}).get("items") or [])}
    kept["tags"] = (tags if tags["items"] else {}) | {"fingerprint": fingerprint(tags)}
    return kept


def _stored_scheduling(given: Json) -> Json:
    spot = given.get("provisioningModel") == "SPOT" or given.get("preemptible", False)
    defaults = {
        "onHostMaintenance": "TERMINATE" if spot else "MIGRATE",
        "automaticRestart": not spot,
        "preemptible": spot,
        "provisioningModel": "SPOT" if spot else "STANDARD",
    }
    return defaults | given


def _stored_disk(call: Call, disk: Json, index: int) -> Json:
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
    key = kept.get("diskEncryptionKey", {})
    if "kmsKeyName" in key:
        version = "" if "/cryptoKeyVersions/" in key["kmsKeyName"] else "/cryptoKeyVersions/1"
        kept["diskEncryptionKey"] = key | {"kmsKeyName": key["kmsKeyName"] + version}
    else:
        kept.pop("diskEncryptionKey", None)
    return defaults | kept | {"index": index}


def _stored_parameters(call: Call, given: Json) -> Json:
    hidden = (*_NOT_STORED, "sourceImageEncryptionKey", "sourceSnapshotEncryptionKey", "architecture")
    kept = {key: value for key, value in given.items() if key not in hidden}
    if "sourceImage" in kept:
        kept["sourceImage"] = full(call, _image_path(kept["sourceImage"]), call.path["project"])
    return {"diskType": "pd-standard"} | kept


def _image_path(link: str) -> str:
    return f"global/images/{link}" if "/" not in link or link.startswith("family/") else link


def _stored_interface(call: Call, nic: Json, index: int) -> Json:
    project, kept = call.path["project"], dict(nic)
    if "subnetwork" in kept:
        kept["subnetwork"] = full(call, _with_scope(kept["subnetwork"], "subnetworks", call), project)
    if "network" not in kept and not kept.get("subnetwork") and not kept.get("networkAttachment"):
        kept["network"] = "global/networks/default"
    if "network" in kept:
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


def _from_instance(call: Call, body: Json) -> Json:
    """Copy an instance's properties, its disks as the parameters say."""
    path = re.sub(r"^https?://[^/]+/compute/\w+/", "", body["sourceInstance"])
    path = path if path.startswith("projects/") else f"projects/{call.path['project']}/{path}"
    instance = call.found(path)
    wanted = {
        config.get("deviceName"): config for config in (body.get("sourceInstanceParams") or {}).get("diskConfigs", ())
    }
    unknown = set(wanted) - {disk["deviceName"] for disk in instance["disks"]}
    if unknown:
        raise invalid("resource.sourceInstanceParams.diskConfigs", ", ".join(map(str, unknown)), "No such device.")
    copied = ("canIpForward", "description", "labels", "metadata", "scheduling", "serviceAccounts", "tags",
              "minCpuPlatform", "guestAccelerators", "shieldedInstanceConfig")  # fmt: skip
    properties = {key: instance[key] for key in copied if instance.get(key)}
    properties["machineType"] = instance["machineType"].rpartition("/")[2]
    disks = [_copied_disk(disk, wanted.get(disk["deviceName"], {})) for disk in instance["disks"]]
    properties["disks"] = [disk for disk in disks if disk is not None]
    nics = ({"network": nic["network"]} for nic in instance["networkInterfaces"])
    return properties | {"networkInterfaces": list(nics)}


def _copied_disk(disk: Json, config: Json) -> Json | None:
    how = config.get("instantiateFrom", "DEFAULT")
    if how == "DO_NOT_INCLUDE":
        return None
    kept = {key: disk[key] for key in ("deviceName", "boot", "mode", "type", "interface")}
    kept["autoDelete"] = config.get("autoDelete", disk["autoDelete"])
    if how == "ATTACH_READ_ONLY":
        return kept | {"mode": "READ_ONLY", "source": disk["source"].rpartition("/")[2]}
    image = config.get("customImage") or disk.get("_image")
    parameters = {"diskSizeGb": disk["diskSizeGb"], "diskType": disk.get("_type", "pd-standard")}
    if how != "BLANK" and image:
        parameters["sourceImage"] = image
    return kept | {"initializeParams": parameters}


@handles("compute.instanceTemplates.get", "compute.regionInstanceTemplates.get")
def get_template(call: Call) -> Json:
    """Read a template; v1 shows no beta field."""
    return _seen(call, call.found(f"{call.parent}/instanceTemplates/{call.path['instanceTemplate']}"))


def _seen(call: Call, body: Json) -> Json:
    """Show a resource in the version that is asked for."""
    text = json.dumps(body).replace("/compute/beta/", f"/compute/{call.version}/")
    return _known_to(call, json.loads(text.replace("/compute/v1/", f"/compute/{call.version}/")))


def _known_to(call: Call, body: Json) -> Json:
    from gcpx_emulator.discovery import document  # noqa: PLC0415 - only answers in v1 need it

    schemas = document(f"compute.{call.version}").schemas
    return _pruned(schemas, schemas[body["kind"].partition("#")[2][:1].upper() + body["kind"].partition("#")[2][1:]], body)


def _pruned(schemas: Json, spec: Json, value: Any) -> Any:
    if "$ref" in spec:
        spec = schemas[spec["$ref"]]
    if isinstance(value, list):
        return [_pruned(schemas, spec.get("items", {}), item) for item in value]
    if isinstance(value, dict) and "additionalProperties" in spec:
        return {key: _pruned(schemas, spec["additionalProperties"], item) for key, item in value.items()}
    if isinstance(value, dict) and "properties" in spec:
        known = spec["properties"]
        return {key: _pruned(schemas, known[key], item) for key, item in value.items() if key in known}
    return value


@handles("compute.instanceTemplates.list", "compute.regionInstanceTemplates.list")
def list_templates(call: Call) -> Json:
    """List the templates of a scope."""
    check_place(call)
    path = f"{call.parent}/instanceTemplates"
    items = [_seen(call, item) for item in call.store.list(path)]
    return listing("compute#instanceTemplateList", path, items, call.query, call.base)


@handles("compute.instanceTemplates.aggregatedList")
def aggregate_templates(call: Call) -> Json:
    """List the templates of every scope."""
    return _aggregated(call, "instanceTemplates", "compute#instanceTemplateAggregatedList", [
        "global", *(f"regions/{name}" for name in ZONES)
    ])  # fmt: skip


def _aggregated(call: Call, collection: str, kind: str, scopes: list[str]) -> Json:
    project = f"projects/{call.path['project']}"
    found = [(scope, item) for scope in scopes for item in call.store.list(f"{project}/{scope}/{collection}")]
    links = {item["selfLink"]: scope for scope, item in found}
    shown, token = page([item for _, item in found], call.query)
    items: Json = {scope: {"warning": _no_results(scope)} for scope in scopes}
    for item in shown:
        items[links[item["selfLink"]]].pop("warning", None)
        items[links[item["selfLink"]]].setdefault(collection, []).append(_seen(call, item))
    path = f"{project}/aggregated/{collection}"
    answer = {"kind": kind, "id": path, "selfLink": f"{call.base}/{path}", "items": items}
    return answer | ({"nextPageToken": token} if token else {})


def _no_results(scope: str) -> Json:
    message = f"There are no results for scope '{scope}' on this page."
    return {"code": "NO_RESULTS_ON_PAGE", "message": message, "data": [{"key": "scope", "value": scope}]}


@handles("compute.instanceTemplates.delete", "compute.regionInstanceTemplates.delete")
def delete_template(call: Call) -> Json:
    """Delete a template."""
    return call.delete(f"{call.parent}/instanceTemplates/{call.path['instanceTemplate']}")


@handles("compute.instances.insert")
def insert_instance(call: Call) -> Json:
    """Make an instance with its disks."""
    check_place(call)
    name, body = _check_name(call.body), dict(call.body)
    path = f"{call.parent}/instances/{name}"
    _free(call, path)
    machine = str(body.get("machineType", "")).rpartition("/")[2]
    if not machine:
        raise required("resource.machineType")
    if machine not in MACHINES and not _CUSTOM.fullmatch(machine):
        raise invalid("resource.machineType", body["machineType"], "The machine type does not exist.")
    if not body.get("disks"):
        raise required("resource.disks")
    for index, disk in enumerate(body["disks"]):
        _check_disk(f"resource.disks[{index}]", disk, index, by_name=False)
    number = str(10**18 + call.store.next())
    kept = stored_properties(call, {"networkInterfaces": [{}], **body})
    kept |= {
        "kind": "compute#instance",
        "id": number,
        "name": name,
        "creationTimestamp": timestamp(),
        "lastStartTimestamp": timestamp(),
        "machineType": f"{call.base}/{call.parent}/machineTypes/{machine}",
        "zone": f"{call.base}/{call.parent}",
        "status": "RUNNING",
        "cpuPlatform": "Intel Broadwell",
        "labelFingerprint": fingerprint(body.get("labels") or {}),
        "fingerprint": fingerprint(body),
        "startRestricted": False,
        "deletionProtection": body.get("deletionProtection", False),
        "selfLink": f"{call.base}/{path}",
        "disks": [_instance_disk(call, name, disk, index) for index, disk in enumerate(kept["disks"])],
    }
    return call.operation("insert", path, number, [{"put": path, "body": kept}])


def _instance_disk(call: Call, instance: str, disk: Json, index: int) -> Json:
    made = disk.pop("initializeParams", {})
    name = made.get("diskName") or (instance if index == 0 else f"{instance}-{index}")
    return disk | {
        "source": disk.get("source") or f"{call.base}/{call.parent}/disks/{name}",
        "diskSizeGb": str(made.get("diskSizeGb", disk.get("diskSizeGb", 10))),
        "_image": made.get("sourceImage"),
        "_type": str(made.get("diskType", "pd-standard")).rpartition("/")[2],
    }


@handles("compute.instances.get")
def get_instance(call: Call) -> Json:
    """Read an instance."""
    return _seen(call, call.found(f"{call.parent}/instances/{call.path['instance']}"))


@handles("compute.instances.list")
def list_instances(call: Call) -> Json:
    """List the instances of a zone."""
    check_place(call)
    path = f"{call.parent}/instances"
    items = [_seen(call, item) for item in call.store.list(path)]
    return listing("compute#instanceList", path, items, call.query, call.base)


@handles("compute.instances.delete")
def delete_instance(call: Call) -> Json:
    """Delete an instance."""
    path = f"{call.parent}/instances/{call.path['instance']}"
    if call.found(path).get("deletionProtection"):
        raise invalid("resource.deletionProtection", "true", "The instance is protected against deletion.")
    return call.delete(path)


@handles(*(f"compute.{kind}Operations.{verb}" for kind in ("global", "region", "zone") for verb in ("get", "wait")))
def get_operation(call: Call) -> Json:
    """Read an operation; `wait` has waited before it comes here."""
    return call.operations.get(call.path["project"], call.scope, call.path["operation"])


@handles("compute.globalOperations.list", "compute.regionOperations.list", "compute.zoneOperations.list")
def list_operations(call: Call) -> Json:
    """List the operations of a scope."""
    items = call.operations.list(call.path["project"], call.scope)
    return listing("compute#operationList", f"{call.parent}/operations", items, call.query, call.base)
