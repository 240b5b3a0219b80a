"""The plan of a rollout, without any cloud: what it never does, whatever happens between two steps."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import budgets

from gcpx.compute.bulk_instances.capacity import Places
from gcpx.compute.bulk_instances.member import Level
from gcpx.compute.bulk_instances.plan import PlannedMember, Policy, Step, is_done, leaving, next_step, steps
from gcpx.compute.bulk_instances.preview import describe_step


def fleet(count: int, need: Level = Level.NONE, **traits: bool) -> list[PlannedMember]:
    return [PlannedMember(name=f"web-{number}", need=need, **traits) for number in range(1, count + 1)]


def rolling(wanted: int, **traits: Any) -> Policy:
    return Policy(wanted=wanted, **{"unavailable": 1, **traits})


def summary(members: list[PlannedMember], policy: Policy) -> list[tuple[list[str], int, int]]:
    """Return each step as the names that are deleted, the number that is created, and the fewest that run."""
    return [([member.name for member in step.delete], step.create, running) for step, running in steps(members, policy)]


def test_a_replacement_without_surge_deletes_a_batch_and_creates_as_many():
    assert summary(fleet(4, Level.REPLACE), rolling(4, unavailable=2)) == [
        (["web-1", "web-2"], 2, 2),
        (["web-3", "web-4"], 2, 2),
    ]


def test_a_surge_creates_before_it_deletes_and_leaves_no_surplus():
    assert summary(fleet(3, Level.REPLACE), rolling(3, unavailable=0, surge=2)) == [
        ([], 2, 3),
        (["web-1", "web-2"], 1, 3),
        (["web-3"], 0, 3),
    ]


def test_lost_members_are_created_before_others_are_taken_away():
    taken = summary(fleet(4, Level.REPLACE), rolling(5, unavailable=2))
    assert taken[0] == ([], 1, 4)
    assert taken[1][0] == ["web-1", "web-2"]


def test_restarts_are_made_in_batches_and_refreshes_at_once():
    restarted = list(steps(fleet(5, Level.RESTART), rolling(5, unavailable=2)))
    assert [len(step.restart) for step, _ in restarted] == [2, 2, 1]
    assert [running for _, running in restarted] == [3, 3, 4]
    refreshed = list(steps(fleet(5, Level.REFRESH), rolling(5)))
    assert [(len(step.refresh), running) for step, running in refreshed] == [(5, 5)]


@pytest.mark.parametrize("need", [Level.RESTART, Level.REPLACE])
def test_a_plan_of_many_batches_looks_at_each_member_once(need):
    """A plan that looked at all members for each batch would not end."""
    assert len(list(steps(fleet(20_000, need), rolling(20_000)))) == 20_000


@pytest.mark.parametrize("on_stopped", ["START", "REPLACE"])
@pytest.mark.parametrize("pause", [None, 3])
def test_the_work_on_the_next_step_grows_as_the_fleet_does(pause, on_stopped):
    def calls(count: int) -> int:
        needs = {"ahead": Level.NONE, "restarted": Level.RESTART, "replaced": Level.REPLACE, "lost": Level.REPLACE}
        members = [
            PlannedMember(name=f"{name}-{number}", need=need, stopped=name == "lost", available=name != "lost")
            for name, need in needs.items()
            for number in range(count)
        ]
        policy = rolling(3 * count, pause_after=pause, on_stopped=on_stopped)
        return len(budgets.called(lambda: describe_step(next_step(members, policy), frozenset())))

    assert calls(400) < 5 * calls(100)


def test_only_outdated_members_are_touched():
    members = [*fleet(3), PlannedMember(name="web-9", need=Level.REPLACE)]
    assert summary(members, rolling(4)) == [(["web-9"], 1, 3)]


def test_members_that_do_not_run_are_replaced_first_and_at_once():
    members = [*fleet(3, Level.REPLACE), PlannedMember(name="web-4", need=Level.REPLACE, available=False)]
    step = next_step(members, rolling(4))
    assert [member.name for member in step.delete] == ["web-4"], "another one would leave too few"


def test_a_pause_ends_the_rollout_when_enough_members_are_current_and_a_higher_one_goes_on():
    members = fleet(5, Level.REPLACE)
    assert summary(members, rolling(5, pause_after=2)) == [(["web-1"], 1, 4), (["web-2"], 1, 4)]
    paused = [*fleet(5, Level.REPLACE)[2:], *(PlannedMember(name=f"new-{n}") for n in range(2))]
    assert summary(paused, rolling(5, pause_after=2)) == []
    assert len(summary(paused, rolling(5, pause_after=3))) == 1


def test_a_surge_that_pauses_leaves_the_wanted_number():
    members = fleet(5, Level.REPLACE)
    for step, _ in steps(members, rolling(5, unavailable=0, surge=2, pause_after=3)):
        members = carried_out(members, step)
    assert len(members) == 5
    assert sum(not member.need for member in members) == 3


def test_scaling_down_deletes_the_highest_numbers_and_scaling_up_creates():
    assert summary(fleet(5), rolling(3, unavailable=3)) == [(["web-5", "web-4"], 0, 3)]
    assert summary(fleet(3), rolling(5)) == [([], 2, 3)]


@pytest.mark.parametrize(("stays_stopped", "started"), [(False, 1), (True, 0)])
def test_stopped_members_are_started_unless_they_are_kept(stays_stopped, started):
    members = [*fleet(3), PlannedMember(name="web-4", available=False, stopped=True, stays_stopped=stays_stopped)]
    policy = rolling(4, on_stopped="KEEP")
    assert sum(len(step.start) for step, _ in steps(members, policy)) == started


def test_members_that_are_kept_stopped_are_not_missed_by_a_rollout():
    at_rest = PlannedMember(name="web-4", available=False, stopped=True, stays_stopped=True)
    members = [*fleet(3, Level.REPLACE), at_rest]
    assert [running for _, _, running in summary(members, rolling(4, on_stopped="KEEP"))] == [2, 2, 2]


def test_a_rollout_waits_while_too_few_members_run():
    members = [*fleet(3, Level.REPLACE), PlannedMember(name="web-4", available=False)]
    assert not next_step(members, rolling(4))
    assert not is_done(members, rolling(4))


def test_no_running_member_is_deleted_while_more_are_down_than_may_be():
    members = [
        attrs.evolve(member, available=member.order[1] > 2, stopped=member.order[1] <= 2)
        for member in fleet(5, Level.REPLACE)
    ]
    step = next_step(members, rolling(5))
    assert [member.name for member in step.delete] == ["web-1", "web-2"], "those that do not run anyway"
    assert step.create == 2


def carried_out(members: list[PlannedMember], step: Step, born: int = 0) -> list[PlannedMember]:
    """Do what a step says, as the executor does."""
    gone = {member.name for member in step.delete}
    changed = {m.name for m in (*step.restart, *step.refresh)}
    starting = {m.name for m in (*step.restart, *step.start) if not m.stays_stopped}
    kept = [
        attrs.evolve(
            member,
            need=Level.NONE if member.name in changed else member.need,
            available=member.available or member.name in starting,
            unready=member.unready and member.name not in starting,
            stopped=member.stopped and member.name not in starting,
        )
        for member in members
        if member.name not in gone
    ]
    number = 1 + max((member.order[1] for member in kept), default=0) + born
    return kept + [PlannedMember(name=f"web-{number + n}") for n in range(step.create)]


MEMBERS = st.lists(
    st.tuples(st.sampled_from(Level), st.sampled_from(["available", "unready", "coming", "stopped", "interrupted"])),
    max_size=12,
)
EVENTS = st.lists(st.tuples(st.sampled_from(["preempt", "delete", "none", "none"]), st.integers(0, 11)), max_size=8)


@given(
    members=MEMBERS,
    wanted=st.integers(0, 10),
    unavailable=st.integers(0, 4),
    surge=st.integers(0, 4),
    pause=st.none() | st.integers(0, 10),
    on_stopped=st.sampled_from(["START", "KEEP"]),
    events=EVENTS,
)
def test_no_step_takes_more_than_may_be_missing_whatever_happens_and_the_end_is_reached(
    members, wanted, unavailable, surge, pause, on_stopped, events
):
    policy = rolling(
        wanted, unavailable=max(unavailable, 0 if surge else 1), surge=surge, pause_after=pause, on_stopped=on_stopped
    )
    now = [
        PlannedMember(
            name=f"web-{number}",
            need=need,
            available=state == "available",
            unready=state == "unready",
            stopped=state in {"stopped", "interrupted"},
            stays_stopped=state == "stopped" and on_stopped == "KEEP",
        )
        for number, (need, state) in enumerate(members, 1)
    ]
    now = [
        attrs.evolve(m, need=Level.REPLACE) if m.need is Level.RESTART and not policy.unavailable else m for m in now
    ]
    most = max(len(now), wanted + surge)
    pending = list(events)
    for _ in range(200):
        step = next_step(now, policy)
        least = wanted - sum(member.stays_stopped for member in now) - policy.unavailable
        taken = [*step.delete, *step.restart]
        for trait in ("available", "running"):
            lost = sum(getattr(member, trait) for member in taken)
            assert not lost or sum(getattr(member, trait) for member in now) - lost >= least
        now = carried_out(now, step)
        assert len(now) <= most
        if not step:
            if is_done(now, policy):
                break
            now = [attrs.evolve(member, available=not member.stopped, unready=False) for member in now]
        if pending:
            now = happened(now, *pending.pop(), keeps=on_stopped == "KEEP")
    else:
        pytest.fail("the rollout never ends")
    assert len(now) == wanted
    outdated = sum(bool(member.need) for member in now)
    assert outdated == 0 if pause is None else outdated <= max(0, wanted - pause)


@given(
    members=st.lists(
        st.tuples(st.sampled_from(Level), st.sampled_from("bcd"), st.sampled_from(["runs", "runs", "stopped"])),
        max_size=7,
    ),
    wanted=st.integers(1, 7),
    unavailable=st.integers(0, 3),
    surge=st.integers(0, 2),
    pause=st.integers(0, 5),
    shape=st.sampled_from(["ANY_SINGLE_ZONE", "BALANCED"]),
)
def test_a_pause_says_how_far_a_change_goes_and_not_who_is_changed_or_leaves(
    members, wanted, unavailable, surge, pause, shape
):
    now = [
        PlannedMember(name=f"web-{number}", need=need, zone=zone, available=state == "runs", stopped=state != "runs")
        for number, (need, zone, state) in enumerate(members, 1)
    ]
    places = Places(shape=shape)
    through = rolling(wanted, unavailable=max(unavailable, 0 if surge else 1), surge=surge, places=places)
    paused = attrs.evolve(through, pause_after=pause)
    assert leaving(now, paused) == leaving(now, through)
    leave = {one.id for one in leaving(now, through)}
    now = [attrs.evolve(one, leaves=one.id in leave) for one in now]

    def changed(policy: Policy) -> list[str]:
        taken = [one for step, _ in steps(now, policy) for one in step.touched]
        return [one.name for one in taken if not one.leaves]

    every, some = changed(through), changed(paused)
    assert set(some) == set(every[: len(some)])


def happened(members: list[PlannedMember], event: str, index: int, *, keeps: bool) -> list[PlannedMember]:
    if event == "none" or index >= len(members):
        return members
    if event == "delete":
        return members[:index] + members[index + 1 :]
    return [
        attrs.evolve(member, available=False, unready=False, stopped=True, stays_stopped=keeps)
        if place == index
        else member
        for place, member in enumerate(members)
    ]
