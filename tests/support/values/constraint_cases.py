"""Values on both sides of every constraint."""

from __future__ import annotations

import base64

import attrs
from servers.compute_requests import (
    IN_BULK,
    REGION,
    TEMPLATES,
    bulk,
    bulk_by_name,
    instance,
    regional_disk,
    template,
    within,
)
from values.programs import DEBIAN, ZONE, properties

from gcpx_emulator.compute.constraints import CONSTRAINTS


@attrs.frozen
class Case:
    """Values on both sides of a constraint.

    Attributes:
        message: how the constraint's message begins, where its field has several constraints.
        places: fewer places than the schema has.
    """

    schema: str
    field: str
    accepted: list
    refused: list
    message: str = ""
    places: list | None = None

    @property
    def id(self):
        return f"{self.schema}.{self.field} {self.message}".strip()

    @property
    def constraint(self):
        matching = [
            constraint
            for constraint in CONSTRAINTS
            if (constraint.schema, constraint.field) == (self.schema, self.field)
            and constraint.message.startswith(self.message)
        ]
        assert len(matching) == 1, f"{self.id} names {len(matching)} constraints"
        return matching[0]


def _each(name, accepted, refused):
    """Return fragments of one field."""
    return {"accepted": [{name: value} for value in accepted], "refused": [{name: value} for value in refused]}


NEW, NIC, REQUEST = "AttachedDiskInitializeParams", "NetworkInterface", "BulkInsertInstanceResource"
LONGEST = "a" * 63
NAMES = (["a", "a-1", LONGEST], ["", "A", "1a", "a-", "a_b", f"{LONGEST}a"])
DISK_TYPES = f"zones/{ZONE}/diskTypes"
HYPERDISK = f"{DISK_TYPES}/hyperdisk-balanced"
EXTREME = f"{DISK_TYPES}/pd-extreme"
MACHINES = (
    ["custom-1-1024", "custom-2-2048", "custom-32-212992", "n2-custom-48-65536"],
    ["custom-3-2048", "custom-34-4096", "custom-0-1024", "custom-2-2000", "custom-2-0", "custom-2", "n2-custom-3-1024"],
)
HOSTS = (["a.b", "vm.example.com", f"{LONGEST}.b"], ["a", "-a", "vm..b", "vm_1.example.com", f"{LONGEST}a.b", "A.b"])
RAW, OTHER_RAW = (base64.b64encode(bytes(size)).decode() for size in (32, 31))
WRAPPED, OTHER_WRAPPED = (base64.b64encode(bytes(size)).decode() for size in (256, 257))


def metadata_items(*pairs):
    return {"items": [{"key": key, "value": value} for key, value in pairs]}


def _sizes(schema, size, kind, types, more):
    """Return the cases of a new disk."""
    hyperdisk, extreme = types
    return [
        Case(
            schema,
            size,
            [{size: "10"}, {size: "4", kind: hyperdisk}],
            [{size: "9"}, {size: "9", kind: extreme}, {size: "0", kind: hyperdisk}],
            "Must be at least",
            **more,
        ),
        Case(
            schema,
            "provisionedIops",
            [{kind: extreme, "provisionedIops": iops} for iops in ("10000", "120000")]
            + [{kind: hyperdisk, "provisionedIops": iops} for iops in ("1", "350000")],
            [{kind: extreme, "provisionedIops": iops} for iops in ("9999", "120001")]
            + [{kind: hyperdisk, "provisionedIops": "0"}, {"provisionedIops": "9999"}],
            **more,
        ),
        Case(schema, "provisionedThroughput", **_each("provisionedThroughput", ["1"], ["0"]), **more),
    ]


