"""Change, restart, start and delete members: many side by side, each kind of request in one round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import attrs

from gcpx.compute.bulk_instances.creation.causes import is_shortage
from gcpx.compute.bulk_instances.fleet import Failure, Fleet, Instance, MemberRequest
from gcpx.compute.bulk_instances.fleet_id import GENERATION_LABEL
from gcpx.compute.bulk_instances.rollout.generation import changing
from gcpx.compute.bulk_instances.rollout.settings import LABELS, ON_RUNNING, ON_STOPPED, Setting, Target
from gcpx.gcp.errors import ApiError, NotFound, PreconditionFailed
from gcpx.model.call import Call

_STOPPED: Final = frozenset({"STOPPED", "TERMINATED"})
_SUSPENDED: Final = frozenset({"SUSPENDED", "SUSPENDING"})


@attrs.frozen
class MemberChanges:
    """The changes of one update.

    All methods try all members before they raise the first `ProviderError`. Members that no longer exist are skipped.

    Attributes:
        target_of: returns what should be set on a member.
        settings: what changes on running members, in this order.
        rests: returns whether a stopped member stays stopped when it is changed.
    """

    call: Call
    fleet: Fleet
    target_of: Callable[[Instance], Target]
    settings: tuple[Setting, ...] = (*ON_RUNNING, LABELS)
    rests: Callable[[Instance], bool] = lambda _: False

    def delete(self, members: Sequence[Instance]) -> None:
        """Delete members."""
        self._send([MemberRequest(member, "delete") for member in members], "deleted")

    def refresh(self, members: Sequence[Instance]) -> None:
        """Change members while they run; the label that says so comes last."""
        for setting in self.settings:
            self._set(setting, members)

    def restart(self, members: Sequence[Instance]) -> None:
        """Stop members that run, change them, start them, and set the label that says that it is done.

        Before that, another label says that a change has begun, because a stopped member does not show why it stopped.
        Members that rest are only changed. A suspended one is first stopped, because Google changes only stopped ones.
        """
        restarted = [member for member in members if not self.rests(member)]
        self._set(LABELS, restarted, self._begun)
        others = [member for member in members if member.get("status") not in _STOPPED]
        self._send([MemberRequest(member, "stop") for member in others], "stopped")
        for setting in ON_STOPPED:
            self._set(setting, members)
        self._send([MemberRequest(member, "start") for member in restarted], "started")
        self._set(LABELS, self.fleet.read_again(self.call, members))

    def start(self, members: Sequence[Instance]) -> list[Failure]:
        """Start members that were stopped, and resume those that were suspended; return those without capacity."""
        requests = [
            MemberRequest(member, "resume", body={})
            if member.get("status") in _SUSPENDED
            else MemberRequest(member, "start")
            for member in members
        ]
        failures = self.fleet.try_all(self.call, requests, "started") if requests else []
        short = [item for item in failures if isinstance(item.error, ApiError) and is_shortage(item.error)]
        _raise_first(item for item in failures if item not in short and not isinstance(item.error, NotFound))
        return short

    def _begun(self, member: Instance) -> Target:
        """Return the target of a member that is about to be stopped: the label that says so."""
        return Target({}, labels={GENERATION_LABEL: changing(self.target_of(member).labels[GENERATION_LABEL])})

    def _set(
        self, setting: Setting, members: Iterable[Instance], target_of: Callable[[Instance], Target] | None = None
    ) -> None:
        """Give members a setting; those that changed since they were listed are read and tried once more."""
        target_of = target_of or self.target_of

        def request(member: Instance) -> MemberRequest:
            return MemberRequest(member, setting.method, target_of(member).body(setting, member))

        done = f"changed: {setting.name}"
        behind = [member for member in members if target_of(member).differs(setting, member)]
        failures = self.fleet.try_all(self.call, [request(member) for member in behind], done)
        stale = [item.request.member for item in failures if isinstance(item.error, PreconditionFailed)]
        _raise_first(item for item in failures if not isinstance(item.error, PreconditionFailed | NotFound))
        if stale:
            current = self.fleet.read_again(self.call, stale)
            self._send([request(member) for member in current], done)

    def _send(self, requests: list[MemberRequest], done: str) -> None:
        if requests:
            failures = self.fleet.try_all(self.call, requests, done)
            _raise_first(item for item in failures if not isinstance(item.error, NotFound))


def _raise_first(failures: Iterable[Failure]) -> None:
    for failure in failures:
        raise failure.error
