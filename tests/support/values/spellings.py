"""Values of every property in all the ways to write them, generated from the declarations.

A new property is covered without a change here. Only a property with a way of its own to compare texts needs values in
`_OF_FORMS` or `_OF_PROPERTIES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs
from values.programs import ATTACHMENT, BLOB, DISK_KEY, FLEET, OTHER_BLOB, PROJECT, ZONE

from gcpx.compute.instance_properties.scopes import SCOPE
from gcpx.model.compare import address, address_range, decoded, domain
from gcpx.model.fields import ListOf, MapOf, ObjectType, Property, Scalar, Type, object_type
from gcpx.model.links import name_of
from gcpx.provider import resource_class

REGION: Final = ZONE.rpartition("-")[0]
ABSENT: Final = object()
"""Stands for a property that is left out."""
Group = list[Any]
"""Values that mean the same; those of two groups mean different things."""
Wrap = Callable[[Any], Any]
"""Writes what contains a value."""


@attrs.frozen
class Place:
    """A place in the inputs of a resource.

    Attributes:
        name: the path, with `[]` for an element of a list and `{}` for an item of a map.
        prop: the property.
        groups: the values that it may have; those that mean the same as leaving it out are in the first group.
        wrap: writes inputs that have such a value, and nothing else.
        is_shown: whether Google returns the value.
    """

    name: str
    prop: Property
    groups: list[Group]
    wrap: Wrap
    is_shown: bool = True


def places(token: str) -> list[Place]:
    """Return every place in the inputs of a resource."""
    walk = _Walk(_COMPLETED.get(token, frozenset({"global"})))
    return list(walk.places(object_type(resource_class(token).model), Place("", None, [], lambda value: value)))


@attrs.frozen
class _Walk:
    """A walk through the declaration of a resource.

    Attributes:
        completed: the scopes in which the resource completes bare names.
    """

    completed: frozenset[str]

    def places(self, kind: ObjectType, above: Place) -> Iterator[Place]:
        for name, prop in kind.inputs.items():
            full = f"{above.name}.{name}" if above.name else name
            traits = prop.traits
            is_shown = above.is_shown and not (traits.in_url or traits.write_only or traits.unsent)
            here = Place(full, prop, self.groups(kind, prop), _member(name, above.wrap), is_shown)
            yield here
            inner = prop.type
            while isinstance(inner, ListOf | MapOf):
                here, inner = (_element if isinstance(inner, ListOf) else _item)(here), inner.item
            if isinstance(inner, ObjectType):
                yield from self.places(inner, here)

    def groups(self, owner: ObjectType, prop: Property) -> list[Group]:
        kind = prop.type
        if isinstance(kind, Scalar):
            return _with_absent(prop, self.scalars(owner, prop, kind))
        if isinstance(kind, ListOf):
            return [[ABSENT, None, []], *self.lists(owner, prop, kind.item)]
        if isinstance(kind, MapOf):
            return self.maps(owner, prop, kind.item)
        return [[ABSENT, None, {}, dict.fromkeys(kind.inputs), *([prop.default] if prop.default else [])]]

    def lists(self, owner: ObjectType, prop: Property, item: Type) -> list[Group]:
        """Return lists: those of a set in any order and with repetitions, those with keys in any order."""
        identity = prop.traits.identity
        if isinstance(item, ObjectType):
            one, other = self.elements(item, identity)
            both, turned = [one, other], [other, one]
            return [[[one]], [[other]], *([[both], [turned]] if identity == "ordered" else [[both, turned]])]
        assert isinstance(item, Scalar)
        (first, *spelled), (second, *_) = self.scalars(owner, prop, item)[:2]
        both = [[first, second], *([again, second] for again in spelled)]
        if identity == "set":
            return [[*both, [second, first], [first, second, first]], [[first]], [[second, second], [second]]]
        return [both, [[second, first]], [[first]], [[first, second, first]]]

    def elements(self, item: ObjectType, identity: Any) -> tuple[Any, Any]:
        """Return two elements that differ in what they are recognized by or, in an ordered list, in a text."""
        names = identity[:1] if isinstance(identity, tuple) else item.inputs
        name = next(name for name in names if item.inputs[name].type == Scalar("string"))
        one, other = (group[0] for group in self.groups(item, item.inputs[name])[1:3])
        return {name: one}, {name: other}

    def maps(self, owner: ObjectType, prop: Property, item: Type) -> list[Group]:
        added = dict.fromkeys(prop.traits.merge_keys, "true")
        absent = [ABSENT, None, {}, *([added] if added else [])]
        if not isinstance(item, Scalar):
            return [absent]
        groups = self.scalars(owner, prop, item)
        if item == Scalar("any"):
            return [absent, *([{"a": value} for value in group] for group in groups), [{"b": None}]]
        (first, *_), (second, *_) = groups[:2]
        return [
            [*absent, {"a": None}],
            [{"a": first}, {"a": first, "b": None}, {"a": first, **added}],
            [{"a": second}],
            [{"b": first}],
        ]

    def scalars(self, owner: ObjectType, prop: Property, kind: Scalar) -> list[Group]:
        if kind.name == "boolean":
            return [[True], [False]]
        if kind.name == "integer":
            large = 1 << 53
            return [[90, "90", 90.0, "090", "9e1"], [120], [large + 2, str(large + 2)], [str(large + 1)]]
        if kind.name == "integer or percentage":
            return [[3, "3", 3.0], ["20%", "020%"], [20]]
        return _ANYTHING if kind.name == "any" else self.texts(owner, prop)

    def texts(self, owner: ObjectType, prop: Property) -> list[Group]:
        traits = prop.traits
        own = _OF_PROPERTIES.get((owner.name, prop.name))
        if own is not None:
            return own
        if traits.resolve is not None:
            return _SCOPES if traits.pattern is SCOPE else _IMAGES
        found = _OF_FORMS[traits.normalize] if traits.normalize is not None else []
        if traits.url:
            found = [*found, *self.links(traits.url)]
        return found or [[value] for value in traits.enum or ("a", "b", "A")]

    def links(self, bare: str) -> list[Group]:
        """Return links to resources of a collection in all their forms."""
        scope, _, collection = bare.rpartition("/")
        place = {"regions": f"regions/{REGION}/", "zones": f"zones/{ZONE}/", "global": "global/"}.get(scope, "")
        own, others = (f"projects/{project}/{place}{collection}/x" for project in (PROJECT, "other"))
        names = ["x"] if scope in self.completed or not scope else []
        groups = [[*names, f"{place}{collection}/x", own, *_urls(own)], ["y"], [others, *_urls(others)]]
        if scope in _OTHER_PLACES:
            elsewhere = f"{scope}/{_OTHER_PLACES[scope]}/{collection}/x"
            groups.append([elsewhere, f"projects/{PROJECT}/{elsewhere}"])
        return groups


def _member(name: str, wrap: Wrap) -> Wrap:
    return lambda value: wrap({} if value is ABSENT else {name: value})


def _element(place: Place) -> Place:
    return attrs.evolve(place, name=f"{place.name}[]", wrap=lambda value: place.wrap([value]))


def _item(place: Place) -> Place:
    return attrs.evolve(place, name=f"{place.name}{{}}", wrap=lambda value: place.wrap({"key": value}))


def _with_absent(prop: Property, groups: list[Group]) -> list[Group]:
    """Add the group of what means the same as leaving a property out, with its default."""
    absent = [ABSENT, None, *([""] if prop.type == Scalar("string") else [])]
    if isinstance(prop.default, str | bool | int):
        groups = [
            group
            for group in groups
            if not any(type(value) is type(prop.default) and value == prop.default for value in group)
        ]
        absent.append(prop.default)
    return [absent, *groups]


def _urls(path: str) -> list[str]:
    """Return the other forms of a link that begins with its project."""
    if "/topics/" in path:
        return [f"//pubsub.googleapis.com/{path}"]
    hosts = ("https://www.googleapis.com/compute/v1", "https://www.googleapis.com/compute/beta")
    new = ("https://compute.googleapis.com/compute/v1", "//compute.googleapis.com")
    return [f"{host}/{path}" for host in (*hosts, *new)]


_FAMILY: Final = "projects/debian-cloud/global/images/family/debian-12"
_SCOPES: Final = [["trace", "https://www.googleapis.com/auth/trace.append"], ["https://www.googleapis.com/auth/trace"]]
_KMS_KEY: Final = f"projects/{PROJECT}/locations/{REGION}/keyRings/ring/cryptoKeys/key"
_IMAGES: Final = [
    ["debian-12", "family/debian-12", "debian-cloud/debian-12", _FAMILY, *_urls(_FAMILY)],
    ["mine", "global/images/mine", *(own := [f"projects/{PROJECT}/global/images/mine"]), *_urls(own[0])],
    ["projects/other/global/images/mine"],
    ["global/images/family/mine", f"projects/{PROJECT}/global/images/family/mine"],
]
_ANYTHING: Final[list[Group]] = [
    *([1, 1.0], [True], ["1"], [0], [False], [None], [{}], [[]], [[1]], [[True]], [[None]], [1.5]),
    *([1e20], [1 << 70], [1e300], [{"a": 1}], [{"a": True}], [{"a": None}], [{"a": {"b": [1, {"c": None}]}}]),
]
"""JSON of all types."""
_COMPLETED: Final = {FLEET: frozenset({"global", "regions"}), ATTACHMENT: frozenset({"global", "regions", "zones"})}
_OTHER_PLACES: Final = {"regions": "us-west1", "zones": "us-east1-c"}
_IN_US_WEST1: Final = f"projects/{PROJECT}/regions/us-west1"
_IN_US_EAST1_D: Final = f"projects/{PROJECT}/zones/us-east1-d"
_ZONES: Final = [["us-east1-d", "zones/us-east1-d", _IN_US_EAST1_D, *_urls(_IN_US_EAST1_D)], ["us-east1-c"]]
_REGIONS: Final = [["us-west1", "regions/us-west1", _IN_US_WEST1, *_urls(_IN_US_WEST1)], ["us-west4"]]
_TIMES: Final = [
    [
        *("2027-01-31T00:00:00Z", "2027-01-31T01:00:00+01:00", "2027-01-30T23:30:00-00:30", "2027-01-31t00:00:00z"),
        *("2027-01-31T00:00:00.000Z", "2027-01-31T00:00:00.000000000Z", "2027-01-31T00:00:00.0+00:00"),
    ],
    ["2027-01-31T00:00:00.5Z", "2027-01-31T00:00:00.500Z"],
    ["2027-01-31T00:00:00.000000001Z"],
]
_TYPE: Final = f"projects/{PROJECT}/zones/{ZONE}/types/x"
_OF_FORMS: Final[dict[Any, list[Group]]] = {
    address: [
        *(["10.0.0.2"], ["10.0.0.3"], ["2600:ab::1", "2600:AB::1"]),
        ["2600::1", "2600:0:0::1", "2600:0000:0000:0000:0000:0000:0000:0001"],
    ],
    address_range: [
        *(["10.1.2.3", "10.1.2.3/32"], ["10.1.2.0/24", "10.1.2.3/24"]),
        *(["/24"], ["/25"], ["2600::/96", "2600:0::0/96"]),
    ],
    decoded: [[DISK_KEY, f"{DISK_KEY[:20]}\n{DISK_KEY[20:]}", f" {DISK_KEY}\n"], [DISK_KEY.lower()]],
    domain: [["web.example.com", "WEB.example.com."], ["db.example.com"]],
    name_of: [["x", f"zones/{ZONE}/types/x", _TYPE, *_urls(_TYPE)], ["y"]],
}
"""Values of texts that are compared in a form of their own, by the function that makes it."""
_OF_PROPERTIES: Final[dict[tuple[str, str], list[Group]]] = {
    ("AccessConfig", "name"): [["mine"], ["other"]],
    ("AccessConfig", "type"): [],
    ("AttachedDisk", "deviceName"): [["data"], ["logs"]],
    ("AttachedDiskInitializeParams", "replicaZones"): _ZONES,
    ("BulkInstancesModel", "region"): _REGIONS,
    ("CustomerEncryptionKey", "kmsKeyName"): [
        [_KMS_KEY, f"{_KMS_KEY}/cryptoKeyVersions/1", f"{_KMS_KEY}/cryptoKeyVersions/2"],
        [f"{_KMS_KEY}2"],
    ],
    ("DiskAttachmentModel", "deviceName"): [["data"], ["logs"]],
    ("DiskAttachmentModel", "zone"): _ZONES,
    ("Fallback", "zones"): _ZONES,
    ("InstanceTemplateModel", "region"): _REGIONS,
    ("LocationPolicyZone", "zone"): _ZONES,
    ("Scheduling", "terminationTime"): _TIMES,
    ("SshKeyModel", "expirationTimeUsec"): [
        ["1924991999000000", "001924991999000000", "2030-12-31T23:59:59Z", "2031-01-01T00:59:59+01:00"],
        ["1924991999000001"],
    ],
    ("SshKeyModel", "key"): [
        [f"ssh-ed25519 {BLOB}", f"  ssh-ed25519   {BLOB} laptop\n"],
        [f"ssh-ed25519 {OTHER_BLOB}"],
    ],
    ("SshKeyModel", "regions"): _REGIONS,
    ("SshKeyModel", "user"): [["me@example.com", "users/me@example.com"], ["you@example.com"]],
}
"""Values of single properties, by the name of the record and of the property."""
