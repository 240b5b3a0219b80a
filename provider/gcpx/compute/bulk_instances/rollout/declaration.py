"""The properties that say how a change reaches the members of a fleet. gcpx never sends them to Google."""

from __future__ import annotations

import re
from typing import Final

from gcpx.compute.bulk_instances.rollout.policy_rules import (
    least_action_is_not_above_the_most,
    names_are_kept_without_surge,
    replacing_needs_an_instance_to_spare,
    rollouts_need_the_rolling_strategy,
)
from gcpx.model.fields import Record, field, output_field, record
from gcpx.model.numbers import as_integer_or_percentage

_GUEST_ATTRIBUTE: Final = (
    re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_./-]+(?:=.*)?"),
    "NAMESPACE/KEY or NAMESPACE/KEY=VALUE, such as app/state=ready",
)


@record
class Readiness(Record):
    """When a member that was created, restarted or started is ready, so that the next batch may begin."""

    guest_attribute: str = field(
        "The guest attribute that the member's own software sets when it is ready, as `NAMESPACE/KEY`, with any value, or `NAMESPACE/KEY=VALUE`, such as `app/state=ready`. The instance must also be running, and its metadata must have `enable-guest-attributes: TRUE`. Guest attributes survive a restart, so the software should clear the attribute when it stops.",
        unsent=True,
        pattern=_GUEST_ATTRIBUTE,
    )
    status: str = field(
        "The status that the instance must have; only `RUNNING` is allowed. Default: `RUNNING`.",
        unsent=True,
        enum=("RUNNING",),
        closed=True,
        default="RUNNING",
    )
    within: int = field(
        "How many seconds the members of a batch have to become ready, such as `300`; if they take longer, the rollout fails. Default: `600`.",
        unsent=True,
        minimum=1,
        default=600,
    )


@record
class UpdatePolicy(Record):
    """How changes of `instanceProperties` and `sourceInstanceTemplate` reach the members."""

    RULES = (
        rollouts_need_the_rolling_strategy,
        replacing_needs_an_instance_to_spare,
        names_are_kept_without_surge,
        least_action_is_not_above_the_most,
    )

    keep_names: bool = field(
        "Give a member that replaces another one the same name, in the same zone. The old one is then deleted first, so `maxSurge` must be 0. Fleets with `perInstanceProperties` always keep names. Default: false.",
        unsent=True,
        default=False,
    )
    max_surge: int | str = field(
        "How many members beyond `count` may exist during a rollout: a number, such as `2`, or a percentage of `count`, such as `20%`, rounded up. Default: `0`.",
        unsent=True,
        default=0,
        normalize=as_integer_or_percentage,
    )
    max_unavailable: int | str = field(
        "How many members may be missing, stopped or not ready during a rollout: a number, such as `1`, or a percentage of `count`, such as `20%`, rounded down, but at least 1 without `maxSurge`. Default: `1`, or `0` with `maxSurge`.",
        unsent=True,
        normalize=as_integer_or_percentage,
    )
    minimal_action: str = field(
        "The least that is done to every member that does not have the new properties yet: `REFRESH` changes it while it runs, `RESTART` stops, changes and starts it, `REPLACE` deletes it and creates another one. Default: `REFRESH`.",
        unsent=True,
        enum=("REFRESH", "RESTART", "REPLACE"),
        closed=True,
        default="REFRESH",
    )
    most_disruptive_action: str = field(
        "The most that may be done to a member: `REFRESH`, `RESTART` or `REPLACE`. A change that needs more is refused. Default: `REPLACE`.",
        unsent=True,
        enum=("REFRESH", "RESTART", "REPLACE"),
        closed=True,
        default="REPLACE",
    )
    on_failure: str = field(
        "What happens after a failed batch: `STOP` leaves the members as they are, and the next `pulumi up` goes on from there; `ROLL_BACK` restores the previous properties of the members that were already changed. Default: `STOP`.",
        unsent=True,
        enum=("STOP", "ROLL_BACK"),
        closed=True,
        default="STOP",
    )
    pause_after: int | str = field(
        "Pause a rollout when this many members have the new properties: a number, such as `1`, or a percentage of `count`, rounded up. The rollout goes on when this number is raised or removed. Default: no pause.",
        unsent=True,
        normalize=as_integer_or_percentage,
    )
    ready: Readiness = field(
        "When a changed member is ready, such as `{guestAttribute: app/state=ready, within: 300}`.", unsent=True
    )
    strategy: str = field(
        "`REPLACE_ALL` replaces the whole fleet if a changed property cannot change on running instances; `ROLLING` keeps the fleet and changes its members in batches. Default: `REPLACE_ALL`.",
        unsent=True,
        enum=("REPLACE_ALL", "ROLLING"),
        closed=True,
        default="REPLACE_ALL",
    )


@record
class LostMember(Record):
    """A member that no longer exists, and that the next update creates again."""

    name: str = output_field("The name of the instance.", always=True)
    zone: str = output_field("The name of the instance's zone, such as `us-east1-b`.", always=True)
