"""Users of the real CLI see complete and helpful errors, no secrets, and the expected order of steps.

Holds SECURITY.md: "Three kinds of values are secret".
"""

from __future__ import annotations

import pytest
from values.programs import IMAGE, KEY, NOTIFICATION, PROJECT, TEMPLATE, image, key, notification, template

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


def test_values_that_are_secret_by_declaration_or_content_are_not_printed(stack):
    private = "-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2hunter2\n-----END OPENSSH PRIVATE KEY-----"
    encryption = {"rawKey": "hunter2hunter2"}
    wrong = {
        "machineImageEncryptionKey.rawKey: must be 32 bytes": (IMAGE, image(machineImageEncryptionKey=encryption)),
        "key: must be the public key": (KEY, key(key=private)),
        "topic: must be 3 to 255 letters": (NOTIFICATION, notification(topic=private)),
    }
    for words, (token, inputs) in wrong.items():
        stack.write(one={"type": token, "properties": inputs})
        said = stack.preview_fails()
        assert f"resource 'one' has a problem: {words}" in said, said
        assert "hunter2" not in said


def test_a_malformed_access_token_is_refused_by_its_environment_variable(stack):
    stack.write(one={"type": TEMPLATE, "properties": template()})
    said = stack.preview_fails(variables={"GOOGLE_OAUTH_ACCESS_TOKEN": "hunter2\nhunter2"})

    assert "GOOGLE_OAUTH_ACCESS_TOKEN must be one line" in said
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


def test_an_unreachable_host_is_reported_with_the_next_step(stack):
    stack.write(web={"type": TEMPLATE, "properties": template(), "options": {"customTimeouts": {"create": "1s"}}})
    said = stack.up_fails(variables={"GCPX_EMULATOR_HOST": "127.0.0.1:1"})

    assert "no emulator at 127.0.0.1:1; start it with `gcpx-emulator --port 1`" in said
    assert "emulatorHost" in said


def test_a_replacement_with_the_same_name_deletes_first(stack, cloud):
    stack.write(web={"type": TEMPLATE, "properties": {"name": "web", **template()}})
    stack.up()
    stack.write(web={"type": TEMPLATE, "properties": {"name": "web", **template(canIpForward=True)}})
    stack.up()
    changes = [name for name in cloud.calls() if name.endswith((".insert", ".delete"))]

    assert changes == [
        "compute.instanceTemplates.insert",
        "compute.instanceTemplates.delete",
        "compute.instanceTemplates.insert",
    ]
    stack.destroy()


def test_outputs_that_others_use_are_unknown_in_preview_and_known_in_up(stack):
    stack.write(
        one={"type": TEMPLATE, "properties": {"name": "one", **template()}},
        two={"type": TEMPLATE, "properties": {"description": "after ${one.selfLinkUnique}", **template()}},
    )
    assert stack.preview()["two"].op == "create"
    stack.up()

    assert "?uniqueId=" in stack.resource("two")["outputs"]["description"]
    stack.destroy()


def test_a_changed_provider_changes_no_resource(stack):
    stack.write(
        provider={"config": {}},
        cloud={"type": "pulumi:providers:gcpx", "properties": {"project": PROJECT, "region": "us-east1"}},
        web={"type": TEMPLATE, "properties": template(), "options": {"provider": "${cloud}"}},
        note={"type": NOTIFICATION, "properties": notification(), "options": {"provider": "${cloud}"}},
        key={"type": KEY, "properties": key(), "options": {"provider": "${cloud}"}},
    )
    stack.up()
    stack.assert_no_changes()
    stack.write(
        cloud={"type": "pulumi:providers:gcpx", "properties": {"project": PROJECT, "region": "us-central1"}},
        web={"type": TEMPLATE, "properties": template(), "options": {"provider": "${cloud}"}},
        note={"type": NOTIFICATION, "properties": notification(), "options": {"provider": "${cloud}"}},
        key={"type": KEY, "properties": key(), "options": {"provider": "${cloud}"}},
    )
    found = stack.preview()

    assert {name: step.op for name, step in found.items()} == {"cloud": "update"}
    stack.destroy()
