"""What the program wants of the members, what each needs, and what an update does next.

Every step is planned from the current members, so an interrupted rollout continues where it stopped. No step takes away
more running members than the policy allows. The same plan, carried out on paper, is the preview.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from itertools import islice
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import attrs

from gcpx.compute.bulk_instances.capacity import FleetSize, Places, inputs_of_member, number_of_names, placement_room
from gcpx.compute.bulk_instances.member import (
    ACTION_LABEL,
    OWN_GENERATION,
    Level,
    Member,
    by_level,
    changing,
    fleet_values,
    generation_of,
    hash_for_label,
    ignored_settings,
    last_generation,
    level_named,
    level_of,
    levels_of,
    members_of_state,
    name_order,
    need_of,
    own_properties,
)
from gcpx.compute.instance_properties.machines import can_change_machine_type
from gcpx.compute.instance_properties.network_interfaces import own_addresses
from gcpx.errors import UserError
from gcpx.model.context import Context
from gcpx.model.fields import chosen, elements, nested, text, without
from gcpx.model.links import name_of
from gcpx.model.numbers import as_integer, as_integer_or_percentage
from gcpx.model.values import UNKNOWN, Path, has_unknown

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues, InstancePropertiesValues

_READY_WITHIN: Final = 600


@attrs.frozen(kw_only=True)
class Policy:
    """How a change reaches the members of a fleet.

    Attributes:
        wanted: the number of members that the fleet should have.
        unavailable: how many members may be missing, stopped or not ready.
        surge: how many more members than wanted may exist.
        surges_first: whether a member that is replaced leaves only when a new one is ready; then, only members that are
            restarted become unavailable.
        least, most: the least and the most that is done to an outdated member.
        keep_names: a member that replaces another one gets its name and zone.
        rolls_back: whether the changed members get their previous properties back after a failed batch.
        pause_after: the number of up-to-date members at which the rollout stops; None for all.
        guest_attribute: what a ready member has set, as `NAMESPACE/KEY` or `NAMESPACE/KEY=VALUE`; may be empty.
        ready_within: the seconds within which the members of a batch must be ready.
        stable_for: the seconds for which the members of a batch are observed after they are ready.
        on_stopped: what happens to stopped members: `START`, `REPLACE`, or `KEEP`, which leaves them as they are.
        max_deleted: how many members one update may delete: a number, or a percentage of the existing ones; None for
            all.
        places: the zones of the members.
    """

    wanted: int
    unavailable: int
    surge: int = 0
    surges_first: bool = False
    least: Level = Level.REFRESH
    most: Level = Level.REPLACE
    keep_names: bool = False
    rolls_back: bool = False
    pause_after: int | None = None
    guest_attribute: str = ""
    ready_within: int = _READY_WITHIN
    stable_for: int = 0
    on_stopped: str = "START"
    max_deleted: int | str | None = None
    places: Places = attrs.Factory(Places)

    @classmethod
    def of(cls, inputs: BulkInstancesValues) -> Policy:
        """Read the policy from a fleet's inputs; unknown and malformed values count as missing."""
        given, wanted = nested(inputs, "updatePolicy"), FleetSize.of(inputs).wanted
        ready = nested(given, "ready")
        keeps_names = given.get("keepNames") is True or bool(inputs.get("perInstanceProperties"))
        surge, unavailable = share(given.get("maxSurge"), wanted, math.ceil), share(given.get("maxUnavailable"), wanted)
        few, surges_first = max(1, share(_FEW, wanted) or 0), surge is None and unavailable is None
        if surges_first:  # neither is given: a surge if there is room, and restarts as without one
            surge, unavailable = 0 if keeps_names else min(few, _room_for_surge(inputs, wanted)), few
        elif unavailable is None:
            unavailable = 0 if surge else few
        return cls(
            wanted=wanted,
            unavailable=max(0 if surge else 1, unavailable or 0),  # without a surge, 0 would change no member
            surge=surge or 0,
            surges_first=surges_first and bool(surge),
            least=level_named(text(given, "minimalAction"), Level.REFRESH),
            most=level_named(text(given, "mostDisruptiveAction"), Level.REPLACE),
            keep_names=keeps_names,
            rolls_back=given.get("onFailure") == "ROLL_BACK",
            pause_after=share(given.get("pauseAfter"), wanted, math.ceil),
            guest_attribute=text(ready, "guestAttribute"),
            ready_within=as_integer(ready.get("within")) or _READY_WITHIN,
            stable_for=as_integer(ready.get("stableFor")) or 0,
            on_stopped=text(inputs, "onStopped") or "START",
            max_deleted=as_integer_or_percentage(inputs.get("maxDeleted")),
            places=Places.of(inputs),
        )

    def may_delete(self, deleted: int, members: int) -> bool:
        """Return whether one update may delete so many members, if so many exist before it."""
        most = share(self.max_deleted, members)
        return most is None or deleted <= most

    def require_few_deletions(self, deleted: int, members: int) -> None:
        """Raise UserError if one update may not delete so many members, if so many exist before it."""
        if not self.may_delete(deleted, members):
            given, most = self.max_deleted, share(self.max_deleted, members)
            allowed = f"{given} of {members:,} members,{'' if given == most else f' which is {most:,},'}"
            raise UserError(
                f"maxDeleted: allows one update to delete {allowed} but this one would delete {deleted:,} of "
                f"{members:,} members, including replaced ones. If this is what you want, raise maxDeleted to "
                f"{deleted:,} for this update; if not, see what the program changes, or change fewer members with pauseAfter"
            )


