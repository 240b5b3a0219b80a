"""The commands that a message advises run as they stand, in the state in which the CLI shows the message."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from servers.emulated import Emulated
from servers.surroundings import make_surroundings
from values.programs import ATTACHMENT, PROJECT, TEMPLATE, ZONE, attachment, template
from workspace import ROOT

pytestmark = pytest.mark.pulumi
TEMPLATES = f"projects/{PROJECT}/global/instanceTemplates"
VM = f"projects/{PROJECT}/zones/{ZONE}/instances/example-vm"
DISK = f"projects/{PROJECT}/zones/{ZONE}/disks/example-data"
ATTACHED = {"type": ATTACHMENT, "properties": attachment()}
NAMED = {"type": TEMPLATE, "properties": {**template(), "name": "web"}}


ADVISED: Final = {
    "pulumi up": "every state below ends with it",
    "pulumi up --refresh": "an attachment that is gone",
    "pulumi up --refresh --target-replace {urn}": "a forced replacement that takes over",
    "pulumi refresh": "a disk that is missing, and a stranger's template",
    "pulumi state delete {}": "the replacements",
    "pulumi import {} NAME projects/PROJECT/regions/REGION/{}": "tests/compute/bulk_instances/test_strangers.py",
    "pulumi config set gcpx:{} {}": "no project",
    "pulumi do": "names a command, and is no advice",
    "pulumi version": "names a command, and is no advice",
    "pulumi plugin install": "names a command, and is no advice",
    "pulumi package add": "names a command, and is no advice",
}
"""The commands in the messages of gcpx, and where they are tried; import commands are put together from words."""


def _texts(path: Path) -> Iterator[str]:
    """Yield the strings of a module that become messages, with `{}` for each value; no docstrings or descriptions."""
    tree = ast.parse(path.read_text())
    seen = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "field":
            seen.update(map(id, ast.walk(node)))
    for node in ast.walk(tree):
        if id(node) in seen:
            continue
        if isinstance(node, ast.JoinedStr):
            seen.update(map(id, node.values))
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_every_command_in_a_message_is_tried():
    modules = (ROOT / "provider/gcpx").rglob("*.py")
    found = {words for path in modules for text in _texts(path) for words in re.findall(r"`(pulumi [^`]+)`", text)}

    assert found - ADVISED.keys() == set()


def _run_advised(stack, said):
    """Run the commands of a message, in their order and as they stand; with `--yes`, as nobody answers here."""
    found = dict.fromkeys(re.findall(r"`pulumi ([^`]+)`", said))  # the CLI shows a message several times
    assert found, said
    for command in found:
        words = shlex.split(command.replace("gcpx:project PROJECT", f"gcpx:project {PROJECT}"))
        stack.workspace.run(*words, *(() if words[0] == "config" else ("--yes",)))


def _attach_anew(cloud: Emulated) -> None:
    """Let somebody else detach the disk, and attach it under another device name."""
    cloud.clock.advance(5)
    cloud.detach(VM, DISK)
    cloud.clock.advance(5)
    cloud.post(f"/compute/v1/{VM}/attachDisk", {"source": DISK, "deviceName": "changed"})
    cloud.clock.advance(5)


def _attached(stack, cloud, **changed):
    """Attach a disk, and let somebody attach it anew; return the program, perhaps with changes."""
    make_surroundings(cloud)
    stack.write(web=ATTACHED)
    stack.up()
    _attach_anew(cloud)
    stack.write(web={**ATTACHED, "properties": attachment(**changed)})


def _replacement_of_another_attachment(stack, cloud):
    _attached(stack, cloud, mode="READ_ONLY")
    return stack.up_fails()


def _second_replacement_of_another_attachment(stack, cloud):
    _attached(stack, cloud, mode="READ_ONLY")
    stack.up_fails()
    return stack.up_fails()


def _forced_replacement_of_another_attachment(stack, cloud):
    _attached(stack, cloud)
    force = ("--target-replace", stack.resource("web")["urn"])
    assert "If this run has the option --target-replace, set the resource option deleteBeforeReplace" in stack.up_fails(
        *force
    )
    stack.write(web={**ATTACHED, "options": {"deleteBeforeReplace": True}})
    return stack.up_fails(*force)


def _creation_of_another_attachment_after_a_refresh(stack, cloud):
    _attached(stack, cloud)
    return stack.up_fails("--refresh")


def _a_strangers_template(stack, cloud):
    cloud.post(f"/compute/v1/{TEMPLATES}", {"name": "web", "properties": template()["properties"]})
    cloud.emulator.operations.settle()
    stack.write(web=NAMED)
    return stack.up_fails()


def _a_strangers_template_while_ours_is_unfinished(stack, cloud):
    cloud.fail("compute.instanceTemplates.insert", drop="before", times=10**9)
    stack.write(web={**NAMED, "options": {"customTimeouts": {"create": "2s"}}})
    stack.up_fails()
    cloud.emulator.faults.queue.clear()
    _a_strangers_template(stack, cloud)
    return stack.up_fails()


def _what_a_replacement_has_kept(stack, cloud):
    del cloud
    for text in ("one", "two", "three"):
        kept = {"type": TEMPLATE, "properties": template(description=text), "options": {"retainOnDelete": True}}
        stack.write(web=kept)
        said = stack.up()
    return said


def _an_attachment_that_is_gone(stack, cloud):
    make_surroundings(cloud)
    stack.write(web=ATTACHED)
    stack.up()
    cloud.detach(VM, DISK)
    stack.write(web={**ATTACHED, "properties": attachment(autoDelete=True)})
    return stack.up_fails()


def _a_disk_that_is_missing(stack, cloud):
    make_surroundings(cloud)
    stack.write(web={**ATTACHED, "properties": attachment(disk="missing")})
    said = stack.up_fails()
    stack.write(web=ATTACHED)  # the message names three ways
    return said


def _a_forced_replacement_that_takes_over(stack, cloud):
    del cloud
    stack.write(web={"type": TEMPLATE, "properties": template()})
    stack.up()
    return stack.up("--target-replace", stack.resource("web")["urn"])


def _no_project(stack, cloud):
    del cloud
    stack.write(web={"type": TEMPLATE, "properties": template()})
    return stack.preview_fails(variables={"GOOGLE_PROJECT": ""}).replace("`pulumi do`", "")


STATES: dict[str, Callable[..., str]] = {
    function.__name__.strip("_"): function
    for function in (
        _replacement_of_another_attachment,
        _second_replacement_of_another_attachment,
        _forced_replacement_of_another_attachment,
        _creation_of_another_attachment_after_a_refresh,
        _a_strangers_template,
        _a_strangers_template_while_ours_is_unfinished,
        _an_attachment_that_is_gone,
        _a_disk_that_is_missing,
        _a_forced_replacement_that_takes_over,
        _no_project,
    )
}


@pytest.mark.parametrize("state", STATES)
def test_what_a_message_advises_works_from_the_state_in_which_it_is_shown(stack, cloud, state):
    said = STATES[state](stack, cloud)
    _run_advised(stack, said)
    stack.up()
    stack.assert_no_changes()


def test_what_a_replacement_has_kept_is_imported_by_the_command_of_the_warning(stack, cloud):
    said = _what_a_replacement_has_kept(stack, cloud)
    _run_advised(stack, said)

    assert stack.resource("web-earlier")["inputs"]["properties"]["description"] == "one"
