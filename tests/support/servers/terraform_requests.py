"""What Terraform's provider sends for a resource, verb by verb: methods, paths, parameters and the forms of bodies.

These are facts about the provider's code, which each resource names. The provider's own quirks are kept: nulls in
lists, empty strings for enums that are not set, empty objects, numbers as numbers or as strings, a zone below `global`,
and a `view` that is sent with an update. Waiting for an operation is a read of it, which the sender adds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs
from values.programs import BLOB, EXPIRY, PROJECT, USER

Json = dict[str, Any]
SOURCE: Final = "https://github.com/hashicorp/terraform-provider-google-beta/blob/93c65b2d60fea598528f2769b5b09de856f8cb8c/google-beta/services/"
HEADERS: Final = {
    "User-Agent": "Terraform/1.13.0 (+https://www.terraform.io) Terraform-Plugin-SDK/2.37.0 terraform-provider-google-beta/8.0.0",
    "Content-Type": "application/json",
    "X-Goog-User-Project": PROJECT,
}
"""The headers of every request; the last one only with `user_project_override`."""
COMPUTE: Final = f"/compute/beta/projects/{PROJECT}"
STORAGE: Final = "/storage/v1"
PUBSUB: Final = f"/v1/projects/{PROJECT}"
KEYS: Final = f"/v1/users/{USER}"
ZONE: Final = "us-east1-c"
LABELS: Final = {"goog-terraform-provisioned": "true", "team": "web"}
NEW_LABELS: Final = {"goog-terraform-provisioned": "true", "team": "search"}


@attrs.frozen
class Sent:
    """A request.

    Attributes:
        path: of the request; `{name}` stands for that field of what was read last.
        body: JSON, or a function that makes it from what was read last.
        status: what it is answered with.
        shows: fields that the response has.
    """

    method: str
    path: str
    body: Any = None
    query: Mapping[str, Any] = attrs.field(factory=dict)
    status: int = 200
    shows: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Update:
    """An update: its requests, and the names of all fields that a read then shows with another value."""

    requests: tuple[Sent, ...]
    changes: str


@attrs.frozen(kw_only=True)
class Life:
    """The life of one resource of Terraform.

    Attributes:
        resource: Terraform's type, and what is special about this one.
        source: where its requests come from, below `SOURCE`.
        before: creates what the resource refers to.
        create: the requests of a creation; the last one with a body is what a read shows.
        read: the requests of a refresh and of an import; the first one reads the resource.
        updates: by what changes, in their order.
        delete: the requests of a deletion.
        part: finds the resource in what the first request of `read` gives; None if it is not there.
        hidden: fields that Google does not show, or not where they are sent; dotted, with list elements left out.
        gone: the status of a read after the deletion.
    """

    resource: str
    source: str
    before: tuple[Sent, ...] = ()
    create: tuple[Sent, ...]
    read: tuple[Sent, ...]
    updates: Mapping[str, Update] = attrs.field(factory=dict)
    delete: tuple[Sent, ...]
    part: Callable[[Json], Json | None] = lambda read: read
    hidden: tuple[str, ...] = ()
    gone: int = 404


def _compute(method: str, path: str, body: Any = None, /, status: int = 200, shows: Any = (), **query: Any) -> Sent:
    return Sent(method, f"{COMPUTE}/{path}", body, {**query, "alt": "json"}, status, dict(shows))


def _storage(method: str, path: str, body: Any = None, /, status: int = 200, **query: Any) -> Sent:
    """Write a request of Google's client for Go, which the provider uses for buckets."""
    return Sent(method, f"{STORAGE}/{path}", body, {"alt": "json", "prettyPrint": "false", **query}, status)


def _other(method: str, path: str, body: Any = None, /, **query: Any) -> Sent:
    return Sent(method, path, body, {**query, "alt": "json"})


# Instances

_IMAGE_LOOKUP: Final = (
    Sent("GET", "/compute/beta/projects/debian-cloud/global/images/debian-12", query={"alt": "json"}, status=404),
    Sent("GET", "/compute/beta/projects/debian-cloud/global/images/family/debian-12", query={"alt": "json"}),
)
"""How `debian-cloud/debian-12` becomes a link: first as an image, then as a family."""
_DEBIAN: Final = "projects/debian-cloud/global/images/family/debian-12"
_NOT_SET: Final = {
    "maxRunDuration": None,
    "onInstanceStopAction": None,
    "hostErrorTimeoutSeconds": None,
    "gracefulShutdown": None,
    "skipGuestOsShutdown": False,
    "preemptionNoticeDuration": None,
    "localSsdRecoveryTimeout": None,
}
"""Parts of the scheduling of an instance that the program does not set."""
_SCHEDULING: Final = {
    "automaticRestart": True,
    "preemptible": False,
    "onHostMaintenance": "MIGRATE",
    "nodeAffinities": [None],
    "provisioningModel": "STANDARD",
    "instanceTerminationAction": "",
    **_NOT_SET,
}
_SPOT: Final = {
    "automaticRestart": False,
    "preemptible": True,
    "onHostMaintenance": "TERMINATE",
    "nodeAffinities": [None],
    "provisioningModel": "SPOT",
    "instanceTerminationAction": "DELETE",
    **_NOT_SET,
    "maxRunDuration": {"seconds": 3600},
}
_SCOPES: Final = ["https://www.googleapis.com/auth/cloud-platform"]
_HIDDEN_IN_INSTANCES: Final = ("params", "disks.initializeParams", "disks.forceAttach")


