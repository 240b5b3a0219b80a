"""What a resource or a result does not have is known in a preview, so a program that passes it on changes nothing."""

from __future__ import annotations

import json

import pytest
from generate.document_tables import unknown_outputs
from samples import INPUTS
from servers import plain_http
from values.programs import ATTACHMENT, FLEET, IMAGE, KEY, NOTIFICATION, OTHER_BLOB, PROJECT, TEMPLATE, fleet
from workspace import Workspace

from gcpx.model.fields import object_type
from gcpx.model.state import absent_output
from gcpx.provider import FUNCTIONS, function_class, resource_class

pytestmark = pytest.mark.pulumi
PROGRAM = """
import asyncio, json, pathlib, re

import pulumi
import pulumi_gcpx as gcpx


def snake(name):
    return re.sub("([A-Z])", lambda found: f"_{found[1].lower()}", name)


def snakes(value):
    if isinstance(value, dict):
        return {snake(key): snakes(item) for key, item in value.items()}
    return [snakes(item) for item in value] if isinstance(value, list) else value


def member(token):
    _, module, name = token.split(":")
    return getattr(getattr(gcpx, module), name)


plan = json.loads(pathlib.Path("plan.json").read_text())
found = {}
for token, of in plan["resources"].items():
    make = member(token)
    first = make("first", **snakes(of["inputs"]))
    taken = {snake(name): getattr(first, snake(name)) for name in of["taken"]}
    make("second", **{**snakes(of["inputs"]), **taken, **snakes(of["other"])})
    found |= {f"{token}.{name}": getattr(first, snake(name)) for name in of["outputs"]}

for token, of in plan["functions"].items():
    _, module, name = token.split(":")
    answer = getattr(getattr(gcpx, module), f"{snake(name)}_output")(**snakes(of["arguments"]))
    results = {name: getattr(answer, snake(name)) for name in of["outputs"]}
    found |= {f"{token}.{name}": value for name, value in results.items()}
    texts = pulumi.Output.all(*(results[name] for name in of["texts"])).apply("".join)
    gcpx.compute.InstanceTemplate(name, description=texts, **snakes(plan["template"]))


async def unknown():
    names = [name for name, value in found.items() if not await value.is_known()]
    pathlib.Path("unknown.json").write_text(json.dumps(names))
    return len(names)


pulumi.export("unknown", asyncio.ensure_future(unknown()))
"""
OTHERS = {
    ATTACHMENT: {"disk": "more-data"},
    FLEET: {"namePattern": "second-###"},
    IMAGE: {},
    KEY: {"key": f"ssh-ed25519 {OTHER_BLOB} laptop"},
    NOTIFICATION: {"topic": "projects/demo-project/topics/everything"},
    TEMPLATE: {},
}
"""How the second resource of each type differs from the first one, which has the inputs of the sample."""


def _resource(token):
    """Describe a resource, and a second one that takes over what the first one does not have."""
    kind, inputs = object_type(resource_class(token).model), INPUTS[token]
    absent = [name for name, prop in kind.inputs.items() if name not in inputs and absent_output(prop) is not None]
    assert absent
    shown = sorted(name for name, prop in kind.properties.items() if not prop.traits.hidden)
    return {"inputs": inputs, "taken": absent, "other": OTHERS[token], "outputs": shown}


def _function(token, arguments):
    kind = object_type(function_class(token).result)
    texts = [name for name, prop in kind.properties.items() if absent_output(prop) == ""]
    assert texts
    return {"arguments": arguments, "texts": texts, "outputs": sorted(kind.properties)}


@pytest.fixture
def functions(engine, cloud):
    """Arguments of each function."""
    engine.create(FLEET, "old", fleet(1, namePattern="old-#"))
    operation = next(iter(cloud.emulator.operations.list(PROJECT, "regions/us-east1")))
    order = {"email": "a@b.c", "audience": "https://example.com/push"}
    token = plain_http.post(f"http://{cloud.host}/_emulator/tokens", json=order).json()["token"]
    return {
        "gcpx:compute:getOperation": {"name": operation["selfLink"]},
        "gcpx:oauth2:getTokenInfo": {"idToken": token},
        "gcpx:pubsub:verifyPushToken": {
            "token": token,
            "audience": "https://example.com/push",
            "serviceAccountEmail": "a@b.c",
        },
    }


def test_a_program_that_passes_on_what_is_absent_changes_nothing(cloud, vm, functions, tmp_path, pulumi_home):
    cloud.make_disk("more-data")
    cloud.make_bucket()
    cloud.make_topics()
    plan = {
        "resources": {token: _resource(token) for token in INPUTS},
        "functions": {token: _function(token, functions.get(token, {})) for token in FUNCTIONS},
        "template": INPUTS[TEMPLATE],
    }
    source = tmp_path / "source"
    source.mkdir()
    (source / "Pulumi.yaml").write_text("name: test\nruntime: python\n")
    (source / "__main__.py").write_text(PROGRAM)
    (source / "plan.json").write_text(json.dumps(plan))
    workspace = Workspace.make(source, tmp_path / "work", cloud.host, pulumi_home)
    workspace.run("up", "--yes", "--skip-preview")

    workspace.run("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    workspace.run("preview", "--expect-no-changes")
    unknown = json.loads((workspace.program / "unknown.json").read_text())
    assert set(unknown) <= {f"{token}.{name}" for token in INPUTS for name in unknown_outputs(token)}
    workspace.run("destroy", "--yes", "--skip-preview")
