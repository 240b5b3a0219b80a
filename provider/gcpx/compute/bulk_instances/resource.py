"""BulkInstances: a fleet of instances that is created in one call and scaled in place.

Source: Compute Engine REST reference, `regionInstances.bulkInsert`, and the methods of `instances`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeGuard, cast

import attrs

from gcpx.compute.bulk_instances.capacity import Demand, FleetSize, is_parked
from gcpx.compute.bulk_instances.creation import (
    Creation,
    EarlierFleetError,
    create_instances,
    created_earlier,
    describe_progress,
    earlier_fleet,
    members_after,
    report_shortfall,
    warn_of_earlier_fleets,
)
from gcpx.compute.bulk_instances.declaration import BulkInstancesModel, BulkInstancesQuery
from gcpx.compute.bulk_instances.fleet import (
    FLEET_ID,
    GENERATION_LABEL,
    RESERVED_LABELS,
    TIMEOUT,
    TRACKING_LABEL,
    Fleet,
    Instance,
    RegionZones,
    fleet_values,
    is_stopped,
    is_tracked,
    membership_labels,
    membership_pattern,
    region_of,
    without_deleted,
)
from gcpx.compute.bulk_instances.generation import creation_generation, generation_output
from gcpx.compute.bulk_instances.goal import Goal
from gcpx.compute.bulk_instances.names import have_too_few_names
from gcpx.compute.bulk_instances.outputs import CREATION_OUTPUTS, imported_fleet, live_fleet, unread_fleet
from gcpx.compute.bulk_instances.plan import Policy
from gcpx.compute.bulk_instances.preview import (
    announce,
    describe_drift,
    describe_lost,
    describe_new,
    names_in_words,
    will_set_back,
)
from gcpx.compute.bulk_instances.rollout import FleetUpdate, Readiness, kept_outputs, unfinished_rollout
from gcpx.compute.bulk_instances.rules import (
    fallback_zones_are_in_the_region,
    regional_template_is_in_the_region,
    zones_are_in_the_region,
)
from gcpx.compute.bulk_instances.spec import RollingAction, after_last_update, with_hostnames
from gcpx.compute.insertion import EarlierInsertions, taken_over, wait_for_insertions
from gcpx.compute.instance_properties.properties import InstanceProperties
from gcpx.compute.listing import ImportableResources
from gcpx.compute.online_checks import check_machine_type, check_quotas, instance_checks
from gcpx.compute.operations import Outcome, Wait, created_instances
from gcpx.errors import ProviderError, safe_message, without_stop
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.creation import keeping_state
from gcpx.gcp.errors import NotFound
from gcpx.gcp.in_project import InProject, Lookups, missing_place, place_or_default
from gcpx.gcp.list_method import any_scope, scopes_in
from gcpx.gcp.online_checks import OnlineCheck, OnlineChecks
from gcpx.gcp.request import COMPUTE, Request
from gcpx.model import codec
from gcpx.model.fields import Failure, chosen, elements, nested, object_type, text
from gcpx.model.import_command import how_to_manage, import_command
from gcpx.model.links import Location, name_of, path_of
from gcpx.model.naming import AUTONAMED, UNREAD, Autoname
from gcpx.model.numbers import as_number
from gcpx.model.resource import Context, InvalidId, ListedResource, Page, PartialError, State, name_in_urn
from gcpx.model.state import minimal_inputs
from gcpx.model.values import Path, has_unknown

if TYPE_CHECKING:
    from gcpx.compute.value_types import (
        AttachedDiskInitializeParamsValues,
        AttachedDiskValues,
        BulkInstancesQueryValues,
        BulkInstancesValues,
        InstancePropertiesValues,
        LocationPolicyValues,
        NetworkInterfaceValues,
    )


def imported_inputs(context: Context, fleet: Fleet, members: list[Instance]) -> BulkInstancesValues:
    """Describe existing instances as inputs: `instanceProperties`, and `namePattern` or `perInstanceProperties`.

    The instance properties are those of the first member; at least one member is required. If members are stopped,
    they stay so (`onStopped`), because an import changes nothing. Raises `ApiError` if the disks of the first member
    cannot be read.
    """
    inputs: BulkInstancesValues = {"instanceProperties": _instance_properties(context, fleet, members[0])}
    if any(map(is_stopped, members)):
        inputs["onStopped"] = "KEEP"
    names = [member["name"] for member in members]
    pattern = membership_pattern(fleet.id) or _common_pattern(names)
    if pattern is not None:
        return {**inputs, "namePattern": pattern}
    return {**inputs, "perInstanceProperties": {name: {} for name in names}}


def _common_pattern(names: list[str]) -> str | None:
    """Return the name pattern that all names fit, if there is one: the last number in them, digit by digit."""
    patterns = {re.sub(r"\d+(?=\D*$)", lambda number: "#" * len(number[0]), name) for name in names}
    pattern = patterns.pop()
    return pattern if not patterns and "#" in pattern else None


def _instance_properties(context: Context, fleet: Fleet, instance: Instance) -> InstancePropertiesValues:
    kind = object_type(InstanceProperties)
    labels = {key: value for key, value in instance.get("labels", {}).items() if key not in RESERVED_LABELS}
    body = {**instance, "machineType": name_of(instance.get("machineType", "")), "labels": labels}
    properties = cast("InstancePropertiesValues", minimal_inputs(kind, codec.from_body(kind, body)))
    return {
        **properties,
        "disks": [_disk(context, fleet, disk) for disk in instance.get("disks", ())],
        "networkInterfaces": [_network_interface(interface) for interface in instance.get("networkInterfaces", ())],
    }


def _disk(context: Context, fleet: Fleet, disk: AttachedDiskValues) -> AttachedDiskValues:
    """Describe how an attached disk was created; the instance does not name the image."""
    attached = chosen(disk, [name for name in ("boot", "autoDelete") if disk.get(name)])
    parameters: AttachedDiskInitializeParamsValues = {}
    if disk.get("diskSizeGb"):
        parameters["diskSizeGb"] = int(disk["diskSizeGb"])
    image = _source_image(context, fleet, disk["source"]) if disk.get("source") else None
    if image:
        parameters["sourceImage"] = image
    return {**attached, "initializeParams": parameters}


def _source_image(context: Context, fleet: Fleet, disk: str) -> str | None:
    """Read the image that a disk was created from; None if there is none, or if the disk no longer exists."""
    try:
        found = fleet.google.send(Request(api=COMPUTE, method="GET", path=f"beta/{path_of(disk)}"), context)
    except NotFound:
        return None
    return found.get("sourceImage")


def _network_interface(interface: NetworkInterfaceValues) -> NetworkInterfaceValues:
    networks = chosen(interface, [name for name in ("network", "subnetwork") if interface.get(name)])
    return {**networks, "accessConfigs": [{}]} if interface.get("accessConfigs") else networks


_MODELS: Final = {"SPOT": "Spot", "FLEX_START": "flex-start"}
"""The provisioning models that have advice, with their names in messages."""
_LOW: Final = 0.5
"""Below this obtainability, a fleet is likely to get fewer instances than it asks for."""
_HOUR: Final = 3600


def show_capacity_advice(checks: OnlineChecks, inputs: BulkInstancesValues, more: int) -> list[Failure]:
    """Show how likely `more` instances can be created, and warn if that is unlikely; never a failure.

    `inputs` are the fleet's, and may hold unknowns. Without Spot or flex-start, or if the machine types are not known,
    Google is not asked.
    """
    model, selections = _provisioning_model(inputs), _selections(inputs)
    if more <= 0 or model not in _MODELS or not selections or not FleetSize.of(inputs).wanted:
        return []
    body = {
        "size": more,
        "instanceProperties": {"scheduling": {"provisioningModel": model}},
        "instanceFlexibilityPolicy": {"instanceSelections": selections},
        **_distribution(nested(inputs, "locationPolicy")),
    }
    path = f"v1/projects/{checks.project}/regions/{checks.region}/advice/capacity"
    advice = checks.lookups.ask(checks.context, path, body) or {}
    for _, recommendation in elements(advice, "recommendations"):
        _show(checks, f"{more:,} {_MODELS[model]} instances", nested(recommendation, "scores"))
    return []


def _show(checks: OnlineChecks, what: str, scores: dict[str, Any]) -> None:
    obtainability = as_number(scores.get("obtainability"))
    if obtainability is None:
        return
    uptime = as_number(text(scores, "estimatedUptime").removesuffix("s"))
    lasting = f", and an expected uptime of {uptime / _HOUR:,.1f} hours" if uptime is not None else ""
    said = f"capacity advice for {what}: an obtainability of {obtainability:.2f} (0 to 1){lasting}"
    if obtainability >= _LOW:
        checks.context.inform(said)
    else:
        checks.context.warn(
            f"{said}; this is low: allow other zones with locationPolicy, allow other machine types with instanceFlexibilityPolicy, or add fallbacks"
        )


def _provisioning_model(inputs: BulkInstancesValues) -> str:
    scheduling = nested(nested(inputs, "instanceProperties"), "scheduling")
    return "SPOT" if scheduling.get("preemptible") is True else text(scheduling, "provisioningModel")


def _selections(inputs: BulkInstancesValues) -> dict[str, Any]:
    """Return the machine types to choose from (REST JSON); empty if any of them is not known."""
    properties = nested(inputs, "instanceProperties")
    accelerators = _accelerators(properties)
    chosen = nested(nested(inputs, "instanceFlexibilityPolicy"), "instanceSelections")
    given = {name: item for name, item in chosen.items() if isinstance(item, dict)}
    types: dict[str, object] = {name: item.get("machineTypes") for name, item in given.items()} or {
        "machine-type": [properties.get("machineType")]
    }
    known = {name: names for name, names in types.items() if _are_names(names)}
    if known.keys() != types.keys():
        return {}
    ranks = {name: {"rank": str(item["rank"])} for name, item in given.items() if as_number(item.get("rank"))}
    return {
        name: {"machineTypes": list(map(name_of, names)), **ranks.get(name, {}), **accelerators}
        for name, names in known.items()
    }


def _are_names(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _accelerators(properties: InstancePropertiesValues) -> dict[str, Any]:
    found = [
        {"acceleratorType": name_of(text(item, "acceleratorType")), "acceleratorCount": item["acceleratorCount"]}
        for _, item in elements(properties, "guestAccelerators")
        if as_number(item.get("acceleratorCount")) and text(item, "acceleratorType")
    ]
    return {"guestAccelerators": found} if found else {}


def _distribution(policy: LocationPolicyValues) -> dict[str, Any]:
    """Return where the instances may be (REST JSON), as far as a location policy says."""
    locations = nested(policy, "locations")
    allowed = [name for name in locations if nested(locations, name).get("preference") in {None, "ALLOW"}]
    listed = [text(zone, "zone") for _, zone in elements(policy, "zones")]
    zones = [{"zone": f"zones/{name}"} for name in dict.fromkeys(map(name_of, [*allowed, *listed])) if name]
    shape = text(policy, "targetShape") or "ANY_SINGLE_ZONE"
    return {"distributionPolicy": {"targetShape": shape, **({"zones": zones} if zones else {})}}


def fleet_checks(checks: OnlineChecks, olds: BulkInstancesValues, inputs: BulkInstancesValues) -> Iterator[OnlineCheck]:
    """Yield the checks of a fleet's inputs, which may hold unknowns; `olds` are the last inputs, or empty."""
    properties = nested(inputs, "instanceProperties")
    yield from instance_checks(checks, properties, ("instanceProperties",))
    yield from _zone_checks(checks, inputs)
    policies = nested(inputs, "placement").get("policies")
    for index, policy in enumerate(policies if isinstance(policies, list) else ()):
        link = policy if isinstance(policy, str) and checks.region else ""
        collection = f"regions/{checks.region}/resourcePolicies"
        yield partial(checks.check_link, link, collection, ("placement", "policies", index))
    if checks.project and checks.region:
        size, existing = FleetSize.of(inputs), FleetSize.of(olds).wanted
        more, minimum = size.wanted - existing, max(1, size.minimum) - existing  # a fleet needs at least one instance
        yield partial(check_quotas, checks, text(properties, "machineType"), more, minimum)
        yield partial(show_capacity_advice, checks, inputs, more)


