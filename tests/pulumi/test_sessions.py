"""Engines can attach to a running plugin."""

from __future__ import annotations

import subprocess

import pytest
from engines.clock import HANGS
from values.programs import PROJECT, TEMPLATE, template
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
