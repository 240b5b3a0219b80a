"""What happens to a fleet without `updatePolicy`, and what its preview says louder than the rest."""

from __future__ import annotations

import pytest
from engines.driver import failing
from rolling.fleets import member_names, set_limits, stop
from rolling.rollouts import BIGGER_DISK, BULK, DELETE, SET_LABELS, START, STOP, fail_after
from values.programs import FLEET, fleet

MEDIUM = {"machineType": "e2-medium"}
AVOID = "to avoid that, lower updatePolicy.maxUnavailable, or raise count in an update before this one"


def _calls(cloud, *methods):
    return [name for name in cloud.calls("compute.") if name in methods]


def _said(engine, severity):
    text = [text for level, _, text in engine.log.messages if level == severity]
    engine.log.messages.clear()
    return text


def _named(*names, **more):
    made = fleet(None, **more)
    return {key: value for key, value in made.items() if key not in {"count", "namePattern"}} | {
        "perInstanceProperties": {name: {} for name in names}
    }


def test_a_new_member_is_ready_before_the_one_that_it_replaces_leaves(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(3))
    cloud.emulator.requests.kept.clear()
    updated = engine.update(created, fleet(3, **BIGGER_DISK))

    assert _calls(cloud, BULK, DELETE) == [BULK, DELETE, BULK, DELETE, BULK, DELETE]
    assert not set(member_names(created)) & set(member_names(updated))
    assert len(member_names(updated)) == 3


@pytest.mark.parametrize(("count", "at_once"), [(1, 1), (19, 1), (20, 2), (35, 3)])
def test_a_tenth_of_the_members_change_at_a_time_and_at_least_one(engine, cloud, count, at_once):
    created = engine.create(FLEET, "workers", fleet(count))
    engine.log.messages.clear()
    engine.preview_update(created, fleet(count, **MEDIUM))
    (said,) = _said(engine, "INFO")
    assert f"; at least {count - at_once:,} of {count:,} members run at any time" in said


def test_a_shortage_deletes_nobody(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(3))
    set_limits(cloud, zones=dict.fromkeys(("us-east1-b", "us-east1-c", "us-east1-d"), 3))
    with failing() as failed:
        engine.update(created, fleet(3, **BIGGER_DISK))

    words = (
        "Google has no room for more than the 3 members that exist, and a new member has to be ready before an old one"
    )
    assert words in failed[0].message
    assert _calls(cloud, DELETE) == []


@pytest.mark.parametrize(
    "inputs",
    [
        lambda **more: _named("alpha", "beta", **more),
        lambda **more: fleet(2, updatePolicy={"keepNames": True}, **more),
        lambda **more: fleet(9, namePattern="web-#", **more),
        lambda **more: fleet(2, placement={"policies": ["rack"], "membersPerPolicy": 2}, **more),
    ],
    ids=["named", "names are kept", "a full pattern", "a full placement"],
)
def test_a_fleet_that_cannot_have_more_members_takes_one_away_first(engine, cloud, inputs):
    cloud.make_placement_policy("rack")
    created = engine.create(FLEET, "workers", inputs())
    cloud.emulator.requests.kept.clear()
    engine.update(created, inputs(**BIGGER_DISK))

    assert _calls(cloud, BULK, DELETE)[:4] == [DELETE, BULK, DELETE, BULK]


def test_a_restart_takes_a_member_away(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(2))
    cloud.emulator.requests.kept.clear()
    engine.update(created, fleet(2, **MEDIUM))

    assert _calls(cloud, BULK, DELETE, STOP, START) == [STOP, START, STOP, START]


def test_the_preview_warns_of_deletions_and_of_a_time_without_a_member(engine):
    created = engine.create(FLEET, "workers", _named("alpha"))
    engine.log.messages.clear()
    engine.preview_update(created, _named("alpha", **BIGGER_DISK))
    assert _said(engine, "WARNING") == [
        "this update deletes 1 member with all disks that have autoDelete: alpha",
        f"no member runs for a time during this update; {AVOID}",
    ]

    engine.preview_update(created, _named("alpha", labels={"tier": "web"}))
    assert _said(engine, "WARNING") == []


