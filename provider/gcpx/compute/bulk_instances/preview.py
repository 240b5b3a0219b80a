"""What the next update does to a fleet, and how its members differ from the program, by the state alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import attrs

from gcpx.compute.bulk_instances.capacity import FleetSize
from gcpx.compute.bulk_instances.creation import batches
from gcpx.compute.bulk_instances.fleet import Instance, fleet_values
from gcpx.compute.bulk_instances.member import Level, Member, members_of_state
from gcpx.compute.bulk_instances.outputs import CREATION_OUTPUTS
from gcpx.compute.bulk_instances.plan import OF_FALLBACKS, PlannedMember, RollingAction, Spec, Step, deleted_by, steps
from gcpx.compute.bulk_instances.words import describe_plan, line, names_to_come, say
from gcpx.model.context import Context
from gcpx.model.fields import nested, text
from gcpx.model.values import UNKNOWN, has_unknown
from gcpx.model.words import counted, names_in_words

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues, InstancePropertiesValues

_OF_SAME_MEMBERS: Final = ("memberCount", "memberNames", *CREATION_OUTPUTS)
"""The outputs that stay as they are if no member is created or deleted."""


def announce_creation(context: Context, inputs: BulkInstancesValues) -> None:
    """Say what the creation of a fleet does; nothing if the number of its instances is not known."""
    size, named = FleetSize.of(inputs).wanted, inputs.get("perInstanceProperties")
    if not size or has_unknown([inputs.get("count"), inputs.get("placement")]):
        return
    requests = len(list(batches(inputs, [], size, [])))
    number, calls = f"{counted(size, 'instance is', 'instances are')} created", counted(requests, "request")
    names = names_in_words(named) if isinstance(named, dict) else text(inputs, "namePattern") or "named by namePattern"
    more = " (fallbacks may need more)" if inputs.get("fallbacks") else ""
    context.inform(f"what this creation does: {number} with {calls}{more}: {names}")


def announce(
    context: Context,
    old: BulkInstancesValues,
    new: BulkInstancesValues,
    templates: Mapping[str, InstancePropertiesValues],
    stated: BulkInstancesValues,
) -> tuple[str, ...]:
    """Say what an update does to the members in the state, at most, as far as something is not known yet.

    `templates` and `stated` are as for `Spec.offline`. Returns the names of the outputs that it does not change.

    Raises:
        UserError: the change certainly needs more than the policy allows.
        TooManyDeletedError: the update certainly deletes more members than the policy allows.
    """
    _warn_of_idle_action(context, new, fleet_values(context.prior))
    preview = _Preview.of(context, old, new, templates, stated)
    preview.require_allowed()
    lines = preview.lines(context)
    if lines:  # the CLI shows the first one beside the resource
        context.inform("what this update does: " + "\n- ".join(lines))
    for words in preview.warnings():
        context.warn(words)
    return preview.unchanged_outputs


@attrs.frozen
class _Preview:
    """What an update does, by the state alone.

    Attributes:
        known: the members of the state.
        unknown: the inputs that limit the update and are not known yet, as `_unknown_limits` gives them.
        spec: what the program wants; what is not known counts as what changes most.
        surely: the same, but what is not known counts as no change.
        certain: whether it is known what each member needs; then, both are the same.
        members: the members, with what `spec` says that they need.
        steps: what is done to them, each step with the fewest members that run meanwhile.
    """

    known: list[Member]
    unknown: list[str]
    spec: Spec
    surely: Spec
    certain: bool
    members: list[PlannedMember]
    steps: list[tuple[Step, int]]

    @classmethod
    def of(
        cls,
        context: Context,
        old: BulkInstancesValues,
        new: BulkInstancesValues,
        templates: Mapping[str, InstancePropertiesValues],
        stated: BulkInstancesValues,
    ) -> _Preview:
        """Plan an update from old to new inputs."""
        prior, unknown = fleet_values(context.prior), _unknown_limits(new)
        known = list(members_of_state(prior).values())
        make = partial(Spec.offline, context, old, templates=templates, stated=stated)
        spec = surely = make(_with_limits(new, known, sure=False))
        certain = not unknown and _is_certain(context, spec, known)
        if not certain:
            surely = make(_with_limits(new, known, sure=True), sure=True)
        members = spec.plan(known)
        return cls(known, unknown, spec, surely, certain, members, list(steps(members, spec.policy)))

    @property
    def at_most(self) -> str:
        """What begins a line about what may turn out to be unnecessary."""
        return "" if self.certain else "at most "

    @property
    def may_leave(self) -> bool:
        """Whether it is not known which members, or how many, the program wants."""
        return not {"count", "perInstanceProperties"}.isdisjoint(self.unknown)

    @property
    def deleted(self) -> list[PlannedMember]:
        """The members that the update deletes at most."""
        return self.members if self.may_leave else deleted_by(step for step, _ in self.steps)

    @property
    def unchanged_outputs(self) -> tuple[str, ...]:
        """The names of the outputs that the update does not change."""
        if self.may_leave or any(step.create or step.delete for step, _ in self.steps):
            return ()
        return _OF_SAME_MEMBERS if self.steps else (*_OF_SAME_MEMBERS, "members", "runningCount")

    def require_allowed(self) -> None:
        """Refuse what the policy certainly does not allow; raises what `announce` raises."""
        surely = self.surely.plan(self.known)
        self.surely.require_allowed(self.known, surely)
        replaced = {member.id for member in surely if member.need is Level.REPLACE}
        deleted = [one for one in self.deleted if one.leaves or one.unwanted or one.id in replaced]
        self.spec.policy.require_few_deletions(len(deleted), len(self.members))

    def lines(self, context: Context) -> list[str]:
        """Describe what is done to the members."""
        policy, names = self.spec.policy, names_to_come(context, self.spec.inputs)
        lines = describe_plan(self.steps, self.members, policy, self.at_most, names, counts=not self.unknown)
        if self.may_leave:
            lines += line("deleted", self.members, "at most ")
        if not policy.may_delete(len(self.deleted), len(self.members)):
            lines.append(
                f"if more members have to be deleted than maxDeleted allows, which is {policy.max_deleted}, the "
                "update fails before it changes anything"
            )
        properties = [("instanceProperties", name) for name in OF_FALLBACKS]
        if lines and any(path[:2] in properties for path in context.changed):
            lines += say(
                [member.name for member in self.known if member.fallback],
                "member keeps what its fallback changed, unless replaced",
                "members keep what their fallbacks changed, unless replaced",
            )
        if lines and self.spec.inputs.get("sourceInstanceTemplate") is UNKNOWN:
            lines.append(
                "sourceInstanceTemplate is not known yet; if it stays the same link, no member changes: a selfLink does if the "
                "program names the template, and a selfLinkUnique never does"
            )
        if lines and self.unknown:
            are = "is" if len(self.unknown) == 1 else "are"
            lines.append(
                f"{' and '.join(self.unknown)} {are} not known yet, so batches and other numbers follow from the update"
            )
        return lines

    def warnings(self) -> list[str]:
        """Say what cannot be undone, and whether the whole fleet is down for a time."""
        disks, found = "with all disks that have autoDelete", list[str]()
        for deleted in say(self.deleted, f"member {disks}", f"members {disks}", self.at_most):
            found.append(f"this update deletes {deleted}")
        least = min((running for _, running in self.steps), default=1)
        if (
            any(member.available for member in self.members)
            and self.spec.policy.wanted
            and least <= 0
            and not self.unknown
        ):
            found.append(
                "no member runs for a time during this update; to avoid that, lower updatePolicy.maxUnavailable, or "
                "raise count in an update before this one"
            )
        return found


def _warn_of_idle_action(context: Context, inputs: BulkInstancesValues, prior: BulkInstancesValues) -> None:
    """Warn if an action that the program has just changed does nothing, at all or to some of the chosen members."""
    if not any(path[0] == "rollingAction" for path in context.changed) or not inputs.get("rollingAction"):
        return
    action = RollingAction.of(inputs, prior)
    if action.mark and action.mark == prior.get("lastRollingAction"):
        context.warn(
            "rollingAction.trigger: everything was already done for this value, so this update restarts and replaces "
            "nothing; set another value, such as the time"
        )
        return
    known = {name for item in prior.get("members") or () for name in (item["id"], item["name"])}
    given: Mapping[str, object] = nested(inputs, "rollingAction")
    chosen = given.get("members")
    others = [item for item in chosen if item is not UNKNOWN and item not in known] if isinstance(chosen, list) else []
    if others:
        context.warn(
            f"rollingAction.members: {', '.join(others)} {'is not a member' if len(others) == 1 else 'are not members'} of "
            "this fleet, so nothing is done there; the output members has their names and IDs"
        )


def _is_certain(context: Context, spec: Spec, members: list[Member]) -> bool:
    """Return whether it is known what each of the members needs."""
    own = [nested(spec.inputs, "perInstanceProperties").get(member.name) for member in members]
    fallbacks = spec.inputs.get("fallbacks") if any(member.fallback for member in members) else None
    unknown = has_unknown([spec.inputs.get("instanceProperties"), spec.inputs.get("rollingAction"), own, fallbacks])
    is_of_template = ("sourceInstanceTemplate",) in context.changed or spec.machine_type is UNKNOWN
    may_be_other = unknown or (is_of_template and not spec.generation)
    return not may_be_other and all(map(spec.knows, members))


_LIMITS: Final = ("count", "perInstanceProperties", "onStopped", "updatePolicy")
"""What says how many members there are, and how a change reaches them."""


def _unknown_limits(inputs: BulkInstancesValues) -> list[str]:
    """Return which of the inputs that limit an update are not known yet; a member's own properties are not among them."""
    return [
        name
        for name in _LIMITS
        if inputs.get(name) is UNKNOWN or (name == "updatePolicy" and has_unknown(inputs.get(name)))
    ]