def share(given: Any, whole: int, rounded: Any = math.floor) -> int | None:
    """Resolve a number or a percentage of the whole; None if it is missing, unknown or malformed."""
    value = as_integer_or_percentage(given)
    if isinstance(value, str):
        return int(rounded(int(value[:-1]) * whole / 100))
    return value


_FEW: Final = "10%"
"""The share of the members that change at once without `maxUnavailable` and `maxSurge`."""
_NETWORKS: Final = ("network", "subnetwork", "networkAttachment")
"""The properties of a network interface that all members share."""


def _room_for_surge(inputs: BulkInstancesValues, wanted: int) -> int:
    """Return how many more members than wanted a fleet can surely have: names, placement and addresses limit them."""
    properties, pattern = nested(inputs, "instanceProperties"), text(inputs, "namePattern")
    interfaces = [interface for _, interface in elements(properties, "networkInterfaces")]
    unsure = [without(interface, _NETWORKS) for interface in interfaces] or properties.get("networkInterfaces")
    if any(map(any, map(own_addresses, interfaces))) or has_unknown([unsure, inputs.get("placement")]):
        return 0
    rooms = (number_of_names(pattern) if pattern else None, placement_room(inputs))
    return max(0, min((room - wanted for room in rooms if room is not None), default=max(1, wanted)))


@attrs.frozen(kw_only=True)
class PlannedMember:
    """A member as a plan sees it.

    Attributes:
        name: its name.
        need: what has to be done so that it has the wanted properties.
        set_back: the settings that somebody has changed on it, and that it gets back.
        current: it has the wanted properties, except for what is set back.
        available: it is running and ready.
        unready: it is running, and not ready.
        stopped: it was stopped, and does not start on its own.
        suspended: it has its memory, and loses that if it is stopped.
        stays_stopped: it is stopped on purpose, and stays so when it is changed.
        startable: if it is stopped, it can be started, because Google has capacity for it.
        zone: the name of its zone.
        tried: a restart of it began in an earlier run and did not end, although it is running.
        blocked: something has failed for it in this run, so nothing more is done to it.
        waits: the preview has left it as it is, because the rollout pauses before it.
        unwanted: its name is not one that the fleet should have.
        added: the state does not have it, because an interrupted run or this one has created it.
        leaves: by the state, a scale-in deletes it.
        note: what to say about it in addition to its name, such as why it was stopped.
        id: distinguishes it from members of the same name in other zones; by default its name.
        order: sorts members by the number in their name.
    """

    name: str
    need: Level = Level.NONE
    set_back: tuple[str, ...] = ()
    current: bool = attrs.Factory(lambda member: not member.need, takes_self=True)
    available: bool = True
    unready: bool = False
    stopped: bool = False
    suspended: bool = False
    stays_stopped: bool = False
    startable: bool = True
    tried: bool = False
    blocked: bool = False
    waits: bool = False
    unwanted: bool = False
    added: bool = False
    leaves: bool = False
    note: str = ""
    zone: str = ""
    id: str = attrs.Factory(lambda member: member.name, takes_self=True)
    order: tuple[str, int, str] = attrs.field(init=False)

    @order.default
    def _by_number(self) -> tuple[str, int, str]:
        return name_order(self.name)

    @property
    def running(self) -> bool:
        """Whether it is running, ready or not."""
        return self.available or self.unready

    def __str__(self) -> str:
        return f"{self.name} ({self.note})" if self.note else self.name


