"""What the emulator does with each field of each request: observed by sending the field to a resource, and reading it.

`make emulator-record` writes what this module observes into the table that the page of the emulator's methods is made
from, and `tests/emulator/test_field_record.py` compares both.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any, Final

import attrs
import httpx
from engines.clock import HANGS, HOUR
from generate.emulator_record import KEPT, NOT_SHOWN, REFUSED, TAKEN, Row, write_fields
from records.field_kinds import (
    BASE,
    CRYPTO_KEY,
    KEY,
    KINDS,
    POLICY,
    SNAPSHOT,
    TOPIC,
    WORKER,
    Kind,
    body_with,
    fields_of,
    is_shown,
    prepare,
    value_of,
)
from servers.emulated import running
from values.programs import BLOB, BUCKET, EXPIRY, PROJECT, USER, ZONE, properties

from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.discovery import Method, Node, document

Json = dict[str, Any]
_NAMES: Final = itertools.count()
_WRONG: Final = "no such thing!"
_CREATED: Final = frozenset({200, 204})
_REFUSALS: Final = range(400, 500)
_FOLLOWS: Final = frozenset(
    {
        "etag",
        "fingerprint",
        "id",
        "labelFingerprint",
        "lastStartTimestamp",
        "lastStopTimestamp",
        "metageneration",
        "updated",
    }
)
"""What changes with any change, whatever it is."""
_CONDITIONS: Final = frozenset({"disks", "fingerprint", "instanceEncryptionKey", "labelFingerprint", "name", "source"})
"""Fields with which a request is only accepted if they have the value that they have in every request of the method."""
_INSERTIONS: Final = {
    "disk": ("compute.disks.insert", ""),
    "new disk of an instance": ("compute.instances.insert", "disks[].initializeParams."),
    "image": ("compute.images.insert", ""),
    "machine image": ("compute.machineImages.insert", ""),
    "template": ("compute.instanceTemplates.insert", ""),
    "instance properties": ("compute.instanceTemplates.insert", "properties."),
    "disk of a template": ("compute.instanceTemplates.insert", "properties.disks[]."),
    "interface of a template": ("compute.instanceTemplates.insert", "properties.networkInterfaces[]."),
    "scheduling of a template": ("compute.instanceTemplates.insert", "properties.scheduling."),
    "instance": ("compute.instances.insert", ""),
    "instance of a bulk creation": ("compute.instances.bulkInsert", "instanceProperties."),
    "bulk creation": ("compute.regionInstances.bulkInsert", ""),
    "network": ("compute.networks.insert", ""),
    "subnetwork": ("compute.subnetworks.insert", ""),
    "firewall rule": ("compute.firewalls.insert", ""),
    "route": ("compute.routes.insert", ""),
    "storage pool": ("compute.storagePools.insert", ""),
    "instance group": ("compute.instanceGroups.insert", ""),
    "managed instance group": ("compute.instanceGroupManagers.insert", ""),
    "address": ("compute.addresses.insert", ""),
    "snapshot": ("compute.snapshots.insert", ""),
    "snapshot of a disk": ("compute.disks.createSnapshot", ""),
    "snapshot of a regional disk": ("compute.regionDisks.createSnapshot", ""),
    "bucket": ("storage.buckets.insert", ""),
    "object": ("storage.objects.insert", ""),
    "notification": ("storage.notifications.insert", ""),
    "topic": ("pubsub.projects.topics.create", ""),
    "subscription": ("pubsub.projects.subscriptions.create", ""),
    "snapshot of messages": ("pubsub.projects.snapshots.create", ""),
    "message": ("pubsub.projects.topics.publish", "messages[]."),
    "SSH key": ("oslogin.users.sshPublicKeys.create", ""),
}
"""The methods that insert the kinds, and where in the request the fields of the kind are."""


def methods(api: str) -> dict[str, Method]:
    """Return the methods of an API by their IDs, such as those of `compute.beta`."""
    return {method.id: method for method in _methods(document(api).root)}


def _methods(node: Node) -> Iterator[Method]:
    yield from node.methods.values()
    for child in (*node.literals.values(), *(child for _, child in node.patterns)):
        yield from _methods(child)


def observed_insertions(http: Any) -> Iterator[Row]:
    """Send each field of each kind of resource alone, with a right and with a wrong value."""
    for kind in KINDS:
        method, prefix = _INSERTIONS[kind.name]
        for field, value in fields_of(kind).items():
            yield Row(method, f"{prefix}{field}", _outcome(http, kind, field, value), _is_checked(http, kind, field))


def _outcome(http: Any, kind: Kind, field: str, value: Any) -> str:
    answer, read = kind.send(http, body_with(kind, field, value))
    if answer.status_code not in _CREATED:
        return REFUSED
    if field in kind.not_shown:
        return NOT_SHOWN
    return KEPT if is_shown(kind.shown.get(field, value), read().get(field)) else TAKEN


def _is_checked(http: Any, kind: Kind, field: str) -> bool:
    schemas = document(kind.api).schemas
    wrong = wrong_value(schemas, schemas[kind.schema]["properties"][field])
    return wrong is not None and kind.send(http, body_with(kind, field, wrong))[0].status_code in _REFUSALS


def wrong_value(schemas: Json, spec: Json) -> Any:
    """Return a value of the right type that means nothing; None if there is none, as for booleans."""
    if "$ref" in spec:
        spec = schemas[spec["$ref"]]
    if "enum" in spec:
        return "NONSENSE"
    if spec["type"] == "array":
        item = wrong_value(schemas, spec["items"])
        return None if item is None else [item]
    if "additionalProperties" in spec:
        value = wrong_value(schemas, spec["additionalProperties"])
        return None if value is None else {"key": value}
    if spec["type"] == "object":
        wrong = {
            name: wrong_value(schemas, inner) for name, inner in spec["properties"].items() if not inner.get("readOnly")
        }
        return next(({name: value} for name, value in wrong.items() if value is not None), None)
    of_type = {"integer": -1, "number": -1, "boolean": None}
    return of_type.get(spec["type"], "-1" if spec.get("format") in {"int64", "uint64"} else _WRONG)


@attrs.frozen(kw_only=True)
class Change:
    """A method that changes something that exists, or that answers a question.

    Attributes:
        method: its ID.
        api: the document that describes it.
        make: makes what is changed, and returns the URL that `url` and `read` refer to as `{made}`.
        verb: the HTTP method.
        url: of the request; `{field}` is the field that is sent.
        read: of what is changed; without it, only the status of the answer is observed.
        base: what every request has, from what was read and from what `make` returned.
        within: the field of the body that the fields are in.
        values: of fields, where the description does not lead to a valid one.
        part: finds what the request has made in what is read; then each field needs something that is made anew.
            Without it, a field is kept if what is read changes.
        not_shown: fields that Google accepts and does not show.
    """

    method: str
    api: str = "compute.beta"
    make: Callable[[Any], str]
    verb: str = "POST"
    url: str
    read: str = ""
    base: Callable[[Json, str], Json] = lambda _read, _made: {}
    within: str = ""
    values: Mapping[str, Any] = attrs.Factory(dict)
    part: Callable[[Json], Any] | None = None
    not_shown: Collection[str] = ()


def _itself(read: Json) -> Json:
    return read


def _kind(name: str) -> Kind:
    return next(kind for kind in KINDS if kind.name == name)


def _made(collection: str, body: Json, *actions: str) -> Callable[[Any], str]:
    """Make something of Compute Engine, and act on it."""

    def make(http: Any) -> str:
        url = f"{BASE}/{collection}/made-{next(_NAMES)}-x"
        http.post(f"{BASE}/{collection}", json={"name": url.rpartition("/")[2], **body}).raise_for_status()
        for action in actions:
            http.post(f"{url}/{action}").raise_for_status()
        return url

    return make


def _with_disk(http: Any) -> str:
    """Make a stopped instance, and a disk that has its name with `-disk`."""
    url = _STOPPED(http)
    name = f"{url.rpartition('/')[2]}-disk"
    http.post(f"{BASE}/zones/{ZONE}/disks", json={"name": name, "sizeGb": "10"}).raise_for_status()
    return url


def _put(collection: str, body: Json) -> Callable[[Any], str]:
    """Make something of Pub/Sub."""

    def make(http: Any) -> str:
        url = f"/v1/projects/{PROJECT}/{collection}/made-{next(_NAMES)}-x"
        http.put(url, json=body).raise_for_status()
        return url

    return make


def _bucket(http: Any) -> str:
    name = f"made-{next(_NAMES)}-x"
    http.post(f"/storage/v1/b?project={PROJECT}", json={"name": name}).raise_for_status()
    return f"/storage/v1/b/{name}"


def _object(http: Any) -> str:
    name = f"made-{next(_NAMES)}-x"
    http.post(f"/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name={name}", content=b"x").raise_for_status()
    return f"/storage/v1/b/{BUCKET}/o/{name}"


def _key(http: Any) -> str:
    answer = http.post(f"/v1/users/user-{next(_NAMES)}.{USER}/sshPublicKeys", json={"key": f"ssh-ed25519 {BLOB}"})
    return f"/v1/{answer.json()['name']}"


def _user(_http: Any) -> str:
    return f"/v1/users/user-{next(_NAMES)}.{USER}"


def _nothing(_http: Any) -> str:
    return f"made-{next(_NAMES)}-x"


_VM: Final = {
    **properties(scheduling={"onHostMaintenance": "TERMINATE"}),
    "machineType": f"zones/{ZONE}/machineTypes/n1-standard-1",
}
_STOPPED: Final = _made(f"zones/{ZONE}/instances", _VM, "stop")
_ZONAL: Final = _made(f"zones/{ZONE}/disks", {"sizeGb": "10", "type": f"zones/{ZONE}/diskTypes/hyperdisk-balanced"})
_REGIONAL: Final = _made(
    "regions/us-east1/disks", {"sizeGb": "10", "replicaZones": [f"zones/us-east1-{letter}" for letter in "bc"]}
)
_IMAGE: Final = _made("global/images", {"rawDisk": {"source": "https://storage.googleapis.com/b/o"}})
_MACHINE_IMAGE: Final = _made("global/machineImages", {"sourceInstance": f"zones/{ZONE}/instances/example-vm"})
_TOPIC: Final = _put("topics", {})
_SUBSCRIPTION: Final = _put("subscriptions", {"topic": TOPIC})
_SNAPSHOT: Final = _put("snapshots", {"subscription": WORKER})
_WITH_POLICIES: Final = (("topic", _TOPIC), ("subscription", _SUBSCRIPTION), ("snapshot", _SNAPSHOT))
_RESERVED: Final = {"count": "1", "instanceProperties": {"machineType": "n1-standard-1"}}
_POLICIES: Final = {"resourcePolicies": [POLICY]}
_WITH_POLICY: Final = _made(f"zones/{ZONE}/disks", {"sizeGb": "10", **_POLICIES})
_REGIONAL_WITH_POLICY: Final = _made(
    "regions/us-east1/disks",
    {"sizeGb": "10", "replicaZones": [f"zones/us-east1-{letter}" for letter in "bc"], **_POLICIES},
)
_NETWORK: Final = _made("global/networks", {"autoCreateSubnetworks": False})
_FIREWALL: Final = _made("global/firewalls", {"allowed": [{"IPProtocol": "tcp"}]})


def _subnetwork(http: Any) -> str:
    """Make a subnetwork in a network of its own."""
    return _made(
        "regions/us-east1/subnetworks",
        {"ipCidrRange": "10.77.0.0/24", "network": _NETWORK(http).partition("/projects/")[2].partition("/")[2]},
    )(http)


def _rule(read: Json, _made: str) -> Json:
    """What every firewall rule needs."""
    return {"name": read["name"], "allowed": read["allowed"]}


_PROTECTED: Final = {**_VM, "disks": [{**_VM["disks"][0], "diskEncryptionKey": KEY}], "instanceEncryptionKey": KEY}
_WANTED: Final = {
    "instanceFlexibilityPolicy": {"instanceSelections": {"a": {"machineTypes": ["e2-small"]}}},
    "instanceProperties": {"scheduling": {"provisioningModel": "SPOT"}},
    "size": 2,
}


def _keys(_read: Json, made: str) -> Json:
    """The key without which a protected instance does not run."""
    disk = f"zones/{ZONE}/disks/{made.rpartition('/')[2]}"
    return {"disks": [{"source": disk, "diskEncryptionKey": KEY}]}


_CHANGES_OF_STORAGE: Final = (("patch", "PATCH"), ("update", "PUT"))
_OBJECTS: Final = f"/storage/v1/b/{BUCKET}/o"
_BINDINGS: Final = {"bindings": [{"role": "roles/viewer", "members": ["user:me@example.com"]}]}


def _labels(read: Json, _made: str) -> Json:
    return {"labelFingerprint": read["labelFingerprint"]}


def _fingerprinted(field: str) -> Callable[[Json, str], Json]:
    return lambda read, _: {"fingerprint": read[field]["fingerprint"]}


def _named(collection: str, **base: Any) -> Json:
    """Give what an insertion into a collection of Compute Engine needs that has no kind of its own."""
    url = f"{BASE}/{collection}"
    return {
        "make": _nothing,
        "url": url,
        "read": f"{url}/{{made}}",
        "base": lambda _, made: {"name": made, **base},
        "part": _itself,
    }


def _of_compute(method: str, make: Callable[[Any], str], url: str, **more: Any) -> Change:
    return Change(
        method=f"compute.{method}",
        make=make,
        url=url,
        read="{made}?view=FULL" if "nstances" in method else "{made}",
        **more,
    )


def _of_instance(action: str, make: Callable[[Any], str] = _STOPPED, query: str = "", **more: Any) -> Change:
    return _of_compute(f"instances.{action}", make, f"{{made}}/{action}{query}", **more)


def _of_disks() -> Iterator[Change]:
    for collection, make in (("disks", _ZONAL), ("regionDisks", _REGIONAL)):
        policy = {"resourcePolicies": [POLICY]}
        yield _of_compute(f"{collection}.addResourcePolicies", make, "{made}/addResourcePolicies", values=policy)
        yield _of_compute(f"{collection}.resize", make, "{made}/resize", values={"sizeGb": "20"})
        yield _of_compute(f"{collection}.setLabels", make, "{made}/setLabels", base=_labels)
        yield _of_compute(
            f"{collection}.update",
            make,
            "{made}?paths={field}",
            verb="PATCH",
            values={**_kind("disk").values, "sizeGb": "30"},
        )


CHANGES: Final = [
    *_of_disks(),
    _of_compute(
        "images.deprecate",
        _IMAGE,
        "{made}/deprecate",
        values={"state": "DEPRECATED", "deleted": "2040-01-01T00:00:00Z"},
    ),
    _of_compute("images.patch", _IMAGE, "{made}", verb="PATCH", values=_kind("image").values),
    _of_compute("images.setLabels", _IMAGE, "{made}/setLabels", base=_labels),
    _of_compute(
        "projects.setCommonInstanceMetadata",
        lambda _: BASE,
        "{made}/setCommonInstanceMetadata",
        base=_fingerprinted("commonInstanceMetadata"),
        values={"items": [{"key": "k", "value": "v"}]},
        part=lambda read: read["commonInstanceMetadata"],
    ),
    _of_compute("machineImages.setLabels", _MACHINE_IMAGE, "{made}/setLabels", base=_labels),
    _of_instance(
        "addAccessConfig",
        query="?networkInterface=nic0",
        part=lambda read: read["networkInterfaces"][0].get("accessConfigs", [{}])[0],
    ),
    _of_instance("addResourcePolicies", values={"resourcePolicies": [POLICY]}),
    _of_instance(
        "attachDisk",
        _with_disk,
        base=lambda _, made: {"source": f"zones/{ZONE}/disks/{made.rpartition('/')[2]}-disk"},
        values={**_kind("disk of a template").values, "boot": False, "forceAttach": False, "source": None},
        part=lambda read: read["disks"][-1],
    ),
    _of_instance(
        "removeResourcePolicies",
        _made(f"zones/{ZONE}/instances", {**_VM, "resourcePolicies": [POLICY]}, "stop"),
        values={"resourcePolicies": [POLICY]},
    ),
    _of_instance("setLabels", base=_labels),
    _of_instance(
        "setMachineResources",
        values={
            "guestAccelerators": [
                {"acceleratorCount": 1, "acceleratorType": f"zones/{ZONE}/acceleratorTypes/nvidia-tesla-p100"}
            ]
        },
    ),
    _of_instance("setMachineType", values={"machineType": f"zones/{ZONE}/machineTypes/n1-standard-2"}),
    _of_instance("setMetadata", base=_fingerprinted("metadata"), values={"items": [{"key": "k", "value": "v"}]}),
    _of_instance("setMinCpuPlatform", values={"minCpuPlatform": "Intel Skylake"}),
    _of_instance(
        "setScheduling",
        values={**_kind("scheduling of a template").values, "onHostMaintenance": "TERMINATE", "preemptible": False},
        part=lambda read: read["scheduling"],
    ),
    _of_instance("setServiceAccount", base=lambda _, __: {"email": "a@example.com"}, values={"email": "b@example.com"}),
    _of_instance("setTags", base=_fingerprinted("tags"), values={"items": ["web"]}),
    _of_compute(
        "instances.update", _STOPPED, "{made}", verb="PUT", base=lambda read, _: read, values=_kind("instance").values
    ),
    _of_instance("updateDisplayDevice", verb="PATCH"),
    _of_instance(
        "updateNetworkInterface",
        query="?networkInterface=nic0",
        verb="PATCH",
        base=lambda read, _: {"fingerprint": read["networkInterfaces"][0]["fingerprint"]},
        values=_kind("interface of a template").values,
        part=lambda read: read["networkInterfaces"][0],
    ),
    _of_instance(
        "updateShieldedInstanceConfig", verb="PATCH", values={"enableIntegrityMonitoring": False, "enableVtpm": False}
    ),
    *(
        Change(
            method=f"storage.buckets.{name}",
            api="storage.v1",
            make=_bucket,
            verb=verb,
            url="{made}",
            read="{made}?projection=full",
            values=_kind("bucket").values,
            not_shown=_kind("bucket").not_shown,
            part=_itself,
        )
        for name, verb in _CHANGES_OF_STORAGE
    ),
    *(
        Change(
            method=f"storage.objects.{name}",
            api="storage.v1",
            make=_object,
            verb=verb,
            url="{made}",
            read="{made}?projection=full",
            values=_kind("object").values,
            not_shown=_kind("object").not_shown,
            part=_itself,
        )
        for name, verb in _CHANGES_OF_STORAGE
    ),
    *(
        Change(
            method=f"storage.objects.{verb}",
            api="storage.v1",
            make=lambda http: _object(http).rpartition("/")[2],
            url=f"{_OBJECTS}/{{made}}/{verb}To/b/{BUCKET}/o/{{made}}-copy",
            read=f"{_OBJECTS}/{{made}}-copy?projection=full",
            values=_kind("object").values | {"kmsKeyName": f"{CRYPTO_KEY}/cryptoKeyVersions/1"},
            not_shown=_kind("object").not_shown,
            part=_itself,
        )
        for verb in ("copy", "rewrite")
    ),
    Change(
        method="storage.buckets.setIamPolicy",
        api="storage.v1",
        make=_bucket,
        verb="PUT",
        url="{made}/iam",
        read="{made}/iam",
        values=_BINDINGS,
    ),
    *(
        Change(
            method=f"pubsub.projects.{kind}s.patch",
            api="pubsub.v1",
            make=make,
            verb="PATCH",
            url="{made}?updateMask={field}",
            read="{made}",
            within=kind,
            values=_kind(kind).values,
            not_shown=_kind(kind).not_shown,
        )
        for kind, make in (("topic", _TOPIC), ("subscription", _SUBSCRIPTION))
    ),
    *(
        Change(
            method=f"pubsub.projects.{kind}s.setIamPolicy",
            api="pubsub.v1",
            make=make,
            url="{made}:setIamPolicy",
            read="{made}:getIamPolicy",
            values={"policy": _BINDINGS},
        )
        for kind, make in _WITH_POLICIES
    ),
    Change(
        method="pubsub.projects.snapshots.patch",
        api="pubsub.v1",
        make=_SNAPSHOT,
        verb="PATCH",
        url="{made}?updateMask={field}",
        read="{made}",
        within="snapshot",
        values={"expireTime": timestamp(time.time() + HOUR)},
    ),
    Change(
        method="pubsub.projects.subscriptions.seek",
        api="pubsub.v1",
        make=_SUBSCRIPTION,
        url="{made}:seek",
        values={"time": "2026-01-01T00:00:00Z", "snapshot": SNAPSHOT},
    ),
    Change(
        method="pubsub.projects.subscriptions.modifyPushConfig",
        api="pubsub.v1",
        make=_SUBSCRIPTION,
        url="{made}:modifyPushConfig",
        read="{made}",
        values={"pushConfig": {"pushEndpoint": "https://example.com/push"}},
    ),
    Change(
        method="oslogin.users.sshPublicKeys.patch",
        api="oslogin.v1",
        make=_key,
        verb="PATCH",
        url="{made}?updateMask={field}",
        read="{made}",
        values={"expirationTimeUsec": EXPIRY, "key": f"ssh-ed25519 {BLOB} other"},
    ),
    Change(
        method="oslogin.users.importSshPublicKey",
        api="oslogin.v1",
        make=_user,
        url="{made}:importSshPublicKey",
        read="{made}/loginProfile",
        base=lambda _, __: {"key": f"ssh-ed25519 {BLOB}"},
        values={"expirationTimeUsec": EXPIRY, "key": f"ssh-ed25519 {BLOB} other"},
    ),
    *(
        _of_compute(f"{collection}.removeResourcePolicies", make, "{made}/removeResourcePolicies", values=_POLICIES)
        for collection, make in (("disks", _WITH_POLICY), ("regionDisks", _REGIONAL_WITH_POLICY))
    ),
    _of_compute(
        "networks.patch", _NETWORK, "{made}", verb="PATCH", values={"routingConfig": {"routingMode": "GLOBAL"}}
    ),
    *(
        _of_compute(
            f"firewalls.{name}",
            _FIREWALL,
            "{made}",
            verb=verb,
            base=_rule,
            values=_kind("firewall rule").values,
            not_shown=_kind("firewall rule").not_shown,
            part=_itself,
        )
        for name, verb in _CHANGES_OF_STORAGE
    ),
    _of_compute(
        "subnetworks.patch",
        _subnetwork,
        "{made}",
        verb="PATCH",
        base=lambda read, _: {"fingerprint": read["fingerprint"]},
        values=_kind("subnetwork").values,
        part=_itself,
    ),
    _of_compute("subnetworks.setPrivateIpGoogleAccess", _subnetwork, "{made}/setPrivateIpGoogleAccess"),
    _of_compute(
        "subnetworks.expandIpCidrRange", _subnetwork, "{made}/expandIpCidrRange", values={"ipCidrRange": "10.77.0.0/20"}
    ),
    Change(method="compute.resourcePolicies.insert", **_named("regions/us-east1/resourcePolicies")),
    _of_instance(
        "resume",
        _made(f"zones/{ZONE}/instances", _PROTECTED, "suspend"),
        base=lambda read, made: {**_keys(read, made), "instanceEncryptionKey": KEY},
        part=_itself,
    ),
    _of_instance(
        "startWithEncryptionKey", _made(f"zones/{ZONE}/instances", _PROTECTED, "stop"), base=_keys, part=_itself
    ),
    Change(
        method="compute.advice.capacity",
        make=_nothing,
        url=f"{BASE}/regions/us-east1/advice/capacity",
        base=lambda _, __: _WANTED,
        values=_WANTED | {"distributionPolicy": {"targetShape": "BALANCED"}},
    ),
    *(
        Change(
            method=f"pubsub.projects.{kind}s.testIamPermissions",
            api="pubsub.v1",
            make=make,
            url="{made}:testIamPermissions",
            values={"permissions": [f"pubsub.{kind}s.get"]},
        )
        for kind, make in _WITH_POLICIES
    ),
    *(
        Change(
            method=f"pubsub.projects.subscriptions.{verb}",
            api="pubsub.v1",
            make=_SUBSCRIPTION,
            url=f"{{made}}:{verb}",
            base=lambda _, __, base=base: base,
        )
        for verb, base in (
            ("acknowledge", {"ackIds": ["id"]}),
            ("modifyAckDeadline", {"ackIds": ["id"]}),
            ("pull", {"maxMessages": 1, "returnImmediately": True}),
        )
    ),
    Change(
        method="iamcredentials.projects.serviceAccounts.generateIdToken",
        api="iamcredentials.v1",
        make=_nothing,
        url="/v1/projects/-/serviceAccounts/signer@example.iam.gserviceaccount.com:generateIdToken",
        base=lambda _, __: {"audience": "me"},
    ),
    Change(
        method="cloudresourcemanager.projects.getIamPolicy",
        api="cloudresourcemanager.v1",
        make=_nothing,
        url=f"/v1/projects/{PROJECT}:getIamPolicy",
    ),
    Change(
        method="cloudresourcemanager.projects.testIamPermissions",
        api="cloudresourcemanager.v1",
        make=_nothing,
        url=f"/v1/projects/{PROJECT}:testIamPermissions",
        values={"permissions": ["resourcemanager.projects.get"]},
    ),
    Change(method="compute.reservations.insert", **_named(f"zones/{ZONE}/reservations", specificReservation=_RESERVED)),
]
"""The methods that are observed, besides insertions."""


def observed_change(http: Any, change: Change) -> Iterator[Row]:
    """Send each field of a method with a right and with a wrong value, beside what every request needs."""
    described = document(change.api)
    spec = described.schemas[methods(change.api)[change.method].request or ""]
    if change.within:
        spec = described.schemas[spec["properties"][change.within]["$ref"]]
    made = ""
    for field, inner in spec["properties"].items():
        if inner.get("readOnly"):
            continue
        if change.part is not None or not made:
            made = _settled(http, change)
        before = _read(http, change, made)
        base = change.base(before, made)
        if change.values.get(field) is not None:
            value = change.values[field]
        elif field in base and field in _CONDITIONS:
            value = base[field]
        else:
            value = value_of(described.schemas, inner)
        answer = _send(http, change, made, field, value)
        outcome = (
            _outcome_of_change(change, field, value, before, _read(http, change, made))
            if answer in _CREATED
            else REFUSED
        )
        wrong = wrong_value(described.schemas, inner)
        if change.part is not None:
            made = _settled(http, change)
        checked = wrong is not None and _send(http, change, made, field, wrong) in _REFUSALS
        yield Row(change.method, f"{change.within}.{field}".lstrip("."), outcome, checked)


def _settled(http: Any, change: Change) -> str:
    """Make what is changed, and send what every request has, unless that makes something."""
    made = change.make(http)
    if change.part is None:
        _send(http, change, made)
    return made


def _read(http: Any, change: Change, made: str) -> Json:
    answer = http.get(change.read.format(made=made)) if change.read else None
    return dict(answer.json()) if answer is not None and answer.is_success else {}


def _send(http: Any, change: Change, made: str, field: str = "", value: Any = None) -> int:
    """Send a field beside what every request has; return the status."""
    sent = {field: value} if field else {}
    body = change.base(_read(http, change, made), made) | ({change.within: sent} if change.within else sent)
    answer = http.request(change.verb, change.url.format(made=made, field=field), json=body)
    return int(answer.status_code)


def _outcome_of_change(change: Change, field: str, value: Any, before: Json, after: Json) -> str:
    if change.part is not None:
        is_kept = is_shown(value, (change.part(after) or {}).get(field))
    else:
        is_kept = any(before.get(name) != after.get(name) for name in (before.keys() | after.keys()) - _FOLLOWS)
    return KEPT if is_kept else NOT_SHOWN if field in change.not_shown else TAKEN


def _main() -> None:
    """Write the record of what an emulator does."""
    rows: list[Row] = []
    with running() as cloud, httpx.Client(base_url=f"http://{cloud.host}", trust_env=False, timeout=HANGS) as http:
        for observed in (observed_insertions, *(partial(observed_change, change=change) for change in CHANGES)):
            # What one leaves behind, such as notifications, makes the next one slow.
            cloud.reset()
            cloud.make_bucket()
            cloud.make_topics()
            cloud.make_disk()
            cloud.make_instance()
            prepare(http)
            rows += observed(http)
    write_fields(rows)


if __name__ == "__main__":
    _main()