def _zone_checks(checks: OnlineChecks, inputs: BulkInstancesValues) -> Iterator[OnlineCheck]:
    """Check the zones of the location policy, in both of its forms, and of the fallbacks."""
    policy = nested(inputs, "locationPolicy")
    for name in nested(policy, "locations"):
        yield partial(checks.check_zone, name, ("locationPolicy", "locations", name))
    for index, item in elements(policy, "zones"):
        yield partial(checks.check_zone, text(item, "zone"), ("locationPolicy", "zones", index, "zone"))
    for index, fallback in elements(inputs, "fallbacks"):
        zones = fallback.get("zones")
        for place, zone in enumerate(zones if isinstance(zones, list) else ()):
            known = zone if isinstance(zone, str) else ""
            yield partial(checks.check_zone, known, ("fallbacks", index, "zones", place))
        machine_type = text(fallback, "machineType")
        yield partial(check_machine_type, checks, machine_type, ("fallbacks", index, "machineType"))


@contextmanager
def naming_strangers(context: Context, fleet: Fleet) -> Iterator[None]:
    """Warn of the strangers that the block has found, also if it fails."""
    try:
        yield
    finally:
        strangers = list(fleet.membership.strangers.values())
        if strangers:
            context.warn(_warning(context, fleet, strangers))


