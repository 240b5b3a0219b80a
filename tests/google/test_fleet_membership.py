"""A fleet keeps its members: whatever is edited is refused with words, replaces the fleet, or leaves all of them in it."""

from __future__ import annotations

import attrs
import driver
import pytest
from driver import UNKNOWN
from programs import FLEET, PROJECT, TEMPLATE, fleet, template

PLACE = f"projects/{PROJECT}/regions/us-east1"
ROLE = {"role": "worker"}


def _instance(name):
    return f"projects/{PROJECT}/zones/us-east1-b/instances/{name}"


def _names(resource):
    return [member["name"] for member in resource.outputs["members"]]


@attrs.frozen
class _Made:
    """A fleet in its state, and the program that describes it."""

    resource: driver.Resource
    program: dict


def _made(engine, by):
    created = engine.create(FLEET, "workers", fleet(labels=ROLE))
    if by == "made":
        return _Made(created, fleet(labels=ROLE))
    if by == "named":
        return _Made(created, fleet(labels=ROLE, fleetId=created.outputs["fleetId"]))
    forms = {"id": created.id, "label": f"{PLACE}/labels/role=worker", "pattern": f"{PLACE}/namePattern/web-###"}
    imported = engine.import_(FLEET, "workers", forms[by])
    return _Made(imported, {name: value for name, value in imported.inputs.items() if not name.startswith("__")})


def _with(program, **properties):
    return {**program, "instanceProperties": {**program["instanceProperties"], **properties}}


def _without(program, name):
    kept = {key: value for key, value in program["instanceProperties"].items() if key != name}
    return {**program, "instanceProperties": kept}


