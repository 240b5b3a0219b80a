"""Whatever a user runs, the real CLI never shows what a program marks as secret.

Holds SECURITY.md: "They never appear in clear"; "from level 9 of its log on".
"""

from __future__ import annotations

import base64

import pytest
from secret_values.planted_secrets import shown
from values.programs import NOTIFICATION, TEMPLATE, notification, template

pytestmark = pytest.mark.pulumi

HIDDEN = "mQ7xV9tZ3Lp0Wd2K"
OTHER = "Hn5Bc4Yq8RfTz6Ws"


def _program(value):
    secret = {"fn::secret": value}
    items = [{"key": "token", "value": secret}, {"key": "script", "value": {"fn::join": ["=", ["TOKEN", secret]]}}]
    web = {"name": "web", **template(metadata={"items": items}, labels={"fn::secret": {"by": "mq7xv9tz3"}})}
    return {
        "web": {"type": TEMPLATE, "properties": web},
        "note": {"type": NOTIFICATION, "properties": notification(customAttributes={"token": secret})},
    }


def test_no_command_shows_a_secret(stack, cloud):
    cut = base64.b64encode(HIDDEN.encode()).decode().replace("=", "\\u003d")[:-9]
    said = f"Invalid value: '{HIDDEN}', '{cut}...', 'TOKEN={HIDDEN[:9]}..."
    cloud.fail("storage.notifications.insert", status=400, message=said)
    stack.write(**_program(HIDDEN))
    said = [stack.up_fails("--logtostderr", "-v=3", "--diff"), stack.up("--json")]
    stack.write(**_program(OTHER))
    for command in (("preview", "--diff"), ("up", "--yes", "--skip-preview", "--diff"), ("stack", "export")):
        done = stack.workspace.run(*command)
        said.append(done.stdout + done.stderr)

    assert "Invalid value: '[secret]', '[secret]...', 'TOKEN=[secret]..." in said[0]
    for hidden in (HIDDEN, OTHER, "mq7xv9tz3"):
        assert not [text for text in said if hidden in text or shown(text, hidden)]


def test_only_the_log_of_all_messages_has_secrets(stack):
    stack.write(**_program(HIDDEN))
    logs = [stack.workspace.run("preview", "--logtostderr", f"-v={level}").stderr for level in (8, 9)]

    assert [HIDDEN in log for log in logs] == [False, True]
