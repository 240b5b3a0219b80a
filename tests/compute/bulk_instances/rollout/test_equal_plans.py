"""The preview and the update plan the same if nothing has changed in between, whatever the state is."""

from __future__ import annotations

from typing import Any

import attrs
from engines.clock import FakeClock
from engines.clocked import context
from hypothesis import given
from hypothesis import strategies as st
from values.programs import PROJECT, ZONE, fleet

from gcpx.compute.bulk_instances.capacity import labels_of_fallback
from gcpx.compute.bulk_instances.changes import Goal
from gcpx.compute.bulk_instances.declaration import BulkInstancesModel
from gcpx.compute.bulk_instances.fleet import Fleet
from gcpx.compute.bulk_instances.member import (
    Level,
    Member,
    changing,
    generation_of,
    hash_for_label,
    members_of_state,
    own_properties,
)
from gcpx.compute.bulk_instances.outputs import last_members
from gcpx.compute.bulk_instances.plan import PlannedMember, Policy, Spec, steps
from gcpx.errors import UserError
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.settings import Settings
from gcpx.model.diff import diff
from gcpx.model.fields import object_type

PLACE = f"https://www.googleapis.com/compute/v1/projects/{PROJECT}/zones/{ZONE}"
FALLBACK = {"machineType": "n2-standard-2"}
PROPERTIES = st.fixed_dictionaries(
    {"machineType": st.sampled_from(["e2-small", "n2-standard-4", "c3-standard-4", "c3-standard-4-lssd"])},
    optional={
        "labels": st.sampled_from([{"team": "web"}, {"team": "db"}]),
        "tags": st.just({"items": ["http"]}),
        "canIpForward": st.booleans(),
    },
)
POLICIES = st.fixed_dictionaries(
    {},
    optional={
        "maxUnavailable": st.integers(0, 2),
        "maxSurge": st.integers(1, 2),
        "minimalAction": st.sampled_from(["REFRESH", "RESTART", "REPLACE"]),
        "mostDisruptiveAction": st.sampled_from(["RESTART", "REPLACE"]),
        "pauseAfter": st.integers(1, 3),
    },
)
ACTIONS = st.none() | st.fixed_dictionaries(
    {"action": st.sampled_from(["RESTART", "REPLACE"]), "trigger": st.sampled_from(["one", "two"])}
)


MEMBERS = st.lists(
    st.fixed_dictionaries({
        "has": st.sampled_from(["earlier", "old", "old", "new"]),
        "status": st.sampled_from(["RUNNING", "RUNNING", "TERMINATED", "SUSPENDED"]),
        "ssds": st.sampled_from([0, 0, 1]),
        "changing": st.booleans(),
        "action": st.sampled_from(["", "one", "two"]),
        "fallback": st.booleans(),
        "changed": st.sampled_from(["", "", "labels", "machineType"]),
    }),
    max_size=6,
)  # fmt: skip
"""Members, each of which has the properties of an earlier program, of the one in the state, or of the new one."""


def _instance(number: int, traits: dict[str, Any], program: dict[str, Any]) -> dict[str, Any]:
    """Return an instance as Google shows it, which has all that a program gives it."""
    given = own_properties(program)
    generation = generation_of(given)
    is_changing = traits["changing"] and traits["status"] != "RUNNING"
    labels = {
        **given.get("labels", {}),
        "gcpx-bulk": "crew",
        "gcpx-generation": changing(generation) if is_changing else generation,
    }
    if traits["action"]:
        labels["gcpx-action"] = hash_for_label(traits["action"])
    # Whether a fallback has kept what an update before the last one changed, Google shows, but not the state.
    has_fallback = traits["fallback"] and traits["has"] != "earlier"
    if has_fallback:
        labels |= labels_of_fallback(0, FALLBACK)
    machine_type = FALLBACK["machineType"] if has_fallback else given["machineType"]
    # Somebody may have changed it since.
    if traits["changed"] == "labels":
        labels["team"] = "other"
    if traits["changed"] == "machineType":
        machine_type = "e2-medium"
    name = f"web-{number:03}"
    return {
        "id": str(1000 + number),
        "name": name,
        "zone": PLACE,
        "selfLink": f"{PLACE}/instances/{name}",
        "status": traits["status"],
        "machineType": f"{PLACE}/machineTypes/{machine_type}",
        "labels": labels,
        "tags": given.get("tags", {}),
        "canIpForward": given.get("canIpForward", False),
        "disks": [{"type": "PERSISTENT", "boot": True}, *[{"type": "SCRATCH"}] * traits["ssds"]],
    }


def _program(count: int, properties: dict[str, Any], policy: dict[str, Any], **more: Any) -> dict[str, Any]:
    return fleet(count, fleetId="crew", updatePolicy=policy, fallbacks=[FALLBACK], **properties, **more)


def _outcome(plan: Any) -> list[Any] | str:
    """Return what the steps of a plan do, with the IDs of the members, or the error that refuses the plan."""
    try:
        members, policy = plan()
    except UserError as error:
        return str(error)
    done = [step for step, _ in steps(members, policy)]
    return [[*map(_ids, (step.delete, step.restart, step.refresh, step.start)), step.create] for step in done]


def _ids(members: list[PlannedMember]) -> list[str]:
    return sorted(member.id for member in members)


STATES = st.fixed_dictionaries(dict.fromkeys(("earlier", "old", "new"), PROPERTIES))


