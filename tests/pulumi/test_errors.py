"""Users of the real CLI see complete and helpful errors, no secrets, and the expected order of steps.

Holds SECURITY.md: "Three kinds of values are secret".
"""

from __future__ import annotations

import pytest
from values.programs import TEMPLATE, template

pytestmark = pytest.mark.pulumi


def test_one_preview_reports_every_failure_of_a_resource(stack, cloud):
    bad = template(
        machineType="zones/z/machineTypes/m",
        disks=[{"boot": True, "source": "d", "mode": "x y"}],
        tags={"items": ["Bad_Tag"]},
    )
    stack.write(one={"type": TEMPLATE, "properties": {"name": "Bad_Name", **bad}})
    said = stack.preview_fails()

    for words in (
        "property name value {Bad_Name} has a problem: must be 1 to 63",
        "properties.machineType",
        'properties.disks[0].mode: must be one of READ_ONLY, READ_WRITE, not "x y"',
        "properties.tags.items[0]: must be 1 to 63",
    ):
        assert words in said, said
    assert "4 errors" in said
    assert "nil" not in said
    assert cloud.calls() == []


def test_an_invalid_secret_is_not_printed(stack):
    # The program makes the value secret, because the CLI itself masks secrets of the configuration wherever it prints.
    hidden = {"fn::secret": "zones/hunter2hunter2/x"}
    stack.write(one={"type": TEMPLATE, "properties": {"name": hidden, **template(machineType=hidden)}})
    said = stack.preview_fails()

    assert "2 errors" in said
    assert "properties.machineType" in said
    assert "hunter2" not in said


def test_the_state_contains_no_secret_in_plain_text(stack):
    stack.workspace.run("config", "set", "--secret", "gcpx:accessToken", "ya29.hunter3-hunter3")
    token = {"fn::secret": "hunter2-hunter2"}
    stack.write(
        one={"type": TEMPLATE, "properties": template(labels={"token": token}, metadata={"items": [{"key": "a", "value": {"fn::join": ["-", ["x", token]]}}]},
             disks=[{"boot": True, "initializeParams": {"sourceImage": "family/debian-12", "sourceImageEncryptionKey": {"rawKey": "aHVudGVyNGh1bnRlcjRodW50ZXI0aHVudGVyNC0zMmI="}}}])},
    )  # fmt: skip
    stack.up()
    stack.assert_no_changes()
    text = stack.state_file()

    for secret in ("hunter2", "hunter3", "aHVudGVyNGh1bnRlcjRodW50ZXI0aHVudGVyNC0zMmI="):
        assert secret not in text
    assert "hunter2" in stack.workspace.run("stack", "export", "--show-secrets").stdout
    stack.destroy()
