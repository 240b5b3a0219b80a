"""The loop that changes a fleet in batches, the wait until members are ready, and the rollback."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import attrs

from gcpx.compute.bulk_instances.capacity import (
    FleetSize,
    Places,
    free_names,
    names_taken_over,
    runs_out,
    with_fallback,
    with_members,
    zones_of,
)
from gcpx.compute.bulk_instances.changes import LABELS, ON_STOPPED, REFRESHED, RELEASED, Goal, Setting, Target
from gcpx.compute.bulk_instances.creation import Creation, Demand, create_instances, report_shortfall
from gcpx.compute.bulk_instances.fleet import FailedRequest, Fleet, MemberRequest
from gcpx.compute.bulk_instances.member import (
    GENERATION_LABEL,
    Instance,
    Level,
    Member,
    changing,
    fleet_values,
    is_stopped,
    is_suspended,
    name_order,
    recorded_generation,
)
from gcpx.compute.bulk_instances.outputs import (
    CREATION_OUTPUTS,
    last_members,
    live_fleet,
    places_left,
    rollout_outputs,
    unread_fleet,
)
from gcpx.compute.bulk_instances.plan import PlannedMember, Policy, Step, deleted_by, is_done, next_step, steps
from gcpx.compute.bulk_instances.preview import describe_step, names_to_come, new_of, surplus_of, without_followers
from gcpx.compute.bulk_instances.shortfalls import is_shortage
from gcpx.errors import CancelledError, Interrupted, ProviderError, safe_message, sentences
from gcpx.gcp.errors import ApiError, NotFound, PreconditionFailed, Unfinished
from gcpx.gcp.request import COMPUTE, Request, segment
from gcpx.model.context import Context
from gcpx.model.fields import chosen, nested
from gcpx.model.links import name_of
from gcpx.model.naming import UNFINISHED
from gcpx.model.resource import PartialError, State
from gcpx.model.words import counted, names_in_words

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues

_FIRST_PAUSE: Final = 0.2
_LONGEST_PAUSE: Final = 5.0


class NotReadyError(Interrupted):
    """Members were not ready in time."""

    code = "ABORTED"

    def __init__(self, members: list[Instance], limit: str) -> None:
        """Name some of the members, and the time that was too short for them."""
        shown = names_in_words(f"{member['name']} ({member.get('status')})" for member in members)
        super().__init__(f"not ready within {limit}: {shown}")


@attrs.define
class Readiness:
    """Which members of a fleet are ready: they run and have set the policy's guest attribute, if there is one.

    A member that was ready once counts as ready as long as it runs, until it is forgotten. A member that was not asked
    yet counts as ready, too.

    Attributes:
        policy: says what a ready member has set, and how many seconds `wait` waits at most.
    """

    context: Context
    fleet: Fleet
    policy: Policy
    _answers: dict[str, bool] = attrs.Factory(dict)
    """By the IDs of the members that were asked, whether they were ready."""

    def is_ready(self, member: Instance) -> bool:
        """Return whether a member runs and, as far as it was asked, has set the guest attribute."""
        return member.get("status") == "RUNNING" and self._answers.get(str(member["id"]), True)

    def ask(self, members: Iterable[Instance]) -> None:
        """Ask members that run and were not ready before, side by side; raises `ApiError`."""
        if not self.policy.guest_attribute:
            return
        members = list(members)
        self.forget(member for member in members if member.get("status") != "RUNNING")
        late = [member for member in members if not self._answers.get(str(member["id"]))]
        asked = [member for member in late if member.get("status") == "RUNNING"]
        answers = self.context.side_by_side(self._has_attribute, asked)
        self._answers |= {str(member["id"]): answer for member, answer in zip(asked, answers, strict=True)}

    def forget(self, members: Iterable[Instance]) -> None:
        """No longer count members as ready, because they are about to be restarted or started, or do not run."""
        for member in members:
            self._answers.pop(str(member["id"]), None)

    def wait(self, members: list[Instance], but: Container[str] = ()) -> list[Instance]:
        """Wait until members are ready or have stopped; return all members as they were last read.

        Args:
            members: all members as they were just listed.
            but: the IDs of members that are not waited for.

        Raises:
            NotReadyError: some are not ready after these seconds, or when the time of the call is over.
            ApiError: they cannot be read.
        """
        listed = None
        for _ in self.context.tries(self.policy.ready_within, pause=_FIRST_PAUSE, longest=_LONGEST_PAUSE):
            listed = members if listed is None else self.fleet.members(self.context)
            awaited = [member for member in listed if str(member["id"]) not in but and not is_stopped(member)]
            self.ask(awaited)
            late = [member for member in awaited if not self.is_ready(member)]
            if not late:
                return listed
            self.context.progress(
                f"waiting for {len(late):,} of {len(listed):,} members to be ready, such as {late[0]['name']}"
            )
        if self.context.cancelled.is_set():
            raise CancelledError("cancelled while members were starting")
        limit = counted(self.policy.ready_within, "second")
        if self.context.seconds_left() <= 0:
            limit = f"the custom timeout of {self.context.timeout:g} s; raise customTimeouts"
        raise NotReadyError(late, limit)

    def observe(self, seconds: int, but: Container[str] = ()) -> list[Instance]:
        """Wait some seconds, and then, as `wait` does, until members are ready that `wait` has found ready before.

        What their software has reported before does not count any more. Raises the same as `wait`.
        """
        for _ in self.context.tries(seconds, pause=_LONGEST_PAUSE, longest=_LONGEST_PAUSE):
            self.context.progress(f"the members are ready, and are observed for {seconds:,} s")
        if self.context.cancelled.is_set():
            raise CancelledError("cancelled while members were observed")
        members = self.fleet.members(self.context)
        self.forget(member for member in members if str(member["id"]) not in but)
        return self.wait(members, but)

    def _has_attribute(self, member: Instance) -> bool:
        path, has_value, wanted = self.policy.guest_attribute.partition("=")
        fleet, zone = self.fleet, name_of(member["zone"])
        url = f"beta/projects/{fleet.project}/zones/{zone}/instances/{segment(member['name'])}/getGuestAttributes"
        try:
            found = fleet.google.send(
                Request(api=COMPUTE, method="GET", path=url, query={"queryPath": path}), self.context
            )
        except NotFound:
            return False
        values = [item.get("value") for item in found.get("queryValue", {}).get("items", ())]
        return wanted in values if has_value else bool(values)


_STOPPED: Final = frozenset({"STOPPED", "TERMINATED"})


@attrs.frozen
class MemberChanges:
    """The changes of one update.

    A failure for a member ends the changes of that member alone: the next requests are sent for the others. Members
    that no longer exist are skipped.

    Attributes:
        goal: says what should be set on each member.
        failures: what has failed, by the ID of the member.
    """

    context: Context
    fleet: Fleet
    goal: Goal
    failures: dict[str, FailedRequest] = attrs.Factory(dict)

    def delete(self, members: Sequence[Instance]) -> list[Instance]:
        """Delete members; return the ones that still exist."""
        self._send([MemberRequest(member, "delete") for member in members], "deleted")
        return [member for member in members if str(member["id"]) in self.failures]

    def refresh(self, members: Sequence[Instance]) -> None:
        """Change members while they run; the label with the generation is set last."""
        for setting in REFRESHED:
            members = self.apply(setting, members, self.goal.target_of)

    def restart(self, members: Sequence[Instance]) -> None:
        """Stop members that run, change them, start them, and set the label with the generation.

        Before that, the label says that a change has started, because a stopped member does not show why it stopped.
        Members that rest are only changed. A suspended one is first stopped, because Google changes only stopped ones.
        Members that cannot be changed are started again, too.
        """
        resting = [member for member in members if self.goal.spec.rests(Member.of_instance(member))]
        mark = Target({}, labels={GENERATION_LABEL: changing(self.goal.spec.generation)})
        begun = self.apply(LABELS, _without(members, resting), lambda _: mark)
        running = [member for member in [*begun, *resting] if member.get("status") not in _STOPPED]
        unstopped = _without(running, self._send([MemberRequest(member, "stop") for member in running], "stopped"))
        stopped = changed = _without([*begun, *resting], unstopped)
        for setting, is_wanted in [*((item, False) for item in RELEASED), *((item, True) for item in ON_STOPPED)]:
            # What depends on other settings is removed before those.
            to_change = [
                member
                for member in changed
                if setting not in RELEASED or self.goal.target_of(member).wants(setting, member) == is_wanted
            ]
            changed = _without(changed, _without(to_change, self.apply(setting, to_change, self.goal.target_of)))
        to_start = _without(stopped, resting)
        started = self._send([MemberRequest(member, "start") for member in to_start], "started")
        done = _without(changed, _without(to_start, started))
        self.apply(LABELS, self.fleet.read_again(self.context, done), self.goal.target_of)

    def start(self, members: Sequence[Instance]) -> list[FailedRequest]:
        """Start stopped members, and resume suspended ones; return the requests that failed for lack of capacity."""
        requests = [
            MemberRequest(member, "resume", body={}) if is_suspended(member) else MemberRequest(member, "start")
            for member in members
        ]
        failures = self.fleet.try_all(self.context, requests, "started") if requests else []
        short = [item for item in failures if isinstance(item.error, ApiError) and is_shortage(item.error)]
        lacking = {item.request.member["id"] for item in short}
        self._record(item for item in failures if item.request.member["id"] not in lacking)
        return short

    def apply(
        self, setting: Setting, members: Sequence[Instance], target_of: Callable[[Instance], Target]
    ) -> list[Instance]:
        """Give members a setting of a target; a member that changed since it was listed is read and tried once more.

        Returns the members that have it.
        """

        def request(member: Instance) -> MemberRequest:
            return MemberRequest(member, setting.method, target_of(member).body(setting, member))

        done = f"changed: {setting.name}"
        behind = [member for member in members if target_of(member).differs(setting, member)]
        failures = self.fleet.try_all(self.context, [request(member) for member in behind], done)
        stale = [item.request.member for item in failures if isinstance(item.error, PreconditionFailed)]
        failed = self._record(item for item in failures if not isinstance(item.error, PreconditionFailed))
        if stale:
            current = self.fleet.read_again(self.context, stale)
            failed |= {member["id"] for member in stale} - {member["id"] for member in current}
            failed |= self._record(self.fleet.try_all(self.context, [request(member) for member in current], done))
        return [member for member in members if member["id"] not in failed]

    def _send(self, requests: list[MemberRequest], done: str) -> list[Instance]:
        """Send requests; return the members for which they succeeded."""
        failed = self._record(self.fleet.try_all(self.context, requests, done)) if requests else set()
        return [request.member for request in requests if request.member["id"] not in failed]

    def _record(self, failures: Iterable[FailedRequest]) -> set[str]:
        """Record failures, unless a member no longer exists; return the IDs of the members.

        Raises the first error if the user has cancelled, because nothing more is sent then.
        """
        failed = set()
        for failure in failures:
            if isinstance(failure.error, CancelledError) or self.context.cancelled.is_set():
                raise failure.error
            failed.add(failure.request.member["id"])
            if not isinstance(failure.error, NotFound):
                self.failures.setdefault(str(failure.request.member["id"]), failure)
        return failed


def _without(members: Iterable[Instance], others: Iterable[Instance]) -> list[Instance]:
    """Return the members that are not among others."""
    left_out = {member["id"] for member in others}
    return [member for member in members if member["id"] not in left_out]


def instances_to_create(
    context: Context, goal: Goal, kept: list[Instance], deleted: list[Instance], count: int, zones: Collection[str]
) -> list[Demand]:
    """Return what to create, one element for each bulk creation.

    Args:
        context: the engine's call, whose last outputs give the names and zones of members that were lost.
        goal: the goal of the update.
        kept: the members that exist.
        deleted: the members that the same step has deleted.
        count: the number of instances.
        zones: the zones that may have room, if the fleet is spread over them.
    """
    labels = {**goal.target.labels, **goal.spec.action.labels}
    places = _zones_by_name(context, goal.inputs, kept, deleted) if goal.policy.keep_names else {}
    named = goal.inputs.get("perInstanceProperties")
    if named:
        existing = {member["name"] for member in kept}
        wanted = names_taken_over((name for name in named if name not in existing), count)
        slots, names = {name: places[name] for name in wanted if name in places}, [n for n in wanted if n not in places]
        rest = len(names)
    else:
        slots = {name: places[name] for name in names_taken_over(places, count)}
        rest = count - len(slots)
        pattern, in_use = goal.inputs["namePattern"], {*(member["name"] for member in kept), *slots}
        # Without names, Google numbers them after the highest in use.
        names = free_names(pattern, in_use, rest) if rest and runs_out(pattern, in_use, rest) else []
    by_zone: dict[str | None, list[str]] = {}
    for name, zone in slots.items():
        by_zone.setdefault(zone, []).append(name)
    demands = [Demand(count=len(own), names=own, zone=zone, labels=labels) for zone, own in by_zone.items()]
    if rest:
        demands.append(
            _placed(
                goal, kept, Counter(filter(None, slots.values())), Demand(count=rest, names=names, labels=labels), zones
            )
        )
    return demands


def _placed(goal: Goal, kept: list[Instance], coming: Counter[str], demand: Demand, zones: Collection[str]) -> Demand:
    """Say where instances are created, so that the fleet stays in its zone, or spread as evenly as possible.

    `coming` counts the instances that the same step creates in other requests, by zone.
    """
    # A step that has started refuses nothing.
    places, planned = goal.policy.places, [goal.member(member, ready=True, blocked=True) for member in kept]
    existing = zones_of(kept) + coming
    staying = Counter(one.zone for one in planned if one.need is not Level.REPLACE and not one.unwanted) + coming
    demand = attrs.evolve(demand, existing=existing)
    if not kept or nested(goal.inputs, "placement"):
        return demand
    if places.is_balanced:
        first = places.spread(demand.count, existing, staying, zones)
        rest = [zone for zone in zones if existing[zone] and zone not in first]
        others = places.spread(demand.count, existing + first, staying + first, rest or zones)
        return attrs.evolve(demand, zones=first, others=others)
    own = Counter(name_of(member["zone"]) for member in kept if not Member.of_instance(member).fallback)
    if places.is_single and own and places.allows(zone := own.most_common(1)[0][0]):
        return attrs.evolve(demand, zones=places.spread(demand.count, existing, staying, [zone]))
    return demand


def _zones_by_name(
    context: Context, inputs: BulkInstancesValues, kept: list[Instance], deleted: list[Instance]
) -> dict[str, str | None]:
    """Return the names that new members take over, with their zones if they are still allowed."""
    left, existing = places_left(fleet_values(context.prior), kept), {member["name"] for member in kept}
    found = {item["name"]: name_of(item["zone"]) for item in deleted if item["name"] not in existing} | left
    merged = [with_fallback(inputs, fallback) for fallback in inputs.get("fallbacks") or ()]
    policies = [Places.of(item) for item in (inputs, *merged)]
    return {name: found[name] if any(places.allows(found[name]) for places in policies) else None for name in found}


def members_before(context: Context, members: list[Instance]) -> int:
    """Return how many members a fleet had before an update: in the state or at Google, whichever is more."""
    return max(len(fleet_values(context.prior).get("members") or ()), len(members))


_MOST_STARTS: Final = 3
_MORE_STEPS: Final = 20


class RolloutError(ProviderError):
    """A rollout cannot go on."""

    code = "ABORTED"


@attrs.define
class BatchProgress:
    """Shows progress; if there are several batches, every line begins with the batch."""

    show: Callable[[str], None]
    batch: str = ""

    def begin(self, batch: str, does: str) -> None:
        """Show that a batch begins, and what it does."""
        self.batch = f"{batch}: "
        self(does)

    def __call__(self, text: str) -> None:
        """Show a line of progress."""
        self.show(f"{self.batch}{text}")


_SHOWN: Final = 5
"""The number of failures that an error shows."""


def failure_lines(failures: Iterable[FailedRequest]) -> str:
    """Describe what has failed for members, one line each; the errors name the members. Empty without failures."""
    every = [safe_message(failure.error) for failure in failures]
    rest = len(every) - _SHOWN
    return "\n".join([*every[:_SHOWN], *([f"and {rest:,} more"] if rest > 0 else [])])


@attrs.define
class Rollout:
    """One run of a rollout.

    Attributes:
        members: the members as they were last read.
        creation: the last creation that fell short, or else the last one, if there was one.
        room: how many members Google has room for; None as long as no creation fell short.
        touched: whether anything was changed.
        settled: the IDs of members that a step has changed, or started to change.
        creating: whether Google may still be creating instances, because a creation was interrupted.
        progress: shows which batch a line of progress is about.
        unstarted: stopped members that could not be started, with Google's errors.
        goes_on: whether it goes on with the other members when something has failed for one.
        existed: how many members existed before it.
        deleted: the names of the members that it has deleted, by ID.
        surplus: the names of the deleted members that no new ones replace.
    """

    context: Context
    fleet: Fleet
    goal: Goal
    members: list[Instance]
    changes: MemberChanges
    readiness: Readiness
    progress: BatchProgress
    creation: Creation | None = None
    room: int | None = None
    touched: bool = False
    settled: set[str] = attrs.Factory(set)
    creating: bool = False
    unstarted: list[FailedRequest] = attrs.Factory(list)
    goes_on: bool = True
    existed: int = 0
    deleted: dict[str, str] = attrs.Factory(dict)
    surplus: list[str] = attrs.Factory(list)
    _seen: dict[str, str] = attrs.Factory(dict)
    """The names of all members that were there before a batch, by ID."""
    _starts: Counter[str] = attrs.Factory(Counter)
    _refreshed: set[str] = attrs.Factory(set)
    _full: set[str] = attrs.Factory(set)
    """The zones that had no room for what they should get."""

    @classmethod
    def of(cls, context: Context, fleet: Fleet, goal: Goal, members: list[Instance]) -> Rollout:
        """Prepare a rollout that brings members to a goal."""
        progress = BatchProgress(context.progress)
        context = attrs.evolve(context, progress=progress)
        readiness, changes = Readiness(context, fleet, goal.policy), MemberChanges(context, fleet, goal)
        existed = members_before(context, members)
        return cls(context, fleet, goal, members, changes, readiness, progress, existed=existed)

    def run(self) -> None:
        """Bring the members to the goal, or to the pause of the policy, and say who is gone.

        Raises:
            RolloutError: something has failed for some members.
            ProviderError: a step failed; `members` may be out of date.
        """
        try:
            self._run()
        finally:
            known = {str(member["id"]) for member in self.members} | self.deleted.keys() | self.changes.failures.keys()
            taken = [name for key, name in self._seen.items() if key not in known]
            for names, how in (
                (sorted(self.surplus, key=name_order), "deleted"),
                (taken, "deleted by somebody else during this update"),
            ):
                if names:
                    were = counted(len(names), "member was", "members were")
                    self.context.inform(f"{were} {how}: {names_in_words(names)}")

    def _run(self) -> None:
        course = [step for step, _ in steps(self._planned(), self._policy)]
        planned, unfollowed = len(course), without_followers(course, names_to_come(self.context, self.goal.inputs))
        for number in range(1, planned * 2 + _MORE_STEPS):
            self._seen |= {str(member["id"]): member["name"] for member in self.members}
            step = self._next_step()
            if not step:
                break
            if step.delete:  # perhaps more members than at the beginning, because some have stopped meanwhile
                self.goal.policy.require_few_deletions(len(self.deleted) + len(step.delete), self.existed)
            if number > planned:  # changes by others have made more steps necessary
                planned = number - 1 + sum(1 for _ in steps(self._planned(), self._policy))
            if planned > 1:
                self.progress.begin(f"batch {number} of {planned}", describe_step(step, unfollowed))
            self._carry_out(step)
            self.surplus += [self.deleted[item.id] for item in surplus_of(step, unfollowed) if item.id in self.deleted]
        else:
            raise RolloutError(
                f"members of {self.fleet.id} keep disappearing: {len(self.members):,} of {self.goal.policy.wanted:,} "
                f"exist after {number:,} batches; run `pulumi up` to go on"
            )
        if self.changes.failures:
            raise RolloutError(failure_lines(self.changes.failures.values()))

    @property
    def not_set_back(self) -> dict[str, list[str]]:
        """The changes on members that the last refresh found, and that the policy does not allow to set back."""
        drifted = {member.id for member in self.goal.known.values() if member.differs}
        untouched = (item for item in self.members if str(item["id"]) in drifted - self.settled)
        return self.goal.drift(untouched)

    @property
    def _policy(self) -> Policy:
        """The policy, with the number of members for which Google has room.

        As many members as before have to run, so fewer may be unavailable.
        """
        policy = self.goal.policy
        if self.room is None:
            return policy
        wanted = min(policy.wanted, self.room)
        surge, unavailable = min(policy.surge, self.room - wanted), policy.unavailable - (policy.wanted - wanted)
        return attrs.evolve(policy, wanted=wanted, surge=surge, unavailable=unavailable)

    def _planned(self) -> list[PlannedMember]:
        """Describe the members for the plan, with what the steps of this run have found out about them."""
        unstarted = {str(failure.request.member["id"]) for failure in self.unstarted}
        failed = self.changes.failures
        planned = [
            self.goal.member(item, ready=self.readiness.is_ready(item), blocked=str(item["id"]) in failed)
            for item in self.members
        ]
        found = [
            attrs.evolve(
                member,
                need=Level.NONE if member.id in self._refreshed and member.need is Level.REFRESH else member.need,
                startable=member.id not in unstarted,
            )
            for member in planned
        ]
        return [member for member in found if not (member.blocked and member.unwanted)]

    def _next_step(self) -> Step:
        """Plan the next step; an empty one ends the rollout."""
        if self._has_failed():
            return Step()
        planned = self._planned()
        step = next_step(planned, self._policy)
        done = not step and is_done(planned, self._policy)
        if step.disturbed or not (step or done):
            self.readiness.ask(self.members)
            step = next_step(self._planned(), self._policy)
        if step or done:
            return step
        self.members = self.readiness.wait(self.members)
        planned = self._planned()
        step = next_step(planned, self._policy)
        if not step and not is_done(planned, self._policy):
            raise self._stuck()
        return step

    def _has_failed(self) -> bool:
        """Return whether more members have failed than may be unavailable, so that the change itself may be wrong.

        Members that cannot be deleted do not count, because they go on running.
        """
        failures = self.changes.failures.values()
        changed = [failure for failure in failures if failure.request.method != "delete"]
        if not self.goes_on:
            return bool(failures)
        return len(changed) > max(1, self.goal.policy.unavailable)

    def _stuck(self) -> RolloutError:
        ready, policy = sum(member.available for member in self._planned()), self.goal.policy
        words = (
            f"the rollout cannot go on: {ready:,} of {policy.wanted:,} members are ready, and updatePolicy allows "
            f"{policy.unavailable:,} to be unavailable; repair the others, or raise maxUnavailable or maxSurge, "
            "then run `pulumi up` to go on"
        )
        if self.room is not None and self.room >= policy.wanted:
            words = (
                f"the rollout cannot go on: Google has no room for more than the {self.room:,} members that exist, and a new "
                "member has to be ready before an old one leaves; run `pulumi up` again later, or set "
                f"updatePolicy.maxUnavailable to at least 1, so that old ones leave first{self._why_less}"
            )
        elif self.room is not None:
            words = (
                f"the rollout cannot go on: Google has room for {self.room:,} of {policy.wanted:,} members, {ready:,} are "
                f"ready, and updatePolicy allows {policy.unavailable:,} to be unavailable; raise maxUnavailable to "
                f"{policy.wanted - ready + 1:,}, or lower count to {self.room:,}, then run `pulumi up` to go on"
                f"{self._why_less}"
            )
        failed = failure_lines(self.changes.failures.values())
        return RolloutError(f"{failed}\n{words}" if failed else words)

    def _carry_out(self, step: Step) -> None:
        self.touched |= bool(step.refresh or step.start or step.restart or step.delete)
        by_id = {str(member["id"]): member for member in self.members}

        def instances(members: list[PlannedMember]) -> list[Instance]:
            return [by_id[member.id] for member in members]

        begun = [*step.restart, *step.start]
        self.readiness.forget(instances(begun))
        self.settled |= {member.id for member in (*step.refresh, *step.restart)}
        if step.refresh:
            self.changes.refresh(instances(step.refresh))
        self._refreshed |= {member.id for member in step.refresh}
        if step.start:
            self._start(instances(step.start), leaving=[member.name for member in step.delete if member.running])
        if step.restart:
            self.changes.restart(instances(step.restart))
            restarted = {member.id for member in step.restart} - self.changes.failures.keys()
            self.goal = self.goal.without_action(restarted)
        left = self.changes.delete(instances(step.delete)) if step.delete else []
        gone = _without(instances(step.delete), left)
        self.deleted |= {str(member["id"]): member["name"] for member in gone}
        self.members = self._known(_without(self.members, gone))
        to_create = max(0, step.create - len(left))
        if to_create:
            self._create(to_create, gone)
        elif begun or left:  # a deletion whose result is not known may have deleted the member
            self.members = self.fleet.members(self.context)
        if to_create or begun:
            untouched = by_id.keys() - {member.id for member in begun}
            self.members = self.readiness.wait(self.members, untouched)
            if self.goal.policy.stable_for:
                self.members = self.readiness.observe(self.goal.policy.stable_for, untouched)

    def _known(self, members: list[Instance]) -> list[Instance]:
        """Return members with the labels that gcpx has set on them since they were read."""
        labelled = self._refreshed - self.changes.failures.keys()
        return [
            {**member, "labels": {**member.get("labels", {}), **self.goal.target.labels}}
            if str(member["id"]) in labelled
            else member
            for member in members
        ]

    def _start(self, members: list[Instance], leaving: list[str]) -> None:
        """Start members; if some cannot be started, raise RolloutError rather than delete others that run."""
        self._starts.update(str(member["id"]) for member in members)
        restless = [member["name"] for member in members if self._starts[str(member["id"])] > _MOST_STARTS]
        if restless:
            raise RolloutError(
                f"{restless[0]} was started {_MOST_STARTS} times and stopped again each time; find out why it stops"
            )
        failed = self.changes.start(members)
        refused = [
            self.changes.failures[key] for member in members if (key := str(member["id"])) in self.changes.failures
        ]
        if leaving and (failed or refused):
            raise RolloutError(
                f"{failure_lines([*failed, *refused])}\nBecause fewer members run, this update does not delete {names_in_words(leaving)}"
            )
        self.unstarted += failed

    def _create(self, count: int, deleted: list[Instance]) -> None:
        """Create instances; `deleted` are the members that the same step has deleted.

        If Google has room for fewer, what exists then is the most there can be. A rollout goes on with that if each
        member that it took away got a successor. A member that somebody else deletes meanwhile was created, or existed.
        """
        kept = self.members
        before, known, created, short = len(kept), [*kept, *deleted], 0, None
        for demand in instances_to_create(self.context, self.goal, kept, deleted, count, self._zones):
            try:
                creation = create_instances(self.context, self.fleet, self.goal.inputs, kept, demand)
            except Unfinished:
                self.touched = self.creating = True
                raise
            if creation.refusal is not None:  # the state keeps the outputs of the last creation that was accepted
                raise creation.refusal
            self.touched = True
            self.members = kept = creation.list_members(known)
            ids = {member["id"] for member in known}
            new = [member for member in kept if member["id"] not in ids]
            made = creation.in_zones | zones_of(new)
            self._full |= {zone for zone, number in demand.zones.items() if made[zone] < number}
            known = [*kept, *deleted]
            created += max(len(new), creation.created)
            if creation.missing and len(new) < demand.count:
                short = creation
            else:
                creation.complete()
                self.context.progress(f"{demand.count:,}/{demand.count:,} instances created")
            self.creation = creation if self.room is None else self.creation
        if short is None or created >= count:
            return
        self.creation, self.room = short, before + created
        replaces = any(member.need is Level.REPLACE and not member.blocked for member in self._planned())
        if created < len(deleted) or (short.stopped and replaces):
            raise RolloutError(f"{created:,} of {count:,} instances could be created{self._why_less}")

    @property
    def _zones(self) -> list[str]:
        """The zones that may have room for new members."""
        zones = self.goal.policy.places.listed or {
            *self.fleet.zones.of(self.fleet.project, self.fleet.region),
            *zones_of(self.members),
        }
        return sorted(zones - self._full)

    @property
    def _why_less(self) -> str:
        """Say why the last creation created fewer instances than wanted, in one line for each cause."""
        if self.creation is None:
            return ""
        if self.creation.explanation:
            return f":\n{self.creation.explanation}"
        return f": {self.creation.error}" if self.creation.error else ""


_FORWARD_OR_BACK: Final = (
    "`pulumi up` goes on to the new properties; to go back, restore the previous program and run `pulumi up --refresh`"
)


@attrs.frozen
class FleetUpdate:
    """One update, from old inputs to new ones; `stated` as for `Spec.offline`."""

    context: Context
    fleet: Fleet
    old: BulkInstancesValues
    new: BulkInstancesValues
    stated: BulkInstancesValues

    def run(self, before: list[Instance]) -> State:
        """Carry the update out, and describe the fleet; `before` are its members as they were just listed.

        Raises:
            PartialError: it failed after something was changed, or the fleet is smaller than its minimum.
            ProviderError: it failed before anything was changed, or what was changed has been rolled back.
        """
        goal = Goal.of(self.context, self.fleet, self.old, self.new, self.stated)
        rollout = self._rollout(goal, before)
        rollout.goes_on = not self._may_roll_back(rollout)
        try:
            rollout.run()
            if self.context.prior.get(UNFINISHED) and rollout.goal.policy.guest_attribute:
                rollout.members = rollout.readiness.wait(rollout.members)
        except ProviderError as error:
            raise self._failure(rollout, error, before) from error
        state = self._state(rollout, self.new, rollout.not_set_back)
        if rollout.creation is not None:
            report_shortfall(self.context, self.new, state, rollout.creation)
        if rollout.unstarted:
            self._report_unstarted(rollout, state)
        behind = [member["name"] for member in rollout.members if not rollout.goal.is_current(member)]
        if rollout.goal.policy.pause_after is not None and behind:
            self.context.warn(
                f"the rollout has paused: {new_of(len(rollout.members) - len(behind), len(rollout.members))}; raise or "
                "remove updatePolicy.pauseAfter to go on, or restore the previous properties and remove it to go back"
            )
        return state

    def _rollout(self, goal: Goal, members: list[Instance]) -> Rollout:
        """Prepare a rollout; members without a label of this fleet first get the label of their present properties."""
        # Both raise before anything is changed.
        planned = [goal.member(member, ready=True) for member in members]
        deleted = len(deleted_by(step for step, _ in steps(planned, goal.policy)))
        goal.policy.require_few_deletions(deleted, members_before(self.context, members))
        left = [member["name"] for member in members if goal.is_left(goal.of_instance(member))]
        if left:
            self.context.warn(
                f"{names_in_words(left)}: the label {GENERATION_LABEL} shows other properties than the state, so this update "
                f"leaves {'it as it is' if len(left) == 1 else 'them as they are'}; run `pulumi up --refresh` to change "
                f"{'it' if len(left) == 1 else 'them'}, too"
            )

        def lacks_label(member: Instance) -> bool:
            label = recorded_generation(member)
            return label != goal.generation_of(member) and bool(label or goal.spec.base != goal.spec.generation)

        unlabelled = list(filter(lacks_label, members))
        if not unlabelled:
            return Rollout.of(self.context, self.fleet, goal, members)
        stamps = MemberChanges(self.context, self.fleet, goal)
        stamps.apply(
            LABELS, unlabelled, lambda member: Target({}, labels={GENERATION_LABEL: goal.generation_of(member)})
        )
        if stamps.failures:
            raise RolloutError(failure_lines(stamps.failures.values()))
        rollout = Rollout.of(self.context, self.fleet, goal, self.fleet.members(self.context))
        rollout.touched = True
        return rollout

    def _failure(self, rollout: Rollout, error: ProviderError, before: list[Instance]) -> Exception:
        """Return the exception of a failed rollout, after rolling it back if the policy says so.

        `before` are the members before the rollout.
        """
        if not rollout.touched:
            return error
        cancelled = isinstance(error, CancelledError) or self.context.cancelled.is_set()
        if self._may_roll_back(rollout) and not cancelled:
            return self._rolled_back(rollout, error, before)
        return PartialError(self._live_or_unread(rollout), f"{safe_message(error)}\n{self._reached(rollout)}")

    def _may_roll_back(self, rollout: Rollout) -> bool:
        """Return whether a failure is rolled back; an update that only heals or restarts has nothing to go back to."""
        changed = {str(path[0]) for path in self.context.changed} - {"rollingAction"}
        return rollout.goal.policy.rolls_back and any(self.old.get(name) != self.new.get(name) for name in changed)

    def _rolled_back(self, rollout: Rollout, error: ProviderError, before: list[Instance]) -> Exception:
        """Bring the members that were changed back to the old inputs; if some were replaced, the state has to know."""
        self.context.warn(f"the rollout failed, and is being rolled back: {safe_message(error)}")
        goal = rollout.goal.reversed(with_members(self.old, before), before, rollout.settled)
        back = Rollout.of(self.context, self.fleet, goal, self.fleet.members(self.context))
        back.creating = rollout.creating
        try:
            back.run()
        except ProviderError as failure:
            rollout.creating = back.creating
            words = f"the rollout failed: {safe_message(error)}\nIt could not be rolled back: {safe_message(failure)}"
            return PartialError(self._live_or_unread(rollout), f"{words}\n{self._reached(rollout, _FORWARD_OR_BACK)}")
        words = "the rollout failed and was rolled back; the members have the previous properties"
        rolled_back = RolloutError(f"{words}: {safe_message(error)}")
        has_same_members = {member["id"] for member in back.members} == {member["id"] for member in before}
        if has_same_members and not back.creating:
            return rolled_back
        return PartialError(self._state(back, self.old, back.goal.drift(back.members)), str(rolled_back), {**self.old})

    def _reached(self, rollout: Rollout, next_step: str = "run `pulumi up` to go on from there") -> str:
        """Say how far a rollout got, and what to do next."""
        try:
            members, last = self.fleet.members(self.context), ""
        except ProviderError:
            members, last = rollout.members, "as far as gcpx knows, "
        current = sum(rollout.goal.is_current(member) for member in members)
        return (
            f"{last}{len(members):,} of {rollout.goal.policy.wanted:,} members exist, and {current:,} of them "
            f"{'has' if current == 1 else 'have'} the new properties; {next_step}"
        )

    def _state(
        self,
        rollout: Rollout,
        inputs: BulkInstancesValues,
        drift: Mapping[str, list[str]],
        known: Mapping[str, Member] | None = None,
    ) -> State:
        prior = fleet_values(self.context.prior)
        creation = rollout.creation.outputs if rollout.creation is not None else chosen(prior, CREATION_OUTPUTS)
        more = rollout_outputs(prior, rollout.goal, rollout.members)
        outputs: BulkInstancesValues = {**creation, **more}
        known = rollout.goal.known_after if known is None else known
        state = live_fleet(self.context, self.fleet, rollout.members, inputs, outputs, drift, known)
        return State.unread(state.id, state.properties) if rollout.creating else state

    def _live_or_unread(self, rollout: Rollout) -> State:
        try:
            rollout.members, were_listed = self.fleet.members(self.context), True
        except ProviderError:
            were_listed = False
        known, drift = rollout.goal.known_after_failure(rollout.members), rollout.goal.drift(rollout.members)
        with suppress(ProviderError):
            if were_listed:
                return self._state(rollout, self.new, drift, known)
        prior = fleet_values(self.context.prior)
        creation: BulkInstancesValues = rollout.creation.outputs if rollout.creation is not None else {}
        last: BulkInstancesValues = {
            **prior,
            "members": last_members(known, rollout.members, drift),
            **creation,
            **rollout_outputs(prior, rollout.goal, rollout.members),
        }
        return unread_fleet(self.fleet, self.new, last)

    def _report_unstarted(self, rollout: Rollout, state: State) -> None:
        """Report stopped members that could not be started; raises PartialError if too few others run."""
        size, running = FleetSize.of(self.new), state.properties["runningCount"]
        names = names_in_words(failure.request.member["name"] for failure in rollout.unstarted)
        words = sentences(
            f"{running:,} of {size.wanted:,} instances run; {names} could not be started: {rollout.unstarted[0].error}",
            "Run `pulumi up --refresh` to replace them where there is room"
            if rollout.goal.policy.on_stopped == "REPLACE"
            else "Run `pulumi up --refresh` to try again, or set onStopped: REPLACE to replace them where there is room",
        )
        if running < size.minimum:
            raise PartialError(state, words)
        self.context.warn(words)
