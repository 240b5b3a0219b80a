"""Stacks in PostgreSQL and in a bucket: locks, crashes, and secrets."""

from __future__ import annotations

import re

import pytest
from cli import postgres
from cli.killed_cli import kill_cli
from engines.clock import HANGS
from values.programs import KEY, TEMPLATE, key, template
from workspace import ROOT

pytestmark = [pytest.mark.backends, pytest.mark.pulumi]
PLANTED = "mQ7xV9tZ3Lp0Wd2K"


def _write(stack, name, **more):
    stack.write(web={"type": TEMPLATE, "properties": {"name": name, **template(**more)}})


def _templates(cloud):
    return cloud.emulator.store.counts().get("instanceTemplates", 0)


def test_two_stacks_are_updated_at_once(stacks, backend, cloud, begin):
    one, two = stacks.make(backend, "one"), stacks.make(backend, "two")
    _write(one, "web-one")
    _write(two, "web-two")
    with cloud.held_creations(2) as both_create, begin(one) as first, begin(two) as second:
        assert both_create()
        cloud.finish_operations()
        codes = [process.wait(HANGS) for process in (first, second)]

    assert codes == [0, 0]
    assert _templates(cloud) == 2
    for stack in (one, two):
        stack.destroy()
    assert _templates(cloud) == 0


def test_a_second_update_of_a_stack_says_who_holds_the_lock(stacks, backend, cloud, begin):
    stack = stacks.make(backend, "dev")
    _write(stack, "web")
    with cloud.held_creations(1) as creates, begin(stack) as process:
        assert creates()
        said = stack.up_fails()
        cloud.finish_operations()
        assert process.wait(HANGS) == 0

    assert "the stack is currently locked by 1 lock(s)" in said
    assert re.search(rf"created by \w+@\S+ \(pid {process.pid}\) at \d{{4}}-", said), said
    assert "pulumi cancel" in said
    assert postgres.PASSWORD not in said


def test_the_update_after_a_crash_finishes_what_was_begun(stacks, backend, cloud, begin):
    stack = stacks.make(backend, "dev")
    _write(stack, "web")
    with cloud.held_creations(1) as creates, begin(stack) as process:
        assert creates()
        kill_cli(process)
    cloud.finish_operations()
    assert "currently locked" in stack.up_fails()
    stack.workspace.run("cancel", "--yes")
    stack.up()

    assert _templates(cloud) == 1
    stack.workspace.run("refresh", "--yes", "--skip-preview", "--clear-pending-creates", "--expect-no-changes")
    stack.assert_no_changes()
    stack.destroy()
    assert _templates(cloud) == 0


def test_stacks_are_listed_with_the_setting_of_the_page(stacks, database):
    one_core = {"GOMAXPROCS": "1", "PULUMI_DIY_BACKEND_PARALLEL": "1"}  # without the latter, this never ends
    for name in ("one", "two", "three"):
        stack = stacks.make(database, name, one_core)
    listed = stack.workspace.run("stack", "ls", "--all").stdout

    assert [line.split()[0].rstrip("*") for line in listed.splitlines()[1:]] == ["one", "three", "two"], listed
    assert "PULUMI_DIY_BACKEND_PARALLEL=1" in (ROOT / "docs" / "scaling.md").read_text()


def test_no_secret_is_stored_in_clear(stacks, backend):
    stack = stacks.make(backend, "dev")
    stack.workspace.run("config", "set", "--secret", "token", PLANTED)
    hidden = {"items": [{"key": "token", "value": {"fn::secret": PLANTED}}]}
    _write(stack, "web", metadata=hidden, labels={"plain": "visible"})
    stack.up()
    stored = backend.contents()

    assert [key for key, content in stored.items() if b"visible" in content], "the search finds what is not secret"
    assert [key for key, content in stored.items() if PLANTED.encode() in content] == []
    assert any(key.endswith(".checkpoint.json") for key in stored)
    assert any("/backups/" in key for key in stored)


def test_without_checkpoints_a_crash_loses_what_was_created(stacks, database, cloud, begin):
    stack = stacks.make(database, "dev", {"PULUMI_SKIP_CHECKPOINTS": "true"})
    login = {"type": KEY, "properties": key()}
    web = {"type": TEMPLATE, "properties": {"name": "web", **template()}, "options": {"dependsOn": ["${login}"]}}
    stack.write(login=login, web=web)
    with cloud.held_creations(1) as created, begin(stack) as process:
        assert created()
        kill_cli(process)
    cloud.finish_operations()

    assert stack.workspace.state()["deployment"].get("resources", []) == []
    assert _templates(cloud) == 1, "it exists, and no state knows it"
    stack.workspace.run("cancel", "--yes")
    said = stack.up_fails()
    assert "exists already and was not created by this resource" in said
    assert f"pulumi import {KEY} login " in said
