"""Values of the configuration that are numbers to YAML are taken as the digits that the user has set."""

from __future__ import annotations

import json

import pytest
from values.programs import KEY, TEMPLATE, key, template

pytestmark = pytest.mark.pulumi
NUMBER, EXPIRY = "123456789012", "1900000000000000"


@pytest.mark.parametrize("type_", ["integer", "string"])
def test_a_project_number_and_an_expiry_from_the_configuration(stack, type_):
    stack.workspace.run("config", "set", "number", NUMBER)
    stack.workspace.run("config", "set", "expiry", EXPIRY)
    resources = {
        "own": {"type": "pulumi:providers:gcpx", "properties": {"project": "${number}"}},
        "key": {"type": KEY, "properties": key(expirationTimeUsec="${expiry}")},
        "one": {"type": TEMPLATE, "properties": template(), "options": {"provider": "${own}"}},
        "two": {"type": TEMPLATE, "properties": {**template(), "project": "${number}"}},
    }
    program = {"name": "test", "runtime": "yaml", "config": {name: {"type": type_} for name in ("number", "expiry")}}
    (stack.workspace.program / "Pulumi.yaml").write_text(json.dumps(program | {"resources": resources}))
    stack.up()

    assert stack.resource("key")["inputs"]["expirationTimeUsec"] == EXPIRY
    assert stack.resource("two")["inputs"]["project"] == NUMBER
    assert [stack.resource(name)["outputs"]["project"] for name in ("one", "two")] == [NUMBER, NUMBER]
    stack.assert_no_changes()


def test_the_project_of_a_provider_is_an_output(stack):
    resources = {
        "own": {"type": "pulumi:providers:gcpx", "properties": {"project": "my-project", "region": "us-east1"}},
        "web": {"type": TEMPLATE, "properties": {**template(), "project": "${own.project}"}},
    }
    program = {"name": "test", "runtime": "yaml", "resources": resources, "outputs": {"region": "${own.region}"}}
    (stack.workspace.program / "Pulumi.yaml").write_text(json.dumps(program))
    stack.workspace.run("preview")
    stack.up()

    assert stack.resource("web")["outputs"]["project"] == "my-project"
    assert stack.workspace.run("stack", "output", "region").stdout.strip() == "us-east1"