@attrs.frozen
class _Case:
    """An update of a fleet, with the members as the last refresh has found them."""

    call: Any
    crew: Fleet
    old: dict[str, Any]
    new: dict[str, Any]
    instances: list[dict[str, Any]]

    @classmethod
    def of(
        cls,
        found: list[dict[str, Any]],
        programs: dict[str, Any],
        counts: tuple[int, int],
        policy: dict[str, Any],
        action: Any,
        on_stopped: str,
    ) -> _Case:
        """Write the programs and the state."""
        made = {name: _program(counts[0], given, {}) for name, given in programs.items()}
        asked = {"rollingAction": action} if action else {}
        new = _program(counts[1], programs["new"], policy, onStopped=on_stopped, **asked)
        instances = [_instance(number, traits, made[traits["has"]]) for number, traits in enumerate(found, 1)]
        call, crew = context(FakeClock()), Fleet(GoogleClient(Settings(project=PROJECT)), PROJECT, "us-east1", "crew")
        known = {"generation": generation_of(own_properties(made["old"]))}
        prior = {**known, "members": last_members({}, instances, {})}
        drift = Goal.reached(crew, made["old"], prior).drift(instances)
        prior = {**known, "members": last_members({}, instances, drift)}
        paths = tuple(change.path for change in diff(object_type(BulkInstancesModel), made["old"], new, {}))
        return cls(attrs.evolve(call, prior=prior, changed=paths), crew, made["old"], new, instances)

    def previewed(self) -> tuple[list[PlannedMember], Policy]:
        """Plan as the preview does."""
        spec = Spec.offline(self.call, self.old, self.new)
        members = members_of_state(self.call.prior).values()
        plan = spec.plan(members)
        spec.require_allowed(members, plan)
        return plan, spec.policy

    def updated(self, instances: list[dict[str, Any]]) -> tuple[list[PlannedMember], Policy]:
        """Plan as the update does, with the instances that Google lists then."""
        goal = Goal.of(self.call, self.crew, self.old, self.new)
        return [goal.member(instance, ready=True) for instance in instances], goal.policy


CASES = st.builds(
    _Case.of,
    found=MEMBERS,
    programs=STATES,
    counts=st.tuples(st.integers(1, 6), st.integers(0, 6)),
    policy=POLICIES.filter(lambda policy: policy.get("maxUnavailable") != 0 or "maxSurge" in policy),
    action=ACTIONS,
    on_stopped=st.sampled_from(["START", "REPLACE", "KEEP"]),
)


@given(case=CASES)
def test_an_update_does_what_the_preview_says_if_nothing_changes_in_between(case):
    assert _outcome(case.previewed) == _outcome(lambda: case.updated(case.instances))


@given(case=CASES, later=MEMBERS, programs=STATES)
def test_no_member_gets_more_than_the_preview_has_said_whatever_happens_in_between(case, later, programs):
    try:
        planned, _ = case.previewed()
    except UserError:
        return
    said = {member.id: member for member in planned}
    made = {name: _program(3, given, {}) for name, given in programs.items()}
    instances = [_instance(number, traits, made[traits["has"]]) for number, traits in enumerate(later, 1)]
    try:
        found, _ = case.updated(instances)
    except UserError:  # of members that the state does not have
        return
    for member in found:
        if member.id in said:
            restarts = Level.RESTART if Member.of_instance(instances[int(member.id) - 1001]).changing else Level.NONE
            assert member.need <= max(said[member.id].need, Level.REFRESH, restarts)
            assert member.leaves <= said[member.id].leaves


def _goal(programs: tuple[dict[str, Any], ...], has: tuple[int, ...], policy: dict[str, Any], count: int) -> Any:
    """Return the goal of an update between the last two programs, and members that have these programs by their index."""
    made = [_program(len(has), properties, policy) for properties in programs]
    new = _program(count, programs[-1], policy)
    instances = [_instance(number, PLAIN, made[index]) for number, index in enumerate(has, 1)]
    call, crew = context(FakeClock()), Fleet(GoogleClient(Settings(project=PROJECT)), PROJECT, "us-east1", "crew")
    known = {"generation": generation_of(own_properties(made[-2])), "members": last_members({}, instances, {})}
    paths = tuple(change.path for change in diff(object_type(BulkInstancesModel), made[-2], new, {}))
    call = attrs.evolve(call, prior=known, changed=paths)
    return lambda: Goal.of(call, crew, made[-2], new), instances, made


PLAIN = {"status": "RUNNING", "ssds": 0, "changing": False, "action": "", "fallback": False, "changed": "", "has": ""}
OLD, NEW = {"machineType": "e2-small", "canIpForward": False}, {"machineType": "e2-small", "canIpForward": True}


def test_a_member_that_should_leave_and_stays_after_all_gets_no_more_than_the_policy_allows():
    goal_of, instances, _ = _goal((OLD, NEW, NEW), (1, 1, 0), {"mostDisruptiveAction": "RESTART"}, 2)
    goal = goal_of()
    left = [goal.member(instance, ready=True) for instance in instances[1:]]  # somebody has deleted the first
    assert [member.leaves for member in left] == [False, True]
    assert not list(steps(left, goal.policy)), "two exist, as wanted, and the policy does not allow a replacement"


def test_a_rollback_counts_only_what_the_update_has_created_as_new():
    goal_of, instances, made = _goal((OLD, NEW), (0, 0), {}, 3)
    before = [*instances, _instance(7, PLAIN, made[0])]  # an interrupted run has created the last one
    back = goal_of().reversed(made[0], before, frozenset())
    made_by_update = {**before[-1], "id": "9000", "name": "web-009"}
    added = [back.member(instance, ready=True).added for instance in [*before, made_by_update]]
    assert added == [False, False, False, True]
