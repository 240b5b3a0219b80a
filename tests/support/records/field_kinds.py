"""The kinds of resources that the emulator keeps, and a valid value of every field that their requests may have.

The fields are those of Google's published descriptions.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs
from values.programs import BLOB, BUCKET, DEBIAN, DISK_KEY, EXPIRY, PROJECT, USER, ZONE, properties

from gcpx_emulator.core.discovery import document

BASE: Final = f"/compute/beta/projects/{PROJECT}"
TOPIC: Final = f"projects/{PROJECT}/topics/uploads"
WORKER: Final = f"projects/{PROJECT}/subscriptions/worker"
SNAPSHOT: Final = f"projects/{PROJECT}/snapshots/made"
SCHEMA: Final = f"projects/{PROJECT}/schemas/made"
VM: Final = f"zones/{ZONE}/instances/example-vm"
DISK: Final = f"zones/{ZONE}/disks/example-data"
POOL: Final = f"zones/{ZONE}/storagePools/pool"
HYPERDISK: Final = f"zones/{ZONE}/diskTypes/hyperdisk-balanced"
POLICY: Final = "regions/us-east1/resourcePolicies/daily"
KEY: Final = {"rawKey": DISK_KEY}
HASHED: Final = {"sha256": base64.b64encode(hashlib.sha256(base64.b64decode(DISK_KEY)).digest()).decode()}
NUMBERS: Final = itertools.count()
Json = dict[str, Any]
Sent = tuple[Any, Callable[[], Json]]
"""The response to an insertion, and a function that reads what was inserted."""


def _inserted(collection: str, **query: str) -> Callable[[Any, Json], Sent]:
    """Insert a resource of Compute Engine."""

    def send(http: Any, body: Json) -> Sent:
        name = f"made-{next(NUMBERS)}"
        answer = http.post(f"{BASE}/{collection}", json={"name": name, **body})
        return answer, lambda: http.get(f"{BASE}/{collection}/{name}", params=query).json()

    return send


_TEMPLATE: Final = _inserted("global/instanceTemplates", view="FULL")
_INSTANCE: Final = _inserted(f"zones/{ZONE}/instances", view="FULL")
_MACHINE: Final = {**properties(), "machineType": f"zones/{ZONE}/machineTypes/n1-standard-1"}


def _route(http: Any, body: Json) -> Sent:
    """Insert a route, through an address if the fields name no next hop."""
    hop = {} if any(name.startswith("nextHop") for name in body) else {"nextHopIp": "10.0.0.1"}
    return _inserted("global/routes")(http, {**hop, **body})


def _properties(http: Any, body: Json) -> Sent:
    answer, read = _TEMPLATE(http, {"properties": properties(**body)})
    return answer, lambda: read()["properties"]


def _disk_of_template(http: Any, body: Json) -> Sent:
    answer, read = _properties(http, {"disks": [{**properties()["disks"][0], **body}]})
    return answer, lambda: read()["disks"][0]


def _interface(http: Any, body: Json) -> Sent:
    answer, read = _properties(http, {"networkInterfaces": [body]})
    return answer, lambda: read()["networkInterfaces"][0]


def _scheduling(http: Any, body: Json) -> Sent:
    answer, read = _properties(http, {"scheduling": body})
    return answer, lambda: read()["scheduling"]


def _new_disk(http: Any, body: Json) -> Sent:
    """Insert an instance with these `initializeParams`, and read the disk that is made."""
    disk = {"boot": True, "initializeParams": {"sourceImage": DEBIAN, **body}}
    with_hyperdisks = {"machineType": f"zones/{ZONE}/machineTypes/c3-standard-4"} if "storagePool" in body else {}
    answer, read = _INSTANCE(http, {**_MACHINE, **with_hyperdisks, "disks": [disk]})
    return answer, lambda: http.get(read()["disks"][0]["source"].partition("googleapis.com")[2]).json()


def _in_bulk(http: Any, body: Json) -> Sent:
    """Insert an instance in bulk with these properties."""
    name = f"made-{next(NUMBERS)}"
    own = properties(**{"machineType": "n1-standard-1", **body})
    request = {"count": "1", "namePattern": f"{name}-#", "instanceProperties": own}
    answer = http.post(f"{BASE}/zones/{ZONE}/instances/bulkInsert", json=request)
    return answer, lambda: http.get(f"{BASE}/zones/{ZONE}/instances/{name}-1", params={"view": "FULL"}).json()


def _bulk(http: Any, body: Json) -> Sent:
    """Insert instances in bulk, and read by each field of the request what follows from it; NAME begins their names."""
    name = f"made-{next(NUMBERS)}"
    request = {"count": "1", "namePattern": f"{name}-#", "instanceProperties": properties(), **body}
    sent = json.loads(json.dumps(request).replace("NAME", name))
    answer = http.post(f"{BASE}/regions/us-east1/instances/bulkInsert", json=sent)

    def read() -> Json:
        scopes = http.get(f"{BASE}/aggregated/instances", params={"filter": f"name eq {name}-.*"}).json()["items"]
        items = [item for scope in scopes.values() for item in scope.get("instances", ())]
        return {
            "count": str(len(items)),
            "instanceFlexibilityPolicy": items[0]["machineType"],
            "instanceProperties": items[0],
            "locationPolicy": items[0]["zone"],
            "namePattern": items[0]["name"],
            "perInstanceProperties": {item["name"].replace(name, "NAME"): item for item in items},
            "sourceInstanceTemplate": items[0].get("labels"),
        }

    return answer, read


def _snapshot_of(collection: str, disk: Json) -> Callable[[Any, Json], Sent]:
    """Create a snapshot of a new disk by the method of the disk."""

    def send(http: Any, body: Json) -> Sent:
        name = f"made-{next(NUMBERS)}"
        http.post(f"{BASE}/{collection}", json={"name": name, "sizeGb": "10", **disk}).raise_for_status()
        answer = http.post(f"{BASE}/{collection}/{name}/createSnapshot", json={"name": name, **body})
        return answer, lambda: http.get(f"{BASE}/global/snapshots/{name}").json()

    return send


def _subnetwork(http: Any, body: Json) -> Sent:
    high, low = divmod(next(NUMBERS), 256)
    return _inserted("regions/us-east1/subnetworks")(http, {"ipCidrRange": f"10.{high}.{low}.0/24", **body})


def _bucket(http: Any, body: Json) -> Sent:
    name = f"made-{next(NUMBERS)}"
    answer = http.post(f"/storage/v1/b?project={PROJECT}", json={"name": name, **body})
    return answer, lambda: http.get(f"/storage/v1/b/{name}?projection=full").json()


def _object(http: Any, body: Json) -> Sent:
    """Upload an object with its metadata, in two parts."""
    name = f"made-{next(NUMBERS)}"
    parts = ("application/json", json.dumps({"name": name, **body})), ("text/plain", "x")
    content = "".join(f"--x\r\nContent-Type: {kind}\r\n\r\n{part}\r\n" for kind, part in parts)
    headers = {"Content-Type": "multipart/related; boundary=x"}
    url = f"/upload/storage/v1/b/{BUCKET}/o?uploadType=multipart"
    answer = http.post(url, content=f"{content}--x--", headers=headers)
    return answer, lambda: http.get(f"/storage/v1/b/{BUCKET}/o/{name}?projection=full").json()


def _notification(http: Any, body: Json) -> Sent:
    configs = f"/storage/v1/b/{BUCKET}/notificationConfigs"
    answer = http.post(configs, json=body)
    return answer, lambda: http.get(f"{configs}/{answer.json()['id']}").json()


def _put(collection: str) -> Callable[[Any, Json], Sent]:
    """Create a resource of Pub/Sub."""

    def send(http: Any, body: Json) -> Sent:
        url = f"/v1/projects/{PROJECT}/{collection}/made-{next(NUMBERS)}"
        return http.put(url, json=body), lambda: http.get(url).json()

    return send


def _message(http: Any, body: Json) -> Sent:
    """Publish a message, and pull it."""
    name = f"made-{next(NUMBERS)}"
    topic, subscription = (f"/v1/projects/{PROJECT}/{kind}/{name}" for kind in ("topics", "subscriptions"))
    http.put(topic, json={}).raise_for_status()
    http.put(subscription, json={"topic": topic.removeprefix("/v1/")}).raise_for_status()
    answer = http.post(f"{topic}:publish", json={"messages": [body]})
    return answer, lambda: http.post(f"{subscription}:pull", json={"maxMessages": 1}).json()["receivedMessages"][0][
        "message"
    ]


def _key(http: Any, body: Json) -> Sent:
    answer = http.post(f"/v1/users/user-{next(NUMBERS)}.{USER}/sshPublicKeys", json=body)
    return answer, lambda: http.get(f"/v1/{answer.json()['name']}").json()


@attrs.frozen(kw_only=True)
class Kind:
    """A kind of resource, or an object within one.

    Attributes:
        schema: its name in the API's description.
        send: inserts a resource with some fields.
        base: what the kind needs, which is sent beside each field.
        values: valid values of fields, where the description does not lead to one.
        beside: what a field needs besides; None if it excludes `base`.
        shown: what is read of a field, where it is not what was sent: a value, or a function that accepts it.
        not_shown: the fields that are accepted and not shown, each with the reason.
        not_emulated: the fields that the emulator refuses with the status 501.
    """

    name: str
    api: str = "compute.beta"
    schema: str
    send: Callable[[Any, Json], Sent]
    base: Json = attrs.Factory(dict)
    values: Mapping[str, Any] = attrs.Factory(dict)
    beside: Mapping[str, Json | None] = attrs.Factory(dict)
    shown: Mapping[str, Any] = attrs.Factory(dict)
    not_shown: Mapping[str, str] = attrs.Factory(dict)
    not_emulated: frozenset[str] = frozenset()


INPUT_ONLY: Final = "the description says: input only, not persisted"
COMPUTED: Final = "Google computes it from the rest"
BY_GOOGLE: Final = "only Google sets it, although the description does not say so"
BY_METHOD: Final = "the description says: only its own method sets it"
OF_INSTANCES: Final = {
    "disks": [{"boot": True, "deviceName": "d", "initializeParams": {"sourceImage": DEBIAN}}],
    "guestAccelerators": [{"acceleratorType": "nvidia-tesla-p100", "acceleratorCount": 1}],
    "machineType": "n1-standard-1",
    "metadata": {"items": [{"key": "k", "value": "v"}]},
    "minCpuPlatform": "Intel Skylake",
    "networkInterfaces": [{"network": "global/networks/default", "stackType": "IPV4_ONLY"}],
    "partnerMetadata": {"a.com": {"entries": {"k": "v"}}},
    "resourcePolicies": ["daily"],
    "scheduling": {"minNodeCpus": 1},
    "tags": {"items": ["web"]},
}
CRYPTO_KEY: Final = "projects/p/locations/us/keyRings/r/cryptoKeys/k"
KEYS: Final = ("diskEncryptionKey", "imageEncryptionKey", "machineImageEncryptionKey", "sourceDiskEncryptionKey",
               "sourceImageEncryptionKey", "sourceMachineImageEncryptionKey", "sourceSnapshotEncryptionKey")  # fmt: skip
KEYS_OF_INSTANCES: Final = ("instanceEncryptionKey", "sourceMachineImageEncryptionKey")
SOURCES: Final = {
    "sourceDisk": DISK,
    "sourceImage": DEBIAN,
    "sourceSnapshot": "global/snapshots/s",
    **dict.fromkeys(KEYS, KEY),
}
SHOWN_SOURCES: Final = {
    "sourceImage": lambda link: "/debian-cloud/global/images/debian-12" in link,
    **dict.fromkeys(KEYS, HASHED),
}
ACL: Final = [{"entity": "allUsers", "role": "READER"}]
NOT_EMULATED_OF_MANAGERS: Final = frozenset(
    {"allInstancesConfig", "autoHealingPolicies", "distributionPolicy", "failoverAction", "instanceFlexibilityPolicy",
     "instanceLifecyclePolicy", "multiMig", "resourcePolicies", "serviceAccount", "standbyPolicy", "statefulPolicy",
     "targetPools", "targetSizePolicy", "targetStoppedSize", "targetSuspendedSize"}
)  # fmt: skip
KINDS: Final = [
    Kind(
        name="disk",
        schema="Disk",
        send=_inserted(f"zones/{ZONE}/disks"),
        values={
            **SOURCES,
            "asyncPrimaryDisk": {"disk": DISK},
            "params": {"resourceManagerTags": {"tagKeys/1": "tagValues/2"}},
            "provisionedIops": "10000",
            "replicaZones": [f"zones/us-east1-{letter}" for letter in "bc"],
            "sizeGb": "20",
            "sourceMachineImage": "global/machineImages/golden",
            "storagePool": POOL,
            "type": f"zones/{ZONE}/diskTypes/pd-ssd",
        },
        beside={
            "sourceMachineImage": {"sourceMachineImageDiskDeviceName": "boot"},
            "storagePool": {"type": HYPERDISK},
        },
        shown=SHOWN_SOURCES,
        not_shown={"labelFingerprint": COMPUTED, "params": INPUT_ONLY},
    ),
    Kind(
        name="new disk of an instance",
        schema="AttachedDiskInitializeParams",
        send=_new_disk,
        values={**SOURCES, "architecture": "X86_64", "diskSizeGb": "20", "provisionedIops": "10000", "resourceManagerTags": {"tagKeys/1": "tagValues/2"}, "storagePool": POOL,
                "diskType": f"zones/{ZONE}/diskTypes/pd-ssd", "replicaZones": [f"zones/us-east1-{letter}" for letter in "bc"]},
        beside={
            **{name: {"sourceImage": None} for name in ("sourceInstantSnapshot", "sourceSnapshot")},
            "storagePool": {"diskType": HYPERDISK},
        },
        shown=SHOWN_SOURCES,
        not_shown={
            "diskName": "the disk has it as its name",
            "diskSizeGb": "the disk has it as sizeGb",
            "diskType": "the disk has it as its type",
            "onUpdateAction": "it says what an update of the instance does",
            "resourceManagerTags": INPUT_ONLY,
        },
    ),
    Kind(
        name="image",
        schema="Image",
        send=_inserted("global/images"),
        base={"rawDisk": {"source": "https://storage.googleapis.com/b/o"}},
        values={**SOURCES, "diskSizeGb": "20", "params": {"resourceManagerTags": {"tagKeys/1": "tagValues/2"}},
                "storageLocations": ["eu"]},
        shown=SHOWN_SOURCES,
        not_shown={"labelFingerprint": COMPUTED, "params": INPUT_ONLY},
    ),
    Kind(
        name="machine image",
        schema="MachineImage",
        send=_inserted("global/machineImages"),
        base={"sourceInstance": VM},
        values={"machineImageEncryptionKey": KEY, "sourceDiskEncryptionKeys": [], "sourceInstance": VM,
                "storageLocations": ["eu"]},
        shown={"machineImageEncryptionKey": HASHED},
        not_shown={
            "guestFlush": INPUT_ONLY,
            "instanceProperties": "the description says: output only, in its words",
            "labelFingerprint": COMPUTED,
            "params": INPUT_ONLY,
            "sourceDiskEncryptionKeys": INPUT_ONLY,
        },
    ),
    Kind(
        name="template",
        schema="InstanceTemplate",
        send=_TEMPLATE,
        base={"properties": properties()},
        values={"properties": properties(), "sourceInstance": VM, "sourceInstanceParams": {"diskConfigs": []}},
        beside={"sourceInstance": None, "sourceInstanceParams": None},
        not_shown={"sourceInstanceParams": "it says how the properties are made, which are shown"},
    ),
    Kind(
        name="instance properties",
        schema="InstanceProperties",
        send=_properties,
        values={**OF_INSTANCES, "resourceManagerTags": {"tagKeys/1": "tagValues/2"}},
        not_shown={"resourceManagerTags": INPUT_ONLY},
    ),
    Kind(
        name="disk of a template",
        schema="AttachedDisk",
        send=_disk_of_template,
        values={
            "diskEncryptionKey": {"kmsKeyName": "projects/p/locations/us/keyRings/r/cryptoKeys/k"},
            "diskSizeGb": "20",
            "initializeParams": {"sourceImage": DEBIAN, "labels": {"a": "b"}},
            "source": "example-data",
        },
        beside={"source": {"initializeParams": None}},
        shown={"diskEncryptionKey": lambda key: key["kmsKeyName"].endswith("/cryptoKeys/k/cryptoKeyVersions/1")},
        not_shown={"forceAttach": INPUT_ONLY},
    ),
    Kind(
        name="interface of a template",
        schema="NetworkInterface",
        send=_interface,
        values={
            "accessConfigs": [{"natIP": "203.0.113.7", "networkTier": "STANDARD", "type": "ONE_TO_ONE_NAT"}],
            "aliasIpRanges": [{"ipCidrRange": "/24"}],
            "aliasIpv6Ranges": [{"ipCidrRange": "/112"}],
            "ipv6AccessConfigs": [{"networkTier": "PREMIUM", "type": "DIRECT_IPV6"}],
            "ipv6Address": "2001:db8::1",
            "network": "default",
            "networkAttachment": f"projects/{PROJECT}/regions/us-east1/networkAttachments/a",
            "networkIP": "10.0.0.7",
            "subnetwork": "regions/us-east1/subnetworks/default",
            "vlan": 7,
        },
    ),
    Kind(
        name="scheduling of a template",
        schema="Scheduling",
        send=_scheduling,
        values={
            "hostErrorTimeoutSeconds": 120,
            "localSsdRecoveryTimeout": {"seconds": "3600"},
            "nodeAffinities": [{"key": "k", "operator": "IN", "values": ["v"]}],
            "terminationTime": "2040-01-01T00:00:00Z",
        },
    ),
    Kind(
        name="instance",
        schema="Instance",
        send=_INSTANCE,
        base=_MACHINE,
        values={**OF_INSTANCES, "hostname": "vm.example.com", "machineType": f"zones/{ZONE}/machineTypes/n1-standard-2", "resourcePolicies": [POLICY],
                "sourceMachineImage": "global/machineImages/golden",
                **dict.fromkeys(KEYS_OF_INSTANCES, KEY)},
        beside={"sourceMachineImage": {"disks": []}},
        shown={"disks": lambda disks: disks[0]["deviceName"] == "d", **dict.fromkeys(KEYS_OF_INSTANCES, HASHED)},
        not_shown={"fingerprint": COMPUTED, "labelFingerprint": COMPUTED, "params": INPUT_ONLY},
    ),
    Kind(
        name="instance of a bulk creation",
        schema="InstanceProperties",
        send=_in_bulk,
        values={**OF_INSTANCES, "resourceManagerTags": {"tagKeys/1": "tagValues/2"}},
        shown={"disks": lambda disks: disks[0]["deviceName"] == "d"},
        not_shown={"resourceManagerTags": INPUT_ONLY},
    ),
    Kind(
        name="bulk creation",
        schema="BulkInsertInstanceResource",
        send=_bulk,
        values={"count": "2", "instanceFlexibilityPolicy": {"instanceSelections": {"a": {"machineTypes": ["n1-standard-2"]}}},
                "instanceProperties": properties(labels={"a": "b"}), "locationPolicy": {"zones": [{"zone": "zones/us-east1-c"}]},
                "namePattern": "NAME-x-#", "perInstanceProperties": {"NAME-x": {"hostname": "vm.example.com"}},
                "sourceInstanceTemplate": "global/instanceTemplates/labelled"},
        beside={"perInstanceProperties": {"namePattern": None}, "sourceInstanceTemplate": {"instanceProperties": {}}},
        shown={"instanceFlexibilityPolicy": "n1-standard-2", "instanceProperties": {"labels": {"a": "b"}}, "locationPolicy": "us-east1-c",
               "namePattern": lambda name: name.endswith("-x-1"), "sourceInstanceTemplate": {"of": "a-template"}},
        not_shown={"minCount": "it says when the creation fails"},
    ),
    Kind(
        name="network",
        schema="Network",
        send=_inserted("global/networks"),
        base={"autoCreateSubnetworks": False},
        not_shown={"gatewayIPv4": BY_GOOGLE, "params": INPUT_ONLY, "selfLink": BY_GOOGLE, "subnetworks": BY_GOOGLE},
    ),
    Kind(
        name="subnetwork",
        schema="Subnetwork",
        send=_subnetwork,
        base={"network": "global/networks/vpc"},
        values={"ipCidrRange": "192.168.0.0/24", "network": "global/networks/vpc", "region": "regions/us-east1",
                "secondaryIpRanges": [{"rangeName": "pods", "ipCidrRange": "192.168.1.0/24"}]},
        shown={"network": lambda link: link.endswith(f"/projects/{PROJECT}/global/networks/vpc"),
               "region": lambda link: link.endswith(f"/projects/{PROJECT}/regions/us-east1")},
        not_shown={"fingerprint": COMPUTED, "params": INPUT_ONLY, "selfLink": BY_GOOGLE},
    ),
    Kind(
        name="firewall rule",
        schema="Firewall",
        send=_inserted("global/firewalls"),
        base={"allowed": [{"IPProtocol": "tcp"}]},
        values={"denied": [{"IPProtocol": "udp"}], "network": "global/networks/default"},
        beside={"denied": {"allowed": []}},
        shown={"network": lambda link: link.endswith(f"/projects/{PROJECT}/global/networks/default")},
        not_shown={"params": INPUT_ONLY, "selfLink": BY_GOOGLE},
    ),
    Kind(
        name="route",
        schema="Route",
        send=_route,
        base={"destRange": "192.0.2.0/24", "network": "global/networks/default"},
        values={
            "destRange": "198.51.100.0/24",
            "network": "global/networks/default",
            "nextHopGateway": f"projects/{PROJECT}/global/gateways/default-internet-gateway",
            "nextHopInstance": VM,
            "nextHopIp": "10.0.0.2",
            "tags": ["web"],
        },
        shown={name: lambda link: link.startswith("https://") for name in ("network", "nextHopGateway", "nextHopInstance")},
        not_shown={"params": INPUT_ONLY, "routeStatus": BY_GOOGLE, "selfLink": BY_GOOGLE},
        not_emulated=frozenset({"nextHopIlb", "nextHopNetwork", "nextHopVpnTunnel"}),
    ),
    Kind(
        name="storage pool",
        schema="StoragePool",
        send=_inserted(f"zones/{ZONE}/storagePools"),
        base={
            "poolProvisionedCapacityGb": "10240",
            "storagePoolType": f"zones/{ZONE}/storagePoolTypes/hyperdisk-balanced",
        },
        values={
            "params": {"resourceManagerTags": {"tagKeys/1": "tagValues/2"}},
            "poolProvisionedCapacityGb": "20480",
            "storagePoolType": f"zones/{ZONE}/storagePoolTypes/hyperdisk-throughput",
        },
        not_shown={"labelFingerprint": COMPUTED, "params": INPUT_ONLY},
        not_emulated=frozenset({"exapoolProvisionedCapacityGb", "shareSettings"}),
    ),
    Kind(
        name="instance group",
        schema="InstanceGroup",
        send=_inserted(f"zones/{ZONE}/instanceGroups"),
        values={"namedPorts": [{"name": "http", "port": 80}], "network": "global/networks/default"},
        shown={"network": lambda link: link.endswith(f"/projects/{PROJECT}/global/networks/default")},
    ),
    Kind(
        name="managed instance group",
        schema="InstanceGroupManager",
        send=_inserted(f"zones/{ZONE}/instanceGroupManagers"),
        base={"instanceTemplate": "global/instanceTemplates/labelled", "targetSize": 0},
        values={
            "baseInstanceName": "vm",
            "instanceTemplate": "global/instanceTemplates/labelled",
            "namedPorts": [{"name": "http", "port": 80}],
            "params": {"resourceManagerTags": {"tagKeys/1": "tagValues/2"}},
            "updatePolicy": {"type": "OPPORTUNISTIC", "minimalAction": "REPLACE"},
            "versions": [{"name": "web", "instanceTemplate": "global/instanceTemplates/labelled"}],
        },
        not_shown={"fingerprint": COMPUTED, "params": INPUT_ONLY},
        not_emulated=NOT_EMULATED_OF_MANAGERS,
    ),
    Kind(
        name="address",
        schema="Address",
        send=_inserted("regions/us-east1/addresses"),
        values={"address": "35.1.2.3", "addressType": "EXTERNAL", "purpose": "SHARED_LOADBALANCER_VIP",
                "subnetwork": "regions/us-east1/subnetworks/default"},
        beside={name: {"addressType": "INTERNAL"} for name in ("purpose", "subnetwork")},
        shown={"subnetwork": lambda link: link.endswith(f"/projects/{PROJECT}/regions/us-east1/subnetworks/default")},
        not_shown={"labelFingerprint": COMPUTED, "labels": BY_METHOD, "selfLink": BY_GOOGLE, "users": BY_GOOGLE},
    ),
    Kind(
        name="snapshot",
        schema="Snapshot",
        send=_inserted("global/snapshots"),
        base={"sourceDisk": DISK},
        values={"snapshotEncryptionKey": KEY, "sourceDisk": DISK, "sourceDiskEncryptionKey": KEY,
                "sourceInstantSnapshotEncryptionKey": KEY, "storageLocations": ["eu"]},
        shown={"sourceDisk": lambda link: link.endswith(f"/projects/{PROJECT}/{DISK}"),
               **dict.fromkeys(
                   ("snapshotEncryptionKey", "sourceDiskEncryptionKey", "sourceInstantSnapshotEncryptionKey"), HASHED)},
        not_shown={"guestFlush": INPUT_ONLY, "labelFingerprint": COMPUTED, "params": INPUT_ONLY},
    ),
    *(
        Kind(
            name=name,
            schema="Snapshot",
            send=send,
            values={"snapshotEncryptionKey": KEY, "sourceDisk": DISK, "sourceDiskEncryptionKey": KEY,
                    "sourceInstantSnapshotEncryptionKey": KEY, "storageLocations": ["eu"]},
            shown=dict.fromkeys(
                ("snapshotEncryptionKey", "sourceDiskEncryptionKey", "sourceInstantSnapshotEncryptionKey"), HASHED),
            not_shown={"guestFlush": INPUT_ONLY, "labelFingerprint": COMPUTED, "params": INPUT_ONLY, "sourceDisk": "the URL says it"},
        )
        for name, send in (
            ("snapshot of a disk", _snapshot_of(f"zones/{ZONE}/disks", {})),
            ("snapshot of a regional disk", _snapshot_of("regions/us-east1/disks", {"replicaZones": [f"zones/us-east1-{letter}" for letter in "bc"]})),
        )
    ),
    Kind(
        name="bucket",
        api="storage.v1",
        schema="Bucket",
        send=_bucket,
        values={"acl": ACL, "defaultObjectAcl": ACL, "iamConfiguration": {"publicAccessPrevention": "enforced"},
                "lifecycle": {"rule": [{"action": {"type": "Delete"}, "condition": {"age": 3}}]}, "location": "EU", "metageneration": "7"},
        not_shown=dict.fromkeys(
            ("etag", "generation", "hardDeleteTime", "id", "kind", "locationType", "metageneration", "owner",
             "projectNumber", "satisfiesPZI", "satisfiesPZS", "selfLink", "softDeleteTime", "timeCreated", "updated"),
            BY_GOOGLE,
        ),
    ),
    Kind(
        name="object",
        api="storage.v1",
        schema="Object",
        send=_object,
        values={"acl": ACL, "contentType": "text/html", "crc32c": "qTxfkw==", "customTime": "2020-01-01T00:00:00Z",
                "kmsKeyName": CRYPTO_KEY, "md5Hash": "ndTkYSaMgDT1yFZOFVxnpg==", "metageneration": "7", "size": "7", "storageClass": "NEARLINE"},
        shown={"customTime": lambda time: time is not None, "kmsKeyName": f"{CRYPTO_KEY}/cryptoKeyVersions/1"},
        not_shown=dict.fromkeys(
            ("bucket", "componentCount", "customerEncryption", "etag", "generation", "hardDeleteTime", "id", "kind", "mediaLink",
             "metageneration", "owner", "restoreToken", "retentionExpirationTime", "selfLink", "size", "softDeleteTime",
             "timeCreated", "timeDeleted", "timeFinalized", "timeStorageClassUpdated", "updated"),
            BY_GOOGLE,
        ),
        not_emulated=frozenset({"contexts", "retention"}),
    ),
    Kind(
        name="notification",
        api="storage.v1",
        schema="Notification",
        send=_notification,
        base={"topic": TOPIC, "payload_format": "NONE"},
        values={"event_types": ["OBJECT_DELETE"], "payload_format": "JSON_API_V1", "topic": TOPIC},
        not_shown=dict.fromkeys(("etag", "id", "kind", "selfLink"), BY_GOOGLE),
    ),
    Kind(
        name="topic",
        api="pubsub.v1",
        schema="Topic",
        send=_put("topics"),
        values={"schemaSettings": {"schema": SCHEMA, "encoding": "JSON"}},
        not_shown={"satisfiesPzs": BY_GOOGLE, "tags": INPUT_ONLY},
        not_emulated=frozenset({"messageTransforms"}),
    ),
    Kind(
        name="subscription",
        api="pubsub.v1",
        schema="Subscription",
        send=_put("subscriptions"),
        base={"topic": TOPIC},
        values={
            "ackDeadlineSeconds": 20,
            "deadLetterPolicy": {"deadLetterTopic": TOPIC, "maxDeliveryAttempts": 7},
            "expirationPolicy": {"ttl": "86400s"},
            "filter": "attributes:a",
            "pushConfig": {"pushEndpoint": "https://example.com/push"},
            "topic": TOPIC,
        },
        not_shown={"tags": INPUT_ONLY},
        not_emulated=frozenset(
            {"bigqueryConfig", "bigtableConfig", "cloudStorageConfig", "detached", "messageTransforms"}
        ),
    ),
    Kind(
        name="snapshot of messages",
        api="pubsub.v1",
        schema="CreateSnapshotRequest",
        send=_put("snapshots"),
        base={"subscription": WORKER},
        values={"subscription": WORKER},
        not_shown={"subscription": "a snapshot shows the topic", "tags": INPUT_ONLY},
    ),
    Kind(
        name="message",
        api="pubsub.v1",
        schema="PubsubMessage",
        send=_message,
        base={"data": "eA=="},
        values={"data": "eQ=="},
        not_shown=dict.fromkeys(("messageId", "publishTime"), BY_GOOGLE),
    ),
    Kind(
        name="SSH key",
        api="oslogin.v1",
        schema="SshPublicKey",
        send=_key,
        base={"key": f"ssh-ed25519 {BLOB}"},
        values={"expirationTimeUsec": EXPIRY, "key": f"ssh-ed25519 {BLOB}"},
    ),
]  # fmt: skip


def value_of(schemas: Json, spec: Json) -> Any:
    """Return a value that a description allows; an object gets one of its fields, a simple one if there is one."""
    if "$ref" in spec:
        spec = schemas[spec["$ref"]]
    if "enum" in spec:
        return next(value for value in spec["enum"] if "UNSPECIFIED" not in value and "UNDEFINED" not in value)
    if spec["type"] == "array":
        return [value_of(schemas, spec["items"])]
    if "additionalProperties" in spec:
        return {"key": value_of(schemas, spec["additionalProperties"])}
    if spec["type"] == "object":
        given = {name: inner for name, inner in spec["properties"].items() if not inner.get("readOnly")}
        simple = [name for name, inner in given.items() if inner.get("type") in {"boolean", "integer", "string"}]
        return {name: value_of(schemas, given[name]) for name in [*simple, *given][:1]}
    of_type = {"boolean": True, "integer": 1, "number": 1, "any": "text"}
    of_format = {"byte": "Ynl0ZXM=", "int64": "1", "uint64": "1", "google-duration": "600s"}
    return of_type.get(spec["type"], of_format.get(spec.get("format", ""), "text"))


def is_shown(sent: Any, shown: Any) -> bool:
    """Return whether what was sent is there; a link may be completed, and the service may add fields and items."""
    if callable(sent):
        return bool(sent(shown))
    if isinstance(sent, dict):
        return isinstance(shown, dict) and all(is_shown(value, shown.get(name)) for name, value in sent.items())
    if isinstance(sent, list):
        return isinstance(shown, list) and len(sent) <= len(shown) and all(map(is_shown, sent, shown))
    return bool(sent == shown or (isinstance(sent, str) and str(shown).endswith(f"/{sent}")))


def fields_of(kind: Kind) -> dict[str, Any]:
    """Return the fields that requests may have, besides the name, each with a valid value."""
    schemas = document(kind.api).schemas
    return {
        name: kind.values[name] if name in kind.values else value_of(schemas, spec)
        for name, spec in schemas[kind.schema]["properties"].items()
        if not spec.get("readOnly") and name != "name"
    }


def prepare(http: Any) -> None:
    """Create what requests refer to, besides an instance and a disk, such as a resource policy."""
    http.post(f"{BASE}/regions/us-east1/resourcePolicies", json={"name": "daily"})
    pool = {
        "storagePoolType": f"zones/{ZONE}/storagePoolTypes/hyperdisk-balanced",
        "poolProvisionedCapacityGb": "10240",
    }
    http.post(f"{BASE}/zones/{ZONE}/storagePools", json={"name": "pool", **pool})
    http.put(f"/v1/{WORKER}", json={"topic": TOPIC})
    http.put(f"/v1/{SNAPSHOT}", json={"subscription": WORKER})
    definition = '{"type": "record", "name": "made", "fields": []}'
    http.post(
        f"/v1/{SCHEMA.partition('/schemas/')[0]}/schemas?schemaId=made", json={"type": "AVRO", "definition": definition}
    )
    http.post(f"{BASE}/global/machineImages", json={"name": "golden", "sourceInstance": VM})
    http.post(f"{BASE}/global/snapshots", json={"name": "s", "sourceDisk": DISK})
    http.post(f"{BASE}/global/networks", json={"name": "vpc", "autoCreateSubnetworks": False})
    labelled = {"name": "labelled", "properties": properties(labels={"of": "a-template"})}
    http.post(f"{BASE}/global/instanceTemplates", json=labelled)


def body_with(kind: Kind, field: str, value: Any) -> Json:
    """Write the request of an insertion with a field, beside what the kind and the field need."""
    beside = kind.beside.get(field, {})
    body = {field: value} if beside is None else {**kind.base, field: value, **beside}
    return body | ({"sourceInstance": VM} if kind.name == "template" and field == "sourceInstanceParams" else {})
