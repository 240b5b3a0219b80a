"""Disks, zonal and regional."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from gcpx_emulator.compute.call import Call, handles, last_part, path_of
from gcpx_emulator.compute.collection import USUAL, Collection, in_use
from gcpx_emulator.compute.constraints import check_object
from gcpx_emulator.compute.disk_sources import source_of, with_given_architecture
from gcpx_emulator.compute.encryption_keys import shown_keys
from gcpx_emulator.compute.fingerprints import with_label_fingerprint
from gcpx_emulator.compute.locations import REGIONAL, ZONAL, region_of, zones_of
from gcpx_emulator.compute.predefined_resources import DISK_TYPES
from gcpx_emulator.compute.storage_pools import check_pool
from gcpx_emulator.core.clock import pacific_timestamp
from gcpx_emulator.core.discovery import document
from gcpx_emulator.core.errors import ApiError, invalid, misused, required
from gcpx_emulator.core.json_data import Json, field_names
from gcpx_emulator.core.operations import Effect, change, relink


def disk_path(call: Call, instance: str, disk: Json, parameters: Json) -> str:
    """Return the path of a disk of an instance, whether the disk exists or not.

    `instance` is the instance's path, `parameters` are the `initializeParams` of the attached disk.
    """
    parent, _, name = instance.rpartition("/instances/")
    if disk.get("source"):
        # Templates refer to a disk in the instance's zone by its name only.
        return call.resolve(disk["source"]) if "/" in disk["source"] else f"{parent}/disks/{disk['source']}"
    disk_name = parameters.get("diskName") or (f"{name}-{disk['index']}" if disk["index"] else name)
    project, _, zone = parent.rpartition("/zones/")
    zonal, regional = f"{parent}/disks/{disk_name}", f"{project}/regions/{region_of(zone)}/disks/{disk_name}"
    if parameters.get("replicaZones"):
        field = f"resource.disks[{disk['index']}].initializeParams.replicaZones"
        _check_replica_zones(field, parameters["replicaZones"], zone)
        return regional
    if call.store.get(zonal) is not None:
        return zonal
    replicas = {last_part(link) for link in (call.store.get(regional) or {}).get("replicaZones") or ()}
    return regional if zone in replicas else zonal


def _check_replica_zones(field: str, zones: list[str], zone: str) -> None:
    """Refuse anything but two zones of the region, one of which is the instance's."""
    region, names = region_of(zone), {last_part(link) for link in zones}
    if len(names) != 2 or names - set(zones_of(region)):  # noqa: PLR2004 - the API's number
        raise invalid(field, ", ".join(zones), f"Must be two different zones of region {region}.")
    if zone not in names:
        raise invalid(field, ", ".join(zones), f"One of the zones must be the instance's, {zone}.")


_DEFAULT_SIZE: Final = "500"
_DEFAULT_TYPE: Final = "pd-standard"
_DEFAULTS: Final[Json] = {
    "enableConfidentialCompute": False,
    "multiWriter": False,
    "physicalBlockSizeBytes": "4096",
    "satisfiesPzi": False,
}
"""The fields of new disks, as recorded in 2025."""
_KEYS: Final = ("diskEncryptionKey", "sourceImageEncryptionKey", "sourceMachineImageEncryptionKey",
                "sourceSnapshotEncryptionKey")  # fmt: skip
_NOT_KEPT: Final = frozenset({"labelFingerprint", "params"})
_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})


