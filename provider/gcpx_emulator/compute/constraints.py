"""What Compute Engine requires of bodies beyond their schemas."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from datetime import datetime
from typing import Any, Final

import re2

from gcpx_emulator.compute.call import NAME, NAME_MESSAGE
from gcpx_emulator.compute.locations import REGIONS
from gcpx_emulator.compute.predefined_resources import SMALLEST_POOL
from gcpx_emulator.core.discovery import Method
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.validation import (
    Accepts,
    Constraint,
    ConstraintTable,
    at_least,
    at_most_one,
    between,
    checks_bodies,
    matches,
)

TEMPLATES: Final = ("compute.instanceTemplates.", "compute.regionInstanceTemplates.")
"""Methods that keep properties for instances in any zone."""
BULK_INSERT: Final = ("compute.instances.bulkInsert", "compute.regionInstances.bulkInsert")
NEW_DISKS: Final = ("compute.disks.", "compute.instances.", "compute.regionDisks.", "compute.regionInstances.")
"""Methods that create disks and therefore read the images; templates only name images."""


_REQUEST: Final = "BulkInsertInstanceResource"
_NAME_PATTERN: Final = NAME.pattern.replace("0-9", "0-9#")
"""The form of name patterns, in which `#` stands for a digit."""
_MOST_INSTANCES: Final = 5000
_NAME_IN_TEMPLATE: Final = "Must be a name, not a URL, in a template."
_SOLE_TENANT: Final = "compute.googleapis.com/node"
_ZONE: Final = r"(?:https://[^/]+/compute/\w+/)?(?:projects/[^/]+/)?zones/[^/\s]+"


def _never(_value: Any) -> bool:
    """Accept nothing: the field does not belong here."""
    return False


def _has_enough_digits(request: Json) -> bool:
    digits = request["namePattern"].count("#")
    return not digits or int(request.get("count") or 1) < 10**digits


def _minimum_is_within_count(request: Json) -> bool:
    count = request.get("count") or len(request.get("perInstanceProperties") or ()) or None
    return count is None or int(request["minCount"]) <= int(count)


_OF_BULK_INSERT: Final = (
    Constraint(_REQUEST, "count", f"Must be between 1 and {_MOST_INSTANCES}.", between(1, _MOST_INSTANCES)),
    Constraint(_REQUEST, "minCount", "Must not be negative.", at_least(0)),
    Constraint(_REQUEST, "minCount", "Must not be above count.", _minimum_is_within_count, of_object=True),
    Constraint(_REQUEST, "namePattern", "Must hold one run of at most 18 #.", matches("[^#]*#{1,18}[^#]*")),
    Constraint(_REQUEST, "namePattern", f"Must make names of instances. {NAME_MESSAGE}", matches(_NAME_PATTERN)),
    Constraint(
        _REQUEST, "namePattern", "Has too few # for the names that are needed.", _has_enough_digits, of_object=True
    ),
    Constraint(_REQUEST, "perInstanceProperties{}", NAME_MESSAGE, matches(NAME)),
    Constraint("LocationPolicy", "locations{}", "Must be written zones/ZONE.", matches(_ZONE)),
    Constraint("LocationPolicyLocationConstraints", "maxCount", "Must not be negative.", at_least(0)),
    Constraint(
        "AttachedDisk",
        "initializeParams.sourceSnapshot",
        "Instances cannot be created in bulk from a snapshot; use an image.",
        _never,
        methods=BULK_INSERT,
    ),
    Constraint(
        "SchedulingNodeAffinity",
        "key",
        "Instances on sole-tenant nodes cannot be created in bulk.",
        lambda key: not key.startswith(_SOLE_TENANT),
        methods=BULK_INSERT,
    ),
)


_SMALLEST: Final = 10
"""GB of the smallest persistent disk, and of every public image."""
_PROVISIONED_IOPS: Final = between(10_000, 120_000)
_PARAMETERS: Final = "AttachedDiskInitializeParams"
_KEY: Final = "CustomerEncryptionKey"
_REPLICAS: Final = 2


def _is_persistent(disk_type: Any) -> bool:
    """Return whether this is the type of a persistent disk, to which the documented bounds apply."""
    return str(disk_type or "pd-standard").rpartition("/")[2].startswith("pd-")


def _has_size(size: str, disk_type: str) -> Accepts:
    def accepts(disk: Json) -> bool:
        return int(disk[size]) >= (_SMALLEST if _is_persistent(disk.get(disk_type)) else 1)

    return accepts


def _has_room_for_image(size: str) -> Accepts:
    def accepts(disk: Json) -> bool:
        return not disk.get("sourceImage") or int(disk[size]) >= _SMALLEST

    return accepts


def _attached_disk_has_size(disk: Json) -> bool:
    if disk.get("type") == "SCRATCH":
        return True
    return _has_size("diskSizeGb", "diskType")({**(disk.get("initializeParams") or {}), **disk})


def _has_iops(disk_type: str) -> Accepts:
    def accepts(disk: Json) -> bool:
        iops = disk["provisionedIops"]
        return _PROVISIONED_IOPS(iops) if _is_persistent(disk.get(disk_type)) else int(iops) >= 1

    return accepts


def _replicas_are_apart(links: Any) -> bool:
    zones = [str(zone).rpartition("/")[2] for zone in links]
    return len(set(zones)) == len(zones) and len({zone.rpartition("-")[0] for zone in zones}) <= 1


def _is_encryption_key(size: int) -> Accepts:
    """Accept base64 of this many bytes."""

    def accepts(key: Any) -> bool:
        try:
            return len(base64.b64decode("".join(key.split()), validate=True)) == size
        except (binascii.Error, ValueError):
            return False

    return accepts


def _one_of(schema: str, what: str, *names: str, secret: bool = False) -> Constraint:
    """Allow at most one of these fields of an object."""
    message = f"Conflicts with another {what}; set one of {', '.join(names[:-1])} and {names[-1]}."
    accepts = at_most_one(*names)
    return Constraint(schema, names[0], message, accepts, of_object=True, if_absent=True, secret=secret)


def _new_disk(schema: str, size: str, disk_type: str) -> tuple[Constraint, ...]:
    """Return the constraints of a schema for new disks, whose size and type are in these fields."""
    sizes = f"Must be at least {_SMALLEST} GB; disk types other than pd-* take at least 1 GB."
    image = f"Must not be less than the size of the image, {_SMALLEST} GB."
    iops = "Must be between 10000 and 120000; disk types other than pd-* take at least 1."
    apart = "Must be two different zones of one region."
    return (
        Constraint(schema, size, sizes, _has_size(size, disk_type), of_object=True),
        Constraint(schema, size, image, _has_room_for_image(size), of_object=True, methods=NEW_DISKS),
        Constraint(schema, "provisionedIops", iops, _has_iops(disk_type), of_object=True),
        Constraint(schema, "provisionedThroughput", "Must be at least 1.", at_least(1)),
        Constraint(schema, "replicaZones", apart, _replicas_are_apart),
    )


_LOCATIONS: Final = frozenset({"asia", "eu", "us", *REGIONS})
"""The storage locations of images and snapshots: multi-regions and regions."""
_OF_IMAGES: Final = (
    *(
        Constraint(
            schema, "storageLocations[]", "Must be a region, or asia, eu or us.", lambda name: name in _LOCATIONS
        )
        for schema in ("Image", "MachineImage", "Snapshot")
    ),
    Constraint(
        "MachineImageParams",
        "includedDisks",
        "Conflicts with excludedDisks.",
        at_most_one("includedDisks", "excludedDisks"),
        of_object=True,
    ),
)
_OF_DISKS: Final = (
    *_new_disk(_PARAMETERS, "diskSizeGb", "diskType"),
    *_new_disk("Disk", "sizeGb", "type"),
    Constraint(_PARAMETERS, "diskName", NAME_MESSAGE, matches(NAME)),
    Constraint(
        _PARAMETERS,
        "replicaZones",
        "Exactly two replica zones must be specified.",
        lambda zones: len(zones) == _REPLICAS,
    ),
    _one_of(_PARAMETERS, "source", "sourceImage", "sourceSnapshot", "sourceInstantSnapshot"),
    _one_of("Disk", "source", "sourceImage", "sourceSnapshot", "sourceInstantSnapshot", "sourceDisk"),
    Constraint(_PARAMETERS, "resourcePolicies[]", _NAME_IN_TEMPLATE, matches(r"[^/]+"), methods=TEMPLATES),
    Constraint(
        "AttachedDisk", "diskSizeGb", f"Must be at least {_SMALLEST} GB.", _attached_disk_has_size, of_object=True
    ),
    Constraint(
        "AttachedDisk",
        "source",
        "Must be the name of a zonal disk or the URL of a regional one, in a template.",
        matches(r"[^/]+|(?:.*/)?regions/[^/]+/disks/[^/]+"),
        methods=TEMPLATES,
    ),
    *(
        Constraint(_KEY, name, f"Must be {size} bytes in base64 (RFC 4648).", _is_encryption_key(size), secret=True)
        for name, size in (("rawKey", 32), ("rsaEncryptedKey", 256))
    ),
    _one_of(_KEY, "key", "rawKey", "rsaEncryptedKey", "kmsKeyName", secret=True),
)


_LONGEST_VALUE, _MOST_METADATA = 262_144, 512 * 1024
_HOUR: Final = 3600
_MOST_CPUS, _MEMORY_STEP = 32, 256
_CUSTOM_MACHINE_TYPE: Final = re.compile(r"(?P<family>[a-z]\w*-)?custom-(?P<cpus>\d{1,9})-(?P<memory>\d{1,9})(?:-ext)?")
_SHARED_CORE: Final = re.compile(r"(?:[a-z]\w*-)?custom-(?:small|medium|micro)-\d{1,9}")
"""Custom machine types with a shared core, which have a name in place of the number of CPUs."""
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE)
_HOSTNAME: Final = re.compile(
    r"(?=.{1,253}$)[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)+"
)
_HOSTNAME_MESSAGE: Final = "Instance hostname is not a valid fully qualified domain name"
"""As in public reports, which show it for a name without a dot."""
_NAME_NOT_URL: Final = matches(r"[^/]+")


def _bytes(text: Any) -> int:
    return len((text or "").encode("utf-8", "surrogatepass"))


def _metadata_fits(items: Any) -> bool:
    return sum(_bytes(item.get("key")) + _bytes(item.get("value")) for item in items if item) < _MOST_METADATA


def _differ(field: str) -> Accepts:
    """Accept lists of objects that have no value of this field in common."""

    def accepts(items: Any) -> bool:
        values = [item[field] for item in items if item and item.get(field)]
        return len(values) == len(set(values))

    return accepts


def _is_machine_type(link: Any) -> bool:
    """Accept machine types; custom ones must be within bounds, but a family may have more CPUs."""
    name = link.rpartition("/")[2]
    custom = _CUSTOM_MACHINE_TYPE.fullmatch(name)
    if custom is None:
        return "custom-" not in name or _SHARED_CORE.fullmatch(name) is not None
    cpus, memory = int(custom["cpus"]), int(custom["memory"])
    has_cpus = cpus == 1 or (cpus > 0 and cpus % 2 == 0 and (custom["family"] or cpus <= _MOST_CPUS))
    return bool(has_cpus) and memory > 0 and memory % _MEMORY_STEP == 0


def _is_time(text: Any) -> bool:
    try:
        return _TIME.fullmatch(text) is not None and bool(datetime.fromisoformat(text.upper()))
    except ValueError:
        return False


def _is_not_preemptible_and_kept(scheduling: Json) -> bool:
    preemptible = scheduling.get("provisioningModel") == "SPOT" or scheduling.get("preemptible") is True
    is_kept = scheduling.get("automaticRestart") is True or scheduling.get("onHostMaintenance") == "MIGRATE"
    return not (preemptible and is_kept)


def _names_reservation(affinity: Json) -> bool:
    kind = affinity.get("consumeReservationType") or "ANY_RESERVATION"
    if kind == "SPECIFIC_RESERVATION":
        return bool(affinity.get("key") and affinity.get("values"))
    return kind not in {"ANY_RESERVATION", "NO_RESERVATION"} or not (affinity.get("key") or affinity.get("values"))


def _stays_with_its_accelerators(instance: Json) -> bool:
    counts = [int(item.get("acceleratorCount") or 0) for item in instance.get("guestAccelerators") or () if item]
    return not any(counts) or instance["scheduling"]["onHostMaintenance"] != "MIGRATE"


def _has_custom_image_if_needed(config: Json) -> bool:
    return (config.get("instantiateFrom") == "CUSTOM_IMAGE") == bool(config.get("customImage"))


def _of_instance(schema: str) -> tuple[Constraint, ...]:
    """Return the constraints that instances and instance properties share."""
    machine_type = (
        f"Custom machine types are custom-CPUS-MEMORY with 1 CPU or an even number up to {_MOST_CPUS}, and memory in "
        f"steps of {_MEMORY_STEP} MB."
    )
    maintenance = "Must be TERMINATE with guestAccelerators."
    accounts = "At most one service account is supported."
    return (
        Constraint(schema, "machineType", machine_type, _is_machine_type),
        Constraint(schema, "disks", "Each device name must be different.", _differ("deviceName")),
        Constraint(schema, "scheduling.onHostMaintenance", maintenance, _stays_with_its_accelerators, of_object=True),
        Constraint(schema, "serviceAccounts", accounts, lambda items: len(items) <= 1),
    )


_METADATA: Final = (
    Constraint(
        "Metadata",
        "items[].key",
        "Must be 1 to 128 letters, digits, hyphens and underscores.",
        matches(r"[a-zA-Z0-9_-]{1,128}"),
    ),
    Constraint("Metadata", "items[]", "A key is required.", lambda item: item.get("key") is not None),
    Constraint(
        "Metadata",
        "items[].value",
        f"Must be at most {_LONGEST_VALUE} bytes.",
        lambda value: _bytes(value) <= _LONGEST_VALUE,
        secret=True,
    ),
    Constraint("Metadata", "items", "All keys and values together must be under 512 KB.", _metadata_fits),
    Constraint("Metadata", "items", "Keys must not be repeated.", _differ("key")),
)
_SCHEDULING: Final = (
    Constraint("Duration", "seconds", "Must be between 0 and 315576000000.", between(0, 315_576_000_000)),
    Constraint("Duration", "nanos", "Must be between 0 and 999999999.", between(0, 999_999_999)),
    Constraint(
        "Scheduling", "hostErrorTimeoutSeconds", "Must be between 90 and 330, in steps of 30.", between(90, 330, 30)
    ),
    Constraint(
        "Scheduling",
        "localSsdRecoveryTimeout.seconds",
        "Must be a whole number of hours, 0 to 168.",
        between(0, 168 * _HOUR, _HOUR),
    ),
    Constraint(
        "Scheduling", "localSsdRecoveryTimeout.nanos", "Must be 0, since the timeout is in whole hours.", between(0, 0)
    ),
    Constraint(
        "Scheduling",
        "terminationTime",
        "Conflicts with maxRunDuration.",
        lambda item: not (item.get("maxRunDuration") and item.get("terminationTime")),
        of_object=True,
    ),
    Constraint("Scheduling", "terminationTime", "Must be a time in RFC 3339.", _is_time),
    Constraint(
        "Scheduling",
        "preemptible",
        "Spot and preemptible instances cannot have onHostMaintenance MIGRATE or automaticRestart true.",
        _is_not_preemptible_and_kept,
        of_object=True,
        if_absent=True,
    ),
)
_OF_INSTANCES: Final = (
    *_of_instance("Instance"),
    *_of_instance("InstanceProperties"),
    *_METADATA,
    *_SCHEDULING,
    Constraint("InstanceProperties", "machineType", "The machine type must be a name, not a URL.", matches(r"[^/]*")),
    Constraint("InstanceProperties", "resourcePolicies[]", "Must be a name, not a URL.", _NAME_NOT_URL),
    Constraint("Instance", "hostname", _HOSTNAME_MESSAGE, matches(_HOSTNAME)),
    Constraint("BulkInsertInstanceResourcePerInstanceProperties", "hostname", _HOSTNAME_MESSAGE, matches(_HOSTNAME)),
    Constraint("AcceleratorConfig", "acceleratorCount", "Must not be negative.", at_least(0)),
    Constraint("AcceleratorConfig", "acceleratorType", _NAME_IN_TEMPLATE, _NAME_NOT_URL, methods=TEMPLATES),
    Constraint(
        "ReservationAffinity",
        "consumeReservationType",
        "SPECIFIC_RESERVATION requires key and values; ANY_RESERVATION and NO_RESERVATION exclude them.",
        _names_reservation,
        of_object=True,
        if_absent=True,
    ),
    Constraint(
        "InstanceTemplate",
        "sourceInstanceParams",
        "Needs sourceInstance.",
        lambda item: bool(item.get("sourceInstance")) or not item["sourceInstanceParams"],
        of_object=True,
    ),
    Constraint(
        "DiskInstantiationConfig",
        "customImage",
        "Must be set with instantiateFrom CUSTOM_IMAGE, and only with it.",
        _has_custom_image_if_needed,
        of_object=True,
        if_absent=True,
    ),
)


_WITH_LABELS: Final = (
    "AttachedDiskInitializeParams",
    "Disk",
    "GlobalSetLabelsRequest",
    "Image",
    "Instance",
    "InstanceProperties",
    "InstancesSetLabelsRequest",
    "MachineImage",
    "RegionSetLabelsRequest",
    "StoragePool",
    "ZoneSetLabelsRequest",
)
_WITH_MANAGER_TAGS: Final = (
    "AttachedDiskInitializeParams",
    "DiskParams",
    "ImageParams",
    "InstanceParams",
    "InstanceProperties",
    "StoragePoolParams",
)
_MOST_LABELS: Final = 64
_MOST_TAGS: Final = 64
_LONGEST: Final = 63
_LABEL_KEY: Final = re2.compile(r"[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]*")
_VALUE: Final = re2.compile(r"[\p{Ll}\p{Lo}\p{N}_-]*")
_CHARACTERS: Final = "lower-case letters, digits, underscores and hyphens"
"""Letters of scripts without upper case are allowed, too."""


def _labels(schema: str) -> tuple[Constraint, ...]:
    return (
        Constraint(
            schema, "labels", f"At most {_MOST_LABELS} labels are allowed.", lambda labels: len(labels) <= _MOST_LABELS
        ),
        Constraint(
            schema, "labels{}", f"A key is 1 to 63 {_CHARACTERS}, beginning with a letter.", _is_label(_LABEL_KEY)
        ),
        Constraint(schema, "labels.*", f"A value is at most 63 {_CHARACTERS}.", _is_label(_VALUE)),
    )


def _is_label(pattern: Any) -> Accepts:
    return lambda text: len(text) <= _LONGEST and pattern.fullmatch(text) is not None


def _manager_tags(schema: str) -> tuple[Constraint, ...]:
    message = "Must be tagKeys/ID with tagValues/ID, or PARENT/KEY with VALUE."
    return (
        Constraint(schema, "resourceManagerTags{}", message, matches(r"tagKeys/\d+|[^\s/]+/[^\s/]+")),
        Constraint(schema, "resourceManagerTags.*", message, matches(r"tagValues/\d+|[^\s/]+")),
    )


_OF_LABELS: Final = (
    *(constraint for schema in _WITH_LABELS for constraint in _labels(schema)),
    *(constraint for schema in _WITH_MANAGER_TAGS for constraint in _manager_tags(schema)),
    Constraint("Tags", "items[]", NAME_MESSAGE, matches(NAME)),
    Constraint("Tags", "items", f"At most {_MOST_TAGS} tags are allowed.", lambda tags: len(tags) <= _MOST_TAGS),
)


_NIC: Final = "NetworkInterface"
_PREFIX_LENGTH: Final = between(0, 128)
_PREFIX_MESSAGE: Final = "Must be a prefix length, 0 to 128."
_NETMASK: Final = re.compile(r"/(?:\d|[1-9]\d|1[01]\d|12[0-8])")
_ATTACHMENT: Final = r"(?:https://[^/]+/compute/\w+/)?projects/[^/]+/regions/[^/]+/networkAttachments/[^/]+"


def _is_address(version: int) -> Accepts:
    """Accept addresses of an IP version, and the URLs of reserved addresses."""

    def accepts(address: Any) -> bool:
        try:
            return "/" in address or ipaddress.ip_address(address).version == version
        except ValueError:
            return False

    return accepts


def _is_range(text: Any) -> bool:
    try:
        return _NETMASK.fullmatch(text) is not None or bool(ipaddress.ip_network(text, strict=False))
    except ValueError:
        return False


def _is_exact_range(text: Any) -> bool:
    try:
        return bool(ipaddress.ip_network(text))
    except ValueError:
        return False


def _has_ptr_enabled(config: Json) -> bool:
    return bool(config.get("setPublicPtr")) or not config.get("publicPtrDomainName")


def _fits_stack_type(nic: Json) -> bool:
    return not (nic.get("stackType") == "IPV4_ONLY" and nic.get("ipv6AccessConfigs"))


def _access_configs(field: str, kind: str, foreign: tuple[str, ...]) -> tuple[Constraint, ...]:
    """Return the constraints of one kind of access configs; `foreign` are the fields that only the other kind has."""
    return (
        Constraint(_NIC, field, "At most one access config is supported.", lambda configs: len(configs) <= 1),
        Constraint(_NIC, f"{field}[].type", f"Must be {kind}.", matches(kind)),
        Constraint(_NIC, f"{field}[].networkTier", "Must be PREMIUM or STANDARD.", matches("PREMIUM|STANDARD")),
        *(Constraint(_NIC, f"{field}[].{name}", f"Does not belong in {field}.", _never) for name in foreign),
    )


_OF_NETWORK_INTERFACES: Final = (
    *_access_configs("accessConfigs", "ONE_TO_ONE_NAT", ("externalIpv6", "externalIpv6PrefixLength")),
    *_access_configs("ipv6AccessConfigs", "DIRECT_IPV6", ("natIP",)),
    Constraint(_NIC, "ipv6AccessConfigs[].externalIpv6PrefixLength", _PREFIX_MESSAGE, _PREFIX_LENGTH),
    Constraint(_NIC, "accessConfigs[]", "publicPtrDomainName requires setPublicPtr.", _has_ptr_enabled),
    Constraint(_NIC, "ipv6AccessConfigs", "Conflicts with stackType IPV4_ONLY.", _fits_stack_type, of_object=True),
    Constraint(_NIC, "networkIP", "Must be an IPv4 address.", _is_address(4)),
    Constraint(_NIC, "ipv6Address", "Must be an IPv6 address.", _is_address(6)),
    Constraint(_NIC, "internalIpv6PrefixLength", _PREFIX_MESSAGE, _PREFIX_LENGTH),
    Constraint(_NIC, "queueCount", "Must not be negative.", at_least(0)),
    Constraint(_NIC, "vlan", "Must be between 2 and 255.", between(2, 255)),
    Constraint(
        _NIC,
        "networkAttachment",
        "Must be written projects/PROJECT_NUMBER/regions/REGION/networkAttachments/NAME.",
        matches(_ATTACHMENT),
    ),
    Constraint(
        "AliasIpRange",
        "ipCidrRange",
        "Must be one address, a netmask such as /24, or a range such as 10.1.2.0/24.",
        _is_range,
    ),
)


_OF_STORAGE_POOLS: Final = (
    Constraint(
        "StoragePool", "poolProvisionedCapacityGb", f"Must be at least {SMALLEST_POOL} GB.", at_least(SMALLEST_POOL)
    ),
    Constraint("StoragePool", "poolProvisionedIops", "Must not be negative.", at_least(0)),
    Constraint("StoragePool", "poolProvisionedThroughput", "Must not be negative.", at_least(0)),
)
MOST_MANAGED: Final = 1000
"""The number of instances that a group manager can have."""
_OF_INSTANCE_GROUPS: Final = (
    Constraint(
        "InstanceGroupManager",
        "baseInstanceName",
        "Must be a name of at most 58 characters.",
        matches(r"[a-z][-a-z0-9]{0,57}|[a-z][-a-z0-9]{0,51}-#{1,10}(?:\[[0-9]{1,10}\])?"),
    ),
    Constraint(
        "InstanceGroupManager", "targetSize", f"Must be between 0 and {MOST_MANAGED}.", between(0, MOST_MANAGED)
    ),
    Constraint("NamedPort", "name", NAME_MESSAGE, matches(NAME)),
    Constraint("NamedPort", "port", "Must be between 1 and 65535.", between(1, 65_535)),
)
_LOWEST_PRIORITY: Final = 65_535


def _is_any_address(text: Any) -> bool:
    try:
        return bool(ipaddress.ip_address(text))
    except ValueError:
        return False


_OF_ROUTES: Final = (
    Constraint("Route", "destRange", "Must be an IPv4 or IPv6 range, such as 192.0.2.0/24.", _is_exact_range),
    Constraint("Route", "nextHopIp", "Must be an IPv4 or IPv6 address.", _is_any_address),
    Constraint("Route", "priority", f"Must be between 0 and {_LOWEST_PRIORITY}.", between(0, _LOWEST_PRIORITY)),
    Constraint("Route", "tags[]", NAME_MESSAGE, matches(NAME)),
)


CONSTRAINTS: Final[tuple[Constraint, ...]] = (
    *_OF_BULK_INSERT,
    *_OF_DISKS,
    *_OF_IMAGES,
    *_OF_INSTANCES,
    *_OF_INSTANCE_GROUPS,
    *_OF_LABELS,
    *_OF_NETWORK_INTERFACES,
    *_OF_ROUTES,
    *_OF_STORAGE_POOLS,
)
_TABLE: Final = ConstraintTable(CONSTRAINTS)
_UPDATES_OF_DISKS: Final = frozenset({"compute.disks.update", "compute.regionDisks.update"})


@checks_bodies("compute")
def check_body(method: Method, body: Json) -> None:
    """Refuse a body that violates a constraint.

    Properties that will be merged into those of a template are left to `check_merged_properties`, and the update of a
    disk, whose type it leaves out, to its handler.
    """
    if method.id in _UPDATES_OF_DISKS:
        return
    if body.get("sourceInstanceTemplate"):
        body = {key: value for key, value in body.items() if key != "instanceProperties"}
    _TABLE.check(method, str(method.request), body, "resource")


def check_object(method: Method, schema: str, value: Json) -> None:
    """Refuse an object that would result from a change, if it violates a constraint of its schema."""
    _TABLE.check(method, schema, value, "resource")


def check_merged_properties(method: Method, properties: Json) -> None:
    """Refuse the properties of a bulk creation, merged into those of the template, if they violate a constraint."""
    _TABLE.check(method, "InstanceProperties", properties, "resource.instanceProperties")
