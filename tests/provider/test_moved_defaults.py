"""After a change of the provider's project, resources stay where they are, and a replacement that moves is shown."""

from __future__ import annotations

import pytest
from values.programs import (
    ATTACHMENT,
    FLEET,
    IMAGE,
    NOTIFICATION,
    PROJECT,
    TEMPLATE,
    attachment,
    fleet,
    image,
    notification,
)
from values.programs import template as template_of

OTHER = "other-project"
NAMED = {"name": "web", **template_of()}
LIVES = [
    pytest.param(TEMPLATE, NAMED, {**NAMED, "description": "new"}, "project", id="template"),
    pytest.param(IMAGE, image(name="golden"), image(name="golden", guestFlush=True), "project", id="image"),
    pytest.param(FLEET, fleet(1), fleet(1, namePattern="app-###"), "project", id="fleet"),
    pytest.param(ATTACHMENT, attachment(), attachment(mode="READ_ONLY", disk="other"), "project", id="attachment"),
    pytest.param(
        NOTIFICATION,
        notification(topic="uploads"),
        notification(topic="uploads", eventTypes=["OBJECT_DELETE"]),
        "topic",
        id="notification",
    ),
]
"""Inputs that leave the place to the provider, others that replace the resource, and how the preview shows that it moves."""


@pytest.fixture
def made(engine, cloud, vm, token, inputs):
    """A resource, after the provider has got another project."""
    made = engine.create(token, "x", inputs)
    engine.configure(project=OTHER, emulatorHost=cloud.host)
    return made


def _warnings(engine):
    return [text for severity, _, text in engine.log.messages if severity == "WARNING" and "replacement" in text]


@pytest.mark.parametrize(("token", "inputs", "replacing", "path"), LIVES)
class TestOtherProject:
    def test_a_resource_stays_where_it_is(self, engine, made, token, inputs, replacing, path):
        assert dict(engine.diff(made, inputs).detailedDiff) == {}
        assert engine.drift(made) == set()
        assert engine.refresh(made) == made
        assert _warnings(engine) == []

    def test_the_preview_shows_that_a_replacement_moves(self, engine, made, token, inputs, replacing, path):
        change = engine.diff(made, replacing)

        assert path in change.replaces
        assert change.deleteBeforeReplace == (token == ATTACHMENT)
        (warning,) = _warnings(engine)
        assert (f"{path}: " in warning, PROJECT in warning, OTHER in warning) == (True, True, True)

    def test_a_program_that_names_the_old_place_moves_nothing(self, engine, made, token, inputs, replacing, path):
        old = {"topic": f"projects/{PROJECT}/topics/uploads"} if path == "topic" else {"project": PROJECT}
        assert dict(engine.diff(made, {**inputs, **old}).detailedDiff) == {}
        assert path not in engine.diff(made, {**replacing, **old}).replaces
        assert _warnings(engine) == []


@pytest.mark.parametrize(("token", "inputs"), [(TEMPLATE, NAMED)])
def test_a_replacement_is_created_in_the_other_project(engine, cloud, made, token, inputs):
    engine.delete(made)
    engine.create(token, "x", {**inputs, "description": "new"})

    exist = [cloud.get(f"projects/{project}/global/instanceTemplates/web") for project in (PROJECT, OTHER)]
    assert (exist[0], exist[1]["description"]) == (None, "new")


@pytest.mark.parametrize(
    ("token", "inputs", "changed"),
    [
        (IMAGE, image(name="golden"), image(name="golden", labels={"a": "b"})),
        (FLEET, fleet(1), fleet(2)),
        (ATTACHMENT, attachment(), attachment(autoDelete=True)),
    ],
    ids=["image", "fleet", "attachment"],
)
def test_the_preview_of_an_update_in_place_shows_the_old_project(engine, made, token, inputs, changed):
    assert engine.preview_update(made, changed)["project"] == made.outputs["project"] == PROJECT
    assert engine.update(made, changed).outputs["project"] == PROJECT


def test_an_instance_in_another_zone_is_a_change_of_the_program(engine, cloud, vm):
    made = engine.create(ATTACHMENT, "x", attachment())
    elsewhere = {"instance": f"projects/{OTHER}/zones/us-east1-c/instances/other", "disk": "other"}

    assert set(engine.diff(made, elsewhere).replaces) == {"instance", "disk"}
    assert _warnings(engine) == []