@attrs.frozen(kw_only=True)
class Step:
    """Changes that are made at once; the next step begins when all members of this one are ready.

    Attributes:
        delete: members to delete, because they are replaced or surplus.
        restart: members to stop, change and start; stopped ones are only changed and started, and resting ones only
            changed.
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
    def touched(self) -> list[PlannedMember]:
        """The members that the step changes or deletes, in the order in which that is done."""
        return [*self.refresh, *self.restart, *self.delete]

    @property
    def disturbed(self) -> list[PlannedMember]:
        """The running members that the step takes away, for good or for a while."""
        return [member for member in (*self.delete, *self.restart) if member.available]


def deleted_by(taken: Iterable[Step]) -> list[PlannedMember]:
    """Return the members that steps delete."""
    return [member for step in taken for member in step.delete]


def next_step(members: list[PlannedMember], policy: Policy) -> Step:
    """Plan the next step; an empty one means that nothing can be done, or that nothing is left to do (`is_done`)."""
    return _Course.of(members, policy).step()


def is_done(members: list[PlannedMember], policy: Policy) -> bool:
    """Return whether nothing is left to do, up to the pause of the policy, even if nothing can be done at the moment."""
    return _Course.of(members, policy).is_done


def steps(members: list[PlannedMember], policy: Policy) -> Iterator[tuple[Step, int]]:
    """Carry out the plan on paper, as if nothing went wrong; yield each step with the fewest members that run."""
    course = _Course.of(members, policy)
    while step := course.step():
        yield step, course.ready - len(step.disturbed)
        course.carry_out(step)


@attrs.define
class _Course:
    """The plan as far as it is carried out; each member is looked at once, and each step takes the next ones.

    Attributes:
        ready, running, existing: how many members run and are ready, how many run, and how many exist.
        kept: how many are stopped on purpose, and do not count as missing.
        staying: the members of each zone that are not replaced, the new ones included.
        zones: all members of each zone.
    """

    policy: Policy
    missing: int
    ready: int
    running: int
    existing: int
    kept: int
    zones: Counter[str]
    staying: Counter[str]
    _idle: tuple[list[PlannedMember], list[PlannedMember]]
    """Members to delete, and members to restart, that do not run, so that the next step takes all of them."""
    _restarts: deque[PlannedMember]
    _surplus: deque[PlannedMember]
    _replaced: dict[str, deque[PlannedMember]]
    """Running members that are replaced, by zone. In each queue, members that are not ready come first."""
    _refreshed: list[PlannedMember]
    _started: list[PlannedMember]

    @classmethod
    def of(cls, members: list[PlannedMember], policy: Policy) -> _Course:
        """Begin with everything that is left to do with the members as they are, up to the pause of the policy.

        If a member is blocked, no other one is changed in its place. Members that gcpx has stopped are started, whatever
        the policy says.
        """
        # Only members that the preview has named leave, whatever has happened since.
        scaled_in = [*(one for one in members if one.unwanted), *leaving(members, policy, attrgetter("leaves"))]
        gone = {member.id for member in scaled_in}
        others = [member for member in members if member.id not in gone]
        chosen = [member for member in _chosen(others, policy) if not member.blocked]
        replaced = [member for member in chosen if member.need is Level.REPLACE]
        surplus = scaled_in + _left_over(members, policy.wanted, gone | {member.id for member in replaced})
        departing = {member.id for member in (*replaced, *surplus)}
        staying = [member for member in chosen if member.id not in departing]
        restarts = [member for member in staying if member.need is Level.RESTART]
        busy = departing | {member.id for member in restarts}
        free = [member for member in members if not member.blocked and member.id not in busy]
        surplus = [member for member in surplus if not member.blocked]
        by_zone: dict[str, deque[PlannedMember]] = defaultdict(deque)
        for member in filter(_RUNS, replaced):
            by_zone[member.zone if policy.places.is_balanced else ""].append(member)
        return cls(
            policy,
            missing=max(0, policy.wanted - (len(members) - len(departing))),
            ready=sum(member.available for member in members),
            running=sum(member.running for member in members),
            existing=len(members),
            kept=sum(member.stays_stopped for member in members),
            zones=Counter(member.zone for member in members),
            staying=Counter(member.zone for member in members if member.id not in departing),
            idle=(
                [member for member in (*surplus, *replaced) if not member.running],
                [member for member in restarts if not member.running],
            ),
            restarts=deque(filter(_RUNS, restarts)),
            surplus=deque(sorted(filter(_RUNS, surplus), key=attrgetter("available"))),
            replaced=by_zone,
            refreshed=[member for member in staying if member.need is Level.REFRESH],
            started=[member for member in free if member.stopped and not member.stays_stopped and member.startable],
        )

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do."""
        left = (self._restarts, self._surplus, self._refreshed, self._started, *self._idle, *self._replaced.values())
        return not (self.missing or any(left))

    def step(self) -> Step:
        """Take the members of the next step."""
        (deleted, restarted), self._idle = self._idle, ([], [])
        self.zones.subtract(member.zone for member in deleted)
        least = self.policy.wanted - self.kept - self.policy.unavailable
        is_short = self.existing < self.policy.wanted  # lost members are created before others are taken away
        spare = _Spare(0, 0) if is_short else _Spare(self.ready - least, self.running - least)
        delete = deleted + self._leave(spare)
        restart = restarted
        while self._restarts and spare.take(self._restarts[0]):
            restart.append(self._restarts.popleft())
        room = self.policy.wanted + self.policy.surge - (self.existing - len(delete))
        refresh, start, self._refreshed, self._started = self._refreshed, self._started, [], []
        create = max(0, min(self.missing, room))
        return Step(delete=delete, restart=restart, refresh=refresh, start=start, create=create)

    def carry_out(self, step: Step) -> None:
        """Record the effects of a step."""
        starting = [member for member in (*step.restart, *step.start) if not member.stays_stopped]
        self.ready += step.create + sum(not member.available for member in starting)
        self.ready -= sum(member.available for member in step.delete)
        self.running += step.create + sum(not member.running for member in starting)
        self.running -= sum(member.running for member in step.delete)
        self.kept -= sum(member.stays_stopped for member in step.delete)
        self.existing += step.create - len(step.delete)
        self.missing -= step.create
        if self.policy.keep_names:  # the new ones take the places of those that left
            new = Counter(member.zone for member in step.delete[: step.create])
        else:
            new = self.policy.places.spread(step.create, self.zones, self.staying, sorted(self.zones))
        self.zones.update(new)
        self.staying.update(new)

    def _leave(self, spare: _Spare) -> list[PlannedMember]:
        """Take running members to delete: surplus ones, then, one after the other, members of the fullest zone."""
        taken, waiting = list[PlannedMember](), self.policy.unavailable if self.policy.surges_first else 0
        while (queue := self._next_queue()) and spare.take(queue[0], keeping=0 if queue is self._surplus else waiting):
            taken.append(queue.popleft())
            self.zones[taken[-1].zone] -= 1
        return taken

    def _next_queue(self) -> deque[PlannedMember] | None:
        """Return the queue of the next member to delete; members that are not ready come before all ready ones."""
        replaced = [queue for queue in self._replaced.values() if queue]
        queues = [queue for queue in (self._surplus, min(replaced, key=self._place, default=None)) if queue]
        return min(queues, key=lambda queue: queue[0].available, default=None)

    def _place(self, queue: deque[PlannedMember]) -> tuple[bool, int, int, tuple[str, int, str]]:
        zone = queue[0].zone
        return queue[0].available, -self.zones[zone], self.staying[zone], queue[0].order


