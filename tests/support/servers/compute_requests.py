"""Requests to Compute Engine that are accepted as they are, and where they have objects of each schema.

A builder gets an HTTP client and gives the URL and the body of a request.
"""

from __future__ import annotations

import itertools

from values.programs import DEBIAN, PROJECT, ZONE, properties

BASE = f"/compute/beta/projects/{PROJECT}"
REGION = "us-east1"
VM = f"{BASE}/zones/{ZONE}/instances/example-vm"
NUMBERS = itertools.count()
MACHINE_TYPE = "g2-standard-4"
"""It can have accelerators and every kind of disk."""


def _properties():
    return properties(machineType=MACHINE_TYPE)


def snapshot(_http):
    return f"{BASE}/global/snapshots", {"name": f"s-{next(NUMBERS)}", "sourceDisk": f"zones/{ZONE}/disks/example-data"}


def template(_http, scope="global"):
    return f"{BASE}/{scope}/instanceTemplates", {"name": f"t-{next(NUMBERS)}", "properties": _properties()}


def regional_template(http):
    return template(http, f"regions/{REGION}")


def template_of_an_instance(_http):
    body = {"name": f"t-{next(NUMBERS)}", "sourceInstance": VM.partition("/beta/")[2]}
    return f"{BASE}/global/instanceTemplates", body


def instance(_http):
    body = {**_properties(), "name": f"i-{next(NUMBERS)}", "machineType": f"zones/{ZONE}/machineTypes/{MACHINE_TYPE}"}
    return f"{BASE}/zones/{ZONE}/instances", body


def bulk(_http, scope=f"regions/{REGION}"):
    body = {"count": "1", "namePattern": f"b{next(NUMBERS)}-####", "instanceProperties": _properties()}
    return f"{BASE}/{scope}/instances/bulkInsert", body


def zonal_bulk(http):
    return bulk(http, f"zones/{ZONE}")


def bulk_by_name(http):
    path, body = bulk(http)
    return path, {"instanceProperties": body["instanceProperties"]}


def disk(_http):
    return f"{BASE}/zones/{ZONE}/disks", {"name": f"d-{next(NUMBERS)}"}


def regional_disk(_http):
    body = {"name": f"d-{next(NUMBERS)}", "replicaZones": [f"zones/{REGION}-{letter}" for letter in "bc"]}
    return f"{BASE}/regions/{REGION}/disks", body


def machine_image(_http):
    source = VM.partition("/beta/")[2]
    return f"{BASE}/global/machineImages?sourceInstance={source}", {"name": f"m-{next(NUMBERS)}"}


def set_metadata(http):
    return f"{VM}/setMetadata", {"fingerprint": http.get(VM).json()["metadata"]["fingerprint"]}


def set_tags(http):
    return f"{VM}/setTags", {"fingerprint": http.get(VM).json()["tags"]["fingerprint"]}


def set_labels(http):
    return f"{VM}/setLabels", {"labelFingerprint": http.get(VM).json()["labelFingerprint"]}


def set_image_labels(http):
    path = f"{BASE}/global/machineImages/image"
    return f"{path}/setLabels", {"labelFingerprint": http.get(path).json()["labelFingerprint"]}


def _set_labels_of(http, make):
    """Change the labels of a new resource."""
    url, body = make(http)
    http.post(url, json=body)
    made = f"{url}/{body['name']}"
    return f"{made}/setLabels", {"labelFingerprint": http.get(made).json()["labelFingerprint"]}


def set_disk_labels(http):
    return _set_labels_of(http, disk)


def set_regional_disk_labels(http):
    return _set_labels_of(http, regional_disk)


def group(_http):
    return f"{BASE}/zones/{ZONE}/instanceGroups", {"name": f"g-{next(NUMBERS)}"}


def group_manager(_http):
    body = {"name": f"g-{next(NUMBERS)}", "instanceTemplate": "global/instanceTemplates/managed", "targetSize": 0}
    return f"{BASE}/zones/{ZONE}/instanceGroupManagers", body


def route(_http):
    body = {"name": f"r-{next(NUMBERS)}", "network": "global/networks/default", "destRange": "192.0.2.0/24"}
    return f"{BASE}/global/routes", {**body, "nextHopIp": "10.0.0.1"}


