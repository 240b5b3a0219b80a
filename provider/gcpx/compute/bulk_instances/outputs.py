"""A fleet as the state has it: its outputs, from its members and its last creation, and its inputs after an import."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, cast

import attrs

from gcpx.compute.bulk_instances.capacity import FleetSize, index_of_fallback, is_parked
from gcpx.compute.bulk_instances.changes import SETTINGS, Goal, Target
from gcpx.compute.bulk_instances.declaration import BulkInstancesModel
from gcpx.compute.bulk_instances.fleet import Fleet, stop_reasons
from gcpx.compute.bulk_instances.member import (
    OWN_GENERATION,
    RESERVED_LABELS,
    Instance,
    Member,
    fleet_values,
    is_stopped,
    members_of_state,
    membership_pattern,
    own_properties,
    recorded_generation,
    trusted,
)
from gcpx.compute.bulk_instances.plan import PendingAction
from gcpx.compute.instance_properties.properties import InstanceProperties
from gcpx.compute.operations import Operation
from gcpx.gcp.errors import NotFound
from gcpx.gcp.request import COMPUTE, Request
from gcpx.model import codec
from gcpx.model.context import Context
from gcpx.model.fields import chosen, nested, object_type
from gcpx.model.links import name_of, path_of
from gcpx.model.naming import UNFINISHED
from gcpx.model.resource import State
from gcpx.model.response_types import require_types
from gcpx.model.state import minimal_inputs
from gcpx.model.words import counted, names_in_words

if TYPE_CHECKING:
    from gcpx.compute.value_types import (
        AttachedDiskInitializeParamsValues,
        AttachedDiskValues,
        BulkInstancesValues,
        InstancePropertiesValues,
        LostMemberValues,
        MemberValues,
        NetworkInterfaceValues,
        PerInstancePropertiesValues,
    )

_NONE: Final[Mapping[str, list[str]]] = {}
CREATION_OUTPUTS: Final = ("perLocationStatus", "operationGroupId", "shortfalls")
"""The outputs that describe the last creation of a fleet."""
_KEPT: Final = (
    "generation",
    "lastMachineType",
    "lastRollingAction",
    "removedKeys",
    "instanceProperties",
    "sourceInstanceTemplate",
)
"""The outputs of the last update that a refresh keeps; the generation belongs to the properties, so both are kept."""
_SIZE: Final = ("count", "perInstanceProperties")
"""As inputs, they say how many members a fleet should have; as outputs, how many it has."""


def live_fleet(
    context: Context,
    fleet: Fleet,
    members: list[Instance],
    inputs: BulkInstancesValues,
    creation: BulkInstancesValues,
    drift: Mapping[str, list[str]] = _NONE,
    known: Mapping[str, Member] | None = None,
) -> State:
    """Describe a fleet that exists; if members are stopped, read why.

    Args:
        context: the engine's call.
        fleet: the fleet.
        members: all its members.
        inputs: its inputs, which say whether it has `count`, `perInstanceProperties` or both, and whether stopped
            members count.
        creation: the outputs of `Creation`, or the last `CREATION_OUTPUTS`.
        drift: by the IDs of members, the settings that somebody has changed.
        known: the members with their own settings, by ID; by default, the members of the state.
    """
    prior = fleet_values(context.prior)
    reasons = stop_reasons(context, fleet, members)
    known = members_of_state(prior) if known is None else known
    properties = {
        **creation,
        **_size_outputs(members, inputs, prior),
        "fleetId": fleet.id,
        "project": fleet.project,
        "region": fleet.region,
        "memberCount": len(members),
        "members": [_member(instance, reasons, known, drift) for instance in members],
        "memberNames": [instance["name"] for instance in members],
        "runningCount": sum(not is_stopped(instance) for instance in members),
    }
    return State(fleet.resource_id, require_types(object_type(BulkInstancesModel), properties))


def imported_fleet(
    context: Context, fleet: Fleet, members: list[Instance], inputs: BulkInstancesValues, own: Mapping[str, list[str]]
) -> State:
    """Describe an imported fleet; the properties include the inputs, which no program has set yet.

    `own` are the members' own settings, by ID.
    """
    known = {item.id: attrs.evolve(item, own=tuple(own.get(item.id, ()))) for item in map(Member.of_instance, members)}
    state = live_fleet(context, fleet, members, inputs, {}, known=known)
    return State(state.id, require_types(object_type(BulkInstancesModel), {**inputs, **state.properties}))


def last_members(
    known: Mapping[str, Member], members: list[Instance], drift: Mapping[str, list[str]]
) -> list[MemberValues]:
    """Describe members as they were last listed, without finding out why some are stopped; `known` as in `live_fleet`."""
    return [_member(instance, {}, known, drift) for instance in members]


def unread_fleet(
    fleet: Fleet, inputs: BulkInstancesValues, prior: BulkInstancesValues, creation: Operation | None = None
) -> State:
    """Describe a fleet whose members cannot be listed. If the policy says when members are ready, they may not be.

    Args:
        fleet: the fleet.
        inputs: its inputs.
        prior: the outputs of the last update.
        creation: the operation of its last bulk creation (REST JSON), as far as it is known.
    """
    properties = object_type(BulkInstancesModel).properties
    outputs = chosen(prior, [name for name, prop in properties.items() if prop.traits.output])
    group = (creation or {}).get("operationGroupId")
    known = {"operationGroupId": group} if isinstance(group, str) and group else {}
    place: BulkInstancesValues = {"fleetId": fleet.id, "project": fleet.project, "region": fleet.region}
    may_not_be_ready = {UNFINISHED: True} if nested(nested(inputs, "updatePolicy"), "ready") else {}
    return State.unread(fleet.resource_id, {**outputs, **known, **inputs, **place, **may_not_be_ready})


def rollout_outputs(prior: BulkInstancesValues, goal: Goal, members: list[Instance]) -> BulkInstancesValues:
    """Return the outputs that the next update needs to go on.

    Args:
        prior: the outputs before the update.
        goal: the goal of the update.
        members: the members after it.
    """
    outputs: BulkInstancesValues = {
        "generation": goal.spec.generation,
        "lastMachineType": goal.spec.machine_type,
        **goal.spec.action.outputs(prior, map(Member.of_instance, members)),
    }
    if not all(goal.is_current(member) for member in members):
        outputs |= goal.removed_keys
    lost = _lost_members(prior, goal, members)[: max(0, goal.policy.wanted - len(members))]
    return {**outputs, "lostMembers": lost} if lost else outputs


def kept_outputs(prior: BulkInstancesValues, goal: Goal, members: list[Instance]) -> BulkInstancesValues:
    """Return what a refresh keeps of these outputs, and which members have been lost since."""
    kept: BulkInstancesValues = chosen(prior, _KEPT) if prior.get("generation") else {}
    lost = _lost_members(prior, goal, members)
    return {**kept, "lostMembers": lost} if lost else kept


def unfinished_rollout(prior: BulkInstancesValues, goal: Goal, members: list[Instance]) -> str:
    """Say which members differ from the state, because the last update did not finish; empty if there are none.

    After a failed update, the state has the update's goal; after a killed one, it has what was there before. Missing
    and stopped members do not matter here, because they show as a change of `count`.
    """
    policy, generation, action = goal.policy, prior.get("generation"), PendingAction.of(goal.inputs, prior)
    if not generation:
        return ""
    found = map(goal.of_instance, members)
    other = [member.name for member in found if member.generation != generation or action.level_for(member)]
    current = len(members) - len(other)
    if not other or (policy.pause_after is not None and current >= policy.pause_after):
        return ""
    differ = "differs" if len(other) == 1 else "differ"
    return (
        f"the last update did not finish: {len(other):,} of {len(members):,} members {differ} from the state: "
        f"{names_in_words(other)}; run `pulumi up` to go on"
    )


def _lost_members(prior: BulkInstancesValues, goal: Goal, members: list[Instance]) -> list[LostMemberValues]:
    """Return the names and zones of members that do not exist any more, if the fleet keeps names.

    They stay until an update has made as many members as wanted; how many a refresh has counted does not matter.
    """
    if not goal.policy.keep_names:
        return []
    return [{"name": name, "zone": zone} for name, zone in zones_of_lost_names(prior, members).items()]


def zones_of_lost_names(prior: BulkInstancesValues, members: list[Instance]) -> dict[str, str]:
    """Return the names of members in the last outputs that no member has any more, with their zones."""
    existing = {member["name"] for member in members}
    listed: list[MemberValues | LostMemberValues] = [*(prior.get("members") or ()), *(prior.get("lostMembers") or ())]
    return {item["name"]: name_of(item.get("zone") or "") for item in listed if item["name"] not in existing}


def _size_outputs(
    members: list[Instance], inputs: BulkInstancesValues, prior: BulkInstancesValues
) -> BulkInstancesValues:
    """Return the outputs that say how many members exist, for the inputs that are set; `prior` are the last outputs.

    Members that are stopped but should run are left out, and so differ from what is wanted, as surplus members do.
    """
    named, keeps_stopped = inputs.get("perInstanceProperties") or {}, inputs.get("onStopped") == "KEEP"
    present = [member for member in members if keeps_stopped or not is_stopped(member)]
    is_surplus = len(members) > FleetSize.of(inputs).wanted
    count: BulkInstancesValues = {"count": len(members if is_surplus else present)}
    if inputs.get("namePattern"):
        return count
    if is_parked(inputs):
        return {"perInstanceProperties": named, **count}
    hosts = {item["name"]: item.get("hostname") for item in members if item in present or item["name"] not in named}
    last = nested(prior, "perInstanceProperties")
    outputs: BulkInstancesValues = {
        "perInstanceProperties": {
            name: _own(named.get(name) or {}, nested(last, name), host) for name, host in hosts.items()
        }
    }
    return outputs if inputs.get("count") is None else {**outputs, **count}


def accepted_size(
    prior: BulkInstancesValues, inputs: BulkInstancesValues, members: list[Instance]
) -> BulkInstancesValues:
    """Return the wanted size, if the last update accepted fewer members, and all of them run; otherwise nothing.

    The last outputs then have the wanted size, although the fleet lacks members. An update does not accept that a
    member could not be started, because it may start now.
    """
    wanted = chosen(inputs, _SIZE)
    running = {item["id"] for item in members if inputs.get("onStopped") == "KEEP" or not is_stopped(item)}
    has_all = len(running) == len(members) and running >= {item["id"] for item in prior.get("members") or ()}
    is_short = len(members) < FleetSize.of(inputs).wanted
    return wanted if is_short and has_all and chosen(prior, tuple(wanted)) == wanted else {}


def _own(
    given: PerInstancePropertiesValues, last: PerInstancePropertiesValues, host: str | None
) -> PerInstancePropertiesValues:
    """Return the properties of one instance as they are: its actual host name, not the one that the program gives.

    A host name that neither the program nor, by the `last` outputs, a failed update has set is left out, because the
    instance came with it.
    """
    if host is None:
        return {}
    is_given = given.get("hostname") is not None or last.get("hostname") == host
    return {"hostname": host} if is_given else {}


def _member(
    instance: Instance, reasons: Mapping[str, str], known: Mapping[str, Member], drift: Mapping[str, list[str]]
) -> MemberValues:
    """Describe an instance as an element of `members`.

    Args:
        instance: the instance.
        reasons: the result of `stop_reasons`.
        known: the last known members by ID, with what Google does not show, or what somebody may have removed.
        drift: the settings that somebody has changed, by instance ID.
    """
    found = Member.of_instance(instance)
    interface = (instance.get("networkInterfaces") or [{}])[0]
    external = (config.get("natIP") for config in interface.get("accessConfigs", ()))
    member: MemberValues = {
        "name": found.name,
        "selfLink": instance["selfLink"],
        "id": found.id,
        "zone": found.zone,
        "status": found.status,
        "machineType": found.machine_type,
        "localSsds": found.local_ssds,
    }
    if (reason := reasons.get(found.id)) is not None:
        member["stopReason"] = reason
    if found.hostname is not None:
        member["hostname"] = found.hostname
    if (differing := drift.get(found.id)) is not None:
        member["differs"] = differing
    last = known.get(found.id, found)
    if generation := trusted(found.generation, last.generation):
        member["generation"] = generation
    if last.own:
        member["own"] = list(last.own)
    if found.action:
        member["rollingAction"] = found.action
    if (fallback := index_of_fallback(found.fallback)) >= 0:
        member["fallback"], member["fallbackHash"] = fallback, found.fallback.partition("-")[2]
    if (internal := interface.get("networkIP")) is not None:
        member["internalAddress"] = internal
    if (address := next(filter(None, external), None)) is not None:
        member["externalAddress"] = address
    return member


def imported_inputs(context: Context, fleet: Fleet, members: list[Instance]) -> BulkInstancesValues:
    """Describe existing instances as inputs: `instanceProperties`, and `namePattern` or `perInstanceProperties`.

    The first member gives the instance properties; at least one member is required. If members are stopped, they stay
    so (`onStopped`), because an import changes nothing. Raises `ApiError` if the disks of the first member
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