@attrs.define
class _Spare:
    """How many members a step may take away: from the ready ones, and from all running ones."""

    ready: int
    running: int

    def take(self, member: PlannedMember, *, keeping: int = 0) -> bool:
        """Count a running member as taken away if `keeping` others still may be, too; return whether it was counted."""
        if self.running <= keeping or (member.available and self.ready <= keeping):
            return False
        self.ready, self.running = self.ready - member.available, self.running - 1
        return True


_RUNS: Final = attrgetter("running")


def _comes_first(member: PlannedMember) -> tuple[bool, bool, bool, bool, tuple[str, int, str]]:
    """Return a key that sorts outdated members.

    Members that do not run come first, then members that are not ready, then members that an earlier run failed to
    change, and last the members that the preview leaves until a pause ends.
    """
    return member.waits, member.running, member.available, member.tried and not member.blocked, member.order


def _chosen(members: list[PlannedMember], policy: Policy) -> list[PlannedMember]:
    """Choose the members to change: all outdated ones, or as many as there may be before the pause.

    Missing members are created with the wanted properties, so they count as changed. A pause only says how far a change
    goes: without it, the same plan changes the same members first.

    Three kinds of members do not wait until the pause ends: stopped members that are replaced (missing ones do not wait
    either), members on which something is set back, and the surplus after a surge.
    """
    outdated = [member for member in members if member.need and not member.unwanted]
    outdated.sort(key=_comes_first)
    if policy.pause_after is None:
        return outdated
    lost = {one.id for one in outdated if one.stopped and one.need is Level.REPLACE and policy.on_stopped == "REPLACE"}
    free = lost | {one.id for one in outdated if one.current}
    existing = sum(not member.unwanted for member in members)
    current = sum(member.current or member.id in lost for member in members if not member.unwanted)
    done = current + max(0, policy.wanted - existing)
    others = _in_order([one for one in outdated if one.id not in free and not one.waits], members, policy)
    taken = [one for one in outdated if one.id in free] + list(islice(others, max(0, policy.pause_after - done)))
    replaced = (member for member in others if member.need is Level.REPLACE)
    return taken + list(islice(replaced, max(0, existing - policy.wanted)))


def _in_order(chosen: list[PlannedMember], members: list[PlannedMember], policy: Policy) -> Iterator[PlannedMember]:
    """Yield outdated members in the order in which a plan without a pause changes them."""
    left = {member.id: member for member in chosen}
    for step, _ in steps(members, attrs.evolve(policy, pause_after=None)):
        yield from (left.pop(member.id) for member in step.touched if member.id in left)
    yield from left.values()


def leaving(
    members: Iterable[PlannedMember], policy: Policy, may_leave: Callable[[PlannedMember], bool] = lambda _: True
) -> list[PlannedMember]:
    """Choose the members that a scale-in deletes, in their order, from the members that may leave.

    Stopped members come first; then, in a balanced fleet, members of the fullest zone; then, in an interrupted rollout,
    outdated members; then the highest numbers. How far a rollout goes before it pauses does not matter.
    """
    rest = [member for member in members if not member.unwanted]
    number = len(rest) - policy.wanted

    def leaves_first(member: PlannedMember) -> tuple[bool, bool, tuple[str, int, str]]:
        return member.stopped, not member.current, member.order

    found: list[PlannedMember] = []
    zones = Counter(member.zone for member in rest)
    in_zone: dict[str, list[PlannedMember]] = defaultdict(list)
    for member in sorted(filter(may_leave, rest), key=leaves_first):
        in_zone[member.zone if policy.places.is_balanced else ""].append(member)
    while len(found) < number and any(in_zone.values()):
        last = {zone: of_zone[-1] for zone, of_zone in in_zone.items() if of_zone}
        zone = max(last, key=lambda one: (last[one].stopped, zones[one], leaves_first(last[one]), one))
        zones[zone] -= 1
        found.append(in_zone[zone].pop())
    return found