def _zonal(collection: str, name: str) -> str:
    return f"projects/{PROJECT}/zones/{ZONE}/{collection}/{name}"


def _boot_disk(disk_type: str = "pd-balanced", **more: Any) -> Json:
    parameters = {
        "diskSizeGb": "20",
        "diskType": _zonal("diskTypes", disk_type),
        "sourceImage": _DEBIAN,
        "labels": {"disk": "boot"},
    }
    return {"autoDelete": True, "boot": True, "initializeParams": parameters, "mode": "READ_WRITE", **more}


def _instance(name: str, machine_type: str, **more: Any) -> Json:
    return {
        "canIpForward": False,
        "deletionProtection": False,
        "disks": [_boot_disk()],
        "labels": LABELS,
        "machineType": _zonal("machineTypes", machine_type),
        "metadata": {"items": [{"key": "startup-script", "value": "echo hello"}]},
        "name": name,
        "networkInterfaces": [
            {"network": f"projects/{PROJECT}/global/networks/default", "accessConfigs": [{"type": "ONE_TO_ONE_NAT"}]}
        ],
        "params": {},
        "scheduling": _SCHEDULING,
        "tags": {"items": ["ssh", "web"]},
        **more,
    }


def _of_instance(name: str) -> Json:
    """Give the requests that every instance has: those of a read, and the deletion."""
    path = f"zones/{ZONE}/instances/{name}"
    return {
        "source": "compute/resource_compute_instance.go",
        "read": (
            _compute("GET", path, view="FULL"),
            _compute("GET", f"zones/{ZONE}/disks/{name}", shows={"sizeGb": "20", "labels": {"disk": "boot"}}),
        ),
        "delete": (_compute("DELETE", path),),
        "hidden": _HIDDEN_IN_INSTANCES,
    }


def _creation_of_instance(body: Json) -> tuple[Sent, ...]:
    read = _compute("GET", f"zones/{ZONE}/instances/{body['name']}", view="FULL", shows={"status": "RUNNING"})
    return (*_IMAGE_LOOKUP, _compute("POST", f"zones/{ZONE}/instances", body), read)


_SCRATCH: Final = {
    "autoDelete": True,
    "type": "SCRATCH",
    "interface": "NVME",
    "diskSizeGb": "375",
    "initializeParams": {"diskType": _zonal("diskTypes", "local-ssd")},
}
_GPU: Final = _instance(
    "tf-gpu",
    "n1-standard-4",
    disks=[_boot_disk("pd-ssd", guestOsFeatures=[{"type": "VIRTIO_SCSI_MULTIQUEUE"}]), _SCRATCH],
    scheduling=_SPOT,
    guestAccelerators=[{"acceleratorCount": 1, "acceleratorType": _zonal("acceleratorTypes", "nvidia-tesla-p100")}],
    serviceAccounts=[{"email": f"runner@{PROJECT}.iam.gserviceaccount.com", "scopes": _SCOPES}],
    minCpuPlatform="Intel Skylake",
)
_RESERVED: Final = _instance(
    "tf-reserved",
    "n2-standard-4",
    description="in a reservation",
    disks=[_boot_disk(), {"source": _zonal("disks", "tf-attached"), "mode": "READ_ONLY", "deviceName": "data"}],
    hostname="db.example.com",
    reservationAffinity={
        "consumeReservationType": "SPECIFIC_RESERVATION",
        "key": "compute.googleapis.com/reservation-name",
        "values": ["tf-held"],
    },
    shieldedInstanceConfig={"enableSecureBoot": True, "enableVtpm": True, "enableIntegrityMonitoring": False},
    advancedMachineFeatures={"enableNestedVirtualization": True, "threadsPerCore": 1},
    networkPerformanceConfig={"totalEgressBandwidthTier": "DEFAULT"},
    keyRevocationActionType="NONE",
    params={"resourceManagerTags": {"tagKeys/281478409127147": "tagValues/281479442205542"}},
    partnerMetadata={"a.example.com": {"entries": {"k": "v"}}},
)
_CHANGED: Final = "tf-changed"
_AT: Final = f"zones/{ZONE}/instances/{_CHANGED}"
_READ: Final = _compute("GET", _AT, view="FULL")
"""The read that begins every update."""