def new_disk(call: Call, path: str, body: Json, field: str = "resource") -> Json:
    """Write a new disk from the fields of a `Disk` or of an attached disk's `initializeParams`.

    A disk with users is attached to them from the end of the call's operation. `field` is the place of the
    fields in the request.
    """
    parent, _, name = path.rpartition("/disks/")
    location = "region" if "/regions/" in parent else "zone"
    size_field = "resource.sizeGb" if body.get("sizeGb") else "resource.initializeParams.diskSizeGb"
    source = source_of(call, body, field)
    attached = {"users": body["users"], "lastAttachTimestamp": pacific_timestamp(call.end)} if "users" in body else {}
    disk = {
        **_DEFAULTS,
        **source.inherited,
        **_kept(call, parent, body),
        **shown_keys(body, _KEYS),
        **source.links,
        **attached,
        "kind": "compute#disk",
        "id": call.store.new_id(),
        "name": name,
        "creationTimestamp": pacific_timestamp(),
        "sizeGb": source.sized(size_field, body.get("sizeGb") or body.get("diskSizeGb"), _DEFAULT_SIZE),
        "type": _type(call, parent, body),
        "status": "READY",
        location: call.url(parent),
        "selfLink": call.url(path),
    }
    check_pool(call, f"{field}.storagePool", path, disk)
    return with_label_fingerprint(disk)


def _kept(call: Call, parent: str, body: Json) -> Json:
    """Return the fields of a request that a disk keeps, with full links; `parent` is the path of the disk's scope."""
    known = document("compute.beta").schemas["Disk"]["properties"]
    kept = {
        name: value
        for name, value in with_given_architecture(body).items()
        if name in known and not known[name].get("readOnly") and name not in _NOT_KEPT and value not in _EMPTY
    }
    if "storagePool" in kept:
        kept["storagePool"] = call.url(call.resolve(kept["storagePool"]))
    if "licenses" in kept:
        kept["licenses"] = [call.full_url(link) for link in kept["licenses"]]
    if "replicaZones" in kept:
        # Clients write zones in several ways, Terraform's provider as `projects/P/global/zones/Z`.
        project = parent.partition("/")[2].partition("/")[0]
        kept["replicaZones"] = [
            call.url(f"projects/{project}/zones/{last_part(link)}") for link in kept["replicaZones"]
        ]
    if "resourcePolicies" in kept:
        kept["resourcePolicies"] = [_policy_url(call, parent, link) for link in kept["resourcePolicies"]]
    if kept.get("asyncPrimaryDisk", {}).get("disk"):
        kept["asyncPrimaryDisk"] = {"disk": call.full_url(kept["asyncPrimaryDisk"]["disk"])}
    return kept


def _policy_url(call: Call, parent: str, link: str) -> str:
    """Return the URL of a resource policy, which may be named by its name in the region of a disk."""
    place = last_part(parent)
    region = region_of(place) if "/zones/" in parent else place
    return call.full_url(link if "/" in link else f"regions/{region}/resourcePolicies/{link}")


def _type(call: Call, parent: str, body: Json) -> str:
    """Return the link to the type of a disk in the scope `parent`; a partial `diskType` stays partial."""
    path = f"{parent}/diskTypes/{last_part(str(body.get('type') or body.get('diskType') or _DEFAULT_TYPE))}"
    is_partial = "/" in body.get("diskType", "") and not body["diskType"].startswith("http")
    return path if is_partial else call.url(path)


def use_disk(call: Call, path: str, instance: str) -> Effect:
    """Return the effect that adds an instance to the users of a disk; both are paths."""
    call.read(path)
    return relink(path, "users", instance, call.url(instance), lastAttachTimestamp=pacific_timestamp(call.end))


def release_disk(call: Call, path: str, instance: str) -> Effect:
    """Return the effect that removes an instance from the users of a disk; both are paths."""
    call.read(path)
    return relink(path, "users", instance, None, lastDetachTimestamp=pacific_timestamp(call.end))


def check_zone(call: Call, field: str, path: str, instance: str) -> None:
    """Refuse to attach a disk in another zone, or a regional disk without a replica in the instance's zone."""
    disk, (zone, _, _) = call.read(path), instance.rpartition("/instances/")
    zones = [call.resolve(link) for link in disk.get("replicaZones") or [path.rpartition("/disks/")[0]]]
    if zone not in zones:
        raise invalid(field, disk["selfLink"], "Disk must be in the same zone as the instance.")