def _left_over(members: list[PlannedMember], wanted: int, gone: set[str]) -> list[PlannedMember]:
    """Return the remaining surplus.

    After a surge, members that are replaced come first. Then come members that the state lacks, because the preview has
    not said that the others are deleted.
    """
    rest = [member for member in members if member.id not in gone]
    rest.sort(key=lambda member: (member.added, member.stopped, member.order), reverse=True)
    outdated = sorted((member for member in rest if not member.current), key=_comes_first)
    current = [member for member in rest if member.current]
    old = [member for member in outdated if member.need is Level.REPLACE]
    others = [member for member in outdated if member.need is not Level.REPLACE] + current
    others.sort(key=attrgetter("added"), reverse=True)
    return [*old, *others][: max(0, len(rest) - wanted)]


def as_previewed(members: list[PlannedMember], policy: Policy) -> list[PlannedMember]:
    """Return the members of the state, marked as in a preview: which leave, and which wait until a pause ends."""
    leave = {member.id for member in leaving(members, policy)}
    members = [attrs.evolve(member, leaves=member.id in leave) for member in members]
    if policy.pause_after is None:
        return members
    plan = steps(members, policy)
    touched = {member.id for step, _ in plan for member in step.touched}
    return [attrs.evolve(member, waits=bool(member.need) and member.id not in touched) for member in members]


_ACTION: Final = "rollingAction"
_OF_MACHINES: Final = ("machineType", "minCpuPlatform")
"""The properties that fallbacks and Google's choice among machine types change, and that a restart can set."""
OF_FALLBACKS: Final = (*_OF_MACHINES, "scheduling")
"""The properties of existing members that a fallback may have changed."""


@attrs.frozen
class PendingAction:
    """A restart or a replacement of members that a program asks for each time that a trigger changes.

    Each member that was handled has a label with a hash of the trigger, and so has each member that is created meanwhile.
    So an update that was interrupted goes on with the others. When all are handled, an output holds the hash, and the
    labels do not matter any more.

    Attributes:
        level: what is done to each: a restart, or a replacement.
        mark: the value of the label of members that were handled; empty if there is no action, or if its trigger is not
            known yet.
        pending: the IDs of the members that were not handled, as the state has them. Nothing is done to others, because
            the preview has not named them.
    """

    level: Level = Level.NONE
    mark: str = ""
    pending: frozenset[str] = frozenset()

    @classmethod
    def of(cls, inputs: BulkInstancesValues, prior: BulkInstancesValues) -> PendingAction:
        """Determine what an action has left to do.

        Args:
            inputs: the fleet's inputs. What is not known yet counts as the most that it can be.
            prior: the last outputs.
        """
        if not inputs.get(_ACTION):
            return cls()
        given, trigger = nested(inputs, _ACTION), text(nested(inputs, _ACTION), "trigger")
        mark, level = hash_for_label(trigger) if trigger else "", level_named(text(given, "action"), Level.REPLACE)
        chosen = given.get("members")
        if mark and mark == prior.get("lastRollingAction"):
            return cls(level, mark)
        left = [member for member in members_of_state(prior).values() if not mark or member.action != mark]
        if isinstance(chosen, list) and UNKNOWN not in chosen:
            left = [member for member in left if member.id in chosen or member.name in chosen]
        return cls(level, mark, frozenset(member.id for member in left))

    @property
    def labels(self) -> dict[str, str]:
        """The label of members to which it was done, or need not be done, such as new ones; empty without an action."""
        return {ACTION_LABEL: self.mark} if self.mark else {}

    def level_for(self, member: Member) -> Level:
        """Return what is left to do to a member."""
        handled = bool(self.mark) and member.action == self.mark
        return self.level if member.id in self.pending and not handled else Level.NONE

    def without(self, handled: Container[str]) -> PendingAction:
        """Return what is left when members, by their IDs, were handled."""
        return attrs.evolve(self, pending=frozenset(member for member in self.pending if member not in handled))

    def outputs(self, prior: BulkInstancesValues, members: Iterable[Member]) -> BulkInstancesValues:
        """Return the output with the last action that was done to all its members.

        Args:
            prior: the last outputs.
            members: all members as they are now.
        """
        has_ended = bool(self.mark) and not any(map(self.level_for, members))
        last = self.mark if has_ended else prior.get("lastRollingAction")
        return {"lastRollingAction": last} if last else {}


