"""The real CLI is killed while it creates something: nothing is lost or created twice.

Holds reliability.md: "a notification or a key".
"""

from __future__ import annotations

import hashlib
import threading

import pytest
from cli.killed_cli import killed_up
from engines import driver
from engines.clock import HANGS
from engines.import_commands import import_commands
from values.programs import FLEET, KEY, PROJECT, TEMPLATE, fleet, key, template

pytestmark = pytest.mark.pulumi
TEMPLATES = f"projects/{PROJECT}/global/instanceTemplates"
INSTANCES = [f"projects/{PROJECT}/zones/us-east1-{letter}/instances" for letter in "bcd"]
CASES = {"template": (TEMPLATE, template(), [TEMPLATES], 1), "fleet": (FLEET, fleet(2), INSTANCES, 2)}


def _names(cloud, collections):
    cloud.emulator.operations.settle()
    return [item["name"] for path in collections for item in cloud.emulator.store.list(path)]


def _insertions(requests):
    """Count the insertions among the requests."""
    return sum(entry["method"].endswith((".insert", ".bulkInsert")) for entry in requests)


def _assert_request_ids_belong_to_the_provider(stack, cloud):
    """Assert that the first digits of request IDs follow from the ID of the provider's resource in the state."""
    providers = [item for item in stack.resources() if "pulumi:providers" in item["type"]]
    marks = {hashlib.sha256(item["id"].encode()).hexdigest()[:8] for item in providers}
    sent = {entry["query"]["requestId"][:8] for entry in cloud.emulator.requests.kept if "requestId" in entry["query"]}
    assert sent == marks


@pytest.mark.parametrize("case", CASES)
def test_a_killed_up_is_finished_by_the_next_one(stack, cloud, case):
    token, inputs, collections, count = CASES[case]
    stack.write(web={"type": token, "properties": inputs})
    begun = threading.Event()
    cloud.hold_operations()

    def observe(_, request):
        if request.endswith("/wait"):  # so the insertion was accepted
            begun.set()

    with cloud.interceptor.observed(observe), killed_up(stack, "--skip-preview"):
        assert begun.wait(HANGS)
    cloud.finish_operations()
    stack.workspace.run("cancel", "--yes")  # the killed CLI has left its lock
    said = stack.up()
    name = stack.resource("web")["outputs"]["fleetId" if token == FLEET else "name"]

    assert _insertions(cloud.emulator.requests.kept) == 1, "the second run finds the operation of the first"
    _assert_request_ids_belong_to_the_provider(stack, cloud)
    assert "interrupted while creating" in said
    assert len(_names(cloud, collections)) == count
    assert name not in stack.resource("web")["inputs"].values(), "the name of the interrupted run"
    stack.workspace.run("refresh", "--yes", "--skip-preview", "--clear-pending-creates", "--expect-no-changes")
    assert "pending" not in stack.up("--expect-no-changes")
    stack.destroy()
    assert _names(cloud, collections) == []


def test_a_destroy_after_a_killed_growth_of_a_fleet_waits_for_it_and_deletes_all(stack, cloud):
    stack.write(web={"type": FLEET, "properties": fleet(1)})
    stack.up()
    begun = threading.Event()
    cloud.hold_operations()

    def is_begun(_, request):
        if request.endswith("/wait"):
            begun.set()

    stack.write(web={"type": FLEET, "properties": fleet(3)})
    with cloud.interceptor.observed(is_begun), killed_up(stack, "--skip-preview"):
        assert begun.wait(HANGS)
    stack.workspace.run("cancel", "--yes")
    cloud.emulator.operations.latency = 0.0  # the growth itself still takes an hour
    cloud.emulator.operations.has_quick = True

    def finish(_, request):
        if request.endswith("/wait"):  # so the destroy waits for it
            cloud.finish_operations()

    with cloud.interceptor.observed(finish):
        said = stack.workspace.run("destroy", "--yes", "--skip-preview").stdout

    assert "3/3 instances deleted" in said
    assert _names(cloud, INSTANCES) == []


def _run_command_in(stack, said):
    """Run the first import command of a message as it stands."""
    command = import_commands(said)[0]
    words = ["import", command.token, command.name, command.id, *command.options]
    stack.workspace.run(*words, "--yes")


def test_the_command_in_the_error_about_a_lost_creation_can_be_copied(stack, cloud):
    explicit = {"type": "pulumi:providers:gcpx", "properties": {"project": PROJECT}}
    web = {"type": KEY, "properties": key(), "options": {"provider": "${explicit}"}}
    stack.write(explicit=explicit)
    stack.up()
    with driver.engine(project=PROJECT, emulatorHost=cloud.host) as interrupted:
        interrupted.create(KEY, "web", key())
    stack.write(explicit=explicit, web=web)
    _run_command_in(stack, stack.up_fails())
    stack.up()
    stack.workspace.run("preview", "--expect-no-changes")
    stack.write(explicit=explicit, renamed=web)
    _run_command_in(stack, stack.up_fails())

    assert "the resource renamed of this stack manages it, too" in stack.up()
    stack.assert_no_changes()
    assert stack.resource("renamed")["id"] in cloud.emulator.store.run("select path from resources")[-1]["path"]