def check_unused(call: Call, path: str, mode: str) -> None:
    """Refuse a disk that an instance uses, or to which another one is replicated.

    Instances may share a disk that all of them attach read-only.
    """
    check_not_replicated_to(call, path)
    for user in users_of(call, path):
        if mode != "READ_ONLY" or _mode_in(call, path, user) != "READ_ONLY":
            raise ApiError(400, in_use("disk", path, user), "resourceInUseByAnotherResource")


def users_of(call: Call, path: str) -> list[str]:
    """Return the paths of the instances that use a disk.

    Instances that were removed at `/_emulator/resources` do not count.
    """
    users = [path_of(user, call.path["project"]) for user in call.read(path).get("users", [])]
    return [user for user in users if call.store.get(user) is not None]


ACTIVE: Final = "ACTIVE"
"""The state of a replication that was started."""


def replicas_of(call: Call, disk: Json) -> list[str]:
    """Return the paths of the existing disks to which a disk is replicated now."""
    states = (disk.get("resourceStatus") or {}).get("asyncSecondaryDisks") or {}
    secondaries = [call.resolve(link) for link, status in states.items() if status["state"] == ACTIVE]
    return [secondary for secondary in secondaries if call.store.get(secondary) is not None]


def state_as_secondary(disk: Json) -> str:
    """Return the state of the replication to a disk; empty before its start."""
    return str(((disk.get("resourceStatus") or {}).get("asyncPrimaryDisk") or {}).get("state", ""))


def primaries_of(call: Call, disk: Json) -> list[str]:
    """Return the path of the disk that is replicated to a disk now; empty if there is none.

    A primary disk may have been deleted with its instance.
    """
    if state_as_secondary(disk) != ACTIVE:
        return []
    path = call.resolve(disk["asyncPrimaryDisk"]["disk"])
    primary = call.store.get(path)
    return [path] if primary is not None and primary["id"] == disk["asyncPrimaryDisk"]["diskId"] else []


def check_not_replicated_to(call: Call, path: str) -> None:
    """Refuse a disk to which another one is replicated now."""
    for primary in primaries_of(call, call.read(path)):
        raise ApiError(400, in_use("disk", path, primary), "resourceInUseByAnotherResource")


def _holders(call: Call, path: str) -> list[str]:
    """Return the paths of what keeps a disk from being deleted: instances, and the other disk of its replication."""
    disk = call.read(path)
    return [*users_of(call, path), *replicas_of(call, disk), *primaries_of(call, disk)]


def _mode_in(call: Call, path: str, instance: str) -> str:
    """Return the mode in which an instance uses a disk; both are paths."""
    disks = call.read(instance)["disks"]
    modes = [disk["mode"] for disk in disks if path_of(disk.get("source", ""), call.path["project"]) == path]
    return modes[0] if modes else "READ_WRITE"


def _create(call: Call, path: str, _head: Json) -> Json:
    disk_type, zones = str(call.body.get("type", _DEFAULT_TYPE)), call.body.get("replicaZones")
    if last_part(disk_type) not in DISK_TYPES:
        raise invalid("resource.type", disk_type, "The disk type does not exist.")
    if "region" in call.path and len(zones or ()) != 2:  # noqa: PLR2004 - the API's number
        raise invalid("resource.replicaZones", zones, "Exactly two replica zones are needed.")
    region = call.path.get("region")
    if region and {last_part(link) for link in zones or ()} - set(zones_of(region)):
        raise invalid("resource.replicaZones", ", ".join(zones or ()), f"Must be zones of region {region}.")
    image = {"sourceImage": call.query["sourceImage"]} if "sourceImage" in call.query else {}
    return call.insert(path, new_disk(call, path, call.body | image))


_DISKS: Final = Collection(name="disks", singular="disk", create=_create, scopes=(*REGIONAL, *ZONAL), users=_holders)
_DISKS.register("aggregatedList", "setLabels", *USUAL)
_DISKS.register("setLabels", *USUAL, methods="regionDisks")