def name_new_members(context: Context, fleet: Fleet, members: list[Instance]) -> None:
    """Say which members a refresh adds because they match the fleet's ID; an import says nothing."""
    known = {item.get("id") for item in fleet_values(context.prior).get("members") or ()}
    new = [member for member in members if str(member["id"]) not in known]
    if new and "members" in context.prior:
        words = (
            f"{_number(new)} {fleet.id} and {'is now a member' if len(new) == 1 else 'are now members'} of this fleet"
        )
        context.warn(
            f"{words}: {_names(new)}. The next preview shows which members are surplus, if any; `pulumi up` deletes these"
        )


def warn_of_overlap(context: Context, fleet: Fleet, inputs: BulkInstancesValues) -> None:
    """Warn if the instances of a new fleet match the ID of another fleet of the stack, by their labels or names."""
    labels = nested(nested(inputs, "instanceProperties"), "labels")
    ids = [*(f"labels/{key}={value}" for key, value in labels.items()), f"namePattern/{text(inputs, 'namePattern')}"]
    for found in ids:
        holder = context.urn_of(attrs.evolve(fleet, id=found).resource_id)
        if holder is not None and holder != context.urn:
            context.warn(
                f"the instances of this fleet match {found}, the ID of the fleet {name_in_urn(holder)} of this stack, which "
                "names them in a warning and leaves them alone; give the fleets labels and names that do not overlap"
            )


