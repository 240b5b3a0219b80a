"""BulkInstances: a fleet of instances made in one call and scaled in place.

Source: Compute API, `regionInstances.bulkInsert`, and the methods of single instances.
"""

from __future__ import annotations

import re
from typing import Any, Final

from gcpx.google.client import Google
from gcpx.google.compute import Collection, last_part, split_link
from gcpx.google.errors import ApiError
from gcpx.google.fleet import Fleet, Outcome
from gcpx.google.operations import Unfinished
from gcpx.model import codec
from gcpx.model.fields import Failure, Record, field, object_type, one_required, record
from gcpx.model.naming import AUTONAMED, Autoname
from gcpx.model.resource import Call, InvalidId, Live, PartialError, Resource
from gcpx.resources.fleet_members import made_up, member, scaling, settings, size
from gcpx.resources.instance_properties import PROJECT, AttachedDisk, InstanceProperties, no_customer_keys

_LONGEST_RUN: Final = 18
_LONGEST_NAME: Final = 63
_FLEET_ID: Final = (
    re.compile(r"[a-z0-9][-_a-z0-9]{0,62}|labels/[a-z][-_a-z0-9]{0,62}=[-_a-z0-9]{0,63}|namePattern/[-a-z0-9#]{1,63}"),
    "a label value of lower-case letters, digits, hyphens and underscores, labels/KEY=VALUE or namePattern/PATTERN",
)


@record
class PerInstanceProperties(Record):
    """What is an instance's own."""

    hostname: str = field("The host name, fully qualified (RFC 1035). Default: made from the instance's name.")
    name: str = field("Temporary in Google's API, and never set.", output=True)


@record
class LocationConstraints(Record):
    """Bounds of a location."""

    max_count: int = field("The most instances that the location gets; 0 and more.", minimum=0)


@record
class LocationPolicyLocation(Record):
    """One location."""

    constraints: LocationConstraints = field("Bounds of the location.")
    preference: str = field("`ALLOW` or `DENY`.", enum=("ALLOW", "DENY"), closed=True)


@record
class LocationPolicyZone(Record):
    """One zone to choose from."""

    zone: str = field("The zone, as a URL or `zones/Z`.", required=True, url=True)


@record
class LocationPolicy(Record):
    """Where instances may be made."""

    locations: dict[str, LocationPolicyLocation] = field("Preferences by zone, written `zones/ZONE`.")
    target_shape: str = field(
        "How instances are spread over zones. Default: `ANY_SINGLE_ZONE`.",
        enum=("ANY", "ANY_SINGLE_ZONE", "BALANCED"),
        default="ANY_SINGLE_ZONE",
    )
    zones: list[LocationPolicyZone] = field("The zones to choose from.", identity=("zone",))


@record
class InstanceSelection(Record):
    """One choice of machine types."""

    disks: list[AttachedDisk] = field("Disks of instances made by this choice, in place of the others.")
    machine_types: list[str] = field("Machine types by name.", identity="set")
    min_cpu_platform: str = field("The oldest processor platform.")
    rank: int = field("The place in the order of choices; lower comes first.", int64=True)


@record
class InstanceFlexibilityPolicy(Record):
    """Other machine types to take when the first cannot be had."""

    instance_selections: dict[str, InstanceSelection] = field("Choices by name.")


@record
class Member(Record):
    """One instance of the fleet."""

    external_address: str = field("The external IPv4 address, if there is one.", output=True)
    id: str = field("The number that Google gave the instance.", output=True)
    internal_address: str = field("The internal IPv4 address.", output=True)
    name: str = field("The instance's name.", output=True)
    self_link: str = field("The instance's URL.", output=True)
    status: str = field("The instance's state, such as `RUNNING`.", output=True)
    zone: str = field("The zone's name.", output=True)


@record
class LocationStatus(Record):
    """What the last creation came to in one location."""

    created_vm_count: int = field("Instances made.", output=True)
    deleted_vm_count: int = field("Instances deleted again.", output=True)
    failed_to_create_vm_count: int = field("Instances that could not be made.", output=True)
    status: str = field("`CREATING`, `ROLLING_BACK` or `DONE`.", output=True)
    target_vm_count: int = field("Instances that were to be made.", output=True)


