"""What another resource has, or is retained, stays so in forced replacements, and with any mark in the state."""

from __future__ import annotations

import attrs
import pytest
from engines.stack import Declared, Stack
from values.programs import IMAGE, NOTIFICATION, PROJECT, TEMPLATE, image, notification, template

pytestmark = pytest.mark.usefixtures("vm")
WEB = {**template(), "name": "web"}


@pytest.fixture
def stack(cloud):
    made = Stack(cloud)
    yield made
    made.end_plugin()


@pytest.fixture
def other(cloud):
    made = Stack(cloud, stack_name="other")
    yield made
    made.end_plugin()


def _live(cloud, path):
    return cloud.get(f"projects/{PROJECT}/global/{path}")


def _web(trigger):
    return Declared(TEMPLATE, WEB, replacement_trigger=trigger)


def _events(prefix, **options):
    return {"one": Declared(NOTIFICATION, notification(objectNamePrefix=prefix), **options)}


def test_what_is_retained_is_not_deleted_by_its_replacement(stack, cloud):
    stack.up({"one": Declared(IMAGE, image(name="backup"), retain_on_delete=True)})
    before = _live(cloud, "machineImages/backup")
    stack.up({"one": Declared(IMAGE, image(name="backup", description="other"), retain_on_delete=True)})

    assert _live(cloud, "machineImages/backup") == before
    assert "exists" in stack.failed.message


MARKS = ["x", 5, [], [1], True, {"a": 1}, {"id": "x", "later": 1}, {"id": []}, {"id": None}, {"id": "x", "requester": 5},
         {"id": "x", "requester": "zz"}, {"id": "x", "adopted": "x"}]  # fmt: skip


@pytest.mark.parametrize("hidden", [*({"__creation": mark} for mark in MARKS), *({"__unread": mark} for mark in MARKS)])
def test_no_mark_in_the_state_makes_a_call_fail(engine, cloud, hidden):
    made = engine.create(TEMPLATE, "x", WEB)
    engine.next_run()
    edited = attrs.evolve(made, outputs={**made.outputs, **hidden})
    engine.diff_checked(edited, edited.inputs)
    assert engine.refresh(edited) is not None
    engine.update(edited, edited.inputs)
    engine.delete(edited)

    assert _live(cloud, "instanceTemplates/web") is None


def test_a_notification_that_an_interrupted_replacement_created_is_named(stack):
    stack.up(_events("a"))
    stack.crash("up", _events("b"), None, "response")
    stack.up(_events("b"))

    assert "notificationConfigs/2 already publishes the same events" in stack.failed.message


def test_a_forced_replacement_by_the_content_of_a_strangers_notification_is_refused(stack, other):
    stack.up(_events("a", replacement_trigger=1))
    other.up(_events("b"))
    stack.up(_events("b", replacement_trigger=2))

    assert "notificationConfigs/2 already publishes the same events" in stack.failed.message


def test_what_another_resource_has_too_is_not_deleted_by_a_forced_replacement(stack, cloud):
    stack.up({"one": _web(1)})
    stack.import_(stack.entries[0].resource.id, "two", TEMPLATE)
    before = _live(cloud, "instanceTemplates/web")
    stack.up({"two": Declared(TEMPLATE, WEB), "one": _web(2)})

    assert _live(cloud, "instanceTemplates/web") == before
    assert "The resource two of this stack manages it" in stack.failed.message