def _with_limits(inputs: BulkInstancesValues, members: Iterable[Member], *, sure: bool) -> BulkInstancesValues:
    """Return the inputs of a preview with a value for each of `_unknown_limits`: the fleet keeps its size, and gets its policy.

    Unless `sure`, the policy is the one that does the most to the members.
    """
    unknown, known = _unknown_limits(inputs), list(members)
    assumed = inputs.copy()
    if "count" in unknown:
        assumed["count"] = len(known)
    if "perInstanceProperties" in unknown:
        own: Any = {member.name: UNKNOWN for member in known}
        assumed["perInstanceProperties"] = own
    if "onStopped" in unknown:
        assumed["onStopped"] = "KEEP" if sure else "REPLACE"
    if "updatePolicy" in unknown or "count" in unknown:
        given = nested(inputs, "updatePolicy")
        policy: Any = {name: value for name, value in given.items() if not has_unknown(value)}
        is_open = inputs.get("updatePolicy") is UNKNOWN
        if sure and (
            is_open or any(name in given and _depends(given[name]) for name in ("maxUnavailable", "maxSurge"))
        ):
            policy["maxUnavailable"] = "100%"
        if not sure and (is_open or given.get("minimalAction") is UNKNOWN):
            policy["minimalAction"] = text(policy, "mostDisruptiveAction") or "REPLACE"
        assumed["updatePolicy"] = policy
    return assumed