def _labels(schema):
    few, many = ({f"k{number}": "v" for number in range(count)} for count in (64, 65))
    keys, values = ["a", "a_b-1", "größe", "鍵", LONGEST], ["", "v", "1", "größe", LONGEST]
    wrong_keys, wrong_values = ["", "A", "1a", "a b", "a/b", f"{LONGEST}a"], ["V", "a b", "a.b", f"{LONGEST}a"]
    return [
        Case(schema, "labels", **_each("labels", [few], [many]), message="At most"),
        Case(schema, "labels{}", **_each("labels", [{key: "v"} for key in keys], [{key: "v"} for key in wrong_keys])),
        Case(
            schema,
            "labels.*",
            **_each("labels", [{"k": value} for value in values], [{"k": value} for value in wrong_values]),
        ),
    ]


def _manager_tags(schema):
    name = "resourceManagerTags"
    keys = _each(name, [{"tagKeys/1": "tagValues/2"}, {"parent/key": "value"}], [{"tagKeys": "v"}, {"a/b/c": "v"}])
    values = _each(name, [{"tagKeys/1": "tagValues/2"}], [{"tagKeys/1": "tagValue/2"}, {"tagKeys/1": "a b"}])
    return [Case(schema, f"{name}{{}}", **keys), Case(schema, f"{name}.*", **values)]


def _access(owner, kind, other, foreign):
    more = {"stackType": "IPV4_IPV6"}
    cases = [
        Case(NIC, owner, [{owner: [{}], **more}, {owner: []}], [{owner: [{}, {}], **more}], "At most one"),
        Case(NIC, f"{owner}[].type", [{owner: [{"type": kind}]}], [{owner: [{"type": other}]}]),
        Case(
            NIC,
            f"{owner}[].networkTier",
            [{owner: [{"networkTier": tier}]} for tier in ("PREMIUM", "STANDARD")],
            [{owner: [{"networkTier": "FIXED_STANDARD"}]}],
        ),
    ]
    return cases + [
        Case(NIC, f"{owner}[].{name}", [{owner: [{}]}], [{owner: [{name: value}]}], f"Does not belong in {owner}")
        for name, value in foreign.items()
    ]


def _of_instances(schema, url, places=None):
    machines = ([{"machineType": f"{url}{machine}"} for machine in side] for side in MACHINES)
    accepted, refused = machines
    boot = properties()["disks"][0]
    devices = ([boot, {"deviceName": "a"}, {"deviceName": name}] for name in ("b", "a"))
    gpu = {"guestAccelerators": [{"acceleratorType": "nvidia-l4", "acceleratorCount": 1}]}
    none = {"guestAccelerators": [{"acceleratorType": "nvidia-l4", "acceleratorCount": 0}]}
    moved = {"scheduling": {"onHostMaintenance": "MIGRATE"}}
    account = {"email": "default"}
    return [
        Case(schema, "machineType", accepted, refused, "Custom machine"),
        Case(schema, "disks", **_each("disks", [next(devices)], [next(devices)])),
        Case(schema, "scheduling.onHostMaintenance", [gpu, {**none, **moved}], [{**gpu, **moved}]),
        Case(schema, "serviceAccounts", **_each("serviceAccounts", [[], [account]], [[account, account]])),
    ]


