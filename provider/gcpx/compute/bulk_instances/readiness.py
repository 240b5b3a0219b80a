"""Which members are ready, and the wait for them."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Final

import attrs

from gcpx.compute.bulk_instances.fleet import Fleet, Instance, is_stopped
from gcpx.compute.bulk_instances.plan import Policy
from gcpx.errors import CancelledError, Interrupted
from gcpx.gcp.errors import NotFound
from gcpx.gcp.request import COMPUTE, Request, segment
from gcpx.model.links import name_of
from gcpx.model.resource import Context
from gcpx.model.words import counted, names_in_words

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
    """Which members of a fleet are ready: those that run and, if a guest attribute is asked for, have set it.

    A member that was ready once counts as ready as long as it runs, until it is forgotten. One that was not asked yet
    counts as ready, too.

    Attributes:
        guest_attribute: what a ready member has set, as `NAMESPACE/KEY` or `NAMESPACE/KEY=VALUE`; may be empty.
        within: the maximum number of seconds that `wait` waits.
    """

    context: Context
    fleet: Fleet
    guest_attribute: str
    within: int
    _answers: dict[str, bool] = attrs.Factory(dict)
    """By the IDs of the members that were asked, whether they were ready."""

    @classmethod
    def of(cls, context: Context, fleet: Fleet, policy: Policy) -> Readiness:
        """Ask for what a policy calls ready."""
        return cls(context, fleet, policy.guest_attribute, policy.ready_within)

    def is_ready(self, member: Instance) -> bool:
        """Return whether a member runs and, as far as it was asked, has set the guest attribute."""
        return member.get("status") == "RUNNING" and self._answers.get(str(member["id"]), True)

    def ask(self, members: Iterable[Instance]) -> None:
        """Ask members that run and were not ready before, side by side; raises `ApiError`."""
        if not self.guest_attribute:
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
            but: the IDs of those that are not waited for.

        Raises:
            NotReadyError: some are not ready after `within` seconds, or when the time of the call is over.
            ApiError: they cannot be read.
        """
        listed = None
        for _ in self.context.tries(self.within, pause=_FIRST_PAUSE, longest=_LONGEST_PAUSE):
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
        limit = counted(self.within, "second")
        if self.context.seconds_left() <= 0:
            limit = f"the custom timeout of {self.context.timeout:g} s; raise customTimeouts"
        raise NotReadyError(late, limit)

    def observe(self, seconds: int, but: Container[str] = ()) -> list[Instance]:
        """Wait some seconds, and then until members are ready, as `wait` does, which has found them ready before.

        What their software has said before that does not count any more. Raises what `wait` raises.
        """
        for _ in self.context.tries(seconds, pause=_LONGEST_PAUSE, longest=_LONGEST_PAUSE):
            self.context.progress(f"the members are ready, and are observed for {seconds:,} s")
        if self.context.cancelled.is_set():
            raise CancelledError("cancelled while members were observed")
        members = self.fleet.members(self.context)
        self.forget(member for member in members if str(member["id"]) not in but)
        return self.wait(members, but)

    def _has_attribute(self, member: Instance) -> bool:
        path, _, wanted = self.guest_attribute.partition("=")
        fleet, zone = self.fleet, name_of(member["zone"])
        url = f"beta/projects/{fleet.project}/zones/{zone}/instances/{segment(member['name'])}/getGuestAttributes"
        try:
            found = fleet.google.send(
                Request(api=COMPUTE, method="GET", path=url, query={"queryPath": path}), self.context
            )
        except NotFound:
            return False
        values = [item.get("value") for item in found.get("queryValue", {}).get("items", ())]
        return wanted in values if wanted or "=" in self.guest_attribute else bool(values)