def storage_pool(_http):
    body = {"name": f"p-{next(NUMBERS)}", "storagePoolType": "storagePoolTypes/hyperdisk-balanced"}
    return f"{BASE}/zones/{ZONE}/storagePools", {**body, "poolProvisionedCapacityGb": "10240"}


def own_image(_http):
    return f"{BASE}/global/images", {"name": f"o-{next(NUMBERS)}", "sourceImage": DEBIAN}


def within(path, *, in_bulk=True):
    """Name the requests that have instance properties, with a path in them."""
    found = [(template, f"properties.{path}"), (regional_template, f"properties.{path}"), (instance, path)]
    return [
        *found,
        *([(bulk, f"instanceProperties.{path}"), (zonal_bulk, f"instanceProperties.{path}")] if in_bulk else ()),
    ]


TEMPLATES = [(template, "properties"), (regional_template, "properties")]
IN_BULK = [(bulk, "instanceProperties"), (zonal_bulk, "instanceProperties")]
PLACES = {
    "AcceleratorConfig": within("guestAccelerators.+"),
    "AliasIpRange": within("networkInterfaces.0.aliasIpRanges.+"),
    "AttachedDisk": within("disks.+"),
    "AttachedDiskInitializeParams": within("disks.+.initializeParams"),
    "BulkInsertInstanceResource": [(bulk, ""), (zonal_bulk, "")],
    "BulkInsertInstanceResourcePerInstanceProperties": [(bulk_by_name, "perInstanceProperties.own")],
    "CustomerEncryptionKey": within("disks.+.diskEncryptionKey", in_bulk=False),
    "Disk": [(disk, ""), (regional_disk, "")],
    "DiskInstantiationConfig": [(template_of_an_instance, "sourceInstanceParams.diskConfigs.+")],
    "DiskParams": [(disk, "params")],
    "Duration": within("scheduling.maxRunDuration"),
    "GlobalSetLabelsRequest": [(set_image_labels, "")],
    "Image": [(own_image, "")],
    "ImageParams": [(own_image, "params")],
    "Instance": [(instance, "")],
    "InstanceGroupManager": [(group_manager, "")],
    "InstanceParams": [(instance, "params")],
    "InstanceProperties": [*TEMPLATES, *IN_BULK],
    "InstanceTemplate": [(template_of_an_instance, "")],
    "InstancesSetLabelsRequest": [(set_labels, "")],
    "LocationPolicy": [(bulk, "locationPolicy")],
    "LocationPolicyLocationConstraints": [(bulk, f"locationPolicy.locations.zones/{ZONE}.constraints")],
    "MachineImage": [(machine_image, "")],
    "MachineImageParams": [(machine_image, "params")],
    "Metadata": [*within("metadata"), (set_metadata, "")],
    "NamedPort": [(group, "namedPorts.+"), (group_manager, "namedPorts.+")],
    "NetworkInterface": within("networkInterfaces.0"),
    "RegionSetLabelsRequest": [(set_regional_disk_labels, "")],
    "ReservationAffinity": within("reservationAffinity"),
    "Route": [(route, "")],
    "Scheduling": within("scheduling"),
    "SchedulingNodeAffinity": [(make, f"{path}.scheduling.nodeAffinities.+") for make, path in IN_BULK],
    "Snapshot": [(snapshot, "")],
    "StoragePool": [(storage_pool, "")],
    "StoragePoolParams": [(storage_pool, "params")],
    "Tags": [*within("tags"), (set_tags, "")],
    "ZoneSetLabelsRequest": [(set_disk_labels, "")],
}
"""Where requests have an object of a schema: `+` appends to a list."""


def _put(body, path, fragment):
    """Lay a fragment over what a request has at a path."""
    for key in path.split(".") if path else ():
        if key == "+":
            body.append({})
            body = body[-1]
        elif key == "0":
            body = body[0]
        else:
            body = body.setdefault(key, [] if f".{key}.+" in f".{path}" else {})
    body.update(fragment)


def send(http, make, path, fragment):
    url, body = make(http)
    _put(body, path, fragment)
    return http.post(url, json=body)
