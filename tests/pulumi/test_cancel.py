"""^C ends `pulumi up` although the server does not answer, and the next `up` goes on; a second ^C corrupts nothing."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import contextmanager

import pytest
from clock import HANGS
from programs import PROJECT, TEMPLATE, template

from gcpx.gcp.request import MOST_AT_ONCE

pytestmark = pytest.mark.pulumi
WEB = {"type": TEMPLATE, "properties": {"name": "web", **template()}}
PATH = f"projects/{PROJECT}/global/instanceTemplates/web"


@contextmanager
def _running_up(stack, cloud, held=1, *options):
    """Run `pulumi up` until the server has done so many requests and holds their answers."""
    cloud.interceptor.hold(1, "after the work")
    command = ["pulumi", "up", "--yes", "--skip-preview", "--non-interactive", *options]
    environment = {**os.environ, **stack.workspace.variables}
    with subprocess.Popen(
        command, cwd=stack.workspace.program, env=environment, stdout=subprocess.PIPE, text=True
    ) as up:
        cloud.interceptor.wait_until_held(held)
        yield up
    cloud.interceptor.drain()


def _assert_goes_on(stack, cloud):
    stack.up()
    assert "initErrors" not in stack.resource("web")
    assert cloud.emulator.store.counts()["instanceTemplates"] == 1
    stack.assert_no_changes()
    stack.destroy()
    assert cloud.get(PATH) is None


def test_an_interrupted_up_does_not_wait_for_the_server(stack, cloud):
    stack.write(web=WEB)
    with _running_up(stack, cloud) as up:
        up.send_signal(signal.SIGINT)
        said, _ = up.communicate(timeout=HANGS)

    assert up.returncode
    assert "cancelled while waiting for the response" in said
    assert stack.resource("web")["id"] == PATH
    _assert_goes_on(stack, cloud)


def test_a_second_interrupt_leaves_a_state_that_the_next_up_goes_on_from(stack, cloud):
    stack.write(web=WEB)
    with _running_up(stack, cloud) as up:
        up.send_signal(signal.SIGINT)
        up.send_signal(signal.SIGINT)
        up.communicate(timeout=HANGS)

    assert up.returncode
    state = stack.workspace.state()["deployment"]
    pending = [item["type"] for item in state.get("pending_operations") or ()]
    kept = [item["id"] for item in state.get("resources", ()) if item["type"] == TEMPLATE]
    assert (pending, kept) in ((["creating"], []), ([], [PATH])), "the engine knows that the template may exist"
    _assert_goes_on(stack, cloud)


def test_an_interrupt_is_heard_while_more_creations_are_under_way_than_have_connections(stack, cloud):
    number = MOST_AT_ONCE + 4
    stack.write(**{f"web-{index}": {"type": TEMPLATE, "properties": template()} for index in range(number)})
    with _running_up(stack, cloud, MOST_AT_ONCE, "--parallel", str(number)) as up:
        up.send_signal(signal.SIGINT)
        said, _ = up.communicate(timeout=HANGS)

    assert up.returncode
    assert "did not answer" not in said, "no creation has ended before the plugin heard of the interrupt"
    assert said.count("cancelled while waiting for the response") >= MOST_AT_ONCE