def _put(**change: Any) -> tuple[Sent, ...]:
    """Write the whole instance as it was read, with a change."""
    return (_READ, _READ, _compute("PUT", _AT, lambda read: read | change, view="FULL"))


def _post(action: str, body: Any = None, /, **query: Any) -> tuple[Sent, ...]:
    return (_READ, _compute("POST", f"{_AT}/{action}", body, **query))


def _patch(action: str, body: Any, /, **query: Any) -> tuple[Sent, ...]:
    return (_READ, _compute("PATCH", f"{_AT}/{action}", body, **query))


def _interface(field: str, value: Any) -> tuple[Sent, ...]:
    def body(read: Json) -> Json:
        return {"fingerprint": read["networkInterfaces"][0]["fingerprint"], field: value}

    return _patch("updateNetworkInterface", body, networkInterface="nic0")


def _metadata(read: Json) -> Json:
    items = [{"key": "enable-oslogin", "value": "TRUE"}]
    return {"items": items, "fingerprint": read["metadata"]["fingerprint"]}


_UPDATES_OF_INSTANCE: Final = {
    "description": Update(requests=_put(description="changed"), changes="description fingerprint"),
    "can_ip_forward": Update(requests=_put(canIpForward=True), changes="canIpForward fingerprint"),
    "partner_metadata": Update(
        requests=_put(partnerMetadata={"a.example.com": {"entries": {"k": "2"}}}), changes="fingerprint partnerMetadata"
    ),
    "resource_manager_tags": Update(
        requests=_put(params={"resourceManagerTags": {"tagKeys/1": "tagValues/2"}}), changes="fingerprint"
    ),
    "metadata": Update(
        requests=(_READ, _compute("GET", _AT), _compute("POST", f"{_AT}/setMetadata", _metadata)),
        changes="metadata resourceStatus",
    ),
    "tags": Update(
        requests=_post("setTags", lambda read: {"items": ["db"], "fingerprint": read["tags"]["fingerprint"]}),
        changes="tags",
    ),
    "no tags": Update(
        requests=_post("setTags", lambda read: {"items": [], "fingerprint": read["tags"]["fingerprint"]}),
        changes="tags",
    ),
    "labels": Update(
        requests=_post("setLabels", lambda read: {"labels": NEW_LABELS, "labelFingerprint": read["labelFingerprint"]}),
        changes="labelFingerprint labels",
    ),
    "scheduling": Update(
        requests=_post("setScheduling", {**_SCHEDULING, "automaticRestart": False, "onHostMaintenance": "TERMINATE"}),
        changes="scheduling",
    ),
    "access_config": Update(
        requests=(
            *_post("deleteAccessConfig", accessConfig="External NAT", networkInterface="nic0"),
            _compute(
                "POST",
                f"{_AT}/addAccessConfig",
                {"networkTier": "STANDARD", "type": "ONE_TO_ONE_NAT"},
                networkInterface="nic0",
            ),
            _compute("GET", _AT),
        ),
        changes="networkInterfaces",
    ),
    "no access_config": Update(
        requests=_post("deleteAccessConfig", accessConfig="External NAT", networkInterface="nic0"),
        changes="networkInterfaces",
    ),
    "alias_ip_range": Update(
        requests=_interface("aliasIpRanges", [{"ipCidrRange": "/28"}]), changes="networkInterfaces"
    ),
    "no alias_ip_range": Update(requests=_interface("aliasIpRanges", []), changes="networkInterfaces"),
    "stack_type": Update(requests=_interface("stackType", "IPV4_IPV6"), changes="networkInterfaces"),
    "resource_policies": Update(
        requests=_post(
            "addResourcePolicies",
            {"resourcePolicies": [f"projects/{PROJECT}/regions/us-east1/resourcePolicies/tf-daily"]},
        ),
        changes="resourcePolicies",
    ),
    "no resource_policies": Update(
        requests=_post("removeResourcePolicies", lambda read: {"resourcePolicies": read["resourcePolicies"]}),
        changes="resourcePolicies",
    ),
    "attached_disk": Update(
        requests=_post(
            "attachDisk", {"source": _zonal("disks", "tf-attached"), "mode": "READ_WRITE", "deviceName": "data"}
        ),
        changes="disks",
    ),
    "no attached_disk": Update(requests=_post("detachDisk", deviceName="data"), changes="disks"),
    "boot_disk.auto_delete": Update(
        requests=_post("setDiskAutoDelete", autoDelete="false", deviceName="persistent-disk-0"), changes="disks"
    ),
    "boot_disk.size": Update(
        requests=(
            _READ,
            _compute("GET", f"zones/{ZONE}/disks/{_CHANGED}"),
            _compute("POST", f"zones/{ZONE}/disks/{_CHANGED}/resize", {"sizeGb": 30}),
        ),
        changes="disks",
    ),
    "deletion_protection": Update(
        requests=_post("setDeletionProtection", deletionProtection="true"), changes="deletionProtection"
    ),
    "no deletion_protection": Update(
        requests=_post("setDeletionProtection", deletionProtection="false"), changes="deletionProtection"
    ),
    "desired_status": Update(requests=_post("stop"), changes="cpuPlatform lastStopTimestamp status"),
    "machine_type": Update(
        requests=_post("setMachineType", {"machineType": _zonal("machineTypes", "n2-standard-4")}),
        changes="machineType",
    ),
    "min_cpu_platform": Update(
        requests=_post("setMinCpuPlatform", {"minCpuPlatform": "Intel Ice Lake"}), changes="minCpuPlatform"
    ),
    "service_account": Update(
        requests=_post("setServiceAccount", {"email": f"other@{PROJECT}.iam.gserviceaccount.com", "scopes": _SCOPES}),
        changes="serviceAccounts",
    ),
    "no service_account": Update(requests=_post("setServiceAccount", {}), changes="serviceAccounts"),
    "enable_display": Update(requests=_patch("updateDisplayDevice", {"enableDisplay": True}), changes="displayDevice"),
    "shielded_instance_config": Update(
        requests=_patch(
            "updateShieldedInstanceConfig",
            {"enableSecureBoot": True, "enableVtpm": True, "enableIntegrityMonitoring": True},
        ),
        changes="shieldedInstanceConfig shieldedVmConfig",
    ),
    "node_affinities": Update(
        requests=_post(
            "setScheduling",
            {
                **_SCHEDULING,
                "nodeAffinities": [
                    {"key": "compute.googleapis.com/node-group-name", "operator": "IN", "values": ["g"]}
                ],
            },
        ),
        changes="scheduling",
    ),
    "no node_affinities": Update(requests=_post("setScheduling", _SCHEDULING), changes="scheduling"),
    "advanced_machine_features": Update(
        requests=_put(advancedMachineFeatures={"threadsPerCore": 1}), changes="advancedMachineFeatures fingerprint"
    ),
    "desired_status again": Update(requests=_post("start"), changes="cpuPlatform lastStartTimestamp status"),
}

