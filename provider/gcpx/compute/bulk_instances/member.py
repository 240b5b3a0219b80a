"""A member of a fleet, as Google shows it or as the state has it: the same fields, so that one rule decides for both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from gcpx.compute.bulk_instances.fleet import (
    ACTION_LABEL,
    FALLBACK_LABEL,
    Instance,
    is_stopped,
    is_suspended,
    number_of_local_ssds,
)
from gcpx.compute.bulk_instances.generation import is_changing, recorded_generation
from gcpx.model.links import name_of

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues, MemberValues

OWN_GENERATION: Final = "generation"
"""The name among the settings that a member has for itself if its generation label came from another fleet."""
_STOPPED_BY: Final = {
    "GUEST": "shut down from within",
    "HOST_ERROR": "stopped by a host error",
    "PREEMPTED": "preempted",
    "REQUESTED": "stopped by somebody",
    "RUN_LIMIT": "stopped at its run limit",
}
"""The words for a stopped member, by its `stopReason`."""


@attrs.frozen(kw_only=True)
class Member:
    """A member of a fleet.

    Attributes:
        id: its numeric ID.
        name: its name.
        zone: the name of its zone.
        status: its status, such as `RUNNING`.
        machine_type: the name of its machine type.
        local_ssds: how many local SSDs it has, which a stop would erase.
        hostname: its host name, if it has another one than Google derives from its name.
        generation: which properties it was created with or last changed to; empty if that is not known.
        action: for which rolling action it was handled last; empty if for none.
        fallback: with which fallback it was created: its index and a hash, as in the label; empty if with none.
        differs: the settings that somebody has changed on it, as the last refresh has found them.
        own: the parts of settings, as `Setting.part` names them, that it had for itself when the fleet was imported, and
            that the program has not changed since.
        stop_reason: why it is stopped, as in the outputs; empty if it is not, or if that is not known.
    """

    id: str
    name: str
    zone: str
    status: str
    machine_type: str
    local_ssds: int = 0
    hostname: str | None = None
    generation: str = ""
    action: str = ""
    fallback: str = ""
    differs: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    stop_reason: str = ""

    @classmethod
    def of_instance(cls, instance: Instance) -> Member:
        """Describe a member as Google shows it; what others have changed on it, only a refresh tells."""
        labels = instance.get("labels") or {}
        return cls(
            id=str(instance["id"]),
            name=instance["name"],
            zone=name_of(instance["zone"]),
            status=instance.get("status") or "",
            machine_type=name_of(instance["machineType"]),
            local_ssds=number_of_local_ssds(instance),
            hostname=instance.get("hostname"),
            generation=recorded_generation(instance),
            action=labels.get(ACTION_LABEL) or "",
            fallback=labels.get(FALLBACK_LABEL) or "",
        )

    @classmethod
    def of_output(cls, item: MemberValues) -> Member:
        """Describe a member as an element of the output `members` has it.

        An older state, or one that somebody has edited, may lack what Google gives anew.
        """
        return cls(
            id=item["id"],
            name=item["name"],
            zone=name_of(item.get("zone") or ""),
            status=item.get("status") or "",
            machine_type=item.get("machineType") or "",
            local_ssds=item.get("localSsds") or 0,
            hostname=item.get("hostname"),
            generation=item.get("generation") or "",
            action=item.get("rollingAction") or "",
            fallback="-".join(filter(None, (str(item.get("fallback", "")), item.get("fallbackHash")))),
            differs=tuple(item.get("differs") or ()),
            own=tuple(item.get("own") or ()),
            stop_reason=item.get("stopReason") or "",
        )

    @property
    def label_is_foreign(self) -> bool:
        """Whether an import has found a generation label that is not that of the other members."""
        return OWN_GENERATION in self.own

    @property
    def runs(self) -> bool:
        """Whether it is running."""
        return self.status == "RUNNING"

    @property
    def stopped(self) -> bool:
        """Whether it is stopped or suspended, or about to be."""
        return is_stopped({"status": self.status})

    @property
    def suspended(self) -> bool:
        """Whether it is suspended, or about to be: it has its memory until it is stopped or deleted."""
        return is_suspended({"status": self.status})

    @property
    def changing(self) -> bool:
        """Whether a restart of it has started, and has not ended."""
        return is_changing(self.generation)

    @property
    def why_stopped(self) -> str:
        """Why it is stopped, in words; empty if it is not, or if that is not known."""
        if self.stop_reason == "REQUESTED" and self.suspended:
            return "suspended by somebody"
        if self.stop_reason == "REQUESTED" and self.changing:
            return "stopped for a restart"
        return _STOPPED_BY.get(self.stop_reason, "")


def members_of_state(prior: BulkInstancesValues) -> dict[str, Member]:
    """Return the members that the last outputs have, by their IDs.

    Until the first update after an import, a label that came with a member from another fleet counts for nothing.
    """
    members = {item["id"]: Member.of_output(item) for item in prior.get("members") or ()}
    if prior.get("generation"):
        return members
    return {key: attrs.evolve(item, generation="") if item.label_is_foreign else item for key, item in members.items()}