EDITS = {
    "the label is left out": lambda program: _with(program, labels={"other": "1"}),
    "all labels are left out": lambda program: _without(program, "labels"),
    "the labels are empty": lambda program: _with(program, labels={}),
    "the labels are null": lambda program: _with(program, labels=None),
    "the label is null": lambda program: _with(program, labels={"role": None}),
    "the label is empty": lambda program: _with(program, labels={"role": ""}),
    "the label has another value": lambda program: _with(program, labels={"role": "server"}),
    "another label joins": lambda program: _with(program, labels={**ROLE, "other": "1"}),
    "the label's value is secret": lambda program: _with(program, labels={"role": driver.secret("server")}),
    "our label is written": lambda program: _with(program, labels={**ROLE, "gcpx-bulk": "mine"}),
    "our label is null": lambda program: _with(program, labels={**ROLE, "gcpx-bulk": None}),
    "our label is empty": lambda program: _with(program, labels={**ROLE, "gcpx-bulk": ""}),
    "another pattern": lambda program: {**program, "namePattern": "db-###"},
    "a wider pattern": lambda program: {**program, "namePattern": "web-####"},
    "names in place of the pattern": lambda program: {
        **{name: value for name, value in program.items() if name not in {"namePattern", "count"}},
        "perInstanceProperties": {"alpha": {}, "beta": {}},
    },
    "another fleetId": lambda program: {**program, "fleetId": "another"},
    "found by a label from now on": lambda program: {**program, "fleetId": "labels/role=worker"},
    "found by a pattern from now on": lambda program: {**program, "fleetId": "namePattern/web-###"},
    "found by our label from now on": lambda program: {**program, "fleetId": "labels/gcpx-bulk=mine"},
    "more members": lambda program: {**program, "count": 5},
    "fewer members": lambda program: {**program, "count": 2},
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
@pytest.mark.parametrize("by", ["made", "named", "id", "label", "pattern"])
def test_an_edit_is_refused_replaces_or_keeps_every_member(engine, cloud, by, edit):
    made = _made(engine, by)
    program = edit(made.program)
    response = engine.check(FLEET, "workers", program, made.resource.inputs)
    if response.failures:
        assert all("must" in failure.reason for failure in response.failures), response.failures
        return
    found = engine.diff(made.resource, program)
    if found.deleteBeforeReplace:
        engine.delete(made.resource)
    updated = engine.create(FLEET, "again", program) if found.replaces else engine.update(made.resource, program)
    if found.replaces and not found.deleteBeforeReplace:
        engine.delete(made.resource)

    assert updated.outputs["createdCount"] == program.get("count", 2)
    assert engine.refresh(updated).outputs["members"] == updated.outputs["members"]


@pytest.mark.parametrize(
    ("by", "edit", "path", "words"),
    [
        ("label", "the label is left out", "instanceProperties.labels.role", "must be worker"),
        ("label", "all labels are left out", "instanceProperties.labels.role", "must be worker"),
        ("label", "the labels are null", "instanceProperties.labels.role", "must be worker"),
        ("label", "the label is null", "instanceProperties.labels.role", "must be worker"),
        ("label", "the label has another value", "instanceProperties.labels.role", "must be worker"),
        ("made", "our label is written", "instanceProperties.labels.gcpx-bulk", "must not be set"),
        ("label", "our label is written", "instanceProperties.labels.gcpx-bulk", "must not be set"),
        ("pattern", "our label is null", "instanceProperties.labels.gcpx-bulk", "must not be set"),
        ("pattern", "another pattern", "namePattern", "must be web-###"),
        ("pattern", "names in place of the pattern", "perInstanceProperties.alpha", "must fit web-###"),
        ("made", "found by our label from now on", "fleetId", "must be mine"),
    ],
)  # fmt: skip
def test_what_would_lose_members_is_refused_with_words(engine, by, edit, path, words):
    made = _made(engine, by)
    response = engine.check(FLEET, "workers", EDITS[edit](made.program), made.resource.inputs)

    assert words in driver.reasons(response.failures)[path]


@pytest.mark.parametrize("labels", [UNKNOWN, {"role": UNKNOWN}], ids=["all", "one"])
def test_labels_that_are_not_known_yet_are_judged_when_they_are(engine, labels):
    made = _made(engine, "label")
    assert not engine.check(FLEET, "workers", _with(made.program, labels=labels), made.resource.inputs).failures

    late = engine.check(FLEET, "workers", _with(made.program, labels={"role": "server"}), made.resource.inputs)
    assert late.failures, "the engine checks again once values are known, before anything is changed"


def test_the_label_of_a_template_removes_no_member(engine, cloud):
    made = engine.create(TEMPLATE, "base", {"name": "base", **template(labels={"gcpx-bulk": "another", **ROLE})})
    inputs = {
        "region": "us-east1",
        "count": 2,
        "namePattern": "t-#",
        "sourceInstanceTemplate": made.outputs["selfLink"],
    }
    created = engine.create(FLEET, "workers", inputs)

    assert _names(created) == ["t-1", "t-2"]
    assert cloud.get(_instance("t-1"))["labels"]["gcpx-bulk"] == created.outputs["fleetId"]


@pytest.mark.parametrize("fleet_id", ["labels/role=worker", "namePattern/t-#"])
def test_members_of_a_fleet_with_another_label_join_no_other_fleet(engine, cloud, fleet_id):
    other = engine.create(FLEET, "other", fleet(fleetId="another", count=1))
    made = engine.create(TEMPLATE, "base", {"name": "base", **template(labels={"gcpx-bulk": "another"})})
    inputs = {
        "region": "us-east1",
        "count": 2,
        "namePattern": "t-#",
        "fleetId": fleet_id,
        "sourceInstanceTemplate": made.outputs["selfLink"],
        "instanceProperties": {"labels": ROLE},
    }
    assert _names(engine.create(FLEET, "workers", inputs)) == ["t-1", "t-2"]

    assert cloud.get(_instance("t-1"))["labels"] == ROLE
    assert engine.refresh(other).outputs["createdCount"] == 1


def test_an_instance_without_the_label_is_not_a_member_of_a_fleet_with_an_empty_label(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(labels={"team": ""}))
    cloud.make_instance("stranger")
    imported = engine.import_(FLEET, "again", f"{PLACE}/labels/team=")

    assert _names(imported) == _names(created)


def test_our_label_imports_as_the_fleet_that_it_names(engine):
    created = engine.create(FLEET, "workers", fleet())
    imported = engine.import_(FLEET, "again", f"{PLACE}/labels/gcpx-bulk={created.outputs['fleetId']}")

    assert (imported.id, imported.inputs["fleetId"]) == (created.id, created.outputs["fleetId"])