# Templates

_PROPERTIES: Final = {
    "canIpForward": True,
    "description": "of a template",
    "disks": [
        {
            "autoDelete": True,
            "boot": True,
            "diskSizeGb": "20",
            "guestOsFeatures": [{"type": "GVNIC"}],
            "initializeParams": {
                "diskSizeGb": "20",
                "diskType": "pd-balanced",
                "labels": {"disk": "boot"},
                "sourceImage": _DEBIAN,
            },
            "interface": "SCSI",
            "mode": "READ_WRITE",
            "type": "PERSISTENT",
        },
        {
            "autoDelete": True,
            "diskSizeGb": "375",
            "initializeParams": {"diskSizeGb": "375", "diskType": "local-ssd"},
            "interface": "NVME",
            "type": "SCRATCH",
        },
    ],
    "guestAccelerators": [{"acceleratorCount": 1, "acceleratorType": "nvidia-tesla-p100"}],
    "labels": LABELS,
    "machineType": "n1-standard-4",
    "metadata": {"items": [{"key": "startup-script", "value": "echo hello"}]},
    "networkInterfaces": [
        {
            "network": f"projects/{PROJECT}/global/networks/default",
            "accessConfigs": [{"networkTier": "PREMIUM", "type": "ONE_TO_ONE_NAT"}],
            "nicType": "GVNIC",
            "stackType": "IPV4_ONLY",
        }
    ],
    "reservationAffinity": {"consumeReservationType": "NO_RESERVATION"},
    "resourceManagerTags": {"tagKeys/1": "tagValues/2"},
    "scheduling": {
        "automaticRestart": False,
        "hostErrorTimeoutSeconds": None,
        "instanceTerminationAction": "DELETE",
        "maxRunDuration": {"seconds": "3600"},
        "nodeAffinities": [None],
        "onHostMaintenance": "TERMINATE",
        "preemptible": True,
        "provisioningModel": "SPOT",
        "skipGuestOsShutdown": False,
    },
    "serviceAccounts": [{"email": "default", "scopes": _SCOPES}],
    "shieldedInstanceConfig": {"enableIntegrityMonitoring": True, "enableSecureBoot": False, "enableVtpm": True},
    "tags": {"items": ["ssh", "web"]},
}
_HIDDEN_IN_TEMPLATES: Final = ("properties.resourceManagerTags",)
_REGIONAL: Final = {
    "machineType": "n2d-standard-2",
    "disks": [
        {
            "autoDelete": True,
            "boot": True,
            "initializeParams": {"diskType": "pd-standard", "sourceImage": _DEBIAN},
            "mode": "READ_WRITE",
        }
    ],
    "networkInterfaces": [{"subnetwork": f"projects/{PROJECT}/regions/us-east1/subnetworks/default"}],
    "scheduling": {
        "automaticRestart": True,
        "hostErrorTimeoutSeconds": None,
        "instanceTerminationAction": "",
        "nodeAffinities": [None],
        "onHostMaintenance": "TERMINATE",
        "preemptible": False,
        "provisioningModel": "",
        "skipGuestOsShutdown": False,
    },
    "metadata": {},
    "tags": {"items": [], "fingerprint": ""},
    "confidentialInstanceConfig": {"enableConfidentialCompute": True, "confidentialInstanceType": ""},
    "displayDevice": {"enableDisplay": True},
    "advancedMachineFeatures": {"threadsPerCore": 1},
    "labels": LABELS,
}