@pytest.mark.parametrize(
    ("before", "raised", "change"),
    [
        (_named("alpha"), _named("alpha", "beta"), BIGGER_DISK),
        (fleet(1, updatePolicy={"keepNames": True}), fleet(2, updatePolicy={"keepNames": True}), BIGGER_DISK),
        (fleet(1), fleet(2), MEDIUM),
        (fleet(2, updatePolicy={"maxUnavailable": 2}), fleet(2, updatePolicy={"maxUnavailable": 1}), BIGGER_DISK),
    ],
    ids=["named", "names are kept", "restarted", "all at once"],
)
def test_what_the_preview_advises_keeps_a_member_running(engine, before, raised, change):
    def warned(state, program):
        engine.log.messages.clear()
        engine.preview_update(state, {**program, "instanceProperties": {**program["instanceProperties"], **change}})
        return AVOID in " ".join(_said(engine, "WARNING"))

    created = engine.create(FLEET, "workers", before)
    assert warned(created, before)
    assert not warned(engine.update(created, raised), raised)


def test_all_members_may_be_replaced_at_once(engine, cloud):
    def program(**more):
        return fleet(3, updatePolicy={"maxUnavailable": "100%"}, **more)

    created = engine.create(FLEET, "workers", program())
    cloud.emulator.requests.kept.clear()
    engine.update(created, program(**BIGGER_DISK))

    assert _calls(cloud, BULK, DELETE) == [DELETE, DELETE, DELETE, BULK]


@pytest.mark.parametrize("policy", [{"maxSurge": 1}, {"maxSurge": 1, "maxUnavailable": 0}])
def test_a_restart_of_which_no_member_may_be_unavailable_is_refused(engine, cloud, policy):
    created = engine.create(FLEET, "workers", fleet(2, updatePolicy=policy))
    changed = fleet(2, updatePolicy=policy, **MEDIUM)
    for attempt in (engine.preview_update, engine.update):
        with failing() as failed:
            attempt(created, changed)
        assert "minimalAction: REPLACE" in failed[0].message
    assert _calls(cloud, STOP, DELETE) == []

    engine.update(created, fleet(2, updatePolicy={**policy, "minimalAction": "REPLACE"}, **MEDIUM))
    assert len(_calls(cloud, DELETE)) == 2


def test_a_failed_restart_of_a_stopped_member_is_reported_though_no_member_may_be_unavailable(engine, cloud):
    policy = {"maxSurge": 1}
    created = engine.create(FLEET, "workers", fleet(3, updatePolicy=policy))
    stop(cloud, "web-002")
    read = engine.refresh(created)
    chosen = [member["id"] for member in created.outputs["members"] if member["name"] == "web-002"]
    action = {"action": "RESTART", "trigger": "one", "members": chosen}
    fail_after(cloud, SET_LABELS, 1)
    with failing() as failed:
        engine.update(read, fleet(3, updatePolicy=policy, rollingAction=action))

    assert "something broke" in failed[0].message
    assert "maxUnavailable" not in failed[0].message


def test_the_first_change_after_an_import_replaces_nobody(engine):
    created = engine.create(FLEET, "workers", fleet(2, fleetId="crew"))
    imported = engine.import_(FLEET, "again", created.id)
    program = fleet(2, fleetId="crew", updatePolicy={"maxUnavailable": 1})
    engine.log.messages.clear()
    engine.preview_update(imported, program)
    assert not any("replaced" in text for text in _said(engine, "INFO"))

    updated = engine.update(imported, program)
    assert member_names(updated) == member_names(created)
    assert [member["id"] for member in updated.outputs["members"]] == [
        member["id"] for member in created.outputs["members"]
    ]
