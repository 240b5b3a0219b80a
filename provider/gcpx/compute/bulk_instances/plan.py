"""What a rollout does next, decided only from the members as they are.

Every step is planned from the current members, so a rollout that was interrupted goes on from what it reached. No
step takes away more running members than the policy allows. The same plan, carried out on paper, is the preview.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import attrs

from gcpx.compute.bulk_instances.capacity import FleetSize
from gcpx.model.fields import nested, text
from gcpx.model.numbers import as_integer, as_integer_or_percentage
from gcpx.model.values import Path

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues

_SCHEDULING: Final = "scheduling"


class Level(enum.IntEnum):
    """What has to be done to a member, the least disruptive first."""

    NONE = 0
    REFRESH = 1
    RESTART = 2
    REPLACE = 3


CHANGES: Final = (Level.REFRESH, Level.RESTART, Level.REPLACE)
_OF_PROPERTY: Final[Mapping[str, Level]] = {
    "labels": Level.REFRESH,
    "metadata": Level.REFRESH,
    "tags": Level.REFRESH,
    "machineType": Level.RESTART,
    "minCpuPlatform": Level.RESTART,
    "serviceAccounts": Level.RESTART,
    "guestAccelerators": Level.RESTART,
}
"""The properties of instances that change without a new instance. Every other change replaces the member."""
_OF_SCHEDULING: Final[Mapping[str, Level]] = {
    "automaticRestart": Level.REFRESH,
    "onHostMaintenance": Level.REFRESH,
    "instanceTerminationAction": Level.RESTART,
    "maxRunDuration": Level.RESTART,
    "terminationTime": Level.RESTART,
}
"""The parts of `scheduling` that change without a new instance."""


def level_of(name: str, part: str = "") -> Level:
    """Return what a change of an instance property needs; `part` is the part of `scheduling` that changes."""
    if name == _SCHEDULING:
        return _OF_SCHEDULING.get(part, Level.REPLACE)
    return _OF_PROPERTY.get(name, Level.REPLACE)


def levels_of(paths: Iterable[Path]) -> set[Level]:
    """Return what changes at these paths of a fleet's inputs need.

    A change of the template may need anything, because it may change every property.
    """
    found: set[Level] = set()
    for path in paths:
        if path[0] == "sourceInstanceTemplate" or path == ("instanceProperties",):
            return set(CHANGES)
        if path[0] == "instanceProperties":
            found |= {level_of(str(path[1]), str(path[2]))} if path[2:] else _of_whole(str(path[1]))
    return found


def _of_whole(name: str) -> set[Level]:
    """Return what a change of a whole property needs; a change of all of `scheduling` may need anything."""
    return set(CHANGES) if name == _SCHEDULING else {level_of(name)}


def by_level(properties: Mapping[str, Any]) -> dict[Level, dict[str, Any]]:
    """Divide instance properties (REST JSON) by what a change of them needs."""
    parts: dict[Level, dict[str, Any]] = {level: {} for level in CHANGES}
    for name, value in properties.items():
        if name == _SCHEDULING and isinstance(value, dict):
            for part, item in value.items():
                parts[level_of(name, part)][f"{name}.{part}"] = item
        else:
            parts[level_of(name)][name] = value
    return parts


_READY_WITHIN: Final = 600
_LEVELS: Final = {level.name: level for level in CHANGES}


@attrs.frozen(kw_only=True)
class Policy:
    """How a change reaches the members of a fleet.

    Attributes:
        wanted: the number of members that the fleet should have.
        rolling: members are changed in batches; otherwise all at once, and only what changes on running instances.
        unavailable: how many members may be missing, stopped or not ready.
        surge: how many more members than wanted may exist.
        least, most: the least and the most that is done to a member that is behind.
        keep_names: a member that replaces another one gets its name and zone.
        rolls_back: whether the changed members get their previous properties back after a failed batch.
        pause_after: the number of up-to-date members at which the rollout stops; None for all.
        guest_attribute: what a ready member has set, as `NAMESPACE/KEY` or `NAMESPACE/KEY=VALUE`; may be empty.
        ready_within: the seconds within which the members of a batch must be ready.
        on_stopped: what happens to stopped members: `START`, `REPLACE`, or `KEEP`, with which they stay as they are.
    """

    wanted: int
    rolling: bool
    unavailable: int
    surge: int = 0
    least: Level = Level.REFRESH
    most: Level = Level.REPLACE
    keep_names: bool = False
    rolls_back: bool = False
    pause_after: int | None = None
    guest_attribute: str = ""
    ready_within: int = _READY_WITHIN
    on_stopped: str = "START"

    @classmethod
    def of(cls, inputs: BulkInstancesValues) -> Policy:
        """Read the policy from a fleet's inputs; unknown and malformed values count as missing."""
        given, wanted = nested(inputs, "updatePolicy"), FleetSize.of(inputs).wanted
        on_stopped = text(inputs, "onStopped") or "START"
        if not is_rolling(inputs):
            return cls(wanted=wanted, rolling=False, unavailable=wanted, on_stopped=on_stopped)
        surge = share(given.get("maxSurge"), wanted, math.ceil) or 0
        ready = nested(given, "ready")
        return cls(
            wanted=wanted,
            rolling=True,
            unavailable=_unavailable(given.get("maxUnavailable"), wanted, surge),
            surge=surge,
            least=_LEVELS.get(text(given, "minimalAction"), Level.REFRESH),
            most=_LEVELS.get(text(given, "mostDisruptiveAction"), Level.REPLACE),
            keep_names=given.get("keepNames") is True or bool(inputs.get("perInstanceProperties")),
            rolls_back=given.get("onFailure") == "ROLL_BACK",
            pause_after=share(given.get("pauseAfter"), wanted, math.ceil),
            guest_attribute=text(ready, "guestAttribute"),
            ready_within=as_integer(ready.get("within")) or _READY_WITHIN,
            on_stopped=on_stopped,
        )