def what_matches(found: list[Instance], own: list[Instance]) -> str:
    """Say why the ID of a new fleet cannot be used, which matches `found`; the fleet itself created `own`."""
    ids = {member["id"] for member in own}
    others = [instance for instance in found if instance["id"] not in ids]
    if not others:
        return f"{_number(found)} it, more than the fleet should have: {_names(found)}"
    were = "was" if len(others) == 1 else "were"
    return f"{_number(others)} it and {were} not created by this resource: {_names(others)}"


def _warning(context: Context, fleet: Fleet, strangers: list[Instance]) -> str:
    is_one = len(strangers) == 1
    what = f"the label {_label(fleet)}" if is_tracked(fleet.id) else fleet.id
    return (
        f"{_number(strangers)} {what} and {'is not a member' if is_one else 'are not members'} of this fleet, because "
        f"{'it is' if is_one else 'they are'} not in the state, and no known operation of this resource created "
        f"{'it' if is_one else 'them'}: {_names(strangers)}. gcpx does not count, change or delete "
        f"{'it' if is_one else 'them'}. {_advice(context, fleet, strangers[0])}"
    )


def _advice(context: Context, fleet: Fleet, stranger: Instance) -> str:
    if not is_tracked(fleet.id) and TRACKING_LABEL in stranger.get("labels", {}):
        return (
            f"{stranger['name']} has the label {TRACKING_LABEL}={stranger['labels'][TRACKING_LABEL]} of another fleet: give "
            "the fleets labels and names that do not overlap. To take it over, remove the other fleet from its stack's "
            "state with `pulumi state delete`, remove the label, and run `pulumi refresh`"
        )
    if not is_tracked(fleet.id):
        return (
            "To add every matching instance to the fleet, run `pulumi refresh`. The next preview shows which members are "
            "surplus, if any; `pulumi up` deletes these"
        )
    key = next(iter(membership_labels(fleet.id)))
    command = (
        f"gcloud compute instances remove-labels {stranger['name']} --labels={key} "
        f"--zone={name_of(stranger['zone'])} --project={fleet.project}"
    )
    name = stranger["name"]
    return (
        f"If {name} has the label by mistake, remove the label with `{command}`. If {name} belongs to the fleet, raise "
        f"`count` to include it, and run `pulumi state delete {shlex.quote(context.urn)}` and then "
        f"{import_command(context, fleet.resource_id)}, which imports every instance that has the label"
    )


def _label(fleet: Fleet) -> str:
    return "".join(f"{key}={value}" for key, value in membership_labels(fleet.id).items())


def _number(instances: list[Instance]) -> str:
    return f"{len(instances):,} {'instance matches' if len(instances) == 1 else 'instances match'}"


def _names(instances: list[Instance]) -> str:
    return names_in_words(instance["name"] for instance in instances)


def _outputs_of_new(inputs: BulkInstancesValues, generation: str) -> BulkInstancesValues:
    """Return what the first update needs to know of a new fleet: its generation, and the action that its members need not."""
    return {**generation_output(generation), **RollingAction.of(inputs, {}).outputs({}, [])}


