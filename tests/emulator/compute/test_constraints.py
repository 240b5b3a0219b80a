"""Raw requests are held to every limit of the API's documentation: what is at a limit is accepted, what is beyond is not."""

from __future__ import annotations

import base64
import itertools

import attrs
import httpx
import pytest
from programs import PROJECT, ZONE, properties

from gcpx_emulator.compute.constraints.checks import CONSTRAINTS

BASE = f"/compute/beta/projects/{PROJECT}"
REGION = "us-east1"
VM = f"{BASE}/zones/{ZONE}/instances/example-vm"
DISK_TYPES = f"zones/{ZONE}/diskTypes"
NUMBERS = itertools.count()


@pytest.fixture
def http(cloud):
    """A client, of a project with an instance, a disk and a machine image."""
    # Without certificates a client is made at once.
    with httpx.Client(base_url=f"http://{cloud.host}", trust_env=False, verify=False, timeout=None) as client:
        url, body = _instance(client)
        client.post(url, json={**body, "name": "example-vm", "disks": [{**body["disks"][0], "deviceName": "boot"}]})
        client.post(f"{BASE}/zones/{ZONE}/disks", json={"name": "example-data"})
        source = VM.partition("/beta/")[2]
        client.post(f"{BASE}/global/machineImages?sourceInstance={source}", json={"name": "image"})
        yield client


def _template(_http, scope="global"):
    return f"{BASE}/{scope}/instanceTemplates", {"name": f"t-{next(NUMBERS)}", "properties": properties()}


def _regional_template(http):
    return _template(http, f"regions/{REGION}")


def _template_of_an_instance(_http):
    body = {"name": f"t-{next(NUMBERS)}", "sourceInstance": VM.partition("/beta/")[2]}
    return f"{BASE}/global/instanceTemplates", body


def _instance(_http):
    body = {**properties(), "name": f"i-{next(NUMBERS)}", "machineType": f"zones/{ZONE}/machineTypes/e2-small"}
    return f"{BASE}/zones/{ZONE}/instances", body


def _bulk(_http, scope=f"regions/{REGION}"):
    body = {"count": "1", "namePattern": f"b{next(NUMBERS)}-####", "instanceProperties": properties()}
    return f"{BASE}/{scope}/instances/bulkInsert", body


def _zonal_bulk(http):
    return _bulk(http, f"zones/{ZONE}")


def _bulk_by_name(http):
    path, body = _bulk(http)
    return path, {"instanceProperties": body["instanceProperties"]}


def _disk(_http):
    return f"{BASE}/zones/{ZONE}/disks", {"name": f"d-{next(NUMBERS)}"}


def _regional_disk(_http):
    body = {"name": f"d-{next(NUMBERS)}", "replicaZones": [f"zones/{REGION}-{letter}" for letter in "bc"]}
    return f"{BASE}/regions/{REGION}/disks", body


def _machine_image(_http):
    source = VM.partition("/beta/")[2]
    return f"{BASE}/global/machineImages?sourceInstance={source}", {"name": f"m-{next(NUMBERS)}"}


def _set_metadata(http):
    return f"{VM}/setMetadata", {"fingerprint": http.get(VM).json()["metadata"]["fingerprint"]}


def _set_tags(http):
    return f"{VM}/setTags", {"fingerprint": http.get(VM).json()["tags"]["fingerprint"]}


def _set_labels(http):
    return f"{VM}/setLabels", {"labelFingerprint": http.get(VM).json()["labelFingerprint"]}


def _set_image_labels(http):
    path = f"{BASE}/global/machineImages/image"
    return f"{path}/setLabels", {"labelFingerprint": http.get(path).json()["labelFingerprint"]}


def _within(path, *, bulk=True):
    """Name the requests that have instance properties, with a path in them."""
    found = [(_template, f"properties.{path}"), (_regional_template, f"properties.{path}"), (_instance, path)]
    return [
        *found,
        *([(_bulk, f"instanceProperties.{path}"), (_zonal_bulk, f"instanceProperties.{path}")] if bulk else ()),
    ]


