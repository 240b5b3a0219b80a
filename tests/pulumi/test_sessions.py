"""Engines can attach to a running plugin, and an interrupted `up` loses no resource."""

from __future__ import annotations

import subprocess

import pytest
from engines.clock import HANGS
from values.programs import FLEET, PROJECT, TEMPLATE, fleet, template
from workspace import SCRIPTS

pytestmark = pytest.mark.pulumi
WEB = {"type": TEMPLATE, "properties": {"name": "web", **template()}}


def test_engines_attach_to_a_running_plugin_one_after_the_other(stack, cloud):
    stack.workspace.run("config", "set", "gcpx:emulatorHost", cloud.host)
    stack.workspace.run("config", "set", "gcpx:project", PROJECT)
    stack.write(web=WEB)
    with subprocess.Popen([str(SCRIPTS / "pulumi-resource-gcpx")], stdout=subprocess.PIPE, text=True) as plugin:
        try:
            attached = {"PULUMI_DEBUG_PROVIDERS": f"gcpx:{plugin.stdout.readline().strip()}"}
            stack.workspace.run("up", "--yes", variables=attached)
            stack.workspace.run("refresh", "--yes", "--expect-no-changes", variables=attached)
            stack.workspace.run("destroy", "--yes", variables=attached)
        finally:
            plugin.terminate()

        assert plugin.wait(timeout=HANGS) == 0
    assert cloud.get(f"projects/{PROJECT}/global/instanceTemplates/web") is None


def test_a_refresh_in_the_middle_of_a_rollout_keeps_it_unfinished_until_the_next_up(stack, cloud):
    def write(**more):
        made = fleet(3, updatePolicy={"maxUnavailable": 1}, **more)
        stack.write(workers={"type": FLEET, "properties": made})

    write()
    stack.up()
    cloud.fail("compute.instances.setLabels", status=409, message="not now")
    write(labels={"tier": "web"})
    stack.up_fails()
    assert "initErrors" in stack.resource("workers")
    refreshed = stack.workspace.run("refresh", "--yes", "--skip-preview").stdout

    assert "the last update did not finish: 1 of 3 members differs from the state: web-" in refreshed
    assert "initErrors" in stack.resource("workers")
    assert stack.preview()["workers"].op == "update"
    stack.up()
    assert "initErrors" not in stack.resource("workers")
    stack.assert_no_changes()
    stack.destroy()