# Disks

_DISK: Final = {
    "description": "data",
    "guestOsFeatures": [{"type": "UEFI_COMPATIBLE"}],
    "labels": LABELS,
    "licenses": ["projects/debian-cloud/global/licenses/debian-12-bookworm"],
    "name": "tf-disk",
    "params": {"resourceManagerTags": {"tagKeys/1": "tagValues/2"}},
    "physicalBlockSizeBytes": 4096,
    "sizeGb": 20,
    "sourceImage": _DEBIAN,
    "type": _zonal("diskTypes", "pd-ssd"),
    "zone": f"projects/{PROJECT}/global/zones/{ZONE}",
}
_HYPERDISK: Final = {
    "accessMode": "READ_WRITE_SINGLE",
    "labels": LABELS,
    "name": "tf-hyperdisk",
    "provisionedIops": 3600,
    "provisionedThroughput": 290,
    "sizeGb": 100,
    "type": _zonal("diskTypes", "hyperdisk-balanced"),
    "zone": f"projects/{PROJECT}/global/zones/{ZONE}",
}
_HYPERDISK_AT: Final = f"zones/{ZONE}/disks/tf-hyperdisk"


def _disk_life(body: Json, **more: Any) -> Life:
    at = f"zones/{ZONE}/disks/{body['name']}"
    lookup = _IMAGE_LOOKUP if "sourceImage" in body else ()
    return Life(
        source="compute/resource_compute_disk.go",
        create=(*lookup, _compute("POST", f"zones/{ZONE}/disks", body)),
        read=(_compute("GET", at),),
        delete=(_compute("GET", at), _compute("DELETE", at)),
        hidden=("params", "zone", "sourceImage"),
        **more,
    )


def _labels_of_disk(read: Json) -> Json:
    return {"labels": NEW_LABELS, "labelFingerprint": read["labelFingerprint"]}


# Buckets, topics, subscriptions

_UNIFORM: Final = {"uniformBucketLevelAccess": {"enabled": True}, "publicAccessPrevention": "enforced"}
_RULES: Final = [
    {
        "action": {"storageClass": "NEARLINE", "type": "SetStorageClass"},
        "condition": {"age": 30, "isLive": True, "matchesPrefix": ["logs/"], "matchesStorageClass": ["STANDARD"]},
    },
    {"action": {"type": "Delete"}, "condition": {"age": 0, "numNewerVersions": 3}},
    {"action": {"type": "AbortIncompleteMultipartUpload"}, "condition": {"age": 1, "createdBefore": "2026-01-01"}},
]
_BUCKET: Final = {
    "autoclass": {"enabled": False},
    "cors": [
        {"maxAgeSeconds": 3600, "method": ["GET", "HEAD"], "origin": ["https://example.com"], "responseHeader": ["*"]}
    ],
    "iamConfiguration": _UNIFORM,
    "labels": LABELS,
    "lifecycle": {"rule": _RULES},
    "location": "US-EAST1",
    "logging": {"logBucket": "demo-uploads", "logObjectPrefix": "logs"},
    "name": "tf-bucket",
    "retentionPolicy": {"retentionPeriod": "60"},
    "softDeletePolicy": {"retentionDurationSeconds": "0"},
    "storageClass": "STANDARD",
    "versioning": {"enabled": False},
    "website": {"mainPageSuffix": "index.html", "notFoundPage": "404.html"},
}
_GET_BUCKET: Final = _storage("GET", "b/tf-bucket")


def _patch_bucket(**change: Any) -> tuple[Sent, ...]:
    return (_storage("PATCH", "b/tf-bucket", change), _GET_BUCKET)