@handles("compute.disks.resize", "compute.regionDisks.resize")
def resize_disk(call: Call) -> Json:
    """Enlarge a disk; instances that use it then show its new size."""
    path = f"{call.parent}/disks/{call.path['disk']}"
    disk, size = call.ready(path), call.body.get("sizeGb")
    if not size:
        raise required("sizeGb")
    if int(size) <= int(disk["sizeGb"]):
        raise invalid("sizeGb", size, f"The new size must be larger than the present one, {disk['sizeGb']} GB.")
    check_pool(call, "sizeGb", path, disk | {"sizeGb": size})
    return call.update("resizeDisk", path, disk | {"sizeGb": size}, *_effects_of_size(call, path, disk, size))


def _effects_of_size(call: Call, path: str, disk: Json, size: str) -> list[Effect]:
    """Return the effects that show a disk's new size in the instances that use it; none if the size is the same."""
    users = users_of(call, path) if size != disk["sizeGb"] else []
    return [_show_size(call, user, path, size) for user in users]


def _show_size(call: Call, instance: str, path: str, size: str) -> Effect:
    """Return the effect that shows another size of a disk in an instance; both are paths."""
    own = call.path["project"]
    new = [
        disk | {"diskSizeGb": size} if path_of(disk.get("source", ""), own) == path else disk
        for disk in call.ready(instance)["disks"]
    ]
    return change(instance, {"disks": new})


_UPDATED: Final = frozenset(
    {"accessMode", "architecture", "licenses", "provisionedIops", "provisionedThroughput", "sizeGb"}
)
"""The fields that an update can change.

Source: Terraform's provider, and the options of `gcloud compute disks update`.
"""


_SHAPE: Final = ("provisionedIops", "provisionedThroughput", "sizeGb", "type")
"""The fields of a disk whose values depend on each other."""


@handles("compute.disks.update", "compute.regionDisks.update")
def update_disk(call: Call) -> Json:
    """Set the fields that the mask names; omitted ones are removed."""
    path = f"{call.parent}/disks/{call.path['disk']}"
    disk = call.ready(path)
    fields = field_names(call.query.get("paths") or call.query.get("updateMask") or "")
    if not fields:
        raise required("updateMask")
    for name in fields:
        if name not in _UPDATED:
            raise invalid("updateMask", name, "An update of a disk cannot change it.")
    size = str((call.body.get("sizeGb") if "sizeGb" in fields else None) or disk["sizeGb"])
    if int(size) < int(disk["sizeGb"]):
        raise invalid("resource.sizeGb", size, f"The disk cannot become smaller than {disk['sizeGb']} GB.")
    kept = _kept(call, call.parent, call.body)
    changed = {name: kept.get(name) for name in fields} | {"sizeGb": size}
    check_object(call.method, "Disk", {name: (disk | changed).get(name) for name in _SHAPE})
    check_pool(call, "resource.sizeGb", path, disk | {"sizeGb": size})
    return call.update("update", path, disk | changed, *_effects_of_size(call, path, disk, size))


@handles("compute.disks.addResourcePolicies", "compute.regionDisks.addResourcePolicies")
def add_policies(call: Call) -> Json:
    """Attach a resource policy to a disk."""
    return _change_policies(call, lambda current, given: [*current, *(link for link in given if link not in current)])


@handles("compute.disks.removeResourcePolicies", "compute.regionDisks.removeResourcePolicies")
def remove_policies(call: Call) -> Json:
    """Detach resource policies from a disk."""
    return _change_policies(call, lambda current, given: [link for link in current if link not in given])


def _change_policies(call: Call, changed: Callable[[list[str], list[str]], list[str]]) -> Json:
    path = f"{call.parent}/disks/{call.path['disk']}"
    disk = call.ready(path)
    given = [_policy_url(call, call.parent, link) for link in call.body.get("resourcePolicies") or []]
    current = disk.get("resourcePolicies", [])
    policies = changed(current, given)
    moved = [call.store.get(path_of(link, "")) or {} for link in {*current} ^ {*policies}]
    if replicas_of(call, disk) and any("diskConsistencyGroupPolicy" in policy for policy in moved):
        raise misused(f"The disk '{path}' cannot join or leave a consistency group while it is replicated.")
    return call.update(call.verb, path, disk | {"resourcePolicies": policies or None})
