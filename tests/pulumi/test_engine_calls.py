"""The stack of the tests makes the same calls as the real engine, in the same order."""

from __future__ import annotations

import json

import pytest
import stack as stacks
from programs import FLEET, NOTIFICATION, PROJECT, TEMPLATE, fleet, notification, template
from recorded_calls import recording, words
from stack import Declared, Output

pytestmark = [pytest.mark.pulumi, pytest.mark.usefixtures("no_pauses")]
A, B = "projects/demo-project/topics/uploads", "projects/demo-project/topics/everything"
BLOCK = Declared(FLEET, fleet(1))


def _one(topic=A, **options):
    return Declared(NOTIFICATION, notification(topic=topic), **options)


def _two(**options):
    return Declared(TEMPLATE, template(description=Output("one", "topic")), **options)


def _plain(**options):
    return Declared(TEMPLATE, template(), **options)


PROGRAMS = {
    "update": [{"one": BLOCK}, {"one": Declared(FLEET, fleet(2))}, {}],
    "replace": [{"one": _one()}, {"one": _one(B)}],
    "delete before replace": [
        {"one": _one(), "two": _two()},
        {"one": _one(B, delete_before_replace=True), "two": _two()},
        {},
    ],
    "replace and update": [{"one": _one(), "two": _two()}, {"one": _one(B), "two": _two()}, {}],
    "ignore changes": [{"one": BLOCK}, {"one": Declared(FLEET, fleet(2), ignore_changes=("count",))}],
    "replace on changes": [
        {"one": BLOCK},
        {"one": Declared(FLEET, fleet(2), replace_on_changes=("count",), delete_before_replace=True)},
    ],
    "retain": [{"one": _one(retain_on_delete=True)}, {}],
    "retain a replaced one": [{"one": _one(retain_on_delete=True)}, {"one": _one(B, retain_on_delete=True)}],
    "alias": [{"one": _one()}, {"new": _one(aliases=("one",))}],
    "taint": [{"one": _plain()}, "taint one", {"one": _plain()}],
    "taint, delete before replace": [{"one": _one()}, "taint one", {"one": _one(delete_before_replace=True)}],
    "trigger": [{"one": _plain(replacement_trigger="a")}, {"one": _plain(replacement_trigger="b")}],
    "replace with": [
        {"one": _one(), "two": _plain(replace_with=("one",))},
        {"one": _one(B), "two": _plain(replace_with=("one",))},
    ],
    "refresh": [{"one": _one(), "two": _two()}, "refresh", "destroy"],
}


def _yaml(value):
    """Return inputs as a program in YAML has them."""
    if isinstance(value, Output):
        return f"${{{value.name}.{value.property}}}"
    return {key: _yaml(item) for key, item in value.items()} if isinstance(value, dict) else value


def _resource(declared):
    options = {
        "aliases": [f"urn:pulumi:dev::test::{declared.token}::{alias}" for alias in declared.aliases],
        "ignoreChanges": list(declared.ignore_changes),
        "replaceOnChanges": list(declared.replace_on_changes),
        "replaceWith": [f"${{{name}}}" for name in declared.replace_with],
        "replacementTrigger": declared.replacement_trigger,
        "deleteBeforeReplace": declared.delete_before_replace,
        "retainOnDelete": declared.retain_on_delete,
    }
    given = {name: value for name, value in options.items() if value}
    return {"type": declared.token, "properties": _yaml(declared.inputs), "options": given}


def _real_calls(stack, path, steps):
    """Run steps with the real CLI; return the calls of its engine."""
    record = {"PULUMI_DEBUG_GRPC": str(path)}
    for step in steps:
        if isinstance(step, dict):
            stack.write(**{name: _resource(declared) for name, declared in step.items()})
            stack.up("--parallel", "1", variables=record)
        elif step.startswith("taint"):
            stack.workspace.run("state", "taint", stack.resource(step.split()[1])["urn"], "--yes")
        else:
            stack.workspace.run(step, "--yes", "--skip-preview", "--parallel", "1", variables=record)
    found = []
    for line in path.read_text().splitlines():
        call = json.loads(line)
        method, request = call["method"].rpartition("/")[2], call["request"]
        urn = request.get("urn", "")
        if "ResourceProvider/" in call["method"] and "::gcpx:" in urn and call.get("progress") != "request_started":
            found.append(words(method, urn, olds=method == "Check" and bool(request.get("olds")), preview=False))
    return found


def _our_calls(cloud, steps):
    """Run steps with the stack of the tests; return its calls, but for the previews."""
    calls = []
    ours = stacks.Stack(cloud, start_plugin=recording(calls, project=PROJECT, emulatorHost=cloud.host), previews=False)
    for step in steps:
        if isinstance(step, dict):
            ours.up(step)
        elif step.startswith("taint"):
            ours.taint(step.split()[1])
        else:
            getattr(ours, step)()
        assert ours.failures == []
    ours.end_plugin()
    return calls


@pytest.mark.parametrize("steps", PROGRAMS.values(), ids=PROGRAMS)
def test_the_stack_makes_the_calls_of_the_engine(stack, cloud, tmp_path, steps):
    cloud.prepare()
    ours = _our_calls(cloud, steps)
    cloud.reset()
    cloud.prepare()
    assert ours == _real_calls(stack, tmp_path / "calls.json", steps)