_VERSION: Final = "etag metageneration updated"
_SUBSCRIPTION: Final = {
    "ackDeadlineSeconds": 20,
    "deadLetterPolicy": {"deadLetterTopic": f"projects/{PROJECT}/topics/everything", "maxDeliveryAttempts": 10},
    "enableExactlyOnceDelivery": True,
    "enableMessageOrdering": True,
    "expirationPolicy": {},
    "filter": 'attributes.kind = "a"',
    "labels": LABELS,
    "messageRetentionDuration": "1200s",
    "retainAckedMessages": True,
    "retryPolicy": {"minimumBackoff": "10s"},
    "topic": f"projects/{PROJECT}/topics/uploads",
}
_PUSH: Final = {
    "oidcToken": {"serviceAccountEmail": f"pusher@{PROJECT}.iam.gserviceaccount.com", "audience": "push"},
    "pushEndpoint": "https://example.com/push",
    "attributes": {"x-goog-version": "v1"},
}
_PUSHED: Final = {
    "deadLetterPolicy": None,
    "expirationPolicy": None,
    "labels": LABELS,
    "messageRetentionDuration": "604800s",
    "pushConfig": _PUSH,
    "retryPolicy": None,
    "topic": f"projects/{PROJECT}/topics/uploads",
}


def _subscription(resource: str, name: str, body: Json, **updates: Update) -> Life:
    at = f"{PUBSUB}/subscriptions/{name}"
    return Life(
        resource=f"google_pubsub_subscription, {resource}",
        source="pubsub/resource_pubsub_subscription.go",
        create=(_other("PUT", at, body), _other("GET", at)),
        read=(_other("GET", at),),
        updates=updates,
        delete=(_other("DELETE", at),),
    )


def _patched(path: str, kind: str, body: Json, *fields: str) -> Update:
    """Write an update of Pub/Sub, whose mask names the fields that change."""
    request = _other("PATCH", f"{PUBSUB}/{path}", {kind: body}, updateMask=",".join(fields))
    return Update(requests=(request,), changes=" ".join(sorted(fields)))