def is_rolling(inputs: BulkInstancesValues) -> bool:
    """Return whether a fleet's changes reach its members in batches."""
    return text(nested(inputs, "updatePolicy"), "strategy") == "ROLLING"


def share(given: Any, whole: int, rounded: Any = math.floor) -> int | None:
    """Resolve a number or a percentage of the whole; None if it is missing, unknown or malformed."""
    value = as_integer_or_percentage(given)
    if isinstance(value, str):
        return int(rounded(int(value[:-1]) * whole / 100))
    return value


def _unavailable(given: Any, wanted: int, surge: int) -> int:
    """Resolve `maxUnavailable`; without a surge it is at least 1, because no member could be changed otherwise."""
    least = 0 if surge else 1
    number = share(given, wanted)
    return least if number is None else max(least, number)


_MOST_STEPS: Final = 20_000


@attrs.frozen
class PlannedMember:
    """A member as a plan sees it.

    Attributes:
        name: its name.
        order: sorts members by the number in their name.
        need: what has to be done so that it has the wanted properties.
        available: it is running and ready.
        unready: it is running, and not ready.
        stopped: it was stopped, and does not start on its own.
        rests: it is stopped on purpose, and stays so when it is changed.
        startable: it can be started if it is stopped; Google has no capacity for others at the moment.
        tried: a restart of it began in an earlier run and did not end, although it is running.
        blocked: something has failed for it in this run, so nothing more is done to it.
        unwanted: its name is not one that the fleet should have.
        note: what to say about it in addition to its name, such as why it was stopped.
        id: distinguishes it from members of the same name in other zones; by default its name.
    """

    name: str
    order: tuple[str, int, str]
    need: Level = Level.NONE
    available: bool = True
    unready: bool = False
    stopped: bool = False
    rests: bool = False
    startable: bool = True
    tried: bool = False
    blocked: bool = False
    unwanted: bool = False
    note: str = ""
    id: str = attrs.Factory(lambda member: member.name, takes_self=True)

    @property
    def running(self) -> bool:
        """Whether it is running, ready or not."""
        return self.available or self.unready

    def __str__(self) -> str:
        return f"{self.name} ({self.note})" if self.note else self.name


@attrs.frozen(kw_only=True)
class Step:
    """What is done at once; the next step begins when all that it touched are ready.

    Attributes:
        delete: members to delete, because they are replaced or surplus.
        restart: members to stop, change and start; those that are stopped are only changed and started, and those that
            rest only changed.
        refresh: members to change while they run.
        start: members to start.
        create: the number of instances to create.
    """

    delete: list[PlannedMember] = attrs.Factory(list)
    restart: list[PlannedMember] = attrs.Factory(list)
    refresh: list[PlannedMember] = attrs.Factory(list)
    start: list[PlannedMember] = attrs.Factory(list)
    create: int = 0

    def __bool__(self) -> bool:
        return bool(self.delete or self.restart or self.refresh or self.start or self.create)

    @property
    def disturbed(self) -> list[PlannedMember]:
        """The running members that the step takes away, for good or for a while."""
        return [member for member in (*self.delete, *self.restart) if member.available]


@attrs.frozen
class Work:
    """Everything that is left to do with the members as they are.

    Attributes:
        replaced: members that new ones replace.
        surplus: members of which there are too many.
        restarted, refreshed, started: as in `Step`.
        missing: the number of instances to create, those that replace others included.
    """

    replaced: list[PlannedMember]
    surplus: list[PlannedMember]
    restarted: list[PlannedMember]
    refreshed: list[PlannedMember]
    started: list[PlannedMember]
    missing: int

    def __bool__(self) -> bool:
        return any((self.replaced, self.surplus, self.restarted, self.refreshed, self.started, self.missing))


