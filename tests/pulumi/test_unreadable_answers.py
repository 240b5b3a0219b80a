"""A creation whose response cannot be read is in the state of the real CLI, and the next `pulumi up` goes on with it."""

from __future__ import annotations

import pytest
from values.programs import KEY, NOTIFICATION, TEMPLATE, USER, key, notification, template

pytestmark = pytest.mark.pulumi
DEEP = b'{"a":' * 40 + b"1" + b"}" * 40
RESOURCES = {
    "web": {"type": TEMPLATE, "properties": template()},
    "mine": {"type": KEY, "properties": key()},
    "events": {"type": NOTIFICATION, "properties": notification()},
}
CREATIONS = ("/instanceTemplates", "/sshPublicKeys", "/notificationConfigs")


def _made(cloud):
    return [call for call in cloud.calls() if call.endswith((".insert", ".create"))]


def _hide(request, body):
    method, path = request.split(" ")
    return DEEP if method == "POST" and path.endswith(CREATIONS) else body


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("next_command", ["up", "destroy"])
def test_what_an_unreadable_answer_hides_is_neither_forgotten_nor_made_twice(stack, cloud, next_command):
    stack.write(**RESOURCES)
    cloud.interceptor.rewrite = _hide
    said = stack.up_fails()
    cloud.interceptor.rewrite = None
    made = _made(cloud)
    if next_command == "up":
        stack.up()
        stack.assert_no_changes()
    stack.destroy()

    assert "nested more than" in said
    assert "Google may have carried the request out" in said
    assert _made(cloud) == made
    assert len(made) == len(RESOURCES)
    assert not cloud.emulator.store.list(f"users/{USER}/sshPublicKeys")
    assert stack.resources() == []
