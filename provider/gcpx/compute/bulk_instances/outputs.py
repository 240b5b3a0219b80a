"""The outputs of a fleet, read from its members and its last creation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import attrs

from gcpx.compute.bulk_instances.capacity import FleetSize, index_of_fallback, is_parked
from gcpx.compute.bulk_instances.declaration import BulkInstancesModel
from gcpx.compute.bulk_instances.fleet import Fleet, Instance, fleet_values, is_stopped, stop_reasons
from gcpx.compute.bulk_instances.generation import trusted
from gcpx.compute.bulk_instances.goal import Goal
from gcpx.compute.bulk_instances.member import Member, members_of_state
from gcpx.compute.bulk_instances.spec import RollingAction
from gcpx.compute.operations import Operation
from gcpx.model.fields import chosen, nested, object_type
from gcpx.model.links import name_of
from gcpx.model.naming import UNFINISHED
from gcpx.model.resource import Context, State
from gcpx.model.response_types import require_types
from gcpx.model.words import names_in_words

if TYPE_CHECKING:
    from gcpx.compute.value_types import (
        BulkInstancesValues,
        LostMemberValues,
        MemberValues,
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
"""The outputs of the last update that a refresh keeps; the generation is that of the properties, so they stay together."""
_SIZE: Final = ("count", "perInstanceProperties")
"""What says how many members a fleet should have, as inputs, and how many it has, as outputs."""


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
        known: by their IDs, the members with what they have for themselves; by default those of the state.
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

    `own` are the settings that members have for themselves, by ID.
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

    The state has what a failed update was to reach, and what there was before one that was killed. Missing and stopped
    members do not matter here, because they show as a change of `count`.
    """
    policy, generation, action = goal.policy, prior.get("generation"), RollingAction.of(goal.inputs, prior)
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
    return [{"name": name, "zone": zone} for name, zone in places_left(prior, members).items()]


def places_left(prior: BulkInstancesValues, members: list[Instance]) -> dict[str, str]:
    """Return the names, with their zones, that no member has, and that one has had by the last outputs."""
    existing = {member["name"] for member in members}
    listed: list[MemberValues | LostMemberValues] = [*(prior.get("members") or ()), *(prior.get("lostMembers") or ())]
    return {item["name"]: name_of(item.get("zone") or "") for item in listed if item["name"] not in existing}


def _size_outputs(
    members: list[Instance], inputs: BulkInstancesValues, prior: BulkInstancesValues
) -> BulkInstancesValues:
    """Return what exists of the inputs that say how many members are wanted; `prior` are the last outputs.

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
    """Return the wanted size, if the last update accepted fewer members, and all of those run; otherwise nothing.

    The last outputs then have the wanted size, although the fleet lacks members. What could not be started was not
    accepted, because it may start now.
    """
    wanted = chosen(inputs, _SIZE)
    running = {item["id"] for item in members if inputs.get("onStopped") == "KEEP" or not is_stopped(item)}
    has_all = len(running) == len(members) and running >= {item["id"] for item in prior.get("members") or ()}
    is_short = len(members) < FleetSize.of(inputs).wanted
    return wanted if is_short and has_all and chosen(prior, tuple(wanted)) == wanted else {}


def _own(
    given: PerInstancePropertiesValues, last: PerInstancePropertiesValues, host: str | None
) -> PerInstancePropertiesValues:
    """Return the properties that an instance has for its own: not the given host name, if an update has not given it yet.

    A host name that neither the program nor, by the `last` outputs, a failed update has given stays out, because the
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
        reasons: those of `stop_reasons`.
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