def work_left(members: list[PlannedMember], wanted: int, policy: Policy) -> Work:
    """Find everything that is left to do, up to the pause of the policy.

    No other member takes the place of a blocked one. What gcpx has stopped is started, whatever the policy says.
    """
    chosen = [member for member in _chosen(members, policy) if not member.blocked]
    replaced = [member for member in chosen if member.need is Level.REPLACE]
    surplus = _surplus(members, wanted, replaced, policy)
    leaving = {member.id for member in (*replaced, *surplus)}
    staying = [member for member in chosen if member.id not in leaving]
    restarted = [member for member in staying if member.need is Level.RESTART]
    busy = leaving | {member.id for member in restarted}
    free = [member for member in members if not member.blocked and member.id not in busy]
    idle = [member for member in free if member.stopped and not member.rests and member.startable]
    return Work(
        replaced=replaced,
        surplus=[member for member in surplus if not member.blocked],
        restarted=restarted,
        refreshed=[member for member in staying if member.need is Level.REFRESH],
        started=idle if policy.on_stopped != "REPLACE" else [],
        missing=max(0, wanted - (len(members) - len(leaving))),
    )


def next_step(members: list[PlannedMember], wanted: int, policy: Policy) -> Step:
    """Plan the next step; an empty one means that nothing can be done, or that nothing is left to do."""
    work = work_left(members, wanted, policy)
    # Those that are stopped on purpose do not count as missing.
    least = wanted - sum(member.rests for member in members) - policy.unavailable
    delete = _within(least, members, [*work.surplus, *work.replaced])
    gone = {member.id for member in delete}
    rest = [member for member in members if member.id not in gone]
    room = wanted + policy.surge - len(rest)
    return Step(
        delete=delete,
        restart=_within(least, rest, work.restarted),
        refresh=work.refreshed,
        start=work.started,
        create=max(0, min(work.missing, room)),
    )


def steps(members: list[PlannedMember], wanted: int, policy: Policy) -> Iterator[tuple[Step, int]]:
    """Carry out the plan on paper, as if nothing went wrong; yield each step with the fewest members that run."""
    for number in range(_MOST_STEPS):
        step = next_step(members, wanted, policy)
        if not step:
            return
        running = sum(member.available for member in members)
        yield step, running - len(step.disturbed)
        members = _after(members, step, number)


def _after(members: list[PlannedMember], step: Step, number: int) -> list[PlannedMember]:
    deleted = {member.id for member in step.delete}
    changed = {member.id for member in (*step.restart, *step.refresh)}
    begun = {member.id for member in (*step.restart, *step.start) if not member.rests}
    kept = [
        attrs.evolve(
            member,
            need=Level.NONE if member.id in changed else member.need,
            available=member.available or member.id in begun,
            unready=member.unready and member.id not in begun,
            stopped=member.stopped and member.id not in begun,
        )
        for member in members
        if member.id not in deleted
    ]
    return kept + [PlannedMember(f"{number}/{index}", ("~", number, str(index))) for index in range(step.create)]


def _chosen(members: list[PlannedMember], policy: Policy) -> list[PlannedMember]:
    """Choose the members to change: all that are behind, or as many as there may be before the pause.

    Those that do not run anyway come first, then those that are not ready, and last those with which an earlier run
    failed. Stopped members that are replaced do not wait until the pause ends, just as missing ones do not.
    """
    behind = [member for member in members if member.need and not member.unwanted]
    behind.sort(key=lambda member: (member.running, member.available, member.tried, member.order))
    if policy.pause_after is None:
        return behind
    done = sum(not member.need for member in members if not member.unwanted)
    lost = [member for member in behind if member.stopped and policy.on_stopped == "REPLACE"]
    others = [member for member in behind if member not in lost]
    return lost + others[: max(0, policy.pause_after - done - len(lost))]


def _surplus(
    members: list[PlannedMember], wanted: int, replaced: list[PlannedMember], policy: Policy
) -> list[PlannedMember]:
    """Choose the members of which there are too many: unwanted ones, then those behind, then the highest numbers.

    Members that are about to be replaced come first: a surge leaves as many of them as it has added. In a pause, those
    come first that are beyond the number at which it pauses.
    """
    unwanted = [member for member in members if member.unwanted]
    leaving = {member.id for member in replaced}
    rest = [member for member in members if not member.unwanted and member.id not in leaving]
    rest.sort(key=attrgetter("need", "order"), reverse=True)
    if policy.pause_after is not None:
        current = [member for member in rest if not member.need]
        beyond = current[: max(0, len(current) - policy.pause_after)]
        rest = beyond + [member for member in rest if member not in beyond]
    return unwanted + rest[: max(0, len(rest) - wanted)]


def _within(least: int, members: list[PlannedMember], wanted: list[PlannedMember]) -> list[PlannedMember]:
    """Choose from `wanted` what can be taken away from all `members`, so that `least` stay ready, and as many running.

    What does not run can always be taken, then what is not ready.
    """
    ready, running = sum(member.available for member in members), sum(member.running for member in members)
    taken = []
    for member in sorted(wanted, key=lambda member: (member.available, member.running)):
        if (member.available and ready <= least) or (member.running and running <= least):
            continue
        ready, running = ready - member.available, running - member.running
        taken.append(member)
    return taken
