"""^C ends `pulumi up` although the server does not answer, and the next `up` goes on; a second ^C corrupts nothing.

`tests/reliability/cancel/test_many_calls.py` cancels more calls at once than there are connections.

Holds reliability.md: "^C does not wait"; "After a second ^C".
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import contextmanager

import pytest
from engines.clock import HANGS
from values.programs import PROJECT, TEMPLATE, template

pytestmark = pytest.mark.pulumi
WEB = {"type": TEMPLATE, "properties": {"name": "web", **template()}}
PATH = f"projects/{PROJECT}/global/instanceTemplates/web"


@contextmanager
def _running_up(stack, cloud):
    """Run `pulumi up` until the server has done a request and holds its answer."""
    cloud.interceptor.hold(1, "after the work")
    command = ["pulumi", "up", "--yes", "--skip-preview", "--non-interactive"]
    environment = {**os.environ, **stack.workspace.variables}
    with subprocess.Popen(
        command, cwd=stack.workspace.program, env=environment, stdout=subprocess.PIPE, text=True
    ) as up:
        cloud.interceptor.wait_until_held()
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
