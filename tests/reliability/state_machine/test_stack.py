"""The stack of the tests does what Pulumi's engine does, where `tests/pulumi/test_engine_calls.py` does not compare the two."""

from __future__ import annotations

import attrs
import pytest
from engines.inventory import Inventory
from engines.recorded_calls import recording
from engines.stack import Declared, Output, Stack
from values.programs import FLEET, NOTIFICATION, TEMPLATE, fleet, notification, template

A, B = "projects/demo-project/topics/uploads", "projects/demo-project/topics/everything"


@attrs.frozen
class Recorded:
    """A stack, and the calls of its plugins since the last look."""

    stack: Stack
    calls: list[str]

    def up(self, *given, **more):
        """Run `up`, which must succeed; return its calls after the preview."""
        program = dict(given)
        self.stack.up(program, **more)
        assert self.stack.failures == []
        return self.look()

    def look(self):
        made = [call for call in self.calls if "preview" not in call]
        self.calls.clear()
        return made


@pytest.fixture
def recorded(cloud):
    calls = []
    cloud.prepare()
    stack = Stack(cloud, start_plugin=recording(calls))
    yield Recorded(stack, calls)
    stack.end_plugin()


def one(topic=A, **options):
    return "one", Declared(NOTIFICATION, notification(topic=topic), **options)


def count(cloud, kind="notificationConfigs"):
    return sum(f"/{kind}/" in path for path in Inventory.of(cloud).items)


def test_a_run_previews_the_whole_program_and_then_brings_each_resource_to_it(recorded):
    other = "two", Declared(FLEET, fleet(1))
    recorded.stack.up(dict([one(), other]))
    assert recorded.calls == [
        *("Check one", "Create preview one", "Check two", "Create preview two"),
        *("Check one", "Create one", "Check two", "Create two"),
    ]
    recorded.look()
    recorded.stack.up(dict([one(), ("two", Declared(FLEET, fleet(2)))]))
    assert recorded.calls == [
        *("Check olds one", "Diff one", "Check olds two", "Diff two", "Update preview two"),
        *("Check olds one", "Diff one", "Check olds two", "Diff two", "Update two"),
    ]
    recorded.look()
    recorded.stack.destroy()
    assert recorded.look() == ["Delete two", "Delete one"]
    assert recorded.stack.entries == []


PLANNED = ["Check olds one", "Diff one", "Check one"]


def test_a_replacement_deletes_first_if_the_provider_wants_that_unless_the_program_does_not(recorded):
    def named(description, **options):
        return "one", Declared(TEMPLATE, {"name": "first", **template(description=description)}, **options)

    recorded.up(named("a"))
    assert recorded.up(named("b"))[-2:] == ["Delete one", "Create one"]
    recorded.stack.up(dict([named("c", delete_before_replace=False)]))
    assert recorded.look()[-1] == "Create one"
    assert "already" in recorded.stack.failures[0].message


def plain(**options):
    return "one", Declared(TEMPLATE, template(), **options)


FORCED = ["Create one", "Delete one"]


@pytest.mark.parametrize("how", ["--target-replace", "taint"])
def test_a_forced_replacement_asks_nothing(recorded, how):
    program = [plain(), ("two", Declared(FLEET, fleet(1)))]
    recorded.up(*program)
    if how == "taint":
        recorded.stack.taint("one")
        calls = recorded.up(*program)
        assert [call for call in calls if "two" not in call] == ["Check one", "Check one", *FORCED]
    else:
        assert recorded.up(*program, replaces=frozenset({"one"})) == ["Check one", "Check one", *FORCED]
    assert not any(entry.is_tainted for entry in recorded.stack.entries)
    assert len(recorded.stack.entries) == 2


def test_an_import_of_the_program_reads_first(recorded, cloud):
    recorded.up(one())
    resource_id = recorded.stack.state_delete("one").id
    calls = recorded.up(one(import_id=resource_id))
    assert calls == ["Read one", "Check olds one", "Diff one"] * 2
    assert count(cloud) == 1


def test_what_was_imported_or_moved_is_in_the_state(recorded, cloud):
    recorded.up(one())
    other = Stack(cloud, stack_name="other")
    recorded.stack.state_move(other, "one")
    assert recorded.stack.entries == []
    assert not other.preview(dict([one()]))
    assert not recorded.stack.import_("none/notificationConfigs/7", "one", NOTIFICATION)
    assert other.import_(other.entries[0].resource.id, "second", NOTIFICATION)
    assert len(other.entries) == 2
    other.end_plugin()


def test_a_run_that_goes_on_leaves_out_what_depends_on_a_failure(recorded, cloud):
    recorded.stack.continues = True
    cloud.fail("storage.notifications.insert", status=403, times=9)
    program = {
        "one": Declared(NOTIFICATION, notification()),
        "two": Declared(TEMPLATE, template(description=Output("one", "topic"))),
        "three": Declared(TEMPLATE, template()),
    }
    recorded.stack.up(program)
    assert [entry.name for entry in recorded.stack.entries] == ["three"]
    assert [failure.urn.rpartition("::")[2] for failure in recorded.stack.failures] == ["one"]


def test_a_kill_loses_the_call_under_way_and_nothing_before_it(recorded, cloud):
    program = {"one": Declared(NOTIFICATION, notification()), "two": Declared(TEMPLATE, template())}
    stack = recorded.stack

    def kill(_, request):
        if "instanceTemplates" in request and not cloud.interceptor.is_lost:
            cloud.interceptor.lose("after")
            stack.kill()

    with cloud.interceptor.observed(kill):
        stack.up(program)
    cloud.interceptor.drain()
    assert [entry.name for entry in stack.entries] == ["one"]
    assert [urn.rpartition("::")[2] for urn in stack.pending] == ["two"]
    stack.up(program)
    assert (stack.failures, count(cloud, "instanceTemplates")) == ([], 1)


def test_a_replacement_that_is_killed_before_its_creation_is_created_by_the_next_run(recorded, cloud):
    recorded.up(one())
    stack, changed = recorded.stack, dict([one(B, delete_before_replace=True)])

    def kill(_, request):
        if request.startswith("POST") and not cloud.interceptor.is_lost:
            cloud.interceptor.lose("before")
            stack.kill()

    with cloud.interceptor.observed(kill):
        stack.up(changed)
    cloud.interceptor.drain()
    assert [entry.is_deleted for entry in stack.entries] == [True]
    recorded.look()
    assert recorded.up(*changed.items()) == [*PLANNED, *PLANNED, "Create one"]
    assert [entry.is_deleted for entry in stack.entries] == [False]
