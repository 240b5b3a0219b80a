"""Instance properties override those of the template exactly as written: a null removes what the template has."""

from __future__ import annotations

import pytest
from engines import driver
from rolling.fleets import instance_path
from values.programs import FLEET, PROJECT, TEMPLATE, fleet, template

BULK = "compute.regionInstances.bulkInsert"
NO_CHANGE = driver.rpc.DiffResponse.DIFF_NONE


@pytest.fixture
def fleet_of(engine):
    """Create a template; return a function from the overrides to the inputs of a fleet."""
    made = engine.create(
        TEMPLATE,
        "base",
        {
            "name": "base",
            **template(
                labels={"a": "1", "b": "2"},
                canIpForward=True,
                tags={"items": ["web"]},
                metadata={"items": [{"key": "k", "value": "v"}]},
                description="from the template",
                shieldedInstanceConfig={"enableSecureBoot": True, "enableVtpm": True},
            ),
        },
    )

    def inputs(overrides, **more):
        own = {"sourceInstanceTemplate": made.outputs["selfLink"], "instanceProperties": overrides}
        return {"region": "us-east1", "count": 2, "namePattern": "t-#", **own, **more}

    return inputs


def _instance(cloud, name="t-1"):
    return cloud.get(instance_path(name))


def _own(labels):
    return {key: value for key, value in labels.items() if key not in {"gcpx-bulk", "gcpx-generation"}}


@pytest.mark.parametrize(
    ("overrides", "sent", "gone"),
    [
        ({"canIpForward": None}, {"canIpForward": None}, lambda vm: vm.get("canIpForward")),
        ({"labels": {"a": None}}, {}, lambda vm: vm["labels"].get("a")),
        ({"tags": None}, {"tags": None}, lambda vm: (vm.get("tags") or {}).get("items")),
        ({"tags": {"items": None}}, {"tags": {"items": None}}, lambda vm: (vm.get("tags") or {}).get("items")),
        ({"metadata": None}, {"metadata": None}, lambda vm: (vm.get("metadata") or {}).get("items")),
        ({"shieldedInstanceConfig": {"enableSecureBoot": None}}, {"shieldedInstanceConfig": {"enableSecureBoot": None}}, lambda vm: (vm.get("shieldedInstanceConfig") or {}).get("enableSecureBoot")),
    ],
)  # fmt: skip
def test_a_null_is_sent_and_removes_what_the_template_has(engine, cloud, fleet_of, overrides, sent, gone):
    created = engine.create(FLEET, "workers", fleet_of(overrides))
    body = cloud.requests(BULK)[0]["body"]["instanceProperties"]

    assert sent.items() <= body.items()
    removed = {"gcpx-action": None, "gcpx-fallback": None, **({"a": None} if "labels" in overrides else {})}
    own = {"gcpx-bulk": created.outputs["fleetId"], "gcpx-generation": created.outputs["generation"]}
    assert body["labels"] == {**own, **removed}
    assert not gone(_instance(cloud))
    assert created.inputs["instanceProperties"] == overrides


@pytest.mark.parametrize(
    "overrides",
    [{"canIpForward": None}, {"labels": {"a": None}}, {"tags": None}, {"scheduling": {"preemptible": None}}],
)
def test_nulls_are_kept_and_are_no_change(engine, fleet_of, overrides):
    created = engine.create(FLEET, "workers", fleet_of(overrides))
    refreshed = engine.refresh(created)

    assert engine.diff(created, fleet_of(overrides)).changes == NO_CHANGE
    assert refreshed == created
    assert engine.drift(created) == set()


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ({"canIpForward": None}, {}, "canIpForward"),
        ({}, {"canIpForward": None}, "canIpForward"),
        ({"canIpForward": None}, {"canIpForward": False}, "canIpForward"),
        ({"canIpForward": False}, {}, "canIpForward"),
        ({}, {"canIpForward": False}, "canIpForward"),
        ({"scheduling": {"preemptible": None}}, {}, "scheduling"),
        ({"labels": {"a": None}}, {"labels": {}}, "labels"),
        ({"labels": {"a": None}}, {}, "labels"),
        ({"labels": {"a": None}}, {"labels": {"a": "9"}}, "labels.a"),
        ({"tags": None}, {}, "tags"),
        ({}, {"tags": {"items": []}}, "tags"),
    ],
)
def test_a_null_a_default_and_a_missing_property_differ(engine, fleet_of, old, new, path):
    created = engine.create(FLEET, "workers", fleet_of({"description": "x", **old}))
    found = engine.diff(created, fleet_of({"description": "x", **new}))

    assert list(found.detailedDiff) == [f"instanceProperties.{path}"]
    assert not found.replaces