def _depends(share: Any) -> bool:
    """Return whether a number of members is not known, or is a share of an unknown number."""
    return share is UNKNOWN or isinstance(share, str)


def describe_lost(prior: BulkInstancesValues, members: list[Instance]) -> str:
    """Say which members of the state do not exist any more; empty if all do."""
    existing = {str(member["id"]) for member in members}
    lost = [item["name"] for item in prior.get("members") or () if item["id"] not in existing]
    return "".join(line("gone", lost))


def describe_new(prior: BulkInstancesValues, outputs: BulkInstancesValues) -> str:
    """Say which members an update has created, whose names a preview cannot know; empty if it has created none."""
    before = {item["id"] for item in prior.get("members") or ()}
    new = [item["name"] for item in outputs.get("members") or () if item["id"] not in before]
    return "".join(say(new, "instance was created", "instances were created"))


def will_set_back(inputs: BulkInstancesValues, prior: BulkInstancesValues) -> bool:
    """Return whether an update sets anything back on the members of the state; `inputs` may hold unknowns."""
    spec = Spec(inputs=inputs)
    return any(spec.set_back(member) for member in members_of_state(prior).values() if member.differs)


def describe_drift(inputs: BulkInstancesValues, outputs: BulkInstancesValues) -> str:
    """Say which members differ from the program, and in what; empty if none does."""
    members, spec = members_of_state(outputs), Spec(inputs=inputs)
    changed = [member for member in members.values() if member.differs]
    if not changed:
        return ""
    names = names_in_words(f"{member.name} ({', '.join(member.differs)})" for member in changed)
    verb = "members differs" if len(changed) == 1 else "members differ"
    back = "; `pulumi up` sets back what its preview names" if any(map(spec.set_back, changed)) else ""
    refused = {
        member.name: [name for name in member.differs if name not in spec.set_back(member)] for member in changed
    }
    kept = names_in_words(f"{name} ({', '.join(settings)})" for name, settings in refused.items() if settings)
    stays = f"; not set back, because updatePolicy does not allow it: {kept}" if kept else ""
    return f"{len(changed):,} of {len(members):,} {verb} from the program: {names}{back}{stays}"