_ID: Final = re.compile(
    r"projects/(?P<project>[^/]+)/regions/(?P<region>[^/]+)/"
    r"(?:bulkInstances/(?P<tracked>[^/]+)|(?P<found_by>labels/[^/]+=[^/]*|namePattern/[^/]+))"
)
_SET_BACK: Final[Path] = ("members",)
"""The output that shows in a diff if what somebody has changed on members is set back."""
_OF_MEMBERS: Final[frozenset[Path]] = frozenset(
    {("instanceProperties",), ("instanceFlexibilityPolicy",), ("sourceInstanceTemplate",), _SET_BACK}
)
"""The paths whose changes reach the members in batches."""
_OF_FLEETS: Final[frozenset[Path]] = frozenset(
    {("count",), ("minCount",), ("perInstanceProperties",), ("locationPolicy",), ("onStopped",), ("updatePolicy",)}
    | {("fallbacks",), ("placement",), ("rollingAction",)}
)


class FleetIdTakenError(ProviderError):
    """The fleet ID of a new fleet matches instances that the resource did not create."""

    code = "ALREADY_EXISTS"

    def __init__(self, fleet: Fleet, reason: str, advice: str) -> None:
        super().__init__(f"fleetId: must match no existing instance in {fleet.region}: {reason}. {advice}")


class SmallerFleetError(ProviderError):
    """A new fleet is smaller than the one that it should replace."""

    code = "ABORTED"

    def __init__(self, created: int, there: int, explanation: str) -> None:
        super().__init__(
            f"{created:,} instances could be created, but the fleet that they should replace has {there:,}; it stays, and "
            f"the new ones were deleted. Run `pulumi up` to try again, or lower count to {created:,}"
            f"{f':{chr(10)}{explanation}' if explanation else ''}"
        )


