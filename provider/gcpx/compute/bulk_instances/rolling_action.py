"""A rolling action: members that a program asks to restart or to replace, once for each value of a trigger.

Each member that was handled has a label with a hash of the trigger, and so has each member that is created meanwhile.
So an update that was interrupted goes on with the others. When all are handled, an output holds the hash, and the
labels do not matter any more.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING, Final

import attrs

from gcpx.compute.bulk_instances.fleet import ACTION_LABEL
from gcpx.compute.bulk_instances.generation import hash_for_label
from gcpx.compute.bulk_instances.member import Member, members_of_state
from gcpx.compute.bulk_instances.plan import Level, level_named
from gcpx.model.fields import nested, text
from gcpx.model.resource import Context
from gcpx.model.values import UNKNOWN, Path

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues

_INPUT: Final = "rollingAction"


@attrs.frozen
class RollingAction:
    """What a program asks to do to members of a fleet.

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
    def of(cls, inputs: BulkInstancesValues, prior: BulkInstancesValues) -> RollingAction:
        """Determine what an action has left to do.

        Args:
            inputs: the fleet's inputs. What is not known yet counts as the most that it can be.
            prior: the last outputs.
        """
        if not inputs.get(_INPUT):
            return cls()
        given, trigger = nested(inputs, _INPUT), text(nested(inputs, _INPUT), "trigger")
        mark, level = hash_for_label(trigger) if trigger else "", level_named(text(given, "action"), Level.REPLACE)
        chosen = given.get("members")
        if mark and mark == prior.get("lastRollingAction"):
            return cls(level, mark)
        left = {member.id for member in members_of_state(prior).values() if not mark or member.action != mark}
        if isinstance(chosen, list) and UNKNOWN not in chosen:
            left &= set(chosen)
        return cls(level, mark, frozenset(left))

    @property
    def labels(self) -> dict[str, str]:
        """The label of members that need nothing of it, such as new ones; empty without an action."""
        return {ACTION_LABEL: self.mark} if self.mark else {}

    def level_for(self, member: Member) -> Level:
        """Return what is left to do to a member."""
        handled = bool(self.mark) and member.action == self.mark
        return self.level if member.id in self.pending and not handled else Level.NONE

    def without(self, handled: Container[str]) -> RollingAction:
        """Return what is left when members, by their IDs, were handled."""
        return attrs.evolve(self, pending=frozenset(member for member in self.pending if member not in handled))

    def outputs(self, prior: BulkInstancesValues, members: Iterable[Member]) -> BulkInstancesValues:
        """Return the output that says which action was the last that all its members were handled for.

        Args:
            prior: the last outputs.
            members: all members as they are now.
        """
        has_ended = bool(self.mark) and not any(map(self.level_for, members))
        last = self.mark if has_ended else prior.get("lastRollingAction")
        return {"lastRollingAction": last} if last else {}


def is_only_action(changed: Iterable[Path]) -> bool:
    """Return whether an update changes nothing that a rollback could restore: only actions, or what others changed."""
    return all(path[0] in {_INPUT, "members"} for path in changed)


def warn_of_idle_action(context: Context, inputs: BulkInstancesValues, prior: BulkInstancesValues) -> None:
    """Warn if an action that the program has just changed does nothing, at all or to some of the chosen members."""
    if not any(path[0] == _INPUT for path in context.changed) or not inputs.get(_INPUT):
        return
    action = RollingAction.of(inputs, prior)
    if action.mark and action.mark == prior.get("lastRollingAction"):
        context.warn(
            "rollingAction.trigger: everything was already done for this value, so this update restarts and replaces "
            "nothing; set another value, such as the time"
        )
        return
    known = {item["id"] for item in prior.get("members") or ()}
    given: Mapping[str, object] = nested(inputs, _INPUT)
    chosen = given.get("members")
    others = [item for item in chosen if item is not UNKNOWN and item not in known] if isinstance(chosen, list) else []
    if others:
        context.warn(
            f"rollingAction.members: {', '.join(others)} {'is not a member' if len(others) == 1 else 'are not members'} of "
            "this fleet, so nothing is done there; the output members has the IDs of the members"
        )