@attrs.frozen(kw_only=True)
class Spec:
    """What the program wants of the members of a fleet.

    With the inputs alone, it describes an unchanged program.

    Attributes:
        inputs: the fleet's inputs, which in a preview may hold unknowns.
        policy: how a change reaches the members; by default, as the inputs say.
        generation: stands for the properties that members should have; empty if that is not known without asking Google.
        base: stands for the properties before the update, which members without the label have; may be empty.
        restarting: the names of the changed properties, or parts of `scheduling`, that need a restart.
        changed: what the changed properties need at most; it counts if the generation is not known.
        properties: the properties of members that have no fallback (REST JSON), as far as they are known. The machine type
            is UNKNOWN if only the template names it, and missing if members keep theirs; by default, it is as the inputs say.
        action: the members that the program asks to restart or to replace.
        given: the parts of settings that the update changes; all other settings of a member's own stay.
        ignored: the settings that the user ignores (`ignoreChanges`), so that existing members keep theirs.
        hosted: the names of members that got host names of their own from the program.
        sure: whether an unknown value counts as no change; otherwise, it counts as the most disruptive change.
    """

    inputs: BulkInstancesValues
    policy: Policy = attrs.field()
    generation: str = ""
    base: str = ""
    restarting: frozenset[str] = frozenset()
    changed: Level = Level.NONE
    properties: InstancePropertiesValues = attrs.field()
    action: PendingAction = attrs.Factory(PendingAction)
    given: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    hosted: frozenset[str] = frozenset()
    sure: bool = False
    _inputs_of: dict[str, BulkInstancesValues | None] = attrs.field(factory=dict, init=False, eq=False, repr=False)
    """The inputs of members by their labels of fallbacks."""

    @policy.default
    def _own_policy(self) -> Policy:
        return Policy.of(self.inputs)

    @properties.default
    def _own_properties(self) -> InstancePropertiesValues:
        return chosen(nested(self.inputs, "instanceProperties"), ("machineType",))

    @classmethod
    def offline(
        cls,
        context: Context,
        old: BulkInstancesValues,
        new: BulkInstancesValues,
        templates: Mapping[str, InstancePropertiesValues] = MappingProxyType({}),
        *,
        stated: BulkInstancesValues | None = None,
        sure: bool = False,
    ) -> Spec:
        """Build what a preview knows of an update from old to new inputs, which may hold unknowns.

        `templates` are the properties of the templates that were read (REST JSON), by their links in the inputs. If the
        last update failed, `stated` are the inputs in the state, and `old` are the inputs that it should have reached.
        """
        before, after = (_known_properties(inputs, templates) for inputs in (old, new))
        return cls.of(context, old, new, before, after, stated=stated, sure=sure)

    @classmethod
    def of(
        cls,
        context: Context,
        old: BulkInstancesValues,
        new: BulkInstancesValues,
        before: InstancePropertiesValues | None,
        after: InstancePropertiesValues | None,
        *,
        stated: BulkInstancesValues | None = None,
        sure: bool = False,
    ) -> Spec:
        """Build the specification of an update from old to new inputs.

        `before` and `after` are the properties that these stand for (REST JSON), None if they are not known. `stated` is
        as for `offline`.
        """
        prior = fleet_values(context.prior)
        levels = frozenset(levels_of(path for path in context.changed if not (sure and _is_uncertain(path, new))))
        base = last_generation(prior) or ("" if before is None else generation_of(before))
        generation = "" if levels else base
        if base and after is not None:
            generation = generation_of(after, base, levels)
        last, former, wanted = (_machine_type(nested(one, "instanceProperties")) for one in (old, stated or old, new))
        machine_type = wanted
        if not wanted and new.get("sourceInstanceTemplate"):  # another template replaces members anyway
            machine_type = UNKNOWN if last else prior.get("lastMachineType") or ""
        return cls(
            inputs=new,
            generation="" if sure else generation,  # an unknown value may be the one that outdated members have
            base=base,
            restarting=_restarting(context.changed, before, after),
            changed=max(levels, default=Level.NONE),
            properties={"machineType": machine_type} if after is None else after,
            action=PendingAction() if sure and has_unknown(new.get("rollingAction")) else PendingAction.of(new, prior),
            given=frozenset({"machineType"} if wanted is UNKNOWN or wanted != former else ()),
            ignored=ignored_settings(context.ignored),
            hosted=with_hostnames(old, prior),
            sure=sure,
        )

    @property
    def machine_type(self) -> Any:
        """The name of the machine type of members that have no fallback, perhaps UNKNOWN; empty if they keep theirs."""
        return _machine_type(self.properties)

    def need(
        self, member: Member, most: Level = Level.REPLACE, update_need: Callable[[Member], Level] | None = None
    ) -> Level:
        """Return what has to be done to a member, apart from what others have changed on it.

        Args:
            member: the member, as the state has it or as Google shows it.
            most: the most that may be done; a need that is more counts for nothing.
            update_need: returns what a member that is not lost needs to get the wanted properties; by default, its label decides.
        """

        def within(need: Level) -> Level:
            need = self.carried_out(member, need)
            return need if need <= most else Level.NONE

        if self.is_lost(member) and most is Level.REPLACE:
            return Level.REPLACE
        need = max(within((update_need or self.update_need)(member)), within(self.asked(member)))
        return within(max(need, self.policy.least)) or need if need else need

    def is_lost(self, member: Member) -> bool:
        """Return whether a member is replaced because it is stopped."""
        return member.stopped and self.policy.on_stopped == "REPLACE"

    def update_need(self, member: Member) -> Level:
        """Return what a member needs to get the wanted properties, by its label."""
        label = member.generation or self.base
        if self.generation:
            need = need_of(label, self.generation)
            return Level.REFRESH if need is Level.RESTART and self._needs_no_restart(member, label) else need
        if self.sure:  # an outdated member may have the wanted properties
            return self.changed if need_of(label, self.base) < self.changed else Level.NONE
        return max(need_of(label, self.base) if self.base else Level.NONE, self.changed)

    def has_reached(self, member: Member) -> bool:
        """Return whether a member has the wanted properties, by its label, and nothing is left of an action."""
        return not self.update_need(member) and not self.action.level_for(member)

    def has_written(self, label: str) -> bool:
        """Return whether this update, or an earlier one, has given a member this label."""
        return label in {name for one in (self.base, self.generation) for name in (one, changing(one))}

    def knows(self, member: Member) -> bool:
        """Return whether it is known what a member needs to get the wanted properties: an outdated one may have them."""
        return bool(self.generation) or not need_of(member.generation or self.base, self.base)

    def _needs_no_restart(self, member: Member, label: str) -> bool:
        """Return whether each change that needs a restart is one that a member does not get, or has already."""
        has_type = self.machine_type_of(member) in {"", member.machine_type}
        stays = self.kept_by(member).union({"machineType"} if has_type else ())
        is_kept = all(not stays.isdisjoint((name, name.partition(".")[0])) for name in self.restarting)
        return bool(self.restarting) and is_kept and need_of(label, self.base) < Level.RESTART

    def asked(self, member: Member) -> Level:
        """Return what the program asks to do to a member, whatever its properties are."""
        return min(self.action.level_for(member), self.policy.most)

    def carried_out(self, member: Member, need: Level) -> Level:
        """Return what is done for a need: a member is replaced if it gets another host name, or cannot be restarted."""
        cannot_restart = need is Level.RESTART and not self.can_restart(member)
        return Level.REPLACE if cannot_restart or self._is_rehosted(member) else need

    def can_restart(self, member: Member) -> bool:
        """Return whether a member can be stopped and changed: a stop erases local SSDs, and machine types have limits."""
        wanted = self.machine_type_of(member)
        if member.local_ssds:
            return False
        if wanted is UNKNOWN:
            return self.sure
        return not wanted or can_change_machine_type(member.machine_type, wanted)

    def machine_type_of(self, member: Member) -> Any:
        """Return the name of the machine type that a member should have, perhaps UNKNOWN; empty if it keeps its own."""
        return "" if "machineType" in self.kept_by(member) else _machine_type(self.properties_of(member))

    def properties_of(self, member: Member) -> InstancePropertiesValues:
        """Return the properties (REST JSON) that a member should have, apart from settings that it keeps (`kept_by`).

        They include the changes of its fallback; if the fallback is not in the list any more, the member keeps
        everything that fallbacks change. A machine type that Google could choose is left out, because the member keeps
        it.
        """
        if member.fallback and has_unknown(self.inputs.get("fallbacks")):
            return {**self.properties, "machineType": UNKNOWN}
        used = self.inputs_of(member)
        if used is None:
            return without(self.properties, OF_FALLBACKS)
        own, fleets = nested(used, "instanceProperties"), nested(self.inputs, "instanceProperties")
        changed = chosen(own, [name for name in _OF_MACHINES if own.get(name) != fleets.get(name)])
        keeps_scheduling = own.get("scheduling") != fleets.get("scheduling")
        wanted: InstancePropertiesValues = {
            **without(self.properties, ("scheduling",) if keeps_scheduling else ()),
            **changed,
        }
        return without(wanted, _OF_MACHINES) if used.get("instanceFlexibilityPolicy") else wanted

    def own_of(self, member: Member) -> tuple[str, ...]:
        """Return a member's own settings after the update, which gives every member the label of its fleet."""
        return tuple(part for part in member.own if part not in self.given and part != OWN_GENERATION)

    def kept_by(self, member: Member) -> frozenset[str]:
        """Return the settings that a member keeps: its own, and the ones that the user ignores (`ignoreChanges`)."""
        return self.ignored.union(self.own_of(member))

    def inputs_of(self, member: Member) -> BulkInstancesValues | None:
        """Return the inputs with which a member was created; None if its fallback is not in the list any more."""
        if member.fallback not in self._inputs_of:
            self._inputs_of[member.fallback] = inputs_of_member(self.inputs, member.fallback)
        return self._inputs_of[member.fallback]

    def set_back(self, member: Member) -> dict[str, Level]:
        """Return which settings that others have changed on a member are set back, and what each needs.

        What needs more than the policy allows stays as it is, and so does a machine type that the program now wants, too,
        unless an interrupted restart has to end.
        """
        has_type = self.machine_type_of(member) == member.machine_type and not (member.stopped and member.changing)
        names = [name for name in member.differs if not (has_type and name == "machineType")]
        levels = {name: self.carried_out(member, level_of(name)) for name in names}
        return {name: level for name, level in levels.items() if self.refusal(member, level) is None}

    def stays_stopped(self, member: Member) -> bool:
        """Return whether a member stays stopped: the fleet keeps stopped ones, and no interrupted restart stopped it."""
        return member.stopped and self.policy.on_stopped == "KEEP" and not member.changing

    def require_allowed(self, members: Iterable[Member], plan: Iterable[PlannedMember]) -> None:
        """Raise UserError if a member that stays needs more than is allowed.

        `plan` is the `plan` of these members.
        """
        for member, planned in zip(members, plan, strict=True):
            refusal = self.refusal(member, planned.need)
            if refusal is not None and not (planned.leaves or planned.unwanted):
                raise refusal

    def refusal(self, member: Member, need: Level) -> UserError | None:
        """Return why the policy does not allow what a member needs; None if it does, or if the member is lost anyway."""
        if self.is_lost(member):
            return None
        if need > self.policy.most:
            return UserError(
                f"updatePolicy.mostDisruptiveAction: {self.policy.most.name} does not allow this change, which needs "
                f"{need.name}; raise it to {need.name}, or leave the properties as they were"
            )
        if need is Level.RESTART and member.runs and not self.policy.unavailable:
            return UserError(
                "updatePolicy.maxUnavailable: 0 does not allow this change, which restarts members; set it to at least 1, "
                "or replace the members instead, with minimalAction: REPLACE"
            )
        return None

    def planned(self, member: Member, need: Level, set_back: Mapping[str, Level]) -> PlannedMember:
        """Describe a member for the plan, with what it needs, and what is set back on it."""
        named = nested(self.inputs, "perInstanceProperties")
        return PlannedMember(
            name=member.name,
            need=max(need, *set_back.values()) if set_back else need,
            set_back=tuple(set_back),
            current=not need or (need is Level.REFRESH and self.has_reached(member)),
            available=member.runs,
            stopped=member.stopped,
            suspended=member.suspended,
            stays_stopped=self.stays_stopped(member),
            tried=member.runs and member.changing,
            unwanted=bool(named) and (member.name not in named or not self.policy.wanted),
            note=member.why_stopped,
            zone=member.zone,
            id=member.id,
        )

    def plan(self, members: Iterable[Member]) -> list[PlannedMember]:
        """Describe the members of the state for the plan, marked as in a preview."""
        return as_previewed([self.planned(one, self.need(one), self.set_back(one)) for one in members], self.policy)

    def _is_rehosted(self, member: Member) -> bool:
        """Return whether a member has another host name than the inputs give it.

        If they give none, this is true only for members in `hosted`: other members, such as imported ones, came with
        their host names.
        """
        named = nested(self.inputs, "perInstanceProperties")
        if has_unknown(named.get(member.name)):
            return not self.sure
        wanted = nested(named, member.name).get("hostname")
        return member.hostname != wanted and (wanted is not None or member.name in self.hosted)