TEMPLATES = [(_template, "properties"), (_regional_template, "properties")]
IN_BULK = [(_bulk, "instanceProperties"), (_zonal_bulk, "instanceProperties")]
PLACES = {
    "AcceleratorConfig": _within("guestAccelerators.+"),
    "AliasIpRange": _within("networkInterfaces.0.aliasIpRanges.+"),
    "AttachedDisk": _within("disks.+"),
    "AttachedDiskInitializeParams": _within("disks.+.initializeParams"),
    "BulkInsertInstanceResource": [(_bulk, ""), (_zonal_bulk, "")],
    "BulkInsertInstanceResourcePerInstanceProperties": [(_bulk_by_name, "perInstanceProperties.own")],
    "CustomerEncryptionKey": _within("disks.+.diskEncryptionKey", bulk=False),
    "Disk": [(_disk, ""), (_regional_disk, "")],
    "DiskInstantiationConfig": [(_template_of_an_instance, "sourceInstanceParams.diskConfigs.+")],
    "DiskParams": [(_disk, "params")],
    "Duration": _within("scheduling.maxRunDuration"),
    "GlobalSetLabelsRequest": [(_set_image_labels, "")],
    "Instance": [(_instance, "")],
    "InstanceParams": [(_instance, "params")],
    "InstanceProperties": [*TEMPLATES, *IN_BULK],
    "InstanceTemplate": [(_template_of_an_instance, "")],
    "InstancesSetLabelsRequest": [(_set_labels, "")],
    "LocationPolicy": [(_bulk, "locationPolicy")],
    "LocationPolicyLocationConstraints": [(_bulk, f"locationPolicy.locations.zones/{ZONE}.constraints")],
    "MachineImage": [(_machine_image, "")],
    "Metadata": [*_within("metadata"), (_set_metadata, "")],
    "NetworkInterface": _within("networkInterfaces.0"),
    "ReservationAffinity": _within("reservationAffinity"),
    "Scheduling": _within("scheduling"),
    "SchedulingNodeAffinity": [(make, f"{path}.scheduling.nodeAffinities.+") for make, path in IN_BULK],
    "Tags": [*_within("tags"), (_set_tags, "")],
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
    """Give fragments of one field."""
    return {"accepted": [{name: value} for value in accepted], "refused": [{name: value} for value in refused]}


NEW, NIC, REQUEST = "AttachedDiskInitializeParams", "NetworkInterface", "BulkInsertInstanceResource"
FAMILY = "projects/debian-cloud/global/images/family/debian-12"
LONGEST = "a" * 63
NAMES = (["a", "a-1", LONGEST], ["", "A", "1a", "a-", "a_b", f"{LONGEST}a"])
HYPERDISK = f"{DISK_TYPES}/hyperdisk-balanced"
EXTREME = f"{DISK_TYPES}/pd-extreme"
MACHINES = (
    ["custom-1-1024", "custom-2-2048", "custom-32-262144", "n2-custom-48-65536"],
    ["custom-3-2048", "custom-34-4096", "custom-0-1024", "custom-2-2000", "custom-2-0", "custom-2", "n2-custom-3-1024"],
)
HOSTS = (["a", "vm.example.com", f"{LONGEST}.b"], ["-a", "vm..b", "vm_1.example.com", f"{LONGEST}a.b", "A.b"])
RAW, OTHER_RAW = (base64.b64encode(bytes(size)).decode() for size in (32, 31))
WRAPPED, OTHER_WRAPPED = (base64.b64encode(bytes(size)).decode() for size in (256, 257))


def _items(*pairs):
    return {"items": [{"key": key, "value": value} for key, value in pairs]}


def _sizes(schema, size, kind, types, more):
    """Give the cases of a disk that is made now."""
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
    gpu = {"guestAccelerators": [{"acceleratorType": "nvidia-tesla-t4", "acceleratorCount": 1}]}
    none = {"guestAccelerators": [{"acceleratorType": "nvidia-tesla-t4", "acceleratorCount": 0}]}
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
        [{"sourceImage": FAMILY, "diskSizeGb": "10", "diskType": "hyperdisk-balanced"}],
        [{"sourceImage": FAMILY, "diskSizeGb": "9", "diskType": "hyperdisk-balanced"}],
        "Must not be less",
        [(_instance, "disks.+.initializeParams"), (_bulk, "instanceProperties.disks.+.initializeParams")],
    ),
    Case(
        "Disk",
        "sizeGb",
        [{"sourceImage": FAMILY, "sizeGb": "10", "type": HYPERDISK}],
        [{"sourceImage": FAMILY, "sizeGb": "9", "type": HYPERDISK}],
        "Must not be less",
    ),
    Case(
        NEW,
        "replicaZones",
        **_each("replicaZones", [[f"zones/{REGION}-b", f"zones/{REGION}-c"]], [[f"zones/{REGION}-b", f"zones/{REGION}-b"], [f"zones/{REGION}-b", "zones/us-central1-a"]]),
        message="Must be two",
        places=[(_template, "properties.disks.+.initializeParams")],
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
        places=[(_regional_disk, "")],
    ),
    Case(NEW, "diskName", [{"diskName": name} for name in ("fresh-disk",)], [{"diskName": name} for name in NAMES[1]], places=[(_instance, "disks.+.initializeParams"), (_template, "properties.disks.+.initializeParams")]),
    Case(NEW, "sourceImage", [{"sourceImage": FAMILY}, {"sourceSnapshot": "global/snapshots/s"}], [{"sourceImage": FAMILY, "sourceSnapshot": "global/snapshots/s"}], places=_within("disks.+.initializeParams", bulk=False)),
    Case("Disk", "sourceImage", [{"sourceImage": FAMILY}], [{"sourceImage": FAMILY, "sourceDisk": "zones/us-east1-b/disks/d"}]),
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
    Case(NIC, "networkIP", **_each("networkIP", ["10.0.0.5", "regions/us-east1/addresses/a"], ["10.0.0", "2001:db8::1", "300.1.1.1"])),
    Case(NIC, "ipv6Address", **_each("ipv6Address", ["2001:db8::1"], ["10.0.0.5", "2001::db8::"])),
    Case(NIC, "internalIpv6PrefixLength", **_each("internalIpv6PrefixLength", [0, 128], [-1, 129])),
    Case(NIC, "queueCount", **_each("queueCount", [0, 8], [-1])),
    Case(NIC, "vlan", **_each("vlan", [2, 255], [1, 256])),
    Case(NIC, "networkAttachment", **_each("networkAttachment", ["projects/1/regions/us-east1/networkAttachments/a"], ["regions/us-east1/networkAttachments/a", "a"])),
    Case("AliasIpRange", "ipCidrRange", **_each("ipCidrRange", ["10.2.3.4", "/24", "10.1.2.0/24"], ["/129", "10.1.2.0/33", "ten"])),
    Case(REQUEST, "count", **_each("count", ["1", "3"], ["0", "-1"])),
    Case(REQUEST, "minCount", **_each("minCount", ["0", "1"], ["-1"]), message="Must not be negative"),
    Case(REQUEST, "minCount", [{"count": "2", "minCount": "2"}], [{"count": "2", "minCount": "3"}], "Must not be above"),
    Case(REQUEST, "namePattern", **_each("namePattern", ["one-#", f"a{'#' * 18}"], ["none", "a-#-#", f"a{'#' * 19}"]), message="Must hold"),
    Case(REQUEST, "namePattern", **_each("namePattern", [f"{'a' * 62}#", "a#b"], [f"{'a' * 63}#", "#a", "A-#", "a-#-", "a_#"]), message="Must make"),
    Case(REQUEST, "namePattern", [{"namePattern": "few-#", "count": "9"}], [{"namePattern": "few-#", "count": "10"}], "Has too few", [(_bulk, "")]),
    Case(REQUEST, "perInstanceProperties{}", [{"perInstanceProperties": {name: {}}} for name in NAMES[0]], [{"perInstanceProperties": {name: {}}} for name in NAMES[1]], places=[(_bulk_by_name, "")]),
    Case("LocationPolicy", "locations{}", **_each("locations", [{f"zones/{ZONE}": {}}], [{ZONE: {}}, {f"regions/{REGION}": {}}])),
    Case("LocationPolicyLocationConstraints", "maxCount", **_each("maxCount", [1], [-1])),
    Case("AttachedDisk", "initializeParams.sourceSnapshot", [{"initializeParams": {"sourceImage": FAMILY}}], [{"initializeParams": {"sourceSnapshot": "global/snapshots/s"}}], places=[(make, f"{path}.disks.+") for make, path in IN_BULK]),
    Case("SchedulingNodeAffinity", "key", [{"key": "mine", "operator": "IN", "values": ["a"]}], [{"key": "compute.googleapis.com/node-group-name", "operator": "IN", "values": ["a"]}]),
    *_of_instances("Instance", f"zones/{ZONE}/machineTypes/"),
    *_of_instances("InstanceProperties", ""),
    Case("InstanceProperties", "machineType", **_each("machineType", ["e2-custom-micro-1024"], ["e2-custom-tiny-1024"]), message="Custom machine", places=TEMPLATES),
    Case("InstanceProperties", "machineType", **_each("machineType", ["e2-small"], [f"zones/{ZONE}/machineTypes/e2-small"]), message="The machine type"),
    Case("InstanceProperties", "resourcePolicies[]", **_each("resourcePolicies", [["daily"]], [["regions/us-east1/resourcePolicies/daily"]])),
    Case("Instance", "hostname", **_each("hostname", *HOSTS)),
    Case("BulkInsertInstanceResourcePerInstanceProperties", "hostname", **_each("hostname", HOSTS[0][-1:], HOSTS[1])),
    Case("AcceleratorConfig", "acceleratorCount", **_each("acceleratorCount", [0, 1], [-1])),
    Case("AcceleratorConfig", "acceleratorType", **_each("acceleratorType", ["nvidia-l4"], ["zones/us-east1-b/acceleratorTypes/nvidia-l4"]), places=[(make, f"{path}.guestAccelerators.+") for make, path in TEMPLATES]),
    Case("ReservationAffinity", "consumeReservationType", [{"consumeReservationType": "SPECIFIC_RESERVATION", "key": "k", "values": ["v"]}, {"consumeReservationType": "NO_RESERVATION"}], [{"consumeReservationType": "SPECIFIC_RESERVATION"}, {"consumeReservationType": "SPECIFIC_RESERVATION", "key": "k"}, {"consumeReservationType": "NO_RESERVATION", "key": "k"}, {"key": "k", "values": ["v"]}]),
    Case("InstanceTemplate", "sourceInstanceParams", [{"sourceInstanceParams": {"diskConfigs": []}}], [{"sourceInstance": None, "properties": properties(), "sourceInstanceParams": {"diskConfigs": [{"deviceName": "boot"}]}}]),
    Case("DiskInstantiationConfig", "customImage", [{"deviceName": "boot", "instantiateFrom": "CUSTOM_IMAGE", "customImage": FAMILY}, {"deviceName": "boot"}], [{"deviceName": "boot", "instantiateFrom": "CUSTOM_IMAGE"}, {"deviceName": "boot", "instantiateFrom": "DEFAULT", "customImage": FAMILY}]),
    Case("Metadata", "items[].key", [_items((key, "v")) for key in ("a", "A_b-1", "k" * 128)], [_items((key, "v")) for key in ("", "a b", "a.b", "k" * 129)]),
    Case("Metadata", "items[]", [_items(("k", "v"))], [{"items": [{"value": "v"}]}]),
    Case("Metadata", "items[].value", [_items(("k", "v" * 262_144)), _items(("k", "ä" * 131_072))], [_items(("k", "v" * 262_145)), _items(("k", "ä" * 131_073))]),
    Case("Metadata", "items", [_items(("a", "v" * 262_144), ("b", "v" * 262_141))], [_items(("a", "v" * 262_144), ("b", "v" * 262_142))], "All keys"),
    Case("Metadata", "items", [_items(("a", "v"), ("b", "v"))], [_items(("a", "v"), ("a", "w"))], "Keys must"),
    Case("Duration", "seconds", **_each("seconds", ["0", "315576000000"], ["-1", "315576000001"])),
    Case("Duration", "nanos", **_each("nanos", [0, 999_999_999], [-1, 1_000_000_000])),
    Case("Scheduling", "hostErrorTimeoutSeconds", **_each("hostErrorTimeoutSeconds", [90, 120, 330], [60, 91, 360, 0])),
    Case("Scheduling", "localSsdRecoveryTimeout.seconds", **_each("localSsdRecoveryTimeout", [{"seconds": "0"}, {"seconds": "604800"}], [{"seconds": "1800"}, {"seconds": "608400"}])),
    Case("Scheduling", "localSsdRecoveryTimeout.nanos", **_each("localSsdRecoveryTimeout", [{"nanos": 0}], [{"nanos": 1}])),
    Case("Scheduling", "terminationTime", [{"maxRunDuration": {"seconds": "60"}}], [{"maxRunDuration": {"seconds": "60"}, "terminationTime": "2040-01-01T00:00:00Z"}], "Conflicts"),
    Case("Scheduling", "terminationTime", **_each("terminationTime", ["2040-01-01T00:00:00Z", "2040-01-01T00:00:00.5+02:00"], ["tomorrow", "2040-01-01", "2040-01-01T00:00:00", "20400101T000000Z", "2040-13-01T00:00:00Z"]), message="Must be a time"),
    Case("Scheduling", "preemptible", [{"preemptible": True}, {"provisioningModel": "SPOT", "automaticRestart": False}], [{"preemptible": True, "automaticRestart": True}, {"provisioningModel": "SPOT", "onHostMaintenance": "MIGRATE"}]),
    *(case for schema in ("AttachedDiskInitializeParams", "Disk", "GlobalSetLabelsRequest", "Instance", "InstanceProperties", "InstancesSetLabelsRequest", "MachineImage") for case in _labels(schema)),
    *(case for schema in ("AttachedDiskInitializeParams", "DiskParams", "InstanceParams", "InstanceProperties") for case in _manager_tags(schema)),
    Case("Tags", "items[]", **_each("items", [[name] for name in NAMES[0]], [[name] for name in NAMES[1]])),
]  # fmt: skip


