"""Carry out a rollout: plan a step from the members as they are, do it, wait until they are ready, and plan the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

import attrs

from gcpx.compute.bulk_instances.creation.created_members import members_after
from gcpx.compute.bulk_instances.creation.instances import create_instances
from gcpx.compute.bulk_instances.creation.result import Creation
from gcpx.compute.bulk_instances.creation.wanted import Wanted
from gcpx.compute.bulk_instances.fleet import Failure, Fleet, Instance
from gcpx.compute.bulk_instances.names import explained_refusal
from gcpx.compute.bulk_instances.rollout.changes import MemberChanges
from gcpx.compute.bulk_instances.rollout.generation import is_changing, recorded_generation
from gcpx.compute.bulk_instances.rollout.goal import Goal
from gcpx.compute.bulk_instances.rollout.levels import Level
from gcpx.compute.bulk_instances.rollout.names import instances_to_create
from gcpx.compute.bulk_instances.rollout.plan import Member, Step, next_step, steps, work_left
from gcpx.compute.bulk_instances.rollout.readiness import Readiness
from gcpx.compute.bulk_instances.rollout.words import describe_step
from gcpx.compute.bulk_instances.size import FleetSize
from gcpx.errors import ProviderError
from gcpx.gcp.errors import Unfinished
from gcpx.model.call import Call

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


@attrs.define
class Rollout:
    """One run of a rollout.

    Attributes:
        members: the members as they were last read.
        wanted: the number of members to reach; lower than the goal's if Google has no room for more.
        creation: the last creation, if there was one.
        touched: whether anything was changed.
        creating: whether Google may still be creating instances, because a creation was interrupted.
        progress: shows which batch a line of progress is about.
        unstarted: stopped members that could not be started, with Google's errors.
    """

    call: Call
    fleet: Fleet
    goal: Goal
    members: list[Instance]
    wanted: int
    changes: MemberChanges
    readiness: Readiness
    progress: BatchProgress
    creation: Creation | None = None
    touched: bool = False
    creating: bool = False
    unstarted: list[Failure] = attrs.Factory(list)
    _starts: Counter[str] = attrs.Factory(Counter)
    _refreshed: set[str] = attrs.Factory(set)

    @classmethod
    def of(cls, call: Call, fleet: Fleet, goal: Goal, members: list[Instance]) -> Rollout:
        """Prepare a rollout that brings members to a goal."""
        progress = BatchProgress(call.progress)
        call = attrs.evolve(call, progress=progress)
        readiness = Readiness(call, fleet, goal.policy.guest_attribute, goal.policy.ready_within)
        readiness.trust([
            member
            for member in members
            if not goal.is_current(member) and not is_changing(recorded_generation(member))
        ])  # fmt: skip
        changes = MemberChanges(call, fleet, goal.target_of, goal.settings, goal.rests)
        return cls(call, fleet, goal, members, goal.wanted, changes, readiness, progress)

    def run(self) -> None:
        """Bring the members to the goal, or to the pause of the policy.

        Raises:
            ProviderError: a step failed; `members` may be out of date.
        """
        planned = len(list(steps(self._planned(), self.wanted, self.goal.policy)))
        for number in range(1, planned * 2 + _MORE_STEPS):
            step = self._next_step()
            if not step:
                return
            if planned > 1:
                self.progress.begin(f"batch {number} of {max(number, planned)}", describe_step(step))
            self._carry_out(step)
        raise RolloutError(
            f"members of {self.fleet.id} keep disappearing: {len(self.members):,} of {self.wanted:,} exist after "
            f"{number:,} batches; run `pulumi up` to go on"
        )

    def _planned(self) -> list[Member]:
        planned = [self.goal.member(item, ready=self.readiness.is_ready(item)) for item in self.members]
        return [self._after_earlier_steps(member) for member in planned]

    def _after_earlier_steps(self, member: Member) -> Member:
        """Return a member with what the steps of this run have found out about it."""
        is_refreshed = member.id in self._refreshed and member.need is Level.REFRESH
        startable = all(str(failure.request.member["id"]) != member.id for failure in self.unstarted)
        return attrs.evolve(member, need=Level.NONE if is_refreshed else member.need, startable=startable)

    def _next_step(self) -> Step:
        """Plan the next step; an empty one ends the rollout."""
        policy = self.goal.policy
        step, work = next_step(self._planned(), self.wanted, policy), work_left(self._planned(), self.wanted, policy)
        if step or not work:
            return step
        self.members = self.readiness.wait(self.members)
        step = next_step(self._planned(), self.wanted, policy)
        if not step and work_left(self._planned(), self.wanted, policy):
            raise self._stuck()
        return step

    def _stuck(self) -> RolloutError:
        running = sum(member.available for member in self._planned())
        return RolloutError(
            f"the rollout cannot go on: {running:,} of {self.wanted:,} members are ready, and updatePolicy allows "
            f"{self.goal.policy.unavailable:,} to be unavailable; repair the others, or raise maxUnavailable or maxSurge, "
            "then run `pulumi up` to go on"
        )

    def _carry_out(self, step: Step) -> None:
        self.touched |= bool(step.refresh or step.start or step.restart or step.delete)
        by_id = {str(member["id"]): member for member in self.members}

        def instances(members: list[Member]) -> list[Instance]:
            return [by_id[member.id] for member in members]

        self.readiness.forget(instances([*step.restart, *step.start]))
        self.changes.refresh(instances(step.refresh))
        self._refreshed |= {member.id for member in step.refresh}
        self._start(instances(step.start))
        if step.restart:
            self.changes.restart(instances(step.restart))
        self.changes.delete(instances(step.delete))
        if step.create:
            self._create(step, instances(step.delete))
        else:
            self.members = self._after(step)
        if self.goal.policy.rolling and (step.create or step.restart or step.start):
            self.members = self.readiness.wait(self.members)

    def _after(self, step: Step) -> list[Instance]:
        """Return the members after a step that creates none; they are read again if any was started."""
        if step.restart or step.start:
            return self.fleet.members(self.call)
        deleted = {member.id for member in step.delete}
        return [self._known(member) for member in self.members if str(member["id"]) not in deleted]

    def _known(self, member: Instance) -> Instance:
        """Return a member with the labels that gcpx has set on it since it was read."""
        if str(member["id"]) not in self._refreshed:
            return member
        return {**member, "labels": {**member.get("labels", {}), **self.goal.target.labels}}

    def _start(self, members: list[Instance]) -> None:
        self._starts.update(str(member["id"]) for member in members)
        restless = [member["name"] for member in members if self._starts[str(member["id"])] > _MOST_STARTS]
        if restless:
            raise RolloutError(
                f"{restless[0]} was started {_MOST_STARTS} times and stopped again each time; find out why it stops"
            )
        self.unstarted += self.changes.start(members)

    def _create(self, step: Step, deleted: list[Instance]) -> None:
        """Create what the step asks for; if there is no room, fail during a replacement, and otherwise accept fewer."""
        gone = {member["id"] for member in deleted}
        kept = [member for member in self.members if member["id"] not in gone]
        for wanted in instances_to_create(self.call, self.goal, kept, deleted, step.create):
            self.creation = self._created(kept, wanted)
            before, known, creation = len(kept), [*kept, *deleted], self.creation
            kept = members_after(self.call, self.fleet, known, creation.created, creation.outcomes)
            self.members = kept
            if len(kept) - before >= wanted.count:
                self.creation = self.creation.completed()
                self.call.progress(f"{wanted.count:,}/{wanted.count:,} instances created")
            else:
                self._accept_less(step, len(kept) - before, wanted.count)

    def _created(self, kept: list[Instance], wanted: Wanted) -> Creation:
        try:
            creation = create_instances(self.call, self.fleet, self.goal.inputs, kept, wanted)
        except Unfinished:
            self.touched = self.creating = True
            raise
        if creation.refusal is not None:
            inputs, refusal = self.goal.inputs, creation.refusal
            raise explained_refusal(self.call, self.fleet, inputs, wanted.count, refusal)
        self.touched = True
        return creation

    def _accept_less(self, step: Step, created: int, wanted: int) -> None:
        replaces = any(member.need is Level.REPLACE for member in self._planned()) or any(
            member.need is Level.REPLACE for member in step.delete
        )
        too_few = len(self.members) < FleetSize.of(self.goal.inputs).minimum and work_left(
            self._planned(), len(self.members), self.goal.policy
        )
        if (replaces or too_few) and self.goal.policy.rolling:
            raise RolloutError(f"{created:,} of {wanted:,} instances could be created{self._why_less}")
        self.wanted = len(self.members)

    @property
    def _why_less(self) -> str:
        """Say why the last creation created fewer instances than wanted, in one line for each cause."""
        if self.creation is None:
            return ""
        if self.creation.explanation:
            return f":\n{self.creation.explanation}"
        return f": {self.creation.error}" if self.creation.error else ""