@pytest.mark.parametrize(("old", "new"), [({}, {"labels": {}}), ({"scheduling": {}}, {}), ({"tags": {}}, {})])
def test_an_empty_object_is_the_same_as_none(engine, fleet_of, old, new):
    created = engine.create(FLEET, "workers", fleet_of({"description": "x", **old}))

    assert engine.diff(created, fleet_of({"description": "x", **new})).changes == NO_CHANGE


@pytest.mark.parametrize(
    ("old", "new", "labels"),
    [
        ({"labels": {"c": "3"}}, {"labels": {"a": None}}, {"b": "2"}),
        ({"labels": {"a": None}}, {"labels": {"c": "3"}}, {"a": "1", "b": "2", "c": "3"}),
        ({"labels": {"a": None}}, {}, {"a": "1", "b": "2"}),
        ({"labels": {"a": "9"}}, {"labels": {}}, {"a": "1", "b": "2"}),
    ],
)
def test_running_instances_get_the_labels_that_new_ones_would_have(engine, cloud, fleet_of, old, new, labels):
    created = engine.create(FLEET, "workers", fleet_of({"description": "x", **old}))
    updated = engine.update(created, fleet_of({"description": "x", **new}))
    engine.update(updated, fleet_of({"description": "x", **new}, count=3))

    assert _own(_instance(cloud)["labels"]) == labels
    assert _instance(cloud, "t-3")["labels"] == _instance(cloud)["labels"]


@pytest.mark.parametrize(
    ("old", "new", "tags", "items"),
    [
        ({"tags": None, "metadata": None}, {}, ["web"], [{"key": "k", "value": "v"}]),
        ({}, {"tags": None, "metadata": None}, [], []),
        ({}, {"tags": {"items": ["db"]}}, ["db"], [{"key": "k", "value": "v"}]),
    ],
)
def test_running_instances_get_the_tags_and_metadata_that_new_ones_would_have(
    engine, cloud, fleet_of, old, new, tags, items
):
    created = engine.create(FLEET, "workers", fleet_of({"description": "x", **old}))
    engine.update(created, fleet_of({"description": "x", **new}))
    found = _instance(cloud)

    assert (found.get("tags") or {}).get("items", []) == tags
    assert (found.get("metadata") or {}).get("items", []) == items


def test_a_change_needs_the_template(engine, cloud, fleet_of):
    created = engine.create(FLEET, "workers", fleet_of({"labels": {"c": "3"}}))
    cloud.emulator.store.delete(f"projects/{PROJECT}/global/instanceTemplates/base")
    with driver.failing() as failed:
        engine.update(created, fleet_of({"labels": {"a": None}}))

    assert failed[0].message.startswith("sourceInstanceTemplate: must name something that exists")
    assert _own(_instance(cloud)["labels"]) == {"a": "1", "b": "2", "c": "3"}


def test_a_null_for_all_labels_is_refused(engine, fleet_of):
    failures = engine.failures(FLEET, fleet_of({"labels": None}))

    assert "must not be null" in failures["instanceProperties.labels"]
    assert "set each of their keys to null" in failures["instanceProperties.labels"]


def test_an_empty_object_causes_a_warning(engine, fleet_of):
    engine.checked(FLEET, "workers", fleet_of({"scheduling": {}, "labels": {"a": None}, "networkInterfaces": [{}]}))
    warned = [said for severity, _, said in engine.log.messages if severity == "WARNING"]

    assert len(warned) == 1
    assert warned[0].startswith("instanceProperties.scheduling is empty")
    assert "YAML" in warned[0]


def test_without_a_template_there_is_nothing_to_override(engine):
    plain = fleet(labels=None, scheduling={})

    assert engine.failures(FLEET, plain) == {}
    assert [said for severity, _, said in engine.log.messages if severity == "WARNING"] == []


def test_a_null_in_another_resource_is_a_missing_property(engine, cloud):
    created = engine.create(TEMPLATE, "web", template(labels={"a": None}, canIpForward=None))
    body = cloud.requests("compute.instanceTemplates.insert")[0]["body"]["properties"]

    assert body.get("labels", {}) == {}
    assert "canIpForward" not in body
    assert engine.diff(created, template()).changes == NO_CHANGE
    assert engine.drift(created) == set()
    refreshed = engine.refresh(created)
    assert engine.diff(refreshed, template(labels={"a": None})).changes == NO_CHANGE


def test_a_null_without_a_template_is_a_missing_property(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(labels={"a": None, "b": "2"}, canIpForward=None))
    body = cloud.requests(BULK)[0]["body"]["instanceProperties"]

    assert {key: value for key, value in body["labels"].items() if value is not None} == {
        "b": "2",
        "gcpx-bulk": created.outputs["fleetId"],
        "gcpx-generation": created.outputs["generation"],
    }
    assert "canIpForward" not in body
    assert engine.diff(created, fleet(labels={"b": "2"})).changes == NO_CHANGE
