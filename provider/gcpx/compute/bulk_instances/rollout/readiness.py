"""Wait until the members of a batch are ready."""

from __future__ import annotations

from typing import Final

import attrs

from gcpx.compute.bulk_instances.fleet import Fleet, Instance
from gcpx.compute.bulk_instances.health import is_stopped
from gcpx.errors import CancelledError, ProviderError
from gcpx.gcp.apis import COMPUTE
from gcpx.gcp.errors import NotFound
from gcpx.gcp.request import Request, segment
from gcpx.model.call import Call
from gcpx.model.links import name_of

_FIRST_PAUSE: Final = 0.2
_LONGEST_PAUSE: Final = 5.0
_NAMED: Final = 5


class NotReadyError(ProviderError):
    """Members were not ready in time."""

    code = "ABORTED"

    def __init__(self, members: list[Instance], within: int) -> None:
        shown = ", ".join(f"{member['name']} ({member.get('status')})" for member in members[:_NAMED])
        more = f" and {len(members) - _NAMED:,} more" if len(members) > _NAMED else ""
        seconds = "1 second" if within == 1 else f"{within:,} seconds"
        super().__init__(f"not ready within {seconds}: {shown}{more}")


@attrs.define
class Readiness:
    """Which members of a fleet are ready. A member that was ready once counts as ready until it is forgotten.

    Attributes:
        guest_attribute: what a ready member has set, as `NAMESPACE/KEY` or `NAMESPACE/KEY=VALUE`; may be empty.
        within: the maximum number of seconds that `wait` waits.
    """

    call: Call
    fleet: Fleet
    guest_attribute: str
    within: int
    _ready: set[str] = attrs.Factory(set)

    def is_ready(self, member: Instance) -> bool:
        """Return whether a member runs, and has set the guest attribute if one is asked for; raises `ApiError`."""
        if member.get("status") != "RUNNING":
            return False
        if str(member["id"]) not in self._ready and self.guest_attribute and not self._has_attribute(member):
            return False
        self._ready.add(str(member["id"]))
        return True

    def trust(self, members: list[Instance]) -> None:
        """Count running members as ready without asking them, because no rollout has touched them."""
        self._ready |= {str(member["id"]) for member in members}

    def forget(self, members: list[Instance]) -> None:
        """Ask members again, because they are about to be restarted or started."""
        self._ready -= {str(member["id"]) for member in members}

    def wait(self, members: list[Instance]) -> list[Instance]:
        """Wait until all members are ready or have stopped; return them as they were last read.

        Raises:
            NotReadyError: some are not ready after `within` seconds.
            ApiError: they cannot be read.
        """
        clock, pause = self.fleet.google.clock, _FIRST_PAUSE
        deadline = clock() + self.within
        while True:
            late = [member for member in members if not is_stopped(member) and not self.is_ready(member)]
            if not late:
                return members
            if clock() >= deadline:
                raise NotReadyError(late, self.within)
            self.call.progress(
                f"waiting for {len(late):,} of {len(members):,} members to be ready, such as {late[0]['name']}"
            )
            if self.call.cancelled.wait(min(pause, max(0.0, deadline - clock()))):
                raise CancelledError("cancelled while members were starting; run `pulumi up` to go on")
            pause = min(pause * 2, _LONGEST_PAUSE)
            members = self.fleet.members(self.call)

    def _has_attribute(self, member: Instance) -> bool:
        path, _, wanted = self.guest_attribute.partition("=")
        fleet, zone = self.fleet, name_of(member["zone"])
        url = f"beta/projects/{fleet.project}/zones/{zone}/instances/{segment(member['name'])}/getGuestAttributes"
        try:
            found = fleet.google.send(
                Request(api=COMPUTE, method="GET", path=url, query={"queryPath": path}), self.call
            )
        except NotFound:
            return False
        values = [item.get("value") for item in found.get("queryValue", {}).get("items", ())]
        return wanted in values if wanted or "=" in self.guest_attribute else bool(values)