class BulkInstances(InProject):
    """Fleets by tracking label, by another label, or by name pattern."""

    token = "gcpx:compute:BulkInstances"
    model = BulkInstancesModel
    query = BulkInstancesQuery
    autoname = Autoname(property="fleetId", max_length=63)
    in_place = _OF_FLEETS | _OF_MEMBERS
    compared = _OF_FLEETS | {("instanceProperties", name) for name in ("labels", "tags", "metadata")}
    id_forms = (
        "projects/PROJECT/regions/REGION/bulkInstances/FLEET",
        "projects/PROJECT/regions/REGION/namePattern/PATTERN",
        "projects/PROJECT/regions/REGION/labels/KEY=VALUE",
    )
    operation_timeout = TIMEOUT
    grows = True

    def __init__(self, google: GoogleClient, lookups: Lookups) -> None:
        super().__init__(google, lookups)
        self._creating: dict[str, str] = {}
        """The resource IDs of the fleets that are being created, with the URNs of their resources."""
        self._zones = RegionZones()
        self._earlier = EarlierInsertions()

    def failures(self, inputs: dict[str, Any]) -> list[Failure]:
        """Require a project and a region; with the provider's region, check the template's too."""
        places = {name: place_or_default(self._google.settings, name, inputs) for name in ("project", "region")}
        failures = [missing_place(name) for name, place in places.items() if not place]
        if inputs.get("region") or not places["region"]:
            return failures
        placed: BulkInstancesValues = {**fleet_values(inputs), "region": places["region"]}
        of_region = (regional_template_is_in_the_region, fallback_zones_are_in_the_region, zones_are_in_the_region)
        return failures + [failure for find in of_region for failure in find(placed)]

    def provider_defaults(self) -> dict[str, Any]:
        """Return the provider's project and region, which an import leaves out."""
        region = self._google.settings.region
        return {**super().provider_defaults(), "region": name_of(region) if region else None}

    def location(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> Location:
        """Complete short names with the fleet's project and region."""
        return Location.of(inputs, outputs, project=self._google.settings.project, region=self._google.settings.region)

    def check_online(self, context: Context, olds: dict[str, Any], inputs: dict[str, Any]) -> list[Failure]:
        """Check that what the inputs name exists, and that the region's quotas allow the instances to create."""
        location = self.location(inputs, {})
        checks = OnlineChecks(self._lookups, context, location.project, location.region)
        return checks.run(inputs, fleet_checks(checks, fleet_values(olds), fleet_values(inputs)))

    def unique_key(self, inputs: dict[str, Any]) -> Any:
        """Return the region and the explicit fleet ID; fleets of named instances share one, as names may be in use."""
        values = fleet_values(inputs)
        if values.get("perInstanceProperties"):
            return ()
        return None if inputs.get(AUTONAMED) is True else (name_of(text(values, "region")), values.get("fleetId"))

    def must_delete_first(self, old: dict[str, Any], new: dict[str, Any]) -> bool:
        """Also delete the old fleet first if one would find the members of the other, or if there are too few names for both."""
        return bool(self._conflict(old, new)) or super().must_delete_first(old, new)

    def deleted_first(self, old: dict[str, Any], new: dict[str, Any], outputs: dict[str, Any]) -> str:
        """Name the members that are deleted before new ones are created, and say why."""
        names = fleet_values(outputs).get("memberNames") or []
        what = "1 member is" if len(names) == 1 else f"{len(names):,} members are"
        why = self._conflict(old, new) or "the new ones may have the same names"
        return f"{what} deleted before new ones are created, because {why}: {names_in_words(names)}" if names else ""

    @staticmethod
    def _conflict(old: dict[str, Any], new: dict[str, Any]) -> str:
        """Say why a fleet and its replacement cannot exist at the same time; empty if they can."""
        former, later = fleet_values(old), fleet_values(new)
        if have_too_few_names(former, later):
            return "namePattern has too few names for both fleets"
        if new.get(AUTONAMED) is not True and later.get("fleetId") == former.get("fleetId"):
            return "both fleets have the same fleetId"
        by_tracking_label = "/" not in f"{former.get('fleetId')}{later.get('fleetId')}"
        return "" if by_tracking_label else "each fleet would find the members of the other"

    def left_over(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> list[Path]:
        """Enforce the size if the state has members that are not wanted, such as stopped ones, which `count` leaves out.

        Members that a refresh has found changed are set back. A host name that only a failed update has given is taken back.
        """
        values, found = fleet_values(inputs), fleet_values(outputs).get("members") or []
        names = values.get("perInstanceProperties")
        if has_unknown({"count": values.get("count"), "perInstanceProperties": names}):
            return []
        if is_parked(values):
            return [("count",)] if found else []
        changed = [_SET_BACK] if will_set_back(values, fleet_values(outputs)) else []
        if names:
            hosted = with_hostnames(fleet_values(outputs)) - with_hostnames(values)
            other = [item["name"] for item in found if item["name"] not in names or item["name"] in hosted]
            return [("perInstanceProperties", name) for name in other] + changed
        return ([("count",)] if len(found) > max(0, FleetSize.of(values).wanted) else []) + changed

    def predict(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Predict project and region."""
        return {name: inputs.get(name) or default for name, default in self.provider_defaults().items()}

    def create(self, context: Context, inputs: dict[str, Any]) -> State:
        """Create all instances; none for a parked fleet. Take over those that an interrupted run has created."""
        values, fleet = fleet_values(inputs), self._fleet(inputs)
        try:
            return self._create(context, fleet, values)
        except EarlierFleetError as error:
            context.inform(taken_over(error.fleet.resource_id, error.operation))
            return self._create(context, error.fleet, {**values, "fleetId": error.fleet.id})
        finally:  # by now the engine has shown the other resources of the stack
            warn_of_overlap(context, fleet, values)

    def _create(self, context: Context, fleet: Fleet, inputs: BulkInstancesValues) -> State:
        size, names = FleetSize.of(inputs), list(inputs.get("perInstanceProperties") or {})
        generation = creation_generation(context, fleet, inputs)
        labels = {GENERATION_LABEL: generation, **RollingAction.of(inputs, {}).labels}
        demand = Demand(count=size.wanted, names=names, labels=labels)
        with self._reserve(context, fleet):
            adopted = self._has_own_instances(context, fleet, inputs, demand)
            if is_parked(inputs):
                return live_fleet(context, fleet, [], inputs, _outputs_of_new(inputs, generation))
            demand = attrs.evolve(demand, begun=adopted)
            unread = partial(unread_fleet, fleet, inputs, fleet_values(context.prior))
            with naming_strangers(context, fleet), keeping_state(context, unread):
                return attrs.evolve(self._grow(context, fleet, inputs, demand), adopted=adopted)

    def settle(self, context: Context, resource_id: str) -> None:
        """Wait for what interrupted creations and updates are still creating."""
        known = {item.get("id") for item in fleet_values(context.prior).get("members") or ()}

        def is_shown(outcome: Outcome) -> bool:
            fleet = self._parse(resource_id)
            fleet.zones.add(fleet.project, fleet.region, outcome.per_location)
            new = [member for member in fleet.members(context) if str(member["id"]) not in known]
            return len(new) >= created_instances(outcome.per_location).total()

        fleet, wait = self._parse(resource_id), Wait("bulk insert", TIMEOUT, describe_progress)
        wait_for_insertions(context, fleet.operations, f"regions/{fleet.region}", wait, is_shown)

    def read(self, context: Context, resource_id: str, inputs: dict[str, Any] | None) -> State | None:
        """Read the fleet from its members; None if it has none, unless it is parked.

        An import takes in everything that matches the ID, and describes it as inputs, too.
        """
        fleet = self._parse(resource_id)
        with naming_strangers(context, fleet):
            members = self._members_read(context, fleet, is_import=inputs is None)
        values, prior = fleet_values(inputs or {}), fleet_values(context.prior)
        if not members and not is_parked(values):
            return None
        if inputs is None:
            return imported_fleet(context, fleet, members, imported_inputs(context, fleet, members))
        goal = Goal.reached(fleet, values, prior)
        differs = goal.drift(members)
        removed = goal.removed_keys if differs else {}  # what the next update sets back
        known: BulkInstancesValues = {
            **chosen(prior, CREATION_OUTPUTS), **removed, **kept_outputs(prior, values, members)
        }  # fmt: skip
        state = live_fleet(context, fleet, members, values, known, differs)
        lost, drift = describe_lost(prior, members), describe_drift(values, fleet_values(state.properties))
        if lost:
            context.inform(lost)
        if drift:
            context.warn(drift)
        unfinished = unfinished_rollout(prior, values, members)
        if unfinished:
            raise PartialError(state, unfinished)
        return state

    def announce_update(self, context: Context, old: dict[str, Any], new: dict[str, Any]) -> None:
        """Say what an update does, and to which members."""
        values = fleet_values(new)
        announce(*after_last_update(context, fleet_values(old), values), values)

    def update(self, context: Context, resource_id: str, old: dict[str, Any], new: dict[str, Any]) -> State:
        """Delete surplus members, start or replace stopped ones, change those that are behind, create missing ones."""
        fleet, values = self._parse(resource_id), fleet_values(new)
        context, last = after_last_update(context, fleet_values(old), values)
        with naming_strangers(context, fleet):
            state = FleetUpdate(context, fleet, last, values).run()
        if new_members := describe_new(fleet_values(context.prior), fleet_values(state.properties)):
            context.inform(new_members)
        return state

    def delete(self, context: Context, resource_id: str) -> None:
        """Delete every member."""
        fleet = self._parse(resource_id)
        with naming_strangers(context, fleet):
            fleet.delete(context, fleet.members(context))

    def page(self, context: Context, query: dict[str, Any], token: str, size: int) -> Page:
        """List the fleets that gcpx created, by the label of their instances; on one page, because fleets span pages."""
        del token, size
        project, wanted = self._project(query), name_of(cast("BulkInstancesQueryValues", query).get("region") or "")
        instances = ImportableResources(
            google=self._google,
            project=project,
            version="beta",
            collection="instances",
            fields="zone,labels",
            filter=f"labels.{TRACKING_LABEL}:*",
            needs=scopes_in(wanted) if wanted else any_scope,
        ).read_all(context)
        fleets = dict.fromkeys((region_of(instance), instance["labels"][TRACKING_LABEL]) for instance in instances)
        return Page([
            ListedResource(Fleet(self._google, project, region, fleet_id).resource_id, fleet_id)
            for region, fleet_id in fleets
            if wanted in {"", region}
        ])  # fmt: skip

    def _members_read(self, context: Context, fleet: Fleet, *, is_import: bool) -> list[Instance]:
        """List the members; an import adds what matches, and so does a refresh of a fleet whose ID is a label or a pattern.

        A refresh adds nothing that has the label of another fleet, and nothing after a creation or an update whose result was not read: that is to be finished first.
        """
        if not is_import and (is_tracked(fleet.id) or context.prior.get(UNREAD)):
            return fleet.members(context)
        found = fleet.matching(context)
        if is_import:
            return found
        known = {item.get("id") for item in fleet_values(context.prior).get("members") or ()}
        members = [item for item in found if str(item["id"]) in known or TRACKING_LABEL not in item.get("labels", {})]
        fleet.membership.strangers = {str(item["id"]): item for item in found if item not in members}
        name_new_members(context, fleet, members)
        return members

    @contextmanager
    def _reserve(self, context: Context, fleet: Fleet) -> Iterator[None]:
        """Reserve the ID of a fleet while it is being created; refuse one that another resource has reserved."""
        if self._creating.setdefault(fleet.resource_id, context.urn) != context.urn:
            words = "another resource is creating instances that match it"
            raise FleetIdTakenError(fleet, words, "Choose another ID")
        try:
            yield
        finally:
            self._creating.pop(fleet.resource_id, None)

    def _has_own_instances(self, context: Context, fleet: Fleet, inputs: BulkInstancesValues, demand: Demand) -> bool:
        """Return whether an earlier run whose response was lost created instances; refuse those of anyone else."""
        found = fleet.matching(context)
        own = created_earlier(context, fleet, inputs, demand, found) if found and not context.is_blocked else []
        there = without_deleted(context, fleet.operations, own)
        if len(there) < len(own):
            gone = {item["id"] for item in own} - {item["id"] for item in there}
            own, found = there, [item for item in found if item["id"] not in gone]
        if not found:
            return False
        membership = fleet.membership
        membership.take_in(own)
        if not own or len(found) > demand.count or membership.members_among(context, fleet, found) != found:
            taken = f"{_number(found)} it: {_names(found)}" if context.is_blocked else what_matches(found, own)
            advice = how_to_manage(context, fleet.resource_id, "choose another ID")
            raise FleetIdTakenError(fleet, taken, advice)
        return True

    def _grow(self, context: Context, fleet: Fleet, inputs: BulkInstancesValues, demand: Demand) -> State:
        """Create the instances of a new fleet, and read it back."""
        unread = partial(unread_fleet, fleet, inputs, fleet_values(context.prior))
        with keeping_state(context, unread) as progress:
            creation = create_instances(context, fleet, inputs, [], demand)
            if creation.refusal is not None:
                warn_of_earlier_fleets(context, fleet)
                raise creation.refusal
            progress.created(creation.last_operation, outcome=creation.error or "it was created")
            members = fleet.members(context)
            may_be_elsewhere = creation.created and not members and context.autonamed
            last = creation.outcomes[-1:] if may_be_elsewhere else []
            earlier = next((earlier_fleet(context, fleet, outcome) for outcome in last), None)
        if earlier is not None and earlier.id != fleet.id:
            raise EarlierFleetError(earlier, creation.last_operation)
        warn_of_earlier_fleets(context, fleet)
        with keeping_state(context, unread) as progress:
            progress.created(creation.last_operation, outcome=creation.error or "it was created")
            if len(members) < creation.created:
                members = members_after(context, fleet, [], creation.created, creation.outcomes)
            creation = creation.completed() if len(members) >= demand.count else creation
            outputs: BulkInstancesValues = {
                **creation.outputs,
                **_outputs_of_new(inputs, demand.labels.get(GENERATION_LABEL, "")),
            }
            state = live_fleet(context, fleet, members, inputs, outputs)
        if len(members) < demand.count:
            self._keep_larger(context, fleet, members, state, creation)
        report_shortfall(context, inputs, state, creation)
        if nested(nested(inputs, "updatePolicy"), "ready"):
            try:
                started = Readiness.of(context, fleet, Policy.of(inputs)).wait(members)
            except ProviderError as error:
                made = f"{len(members):,} {'instance was' if len(members) == 1 else 'instances were'} created"
                words = f"{made}, but {without_stop(safe_message(error))}; run `pulumi up` to wait for them again"
                raise PartialError(state, words) from error
            state = state if started == members else live_fleet(context, fleet, started, inputs, outputs)
        return state

    def _keep_larger(
        self, context: Context, fleet: Fleet, members: list[Instance], state: State, creation: Creation
    ) -> None:
        """Refuse a new fleet that is smaller than the one that it replaces, and delete it again; `state` describes it.

        Raises:
            SmallerFleetError: the new fleet is deleted.
            PartialError: it is not known how large the other one is, or the new one could not be deleted.
        """
        known = context.replaces.known if context.replaces is not None else frozenset()
        others = [self._parse(item) for item in sorted(known) if _ID.fullmatch(item) and item != fleet.resource_id]
        try:
            there = max((len(other.matching(context)) for other in others), default=0)
            if there > len(members):
                fleet.delete(context, members)
        except ProviderError as error:
            raise PartialError(state, str(error)) from error
        if there > len(members):
            raise SmallerFleetError(len(members), there, creation.explanation)

    def _fleet(self, inputs: dict[str, Any]) -> Fleet:
        region = place_or_default(self._google.settings, "region", inputs)
        return Fleet(
            self._google,
            self._project(inputs) or "",
            name_of(region or ""),
            fleet_values(inputs)["fleetId"],
            self._zones,
            self._earlier,
        )

    def _parse(self, resource_id: str) -> Fleet:
        found = _ID.fullmatch(path_of(resource_id))
        fleet_id = (found["tracked"] or found["found_by"]) if found else ""
        if found is None or not FLEET_ID.pattern.fullmatch(fleet_id):
            raise InvalidId(self.token, resource_id, self.id_forms)
        fleet_id = fleet_id.removeprefix(f"labels/{TRACKING_LABEL}=")
        return Fleet(self._google, found["project"], found["region"], fleet_id, self._zones, self._earlier)