def _asked(http, make, path, fragment):
    url, body = make(http)
    _put(body, path, fragment)
    return http.post(url, json=body)


def _tried(case, fragments):
    """Give every fragment in one place, and one in every place."""
    first, *others = case.places or PLACES[case.schema]
    return [*((first, fragment) for fragment in fragments), *((place, fragments[0]) for place in others)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_values_within_a_constraint_are_accepted_and_others_are_refused(http, case):
    for (make, path), fragment in _tried(case, case.accepted):
        answer = _asked(http, make, path, fragment)
        assert answer.status_code == 200, (make.__name__, fragment, answer.text)
    for (make, path), fragment in _tried(case, case.refused):
        answer = _asked(http, make, path, fragment)
        assert answer.status_code == 400, (make.__name__, fragment, answer.text[:400])
        error = answer.json()["error"]
        assert error["message"].startswith("Invalid value for field 'resource."), error
        assert error["message"].endswith(case.constraint.message), error
        assert (error["code"], error["status"], error["errors"][0]["reason"]) == (400, "INVALID_ARGUMENT", "invalid")


def test_every_constraint_has_a_case():
    assert {id(constraint) for constraint in CONSTRAINTS} == {id(case.constraint) for case in CASES}


@pytest.mark.parametrize(
    ("make", "path", "fragment", "field", "value"),
    [
        (_template, "properties.scheduling", {"hostErrorTimeoutSeconds": 91}, "properties.scheduling.hostErrorTimeoutSeconds", "91"),
        (_instance, "disks.+.initializeParams", {"diskSizeGb": "9"}, "disks[1].initializeParams.diskSizeGb", "9"),
        (_bulk, "", {"perInstanceProperties": {"A": {}}}, "perInstanceProperties.A", "A"),
        (_set_metadata, "", _items(("a", "v"), ("b c", "v")), "items[1].key", "b c"),
        (_set_metadata, "", _items(("a", "v" * 262_145)), "items[0].value", ""),
        (_instance, "disks.+.diskEncryptionKey", {"rawKey": OTHER_RAW}, "disks[1].diskEncryptionKey.rawKey", ""),
        (_set_labels, "", {"labels": {"a": "b", "c": "D"}}, "labels.c", "D"),
        (_set_tags, "", {"items": ["x" * 200]}, "items[0]", "x" * 100 + "..."),
    ],
)  # fmt: skip
def test_a_refusal_names_the_field_and_shows_no_key(http, make, path, fragment, field, value):
    answer = _asked(http, make, path, fragment)

    assert answer.json()["error"]["message"].startswith(f"Invalid value for field 'resource.{field}': '{value}'. ")


def test_properties_merged_into_a_template_are_checked_as_a_whole(http):
    url, template = _template(http)
    template["properties"]["reservationAffinity"] = {
        "consumeReservationType": "SPECIFIC_RESERVATION",
        "key": "k",
        "values": ["v"],
    }
    template["properties"]["scheduling"] = {"maxRunDuration": {"seconds": "60"}}
    http.post(url, json=template)
    body = {
        "count": "1",
        "namePattern": "m-#",
        "sourceInstanceTemplate": f"global/instanceTemplates/{template['name']}",
    }
    own = {"reservationAffinity": {"values": ["w"]}}
    both = {"scheduling": {"terminationTime": "2040-01-01T00:00:00Z"}}
    path = f"{BASE}/regions/{REGION}/instances/bulkInsert"

    assert http.post(path, json={**body, "instanceProperties": own}).status_code == 200
    refused = http.post(path, json={**body, "instanceProperties": both})
    assert refused.status_code == 400
    assert "'resource.instanceProperties.scheduling.terminationTime'" in refused.text


@pytest.mark.parametrize(
    ("number", "status"), [("0", 200), ("500", 200), ("501", 400), ("-1", 400), ("1.5", 400), ("", 400)]
)
def test_pages_have_at_most_500_items(http, number, status):
    answer = http.get(f"{BASE}/zones/{ZONE}/disks", params={"maxResults": number})

    assert answer.status_code == status
    assert status == 200 or "'maxResults'" in answer.json()["error"]["message"]


def test_the_number_of_a_project_is_a_number(http):
    statuses = [
        http.get(f"{BASE}/aggregated/instances", params={"serviceProjectNumber": number}).status_code
        for number in ("123", "mine", "9223372036854775808")
    ]

    assert statuses == [200, 400, 400]


@pytest.mark.parametrize("make", [_template, _regional_template, _instance, _disk, _regional_disk, _machine_image])
def test_names_are_of_the_form_of_rfc_1035(http, make):
    for names, status in zip(NAMES, (200, 400), strict=True):
        for name in names:
            answer = _asked(http, make, "", {"name": name})
            assert answer.status_code == status, (name, answer.text)
            assert status == 200 or "'resource.name'" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("request_id", "status"),
    [
        ("6f1b3b1e-4a0e-4d43-9a0b-0c6f2f1d9a11", 200),
        ("00000000-0000-0000-0000-000000000000", 400),
        ("6f1b3b1e-4a0e-4d43-9a0b-0c6f2f1d9a1", 400),
        ("again", 400),
    ],
)
def test_a_request_id_is_a_uuid_and_not_all_zero(http, request_id, status):
    url, body = _disk(http)
    answer = http.post(url, params={"requestId": request_id}, json=body)

    assert answer.status_code == status
    assert status == 200 or "'requestId'" in answer.json()["error"]["message"]


def test_a_zonal_disk_is_not_attached_by_force(http, cloud):
    cloud.make_regional_disk()
    answers = [
        http.post(f"{VM}/attachDisk", params={"forceAttach": "true"}, json={"source": source})
        for source in (f"regions/{REGION}/disks/shared", f"zones/{ZONE}/disks/example-data")
    ]

    assert [answer.status_code for answer in answers] == [200, 400]
    assert "Only regional disks" in answers[1].json()["error"]["message"]