def _names_or_pattern(values: dict[str, Any]) -> list[Failure]:
    names, pattern = values.get("perInstanceProperties"), values.get("namePattern")
    if names and pattern:
        return [("namePattern", "conflicts with perInstanceProperties: set only one of them")]
    if not names and not pattern:
        return [("", "needs one of namePattern or perInstanceProperties")]
    return [("count", "is required with namePattern")] if pattern and values.get("count") is None else []


def _number(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _counts_fit(values: dict[str, Any]) -> list[Failure]:
    names = values.get("perInstanceProperties")
    count, least = _number(values.get("count")), _number(values.get("minCount"))
    failures: list[Failure] = []
    if names and isinstance(names, dict) and count is not None and count != len(names):
        failures.append(
            ("count", f"is {count}; with perInstanceProperties it is their number, {len(names)}, or left out")
        )
    total = count if count is not None else len(names) if isinstance(names, dict) else None
    if total is not None and least is not None and least > total:
        failures.append(("minCount", f"is {least}; it must not be above count, {total}"))
    return failures


def _pattern_serves(values: dict[str, Any]) -> list[Failure]:
    pattern, count = values.get("namePattern"), _number(values.get("count"))
    if not isinstance(pattern, str):
        return []
    runs = re.findall("#+", pattern)
    if len(runs) != 1:
        return [("namePattern", f"has {len(runs)} runs of #; it must have one, whose length is the number of digits")]
    if len(runs[0]) > _LONGEST_RUN:
        return [("namePattern", f"has {len(runs[0])} #; at most {_LONGEST_RUN} allowed")]
    if not re.fullmatch(r"[a-z]([-a-z0-9#]*[a-z0-9#])?", pattern) or len(pattern) > _LONGEST_NAME:
        return [("namePattern", "must make names of 1 to 63 lower-case letters, digits and hyphens (RFC 1035)")]
    if count is not None and count > 10 ** len(runs[0]) - 1:
        most = 10 ** len(runs[0]) - 1
        return [("namePattern", f"has {len(runs[0])} #, which make at most {most:,} names; count is {count:,}")]
    return []


def _keys_are_googles(values: dict[str, Any]) -> list[Failure]:
    return no_customer_keys("instanceProperties", values.get("instanceProperties"))


@record
class BulkInstancesModel(Record):
    """A fleet of alike instances in one region, made in one call (`bulkInsert`) and kept at its size.

    A higher `count` makes the difference in one more call; a lower one deletes the highest-numbered instances. With
    `perInstanceProperties` just the named ones are added and removed. Labels, tags and metadata change on the running
    instances. Any other change of what instances are made of replaces the fleet. Members carry the label `gcpx-bulk`;
    one that is lost shows as drift of `count` and is made again by the next `up`. When fewer than `count` but no less
    than `minCount` can be made, the fleet is created with a warning, and `createdCount` says how many there are.
    """

    RULES = (
        one_required("instanceProperties", "sourceInstanceTemplate"),
        _names_or_pattern,
        _counts_fit,
        _pattern_serves,
        _keys_are_googles,
    )

    count: int = field(
        "How many instances there are to be. Default: the number of `perInstanceProperties`.", int64=True, minimum=1
    )
    created_count: int = field("How many instances there are.", output=True, volatile=True)
    fleet_id: str = field(
        "What members are found by: the value of their label `gcpx-bulk`, or for a fleet that was imported `labels/KEY=VALUE` or `namePattern/PATTERN`. Default: made up from the resource's name.",
        always=True,
        param=True,
        pattern=_FLEET_ID,
    )
    instance_flexibility_policy: InstanceFlexibilityPolicy = field(
        "Other machine types to take when the first cannot be had.", write_only=True
    )
    instance_properties: InstanceProperties = field(
        "What instances are made of; merged into those of `sourceInstanceTemplate` by JSON Merge Patch (RFC 7396).",
        write_only=True,
    )
    location_policy: LocationPolicy = field(
        "Where instances may be made; a change counts for those that are made from then on.", write_only=True
    )
    members: list[Member] = field("The instances, in order of their names.", output=True, volatile=True)
    min_count: int = field(
        "How many instances suffice; with fewer none is left. Default: `count`.", int64=True, minimum=0, write_only=True
    )
    name_pattern: str = field(
        "The names, with one run of # for the number, such as `web-####`; at most 18 #. Numbering goes on after the highest number in use.",
        write_only=True,
    )
    operation_group_id: str = field("The group of operations that the last creation was.", output=True, volatile=True)
    per_instance_properties: dict[str, PerInstanceProperties] = field("Instances by name, with what is their own.")
    per_location_status: dict[str, LocationStatus] = field(
        "What the last creation came to, by location.", output=True, volatile=True
    )
    project: str = field("The project. Default: the provider's.", always=True, param=True, pattern=PROJECT)
    region: str = field("The region. Default: the provider's.", always=True, param=True)
    source_instance_template: str = field(
        "A template that instances are made from, as a full or partial URL, also with `?uniqueId=`.",
        url=True,
        write_only=True,
    )


class BulkInstances(Resource):
    """Fleets by tracking label, by another label, or by name pattern."""

    token = "gcpx:compute:BulkInstances"
    model = BulkInstancesModel
    autoname = Autoname(property="fleetId", pattern=_FLEET_ID[0], max_length=63)
    in_place = frozenset(
        {("count",), ("minCount",), ("perInstanceProperties",), ("locationPolicy",)}
        | {("instanceProperties", name) for name in ("labels", "tags", "metadata")}
    )
    id_forms = (
        "projects/PROJECT/regions/REGION/bulkInstances/FLEET",
        "projects/PROJECT/regions/REGION/namePattern/PATTERN",
        "projects/PROJECT/regions/REGION/labels/KEY=VALUE",
    )

    def __init__(self, google: Google) -> None:
        self._google = google

    def problems(self, inputs: dict[str, Any]) -> list[Failure]:
        """Miss a project or region that comes from nowhere."""
        failures: list[Failure] = list(self._google.settings.missing_project(inputs))
        if not inputs.get("region") and not self._google.settings.region:
            failures.append(("region", "is required: set it here, or with `pulumi config set gcpx:region`"))
        return failures

    def defaults(self) -> dict[str, Any]:
        """Leave out the provider's project and region."""
        return {"project": self._google.settings.project, "region": self._google.settings.region}

    def identity(self, inputs: dict[str, Any]) -> Any:
        """Let fleets of given names go before they come, and those of a given label: numbers alone are free."""
        if inputs.get("perInstanceProperties"):
            return ()
        return None if inputs.get(AUTONAMED) else (inputs.get("region"), inputs.get("fleetId"))

    def predict(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Name where the fleet is."""
        return {name: inputs.get(name) or default for name, default in self.defaults().items()}

    def create(self, call: Call, inputs: dict[str, Any]) -> Live:
        """Make all instances in one call."""
        fleet = self._fleet(inputs)
        names = list(inputs.get("perInstanceProperties") or ())
        return self._grown(call, fleet, inputs, [], size(inputs), names)

    def read(self, call: Call, resource_id: str, inputs: dict[str, Any] | None) -> Live | None:
        """Find the members; a fleet without any is gone."""
        fleet = self._parse(resource_id)
        members = fleet.members(call)
        if not members:
            return None
        if inputs is None:
            inputs = made_up(fleet, members, lambda disk: fleet.image_of(call, disk))
        return self._live(fleet, members, inputs, call.last)

    def update(self, call: Call, resource_id: str, old: dict[str, Any], new: dict[str, Any]) -> Live:
        """Bring number, names, labels, tags and metadata to what is wanted; what is so already costs no call."""
        fleet = self._parse(resource_id)
        members = fleet.members(call)
        extra, missing, names = scaling(members, old, new)
        fleet.delete(call, extra)
        kept = [item for item in members if item not in extra]
        self._change(call, fleet, kept, old.get("instanceProperties") or {}, new.get("instanceProperties") or {})
        if missing:
            return self._grown(call, fleet, new, kept, missing, names)
        return self._live(fleet, fleet.members(call), new, call.last)

    def delete(self, call: Call, resource_id: str) -> None:
        """Delete every member."""
        fleet = self._parse(resource_id)
        fleet.delete(call, fleet.members(call))

    def _grown(
        self,
        call: Call,
        fleet: Fleet,
        inputs: dict[str, Any],
        before: list[dict[str, Any]],
        count: int,
        names: list[str],
    ) -> Live:
        try:
            outcome = fleet.grow(call, self._body(fleet, inputs, len(before), count, names), before)
        except Unfinished as error:
            raise PartialError(self._live(fleet, fleet.members(call), inputs, {}), str(error)) from error
        members = fleet.members(call)
        live = self._live(fleet, members, inputs, {}, outcome)
        wanted = size(inputs)
        if outcome.error is not None and len(members) < _least(inputs):
            raise _failure(live, members, outcome.error)
        if len(members) < wanted:
            why = f": {outcome.error}" if outcome.error else ""
            call.warn(
                f"{len(members):,} of {wanted:,} instances could be made{why}; run `pulumi refresh` and `pulumi up` to try for the rest"
            )
        return live

    def _body(self, fleet: Fleet, inputs: dict[str, Any], there: int, count: int, names: list[str]) -> dict[str, Any]:
        """Write a request for so many more instances."""
        body = codec.to_body(self.type, inputs)
        properties = dict(body.get("instanceProperties", {}))
        if fleet.labels:
            properties["labels"] = {**properties.get("labels", {}), **fleet.labels}
        least = min(count, max(1, _least(inputs) - there))
        body |= {"count": str(count), "minCount": str(least)}
        if properties:
            body["instanceProperties"] = properties
        if names:
            body["perInstanceProperties"] = {name: body["perInstanceProperties"][name] for name in names}
        return body

    def _change(
        self, call: Call, fleet: Fleet, members: list[dict[str, Any]], old: dict[str, Any], new: dict[str, Any]
    ) -> None:
        """Set labels, tags and metadata where they differ."""

        def work(zone: Collection, item: dict[str, Any]) -> None:
            for verb, wanted in settings(item, old, new).items():
                zone.edit(call, item["name"], verb, wanted)

        fleet.each(call, [item for item in members if settings(item, old, new)], "changed", work)

    def _live(
        self,
        fleet: Fleet,
        members: list[dict[str, Any]],
        inputs: dict[str, Any],
        last: dict[str, Any],
        outcome: Outcome | None = None,
    ) -> Live:
        kept: dict[str, Any] = {name: last[name] for name in ("perLocationStatus", "operationGroupId") if name in last}
        if outcome is not None:
            status = outcome.per_location
            kind = object_type(LocationStatus)
            kept["perLocationStatus"] = {name: codec.from_body(kind, item) for name, item in status.items()}
            kept["operationGroupId"] = outcome.operation.get("operationGroupId")
        if inputs.get("__found"):
            kept |= {name: inputs[name] for name in ("namePattern", "instanceProperties") if name in inputs}
        own = inputs.get("perInstanceProperties")
        if own:
            there = {item["name"] for item in members}
            kept["perInstanceProperties"] = {name: value for name, value in own.items() if name in there}
        if not own or inputs.get("count") is not None:
            kept["count"] = len(members)
        properties = {
            **{name: value for name, value in kept.items() if value is not None},
            "createdCount": len(members),
            "members": [member(item) for item in members],
            "fleetId": fleet.id,
            "project": fleet.project,
            "region": fleet.region,
        }
        place = fleet.id if "/" in fleet.id else f"bulkInstances/{fleet.id}"
        return Live(f"projects/{fleet.project}/regions/{fleet.region}/{place}", properties)

    def _fleet(self, inputs: dict[str, Any]) -> Fleet:
        configured = self._google.settings
        project = inputs.get("project") or configured.project or ""
        return Fleet(
            self._google, project, last_part(inputs.get("region") or configured.region or ""), inputs["fleetId"]
        )

    def _parse(self, resource_id: str) -> Fleet:
        form = r"projects/([^/]+)/regions/([^/]+)/(?:bulkInstances/([^/]+)|(labels/[^/]+=[^/]*|namePattern/[^/]+))"
        found = re.fullmatch(form, split_link(resource_id))
        if found is None or not _FLEET_ID[0].fullmatch(found[3] or found[4]):
            raise InvalidId(self.token, resource_id, self.id_forms)
        return Fleet(self._google, found[1], found[2], found[3] or found[4])


def _least(inputs: dict[str, Any]) -> int:
    return int(inputs["minCount"]) if inputs.get("minCount") is not None else size(inputs)


def _failure(live: Live, members: list[dict[str, Any]], error: ApiError) -> Exception:
    """Keep what is left in the state; where nothing is, nothing is to be kept."""
    if not members:
        return error
    return PartialError(live, f"{error} {len(members):,} instances are left; run `pulumi up` to try again.")