def own_settings(inputs: BulkInstancesValues, members: Iterable[Instance]) -> dict[str, list[str]]:
    """Return, by the IDs of members, the parts of settings that differ from imported inputs; others are left out.

    A label with another generation than on most members is such a part: it says nothing about these inputs.
    """
    target, members = Target(own_properties(inputs)), [*members]
    generations = Counter(filter(None, map(recorded_generation, members))).most_common(1)
    names = {
        str(member["id"]): {
            *(part for item in SETTINGS for part in target.differing(item, member)),
            *(OWN_GENERATION for label, _ in generations if recorded_generation(member) not in {"", label}),
        }
        for member in members
    }
    return {member: sorted(settings) for member, settings in names.items() if settings}


def describe_own(outputs: BulkInstancesValues) -> str:
    """Say in which settings members have differed since the import; empty after an update, or if none does."""
    own = [
        f"{item['name']} ({', '.join(settings)})"
        for item in outputs.get("members") or ()
        if (settings := [name for name in item.get("own") or () if name != OWN_GENERATION])
    ]
    if not own or outputs.get("generation"):
        return ""
    return (
        f"{counted(len(own), 'member differs', 'members differ')} from instanceProperties: {names_in_words(own)}; "
        "each difference stays until the program changes that property"
    )


def describe_images(context: Context, fleet: Fleet, members: list[Instance]) -> str:
    """Say which members have boot disks from other images than the first one; empty if none has.

    Raises `ApiError` if a disk cannot be read.
    """

    def image(member: Instance) -> str:
        boot = [disk["source"] for disk in member.get("disks", ()) if disk.get("boot") and disk.get("source")]
        return name_of(_source_image(context, fleet, boot[0]) or "") if boot else ""

    first, *others = context.side_by_side(image, members)
    named = zip(members[1:], others, strict=True)
    other = [f"{member['name']} ({found or 'no image'})" for member, found in named if found != first]
    have = counted(len(other), "member has", "members have")
    words = f"{have} a boot disk from another image than {members[0]['name']} ({first or 'no image'})"
    return f"{words}: {names_in_words(other)}; only a change of the image replaces members" if other else ""


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