CASES = [
    *_sizes(NEW, "diskSizeGb", "diskType", ("hyperdisk-balanced", "pd-extreme"), {}),
    *_sizes("Disk", "sizeGb", "type", (HYPERDISK, EXTREME), {}),
    Case(
        NEW,
        "diskSizeGb",
        [{"sourceImage": DEBIAN, "diskSizeGb": "10", "diskType": "hyperdisk-balanced"}],
        [{"sourceImage": DEBIAN, "diskSizeGb": "9", "diskType": "hyperdisk-balanced"}],
        "Must not be less",
        [(instance, "disks.+.initializeParams"), (bulk, "instanceProperties.disks.+.initializeParams")],
    ),
    Case(
        "Disk",
        "sizeGb",
        [{"sourceImage": DEBIAN, "sizeGb": "10", "type": HYPERDISK}],
        [{"sourceImage": DEBIAN, "sizeGb": "9", "type": HYPERDISK}],
        "Must not be less",
    ),
    Case(
        NEW,
        "replicaZones",
        **_each("replicaZones", [[f"zones/{REGION}-b", f"zones/{REGION}-c"]], [[f"zones/{REGION}-b", f"zones/{REGION}-b"], [f"zones/{REGION}-b", "zones/us-central1-a"]]),
        message="Must be two",
        places=[(template, "properties.disks.+.initializeParams")],
    ),
    Case(
        NEW,
        "replicaZones",
        **_each("replicaZones", [[f"zones/{REGION}-b", f"zones/{REGION}-c"]], [[], [f"zones/{REGION}-b"], [f"zones/{REGION}-{letter}" for letter in "bcd"]]),
        message="Exactly two",
    ),
    Case(
        "Disk",
        "replicaZones",
        **_each("replicaZones", [[f"zones/{REGION}-b", f"zones/{REGION}-d"]], [[f"zones/{REGION}-b", f"zones/{REGION}-b"], [f"zones/{REGION}-b", "zones/us-central1-a"]]),
        places=[(regional_disk, "")],
    ),
    Case(NEW, "diskName", [{"diskName": name} for name in ("fresh-disk",)], [{"diskName": name} for name in NAMES[1]], places=[(instance, "disks.+.initializeParams"), (template, "properties.disks.+.initializeParams")]),
    Case(NEW, "sourceImage", [{"sourceImage": DEBIAN}, {"sourceSnapshot": "global/snapshots/s"}], [{"sourceImage": DEBIAN, "sourceSnapshot": "global/snapshots/s"}], places=within("disks.+.initializeParams", in_bulk=False)),
    Case("Disk", "sourceImage", [{"sourceImage": DEBIAN}], [{"sourceImage": DEBIAN, "sourceDisk": "zones/us-east1-b/disks/d"}]),
    Case(NEW, "resourcePolicies[]", **_each("resourcePolicies", [["daily"]], [["regions/us-east1/resourcePolicies/daily"]]), places=[(make, f"{path}.disks.+.initializeParams") for make, path in TEMPLATES]),
    Case("AttachedDisk", "diskSizeGb", [{"diskSizeGb": "10", "initializeParams": {}}, {"diskSizeGb": "4", "initializeParams": {"diskType": "hyperdisk-balanced"}}], [{"diskSizeGb": "9", "initializeParams": {}}]),
    Case("AttachedDisk", "source", [{"source": "data"}, {"source": "regions/us-east1/disks/data"}], [{"source": f"zones/{ZONE}/disks/data"}, {"source": "global/disks/d"}], places=[(make, f"{path}.disks.+") for make, path in TEMPLATES]),
    Case("CustomerEncryptionKey", "rawKey", **_each("rawKey", [RAW], [OTHER_RAW, "?", f"{RAW}AAAA"]), message="Must be"),
    Case("CustomerEncryptionKey", "rsaEncryptedKey", **_each("rsaEncryptedKey", [WRAPPED], [OTHER_WRAPPED, RAW])),
    Case("CustomerEncryptionKey", "rawKey", [{"kmsKeyName": "k"}], [{"kmsKeyName": "k", "rawKey": RAW}, {"rawKey": RAW, "rsaEncryptedKey": WRAPPED}], "Conflicts"),
    *_access("accessConfigs", "ONE_TO_ONE_NAT", "DIRECT_IPV6", {"externalIpv6": "2001:db8::", "externalIpv6PrefixLength": 96}),
    *_access("ipv6AccessConfigs", "DIRECT_IPV6", "ONE_TO_ONE_NAT", {"natIP": "203.0.113.1"}),
    Case(NIC, "ipv6AccessConfigs[].externalIpv6PrefixLength", [{"ipv6AccessConfigs": [{"externalIpv6PrefixLength": size}]} for size in (0, 128)], [{"ipv6AccessConfigs": [{"externalIpv6PrefixLength": size}]} for size in (-1, 129)]),
    Case(NIC, "accessConfigs[]", [{"accessConfigs": [{"setPublicPtr": True, "publicPtrDomainName": "a.b."}]}], [{"accessConfigs": [{"publicPtrDomainName": "a.b."}]}, {"accessConfigs": [{"setPublicPtr": False, "publicPtrDomainName": "a.b."}]}]),
    Case(NIC, "ipv6AccessConfigs", [{"stackType": "IPV4_IPV6", "ipv6AccessConfigs": [{}]}, {"stackType": "IPV4_ONLY"}], [{"stackType": "IPV4_ONLY", "ipv6AccessConfigs": [{}]}], "Conflicts"),
    Case(NIC, "networkIP", **_each("networkIP", ["10.142.0.5", "regions/us-east1/addresses/a"], ["10.0.0", "2001:db8::1", "300.1.1.1"])),
    Case(NIC, "ipv6Address", **_each("ipv6Address", ["2001:db8::1"], ["10.0.0.5", "2001::db8::"])),
    Case(NIC, "internalIpv6PrefixLength", **_each("internalIpv6PrefixLength", [0, 128], [-1, 129])),
    Case(NIC, "queueCount", **_each("queueCount", [0, 8], [-1])),
    Case(NIC, "vlan", **_each("vlan", [2, 255], [1, 256])),
    Case(NIC, "networkAttachment", **_each("networkAttachment", ["projects/1/regions/us-east1/networkAttachments/a"], ["regions/us-east1/networkAttachments/a", "a"])),
    Case("AliasIpRange", "ipCidrRange", **_each("ipCidrRange", ["10.2.3.4", "/24", "10.1.2.0/24"], ["/129", "10.1.2.0/33", "ten"])),
    Case(REQUEST, "count", [{"count": "1"}, {"count": "3"}, {"count": "5000", "minCount": "1", "locationPolicy": {"zones": [{"zone": f"zones/{ZONE}"}], "locations": {f"zones/{ZONE}": {"constraints": {"maxCount": 1}}}}}], [{"count": number} for number in ("0", "-1", "5001")]),
    Case(REQUEST, "minCount", **_each("minCount", ["0", "1"], ["-1"]), message="Must not be negative"),
    Case(REQUEST, "minCount", [{"count": "2", "minCount": "2"}], [{"count": "2", "minCount": "3"}], "Must not be above"),
    Case(REQUEST, "namePattern", **_each("namePattern", ["one-#", f"a{'#' * 18}"], ["none", "a-#-#", f"a{'#' * 19}"]), message="Must hold"),
    Case(REQUEST, "namePattern", **_each("namePattern", [f"{'a' * 62}#", "a#b"], [f"{'a' * 63}#", "#a", "A-#", "a-#-", "a_#"]), message="Must make"),
    Case(REQUEST, "namePattern", [{"namePattern": "few-#", "count": "9"}], [{"namePattern": "few-#", "count": "10"}], "Has too few", [(bulk, "")]),
    Case(REQUEST, "perInstanceProperties{}", [{"perInstanceProperties": {name: {}}} for name in NAMES[0]], [{"perInstanceProperties": {name: {}}} for name in NAMES[1]], places=[(bulk_by_name, "")]),
    Case("LocationPolicy", "locations{}", **_each("locations", [{f"zones/{ZONE}": {}}], [{ZONE: {}}, {f"regions/{REGION}": {}}])),
    Case("LocationPolicyLocationConstraints", "maxCount", **_each("maxCount", [1], [-1])),
    Case("AttachedDisk", "initializeParams.sourceSnapshot", [{"initializeParams": {"sourceImage": DEBIAN}}], [{"initializeParams": {"sourceSnapshot": "global/snapshots/s"}}], places=[(make, f"{path}.disks.+") for make, path in IN_BULK]),
    Case("SchedulingNodeAffinity", "key", [{"key": "mine", "operator": "IN", "values": ["a"]}], [{"key": "compute.googleapis.com/node-group-name", "operator": "IN", "values": ["a"]}]),
    *_of_instances("Instance", f"zones/{ZONE}/machineTypes/"),
    *_of_instances("InstanceProperties", ""),
    Case("InstanceProperties", "machineType", **_each("machineType", ["e2-custom-micro-1024"], ["e2-custom-tiny-1024"]), message="Custom machine", places=TEMPLATES),
    Case("InstanceProperties", "machineType", **_each("machineType", ["e2-small"], [f"zones/{ZONE}/machineTypes/e2-small"]), message="The machine type"),
    Case("InstanceProperties", "resourcePolicies[]", **_each("resourcePolicies", [["daily"]], [["regions/us-east1/resourcePolicies/daily"]])),
    Case("Instance", "hostname", **_each("hostname", *HOSTS)),
    Case("BulkInsertInstanceResourcePerInstanceProperties", "hostname", **_each("hostname", HOSTS[0][-1:], HOSTS[1])),
    Case("AcceleratorConfig", "acceleratorCount", [{"acceleratorType": "nvidia-l4", "acceleratorCount": count} for count in (0, 1)], [{"acceleratorCount": -1}]),
    Case("AcceleratorConfig", "acceleratorType", **_each("acceleratorType", ["nvidia-l4"], ["zones/us-east1-b/acceleratorTypes/nvidia-l4"]), places=[(make, f"{path}.guestAccelerators.+") for make, path in TEMPLATES]),
    Case("ReservationAffinity", "consumeReservationType", [{"consumeReservationType": "SPECIFIC_RESERVATION", "key": "k", "values": ["v"]}, {"consumeReservationType": "NO_RESERVATION"}], [{"consumeReservationType": "SPECIFIC_RESERVATION"}, {"consumeReservationType": "SPECIFIC_RESERVATION", "key": "k"}, {"consumeReservationType": "NO_RESERVATION", "key": "k"}, {"key": "k", "values": ["v"]}]),
    Case("InstanceTemplate", "sourceInstanceParams", [{"sourceInstanceParams": {"diskConfigs": []}}], [{"sourceInstance": None, "properties": properties(), "sourceInstanceParams": {"diskConfigs": [{"deviceName": "boot"}]}}]),
    Case("DiskInstantiationConfig", "customImage", [{"deviceName": "boot", "instantiateFrom": "CUSTOM_IMAGE", "customImage": DEBIAN}, {"deviceName": "boot"}], [{"deviceName": "boot", "instantiateFrom": "CUSTOM_IMAGE"}, {"deviceName": "boot", "instantiateFrom": "DEFAULT", "customImage": DEBIAN}]),
    Case("Metadata", "items[].key", [metadata_items((key, "v")) for key in ("a", "A_b-1", "k" * 128)], [metadata_items((key, "v")) for key in ("", "a b", "a.b", "k" * 129)]),
    Case("Metadata", "items[]", [metadata_items(("k", "v"))], [{"items": [{"value": "v"}]}]),
    Case("Metadata", "items[].value", [metadata_items(("k", "v" * 262_144)), metadata_items(("k", "ä" * 131_072))], [metadata_items(("k", "v" * 262_145)), metadata_items(("k", "ä" * 131_073))]),
    Case("Metadata", "items", [metadata_items(("a", "v" * 262_144), ("b", "v" * 262_141))], [metadata_items(("a", "v" * 262_144), ("b", "v" * 262_142))], "All keys"),
    Case("Metadata", "items", [metadata_items(("a", "v"), ("b", "v"))], [metadata_items(("a", "v"), ("a", "w"))], "Keys must"),
    Case("Duration", "seconds", **_each("seconds", ["0", "315576000000"], ["-1", "315576000001"])),
    Case("Duration", "nanos", **_each("nanos", [0, 999_999_999], [-1, 1_000_000_000])),
    Case("Scheduling", "hostErrorTimeoutSeconds", **_each("hostErrorTimeoutSeconds", [90, 120, 330], [60, 91, 360, 0])),
    Case("Scheduling", "localSsdRecoveryTimeout.seconds", **_each("localSsdRecoveryTimeout", [{"seconds": "0"}, {"seconds": "604800"}], [{"seconds": "1800"}, {"seconds": "608400"}])),
    Case("Scheduling", "localSsdRecoveryTimeout.nanos", **_each("localSsdRecoveryTimeout", [{"nanos": 0}], [{"nanos": 1}])),
    Case("Scheduling", "terminationTime", [{"maxRunDuration": {"seconds": "60"}}], [{"maxRunDuration": {"seconds": "60"}, "terminationTime": "2040-01-01T00:00:00Z"}], "Conflicts"),
    Case("Scheduling", "terminationTime", **_each("terminationTime", ["2040-01-01T00:00:00Z", "2040-01-01T00:00:00.5+02:00"], ["tomorrow", "2040-01-01", "2040-01-01T00:00:00", "20400101T000000Z", "2040-13-01T00:00:00Z"]), message="Must be a time"),
    Case("Scheduling", "preemptible", [{"preemptible": True}, {"provisioningModel": "SPOT", "automaticRestart": False}], [{"preemptible": True, "automaticRestart": True}, {"provisioningModel": "SPOT", "onHostMaintenance": "MIGRATE"}]),
    *(Case(schema, "storageLocations[]", **_each("storageLocations", [["eu"], ["us-east1"]], [["us-east9"], ["EU"]])) for schema in ("Image", "MachineImage", "Snapshot")),
    Case("MachineImageParams", "includedDisks", [{"includedDisks": ["boot"]}], [{"includedDisks": ["boot"], "excludedDisks": ["data"]}]),
    *(case for schema in ("AttachedDiskInitializeParams", "Disk", "GlobalSetLabelsRequest", "Image", "Instance", "InstanceProperties", "InstancesSetLabelsRequest", "MachineImage", "RegionSetLabelsRequest", "StoragePool", "ZoneSetLabelsRequest") for case in _labels(schema)),
    *(case for schema in ("AttachedDiskInitializeParams", "DiskParams", "ImageParams", "InstanceParams", "InstanceProperties", "StoragePoolParams") for case in _manager_tags(schema)),
    Case("InstanceGroupManager", "baseInstanceName", **_each("baseInstanceName", ["a", "a-", "a" * 58], ["", "A", "1a", "a" * 59])),
    Case("InstanceGroupManager", "targetSize", **_each("targetSize", [0], [1001])),
    Case("NamedPort", "name", **_each("name", *NAMES)),
    Case("NamedPort", "port", **_each("port", [1, 65_535], [0, 65_536])),
    Case("Route", "destRange", **_each("destRange", ["192.0.2.0/24", "2001:db8::/32"], ["192.0.2.1/24", "everywhere"])),
    Case("Route", "nextHopIp", **_each("nextHopIp", ["10.0.0.1", "2001:db8::1"], ["10.0.0", "router"])),
    Case("Route", "priority", **_each("priority", [0, 65_535], [65_536])),
    Case("Route", "tags[]", **_each("tags", [[name] for name in NAMES[0]], [[name] for name in NAMES[1]])),
    Case("StoragePool", "poolProvisionedCapacityGb", **_each("poolProvisionedCapacityGb", ["10240"], ["10239", "-1"])),
    *(Case("StoragePool", field, **_each(field, ["0", "10000"], ["-1"])) for field in ("poolProvisionedIops", "poolProvisionedThroughput")),
    Case("Tags", "items[]", **_each("items", [[name] for name in NAMES[0]], [[name] for name in NAMES[1]])),
    Case("Tags", "items", **_each("items", [[f"t-{number}" for number in range(64)]], [[f"t-{number}" for number in range(65)]])),
]  # fmt: skip
