"""The stack of the tests makes the same calls as the real engine, in the same order.

All programs share one stack, so that the CLI starts six times in all. The resources of a program depend on
none of another program, so the engine takes them in an order of its own; the calls of each program are compared.
"""

from __future__ import annotations

import json
import re

import attrs
import pytest
from engines import stack as stacks
from engines.recorded_calls import recording, words
from engines.stack import Declared, Output
from values.programs import FLEET, NOTIFICATION, TEMPLATE, fleet, notification, template

pytestmark = [pytest.mark.pulumi, pytest.mark.usefixtures("no_pauses")]
A, B = "projects/demo-project/topics/uploads", "projects/demo-project/topics/everything"
BLOCK = Declared(FLEET, fleet(1))


def _one(topic=A, **options):
    return Declared(NOTIFICATION, notification(topic=topic), **options)


def _two(**options):
    return Declared(TEMPLATE, template(description=Output("one", "topic")), **options)


def _plain(**options):
    return Declared(TEMPLATE, template(), **options)


def _named(description):
    """Return a template under a given name, whose replacement the provider wants to delete first."""
    return Declared(TEMPLATE, {"name": "first", **template(description=description)})


PROGRAMS = {
    "update": [{"one": BLOCK}, {"one": Declared(FLEET, fleet(2))}, {}],
    "replace": [{"one": _one()}, {"one": _one(B)}],
    "delete-before-replace": [
        {"one": _one(), "two": _two()},
        {"one": _one(B, delete_before_replace=True), "two": _two()},
        {},
    ],
    "delete-before-replace-of-a-name": [{"one": _named("a")}, {"one": _named("b")}],
    "replace-and-update": [{"one": _one(), "two": _two()}, {"one": _one(B), "two": _two()}, {}],
    "ignore-changes": [{"one": BLOCK}, {"one": Declared(FLEET, fleet(2), ignore_changes=("count",))}],
    "replace-on-changes": [
        {"one": BLOCK},
        {"one": Declared(FLEET, fleet(2), replace_on_changes=("count",), delete_before_replace=True)},
    ],
    "retain": [{"one": _one(retain_on_delete=True)}, {}],
    "retain-replaced": [{"one": _one(retain_on_delete=True)}, {"one": _one(B, retain_on_delete=True)}],
    "alias": [{"one": _one()}, {"new": _one(aliases=("one",))}],
    "taint": [{"one": _plain()}, {"one": _plain()}],
    "taint-delete-before-replace": [{"one": _one()}, {"one": _one(delete_before_replace=True)}],
    "trigger": [{"one": _plain(replacement_trigger="a")}, {"one": _plain(replacement_trigger="b")}],
    "replace-with": [
        {"one": _one(), "two": _plain(replace_with=("one",))},
        {"one": _one(B), "two": _plain(replace_with=("one",))},
    ],
    "unchanged": [{"one": _one(), "two": _two()}],
}
"""The programs of each case, one after the other; the last one stays."""
TAINTED = ["taint-one", "taint-delete-before-replace-one"]
"""What is tainted between the first programs and the second ones."""


def _of_case(case, value):
    """Return inputs that refer to resources of the same case."""
    if isinstance(value, Output):
        return attrs.evolve(value, name=f"{case}-{value.name}")
    return {key: _of_case(case, item) for key, item in value.items()} if isinstance(value, dict) else value


def _in_case(case, declared):
    """Return a resource of a case under names that no other case has."""
    own = {"customAttributes": {"case": case}} if declared.token == NOTIFICATION else {}
    if declared.token == FLEET:
        own = {"namePattern": f"{case}-###"}
    names = {
        "aliases": tuple(f"{case}-{alias}" for alias in declared.aliases),
        "replace_with": tuple(f"{case}-{name}" for name in declared.replace_with),
    }
    return attrs.evolve(declared, inputs=_of_case(case, declared.inputs) | own, **names)


def _programs(number):
    """Return the programs of this number of all cases as one."""
    return {
        f"{case}-{name}": _in_case(case, declared)
        for case, programs in PROGRAMS.items()
        for name, declared in programs[min(number, len(programs) - 1)].items()
    }


STEPS = [_programs(0), "taint", _programs(1), "refresh", _programs(2), "destroy"]


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


def _real_calls(stack, path):
    """Run the steps with the real CLI; return the calls of its engine."""
    record = {"PULUMI_DEBUG_GRPC": str(path)}
    for step in STEPS:
        if isinstance(step, dict):
            stack.write(**{name: _resource(declared) for name, declared in step.items()})
            stack.up("--parallel", "1", variables=record)
        elif step == "taint":
            stack.workspace.run("state", "taint", *(stack.resource(name)["urn"] for name in TAINTED), "--yes")
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


def _our_calls(cloud):
    """Run the steps with the stack of the tests; return its calls, but for the previews."""
    calls = []
    ours = stacks.Stack(cloud, start_plugin=recording(calls), previews=False)
    for step in STEPS:
        if isinstance(step, dict):
            ours.up(step)
        elif step == "taint":
            for name in TAINTED:
                ours.taint(name)
        else:
            getattr(ours, step)()
        assert ours.failures == []
    ours.end_plugin()
    return calls


def _by_case(calls):
    """Return the calls of each case, in their order."""
    return {case: [call for call in calls if re.search(f" {case}-[a-z]+$", call)] for case in PROGRAMS}


def test_the_stack_makes_the_calls_of_the_engine(stack, cloud, tmp_path):
    cloud.prepare()
    ours = _our_calls(cloud)
    cloud.reset()
    cloud.prepare()
    real = _real_calls(stack, tmp_path / "calls.json")

    assert _by_case(ours) == _by_case(real)
    assert sum(map(len, _by_case(real).values())) == len(real)