def _machine_type(properties: InstancePropertiesValues) -> Any:
    """Return the name of a machine type, or UNKNOWN; empty if properties (REST JSON) have none."""
    found: Any = properties.get("machineType")
    return found if found is UNKNOWN else name_of(found or "")


def _restarting(
    paths: Iterable[Path], before: InstancePropertiesValues | None, after: InstancePropertiesValues | None
) -> frozenset[str]:
    """Return the names of the instance properties, or parts of `scheduling`, with changes that need a restart.

    If the properties before or after the change are not known, the paths decide; then, the result is empty for another
    template, because it may change anything.
    """
    if before is not None and after is not None:
        one, other = (by_level(properties)[Level.RESTART] for properties in (before, after))
        return frozenset(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
    changed = [path[1:3] for path in paths if path[0] in {"instanceProperties", "sourceInstanceTemplate"}]
    if not all(changed):
        return frozenset()
    names = {".".join(map(str, path)) if path[0] == "scheduling" else str(path[0]) for path in changed}
    return frozenset(name for name in names if level_of(*name.split(".")) is not Level.REFRESH)


def with_hostnames(*values: BulkInstancesValues) -> frozenset[str]:
    """Return the names of members that have host names of their own in inputs or outputs."""
    named = [item for one in values for item in nested(one, "perInstanceProperties").items()]
    return frozenset(name for name, own in named if isinstance(own, dict) and own.get("hostname") is not None)


def _is_uncertain(path: Path, new: BulkInstancesValues) -> bool:
    """Return whether the change at a path may turn out to be another one, or none."""
    value: Any = new
    for part in path:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int):
            value = value[part] if part < len(value) else None
    return path[0] == "sourceInstanceTemplate" or has_unknown(value)


def _known_properties(
    inputs: BulkInstancesValues, templates: Mapping[str, InstancePropertiesValues]
) -> InstancePropertiesValues | None:
    """Return the properties that inputs stand for (REST JSON); None if they have unknowns, or an unread template."""
    link = inputs.get("sourceInstanceTemplate")
    if has_unknown(inputs.get("instanceProperties")) or (link and link not in templates):
        return None
    return own_properties(inputs, templates[link] if link else None)