_KEY: Final = f"ssh-ed25519 {BLOB} laptop"
LIVES: Final = [
    Life(
        resource="google_compute_instance, a Spot VM with a GPU, a local SSD and a service account",
        create=_creation_of_instance(_GPU),
        **_of_instance("tf-gpu"),
    ),
    Life(
        resource="google_compute_instance, with a reservation, another disk and settings of its machine",
        before=(
            _compute("POST", f"zones/{ZONE}/disks", {"name": "tf-attached", "sizeGb": 10}),
            _compute(
                "POST",
                f"zones/{ZONE}/reservations",
                {
                    "name": "tf-held",
                    "specificReservationRequired": True,
                    "specificReservation": {"count": "1", "instanceProperties": {"machineType": "n2-standard-4"}},
                },
            ),
        ),
        create=_creation_of_instance(_RESERVED),
        **_of_instance("tf-reserved"),
    ),
    Life(
        resource="google_compute_instance, with all updates",
        before=(
            _compute("POST", f"zones/{ZONE}/disks", {"name": "tf-attached", "sizeGb": 10}),
            _compute("POST", "regions/us-east1/resourcePolicies", {"name": "tf-daily"}),
        ),
        create=_creation_of_instance(_instance(_CHANGED, "n2-standard-2")),
        updates=_UPDATES_OF_INSTANCE,
        **_of_instance(_CHANGED),
    ),
    Life(
        resource="google_compute_instance_template",
        source="compute/resource_compute_instance_template.go",
        create=(
            *_IMAGE_LOOKUP,
            _compute(
                "POST",
                "global/instanceTemplates",
                {"name": "tf-template", "description": "made by Terraform", "properties": _PROPERTIES},
            ),
            _compute("GET", "global/instanceTemplates/{targetId}", view="FULL"),
        ),
        read=(_compute("GET", "global/instanceTemplates/tf-template", view="FULL"),),
        delete=(_compute("DELETE", "global/instanceTemplates/tf-template"),),
        hidden=_HIDDEN_IN_TEMPLATES,
    ),
    Life(
        resource="google_compute_region_instance_template",
        source="compute/resource_compute_region_instance_template.go",
        create=(
            *_IMAGE_LOOKUP,
            _compute("POST", "regions/us-east1/instanceTemplates", {"name": "tf-regional", "properties": _REGIONAL}),
        ),
        read=(_compute("GET", "regions/us-east1/instanceTemplates/tf-regional", view="FULL"),),
        delete=(_compute("DELETE", "regions/us-east1/instanceTemplates/tf-regional"),),
    ),
    _disk_life(
        _DISK,
        resource="google_compute_disk, from an image",
        updates={
            "labels": Update(
                requests=(_compute("POST", f"zones/{ZONE}/disks/tf-disk/setLabels", _labels_of_disk),),
                changes="labelFingerprint labels",
            ),
            "size": Update(
                requests=(_compute("POST", f"zones/{ZONE}/disks/tf-disk/resize", {"sizeGb": 30}),), changes="sizeGb"
            ),
        },
    ),
    _disk_life(
        _HYPERDISK,
        resource="google_compute_disk, a Hyperdisk",
        updates={
            "provisioned_iops, provisioned_throughput": Update(
                requests=(
                    _compute(
                        "PATCH",
                        _HYPERDISK_AT,
                        {"name": "tf-hyperdisk", "provisionedIops": 4000, "provisionedThroughput": 300},
                        paths=["provisionedIops", "provisionedThroughput"],
                    ),
                ),
                changes="provisionedIops provisionedThroughput",
            ),
            "access_mode": Update(
                requests=(
                    _compute(
                        "PATCH",
                        _HYPERDISK_AT,
                        {"name": "tf-hyperdisk", "accessMode": "READ_ONLY_MANY"},
                        paths="accessMode",
                    ),
                ),
                changes="accessMode",
            ),
        },
    ),
    Life(
        resource="google_compute_attached_disk",
        source="compute/resource_compute_attached_disk.go",
        before=(
            _compute("POST", f"zones/{ZONE}/disks", {"name": "tf-attached", "sizeGb": 10}),
            _compute("POST", f"zones/{ZONE}/instances", _instance("tf-host", "e2-small")),
        ),
        create=(
            _compute(
                "POST",
                f"zones/{ZONE}/instances/tf-host/attachDisk",
                {
                    "source": _zonal("disks", "tf-attached"),
                    "mode": "READ_ONLY",
                    "deviceName": "data",
                    "interface": "SCSI",
                },
            ),
        ),
        read=(_compute("GET", f"zones/{ZONE}/instances/tf-host"),),
        delete=(
            _compute("GET", f"zones/{ZONE}/instances/tf-host"),
            _compute("POST", f"zones/{ZONE}/instances/tf-host/detachDisk", deviceName="data"),
        ),
        part=lambda vm: next((disk for disk in vm["disks"] if disk["source"].endswith("/tf-attached")), None),
        gone=200,
    ),
    Life(
        resource="google_compute_machine_image",
        source="compute/resource_compute_machine_image.go",
        before=(_compute("POST", f"zones/{ZONE}/instances", _instance("tf-source", "e2-small")),),
        create=(
            _compute(
                "POST",
                "global/machineImages",
                {
                    "name": "tf-image",
                    "description": "made by Terraform",
                    "sourceInstance": _zonal("instances", "tf-source"),
                    "guestFlush": True,
                    "params": {"resourceManagerTags": {"tagKeys/1": "tagValues/2"}},
                },
            ),
        ),
        read=(_compute("GET", "global/machineImages/tf-image"),),
        delete=(_compute("DELETE", "global/machineImages/tf-image"),),
        hidden=("guestFlush", "params"),
    ),
    Life(
        resource="google_storage_bucket",
        source="storage/resource_storage_bucket.go",
        create=(_storage("POST", "b", _BUCKET, project=PROJECT), _GET_BUCKET),
        read=(_GET_BUCKET,),
        updates={
            "labels": Update(
                requests=_patch_bucket(labels={"goog-terraform-provisioned": "true", "owner": "me", "team": None}),
                changes=f"{_VERSION} labels",
            ),
            "no lifecycle_rule": Update(
                requests=_patch_bucket(lifecycle={"rule": []}), changes=f"{_VERSION} lifecycle"
            ),
            "no cors": Update(requests=_patch_bucket(cors=None), changes=f"{_VERSION} cors"),
            "no logging": Update(requests=_patch_bucket(logging=None), changes=f"{_VERSION} logging"),
            "versioning": Update(
                requests=_patch_bucket(versioning={"enabled": True}), changes=f"{_VERSION} versioning"
            ),
            "requester_pays": Update(
                requests=_patch_bucket(billing={"requesterPays": True}), changes=f"{_VERSION} billing"
            ),
            "default_event_based_hold": Update(
                requests=_patch_bucket(defaultEventBasedHold=True), changes=f"defaultEventBasedHold {_VERSION}"
            ),
            "soft_delete_policy": Update(
                requests=_patch_bucket(softDeletePolicy={"retentionDurationSeconds": "604800"}),
                changes=f"{_VERSION} softDeletePolicy",
            ),
            "uniform_bucket_level_access": Update(
                requests=_patch_bucket(iamConfiguration={"uniformBucketLevelAccess": {"enabled": False}}),
                changes=f"{_VERSION} iamConfiguration",
            ),
            "retention_policy": Update(
                requests=(
                    *_patch_bucket(retentionPolicy={"isLocked": True, "retentionPeriod": "120"}),
                    _storage("POST", "b/tf-bucket/lockRetentionPolicy", ifMetagenerationMatch="{metageneration}"),
                ),
                changes=f"{_VERSION} retentionPolicy",
            ),
        },
        delete=(
            Sent(
                "GET", f"{STORAGE}/b/tf-bucket/anywhereCaches/", query={"alt": "json"}, status=501
            ),  # its failure is ignored
            _storage("GET", "b/tf-bucket/o", versions="true"),
            _storage("DELETE", "b/tf-bucket", status=204),
        ),
    ),
    Life(
        resource="google_storage_notification",
        source="storage/fw_resource_storage_notification.go",
        create=(
            _storage(
                "POST",
                "b/demo-uploads/notificationConfigs",
                {
                    "custom_attributes": {"a": "b"},
                    "event_types": ["OBJECT_DELETE", "OBJECT_FINALIZE"],
                    "object_name_prefix": "logs/",
                    "payload_format": "JSON_API_V1",
                    "topic": f"//pubsub.googleapis.com/projects/{PROJECT}/topics/uploads",
                },
            ),
        ),
        read=(_storage("GET", "b/demo-uploads/notificationConfigs/1"),),
        delete=(_storage("DELETE", "b/demo-uploads/notificationConfigs/1", status=204),),
    ),
    Life(
        resource="google_pubsub_topic",
        source="pubsub/resource_pubsub_topic.go",
        before=(
            _other(
                "POST",
                f"{PUBSUB}/schemas",
                {"type": "AVRO", "definition": '{"type": "record", "name": "made", "fields": []}'},
                schemaId="tf-schema",
            ),
        ),
        create=(
            _other(
                "PUT",
                f"{PUBSUB}/topics/tf-topic",
                {
                    "kmsKeyName": f"projects/{PROJECT}/locations/us/keyRings/r/cryptoKeys/k",
                    "labels": LABELS,
                    "messageRetentionDuration": "86400s",
                    "messageStoragePolicy": {"allowedPersistenceRegions": ["us-east1"], "enforceInTransit": True},
                    "schemaSettings": {"encoding": "JSON", "schema": f"projects/{PROJECT}/schemas/tf-schema"},
                    "tags": {"123/env": "test"},
                },
            ),
            _other("GET", f"{PUBSUB}/topics/tf-topic"),
        ),
        read=(_other("GET", f"{PUBSUB}/topics/tf-topic"),),
        updates={
            "labels": _patched(
                "topics/tf-topic", "topic", {"labels": NEW_LABELS, "messageRetentionDuration": "86400s"}, "labels"
            ),
            "no message_retention_duration": _patched(
                "topics/tf-topic", "topic", {"labels": NEW_LABELS}, "messageRetentionDuration"
            ),
            "message_storage_policy": _patched(
                "topics/tf-topic",
                "topic",
                {"labels": NEW_LABELS, "messageStoragePolicy": {"allowedPersistenceRegions": ["us-west1"]}},
                "messageStoragePolicy",
            ),
        },
        delete=(_other("DELETE", f"{PUBSUB}/topics/tf-topic"),),
        hidden=("tags",),
    ),
    _subscription(
        "which is pulled",
        "tf-pulled",
        _SUBSCRIPTION,
        ack_deadline_seconds=_patched(
            "subscriptions/tf-pulled", "subscription", {**_SUBSCRIPTION, "ackDeadlineSeconds": 30}, "ackDeadlineSeconds"
        ),
        no_policies=_patched(
            "subscriptions/tf-pulled",
            "subscription",
            {
                "ackDeadlineSeconds": 30,
                "deadLetterPolicy": None,
                "expirationPolicy": {"ttl": "86400s"},
                "labels": LABELS,
                "retryPolicy": None,
            },
            *("expirationPolicy", "deadLetterPolicy", "retryPolicy"),
        ),
    ),
    _subscription(
        "which is pushed",
        "tf-pushed",
        _PUSHED,
        push_config=_patched(
            "subscriptions/tf-pushed",
            "subscription",
            {**_PUSHED, "pushConfig": {**_PUSH, "pushEndpoint": "https://example.com/2"}},
            "pushConfig",
        ),
        no_push_config=_patched(
            "subscriptions/tf-pushed",
            "subscription",
            {"deadLetterPolicy": None, "expirationPolicy": None, "retryPolicy": None},
            "pushConfig",
        ),
        labels=_patched(
            "subscriptions/tf-pushed",
            "subscription",
            {"deadLetterPolicy": None, "expirationPolicy": None, "labels": NEW_LABELS, "retryPolicy": None},
            "labels",
        ),
    ),
    Life(
        resource="google_os_login_ssh_public_key",
        source="oslogin/resource_os_login_ssh_public_key.go",
        create=(
            _other(
                "POST", f"{KEYS}:importSshPublicKey", {"expirationTimeUsec": EXPIRY, "key": _KEY}, projectId=PROJECT
            ),
        ),
        # The path ends with the name of a field that the resource does not have.
        read=(_other("GET", f"{KEYS}/sshPublicKeys/{{fingerprint}}/"),),
        updates={
            "expiration_time_usec": Update(
                requests=(
                    _other(
                        "PATCH",
                        f"{KEYS}/sshPublicKeys/{{fingerprint}}/",
                        {"expirationTimeUsec": "1956527999000000"},
                        updateMask="expirationTimeUsec",
                    ),
                ),
                changes="expirationTimeUsec",
            )
        },
        delete=(_other("DELETE", f"{KEYS}/sshPublicKeys/{{fingerprint}}/"),),
    ),
]
