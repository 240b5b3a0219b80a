"""An update of a fleet: apply the new inputs to the members, or say how far the update got."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from gcpx.compute.bulk_instances.fleet import Fleet, Instance
from gcpx.compute.bulk_instances.fleet_id import GENERATION_LABEL
from gcpx.compute.bulk_instances.outputs import last_creation_outputs, last_members, live_fleet, unread_fleet
from gcpx.compute.bulk_instances.rollout.changes import MemberChanges
from gcpx.compute.bulk_instances.rollout.generation import recorded_generation
from gcpx.compute.bulk_instances.rollout.goal import Goal
from gcpx.compute.bulk_instances.rollout.outputs import rollout_outputs
from gcpx.compute.bulk_instances.rollout.rollout import Rollout
from gcpx.compute.bulk_instances.rollout.settings import LABELS, Target
from gcpx.compute.bulk_instances.rollout.words import names_in_words, new_of
from gcpx.compute.bulk_instances.shortfall import report_shortfall
from gcpx.compute.bulk_instances.size import FleetSize, with_members
from gcpx.errors import CancelledError, ProviderError
from gcpx.model.call import Call
from gcpx.model.resource import Live, PartialError


@attrs.frozen
class FleetUpdate:
    """One update, from old inputs to new ones."""

    call: Call
    fleet: Fleet
    old: dict[str, Any]
    new: dict[str, Any]

    def run(self) -> Live:
        """Carry the update out, and describe the fleet.

        Raises:
            PartialError: it failed after something was changed, or the fleet is smaller than its minimum.
            ProviderError: it failed before anything was changed, or what was changed has been rolled back.
        """
        before = self.fleet.members(self.call)
        rollout = self._rollout(Goal.of(self.call, self.fleet, self.old, self.new), before)
        try:
            rollout.run()
        except ProviderError as error:
            raise self._failure(rollout, error, before) from error
        live = self._live(rollout, self.new)
        if rollout.creation is not None:
            report_shortfall(self.call, self.new, live, rollout.creation)
        self._report_unstarted(rollout, live)
        self._warn_of_pause(rollout)
        return live

    def _rollout(self, goal: Goal, members: list[Instance]) -> Rollout:
        """Prepare a rollout; members without a generation label first get the one of their present properties."""
        for member in members:  # raises, before anything is changed, if the policy does not allow the change
            goal.member(member, ready=True)
        unlabelled = [member for member in members if goal.generation and not recorded_generation(member)]
        if not unlabelled or goal.base == goal.generation:
            return Rollout.of(self.call, self.fleet, goal, members)

        def stamp(member: Instance) -> Target:
            return Target({}, labels={GENERATION_LABEL: goal.generation_of(member)})

        MemberChanges(self.call, self.fleet, stamp, (LABELS,)).refresh(unlabelled)
        rollout = Rollout.of(self.call, self.fleet, goal, self.fleet.members(self.call))
        rollout.touched = True
        return rollout

    def _failure(self, rollout: Rollout, error: ProviderError, before: list[Instance]) -> Exception:
        """Return what a failed rollout raises, after rolling it back if the policy says so.

        `before` are the members before the rollout.
        """
        if not rollout.touched:
            return error
        cancelled = isinstance(error, CancelledError) or self.call.cancelled.is_set()
        if rollout.goal.policy.rolls_back and self.call.changed and not cancelled:
            return self._rolled_back(rollout, error, before)
        return PartialError(self._live_or_unread(rollout), f"{error}\n{self._reached(rollout)}")

    def _rolled_back(self, rollout: Rollout, error: ProviderError, before: list[Instance]) -> Exception:
        """Bring the members that were changed back to the old inputs; if some were replaced, the state has to know."""
        self.call.warn(f"the rollout failed, and is being rolled back: {error}")
        old = with_members(self.old, before)
        back = Rollout.of(self.call, self.fleet, rollout.goal.reversed(old), self.fleet.members(self.call))
        back.creating = rollout.creating
        try:
            back.run()
        except ProviderError as failure:
            rollout.creating = back.creating
            words = f"the rollout failed: {error}\nIt could not be rolled back: {failure}"
            return PartialError(self._live_or_unread(rollout), f"{words}\n{self._reached(rollout)}")
        rolled_back = _RolledBackError(error)
        has_same_members = {member["id"] for member in back.members} == {member["id"] for member in before}
        if has_same_members and not back.creating:
            return rolled_back
        return PartialError(self._live(back, self.old), str(rolled_back), self.old)

    def _reached(self, rollout: Rollout) -> str:
        """Say how far a rollout got, and what to do next."""
        try:
            members = self.fleet.members(self.call)
        except ProviderError:
            members = rollout.members
        if not rollout.goal.generation:
            return f"{len(members):,} of {rollout.goal.wanted:,} instances exist; run `pulumi up` to go on"
        current = sum(rollout.goal.is_current(member) for member in members)
        return (
            f"{len(members):,} of {rollout.goal.wanted:,} members exist, and {current:,} of them "
            f"{'has' if current == 1 else 'have'} the new properties; run `pulumi up` to go on from there"
        )

    def _live(self, rollout: Rollout, inputs: dict[str, Any]) -> Live:
        creation = rollout.creation.outputs if rollout.creation is not None else last_creation_outputs(self.call.last)
        more = rollout_outputs(self.call.last, rollout.goal, rollout.members)
        live = live_fleet(self.call, self.fleet, rollout.members, inputs, {**creation, **more})
        return Live.unread(live.id, live.properties) if rollout.creating else live

    def _live_or_unread(self, rollout: Rollout) -> Live:
        try:
            rollout.members = self.fleet.members(self.call)
            return self._live(rollout, self.new)
        except ProviderError:
            reached = rollout_outputs(self.call.last, rollout.goal, rollout.members)
            creation = rollout.creation.outputs if rollout.creation is not None else {}
            known = {"members": last_members(self.call, rollout.members), **creation, **reached}
            return unread_fleet(self.fleet, self.new, {**self.call.last, **known})

    def _report_unstarted(self, rollout: Rollout, live: Live) -> None:
        """Report stopped members that could not be started; raises PartialError if too few others run."""
        if not rollout.unstarted:
            return
        size, running = FleetSize.of(self.new), live.properties["runningCount"]
        names = names_in_words(failure.request.member["name"] for failure in rollout.unstarted)
        words = (
            f"{running:,} of {size.wanted:,} instances run; {names} could not be started: {rollout.unstarted[0].error} "
            "Run `pulumi up --refresh` to try again, or set onStopped: REPLACE to replace them where there is room"
        )
        if running < size.minimum:
            raise PartialError(live, words)
        self.call.warn(words)

    def _warn_of_pause(self, rollout: Rollout) -> None:
        behind = _names(member for member in rollout.members if not rollout.goal.is_current(member))
        if rollout.goal.policy.pause_after is not None and behind:
            self.call.warn(
                f"the rollout has paused: {new_of(len(rollout.members) - len(behind), len(rollout.members))}; raise or "
                "remove updatePolicy.pauseAfter to go on, or restore the previous properties and remove it to go back"
            )


class _RolledBackError(ProviderError):
    """A rollout failed, and the members have the previous properties again."""

    code = "ABORTED"

    def __init__(self, error: ProviderError) -> None:
        super().__init__(f"the rollout failed and was rolled back; the members have the previous properties: {error}")


def _names(members: Iterable[Instance]) -> list[str]:
    return [member["name"] for member in members]
