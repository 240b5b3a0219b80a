"""What an interrupted run is still creating: a destroy deletes it, a refresh keeps it, and an `up` waits for it.

Holds reliability.md: "The next refresh or destroy waits"; "Without permission to list operations"; "The destroy and
the update of a fleet"; "If a fleet has new members after a kill".
"""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from engines.inventory import Inventory
from engines.stack import Stack
from google.protobuf import empty_pb2
from servers import plain_http
from servers.surroundings import prepare
from values.programs import FLEET, PROJECT, VM, fleet
from values.scenarios import CREATIONS as SCENARIOS
from values.scenarios import INSERTIONS, OPERATION_LISTS, READS

CREATIONS = [
    *("template_named", "template", "template_regional_generated", "image_named", "attachment"),
    *("fleet_with_id", "fleet_generated"),
]
GROWTH = "growth"
SMALL, LARGE = fleet(1, fleetId="crew"), fleet(3, fleetId="crew")
FAILED = {"errors": [{"code": "QUOTA_EXCEEDED", "message": "Quota exceeded"}]}


def _cancelled(cloud, name):
    """Cancel a creation, or a growth, while Google works on it."""
    stack = Stack(cloud, FLEET if name == GROWTH else SCENARIOS[name].token)
    if name == GROWTH:
        stack.up(SMALL)
    cloud.hold_operations()
    stack.cancel(_program(name))
    assert "cancelled while Google was still working on it" in stack.failed.message
    _let_time_pass(cloud)
    return stack


def _killed(cloud, **ending):
    """Kill a growth while Google works on it; the growth ends as `ending` says."""
    stack = Stack(cloud, FLEET)
    stack.up(SMALL)
    cloud.hold_operations()
    if ending:
        cloud.fail(INSERTIONS["fleet_with_id"], **ending)

    def kill(_, request):
        if request.endswith("/wait"):
            stack.kill()

    with cloud.interceptor.observed(kill):
        stack.up(LARGE)
    assert len(stack.state.outputs["members"]) == 1, "the state knows nothing of the growth"
    _let_time_pass(cloud)
    stack.end_plugin()
    return stack


def _let_time_pass(cloud):
    """Let a wait for an operation end it; operations that begin now take no time."""
    cloud.clock.release()
    cloud.emulator.operations.latency = 0.0


def _program(name):
    return LARGE if name == GROWTH else SCENARIOS[name].inputs


@pytest.fixture(params=[*CREATIONS, GROWTH])
def name(request):
    return request.param


@pytest.fixture
def before(cloud):
    """What existed before the creation."""
    return prepare(cloud)


@pytest.fixture
def stack(cloud, name, before):
    """A stack whose creation was cancelled, and is still going on."""
    made = _cancelled(cloud, name)
    yield made
    made.end_plugin()


def _assert_only(cloud, before):
    """Assert that nothing else exists once Google has finished everything."""
    cloud.finish_operations()
    assert Inventory.of(cloud) == before


def _cancel_at_wait(stack):
    """Cancel the verb of the plugin that runs when it waits for an operation."""
    stack.cloud.clock.hold()
    engine = stack.engine

    def observe(_, request):
        if request.endswith("/wait"):
            engine.stub.Cancel(empty_pb2.Empty())

    return stack.cloud.interceptor.observed(observe)


def test_a_destroy_deletes_what_is_still_being_created(cloud, stack, before):
    stack.destroy()

    assert (stack.failed, stack.warnings) == (None, [])
    _assert_only(cloud, before)


@pytest.mark.parametrize("refreshes", [False, True], ids=["destroy", "refresh and destroy"])
def test_a_destroy_deletes_what_a_growth_that_was_killed_is_still_creating(cloud, before, refreshes):
    stack = _killed(cloud)
    if refreshes:
        stack.refresh()
    stack.run("destroy", {})

    assert (stack.failed, stack.warnings) == (None, [])
    stack.end_plugin()
    _assert_only(cloud, before)


@pytest.mark.parametrize("refreshes", [False, True], ids=["up", "refresh and up"])
def test_an_up_waits_for_the_failure_of_a_growth_that_was_killed_and_grows(cloud, before, refreshes):
    stack = _killed(cloud, operation=FAILED)
    if refreshes:
        stack.refresh()
    stack.run("up", LARGE)
    assert stack.failed is None
    members = stack.state.outputs["memberNames"]
    cloud.finish_operations()

    assert len(members) == LARGE["count"]
    stack.refresh()
    assert stack.state.outputs["memberNames"] == members
    stack.run("destroy", {})
    stack.end_plugin()
    _assert_only(cloud, before)


@pytest.mark.parametrize("hidden", [0, 1], ids=["all listed", "one not listed yet"])
@pytest.mark.parametrize("refreshes", [False, True], ids=["up", "refresh and up"])
@pytest.mark.parametrize("interrupted", [_killed, _cancelled])
def test_an_up_waits_for_what_an_interrupted_growth_is_still_creating(cloud, interrupted, refreshes, hidden):
    stack = interrupted(cloud) if interrupted is _killed else interrupted(cloud, GROWTH)
    assert _with_last_hidden(cloud, stack, LARGE, hidden, refreshes=refreshes) == []
    stack.end_plugin()

    assert stack.failed is None
    assert [member["status"] for member in stack.state.outputs["members"]] == ["RUNNING"] * 3


@pytest.mark.parametrize("refreshes", [False, True], ids=["up", "refresh and up"])
@pytest.mark.parametrize(("count", "creations"), [(2, 0), (4, 1)])
def test_an_up_with_another_count_waits_for_a_killed_growth_that_no_list_shows(
    cloud, before, refreshes, count, creations
):
    stack = _killed(cloud)
    sent = _with_last_hidden(cloud, stack, fleet(count, fleetId="crew"), 2, refreshes=refreshes)
    assert (stack.failed, len(sent)) == (None, creations)
    assert len(stack.state.outputs["members"]) == count

    cloud.finish_operations()
    assert Inventory.of(cloud).added_since(before)["instances"] == count
    stack.run("destroy", {})
    stack.end_plugin()
    _assert_only(cloud, before)


def _with_last_hidden(cloud, stack, program, count, *, refreshes):
    """Run `up`, perhaps after a refresh; until the first wait, lists lack the last instances. Return new creations."""
    hidden = {f"web-00{3 - number}" for number in range(count)}

    def rewrite(request, body):
        lists = request.startswith("GET") and "/zones/" in request and request.endswith("/instances")
        found = json.loads(body) if hidden and (lists or "aggregated" in request) else {}
        for scope in [found, *(found["items"].values() if isinstance(found.get("items"), dict) else ())]:
            for field in ("items", "instances"):
                if isinstance(scope.get(field), list):
                    scope[field] = [item for item in scope[field] if item["name"] not in hidden]
        return json.dumps(found).encode() if found else body

    def show(_, request):
        if request.endswith("/wait"):
            hidden.clear()

    cloud.interceptor.rewrite = rewrite
    with cloud.interceptor.observed(show) as requests:
        if refreshes:
            stack.refresh()
        stack.up(program)
    return [request for request in requests if request.endswith("bulkInsert")]


def test_a_refresh_keeps_what_is_still_being_created(cloud, stack, before, name):
    stack.refresh()

    assert (stack.failed, stack.warnings) == (None, [])
    # An update that has failed is not forgotten by a refresh.
    assert stack.preview(_program(name)) == ({"web": "update"} if name == "growth" else {})
    stack.run("destroy", {})
    _assert_only(cloud, before)


def test_the_next_run_continues_what_is_still_being_created(cloud, stack, before, name):
    stack.run("up", _program(name))

    assert stack.failed is None
    stack.run("destroy", {})
    _assert_only(cloud, before)


@pytest.mark.parametrize("verb", ["destroy", "refresh"])
def test_a_command_that_is_cancelled_too_keeps_the_resource_in_the_state(cloud, stack, before, verb):
    with _cancel_at_wait(stack):
        getattr(stack, verb)()

    assert "cancelled while Google was still working on it. Run the command again to go on" in stack.failed.message
    cloud.clock.release()
    stack.run("destroy", {})
    _assert_only(cloud, before)


@pytest.mark.parametrize("name", CREATIONS, indirect=True)
def test_what_google_shows_only_a_while_after_its_creation_is_kept(cloud, stack, before, name):
    _hide(cloud, name, 3)
    stack.refresh()

    assert (stack.failed, stack.warnings) == (None, [])
    stack.run("destroy", {})
    _assert_only(cloud, before)


@pytest.mark.parametrize("name", CREATIONS, indirect=True)
def test_what_google_has_created_and_does_not_show_stays_in_the_state(cloud, stack, before, name):
    _hide(cloud, name, 10**9)
    stack.destroy()

    assert "Google reports success, but does not show what was created; run the command again" in stack.failed.message
    cloud.emulator.faults.queue.clear()
    stack.run("destroy", {})
    _assert_only(cloud, before)


def _hide(cloud, name, looks):
    """Let Google's reads show for a while what existed before the creation."""
    read = READS[name]
    if name == "attachment":
        cloud.fail(read, body=json.dumps(cloud.get(VM)), times=looks)
    elif "fleet" in name:
        cloud.fail("compute.instances.aggregatedList", body=_zones(cloud))  # the first look of a plugin
        cloud.fail(read, body='{"kind": "compute#instanceList"}', times=(looks - 1) * 3)
    else:
        cloud.fail(read, status=404, times=looks)


def _zones(cloud):
    """Return Google's aggregated list of instances of a label that none has."""
    url = f"http://{cloud.host}/compute/beta/projects/{PROJECT}/aggregated/instances"
    query = {"includeAllScopes": "true", "filter": "labels.none:*"}
    return plain_http.get(url, params=query).text


@pytest.mark.parametrize("name", CREATIONS)
def test_a_creation_that_fails_in_the_end_leaves_nothing_to_keep(cloud, before, name):
    cloud.fail(INSERTIONS[name], operation=FAILED)
    stack = _cancelled(cloud, name)
    stack.refresh()

    assert (stack.failed, stack.state, stack.warnings) == (None, None, [])
    stack.end_plugin()
    _assert_only(cloud, before)


@pytest.mark.parametrize("name", CREATIONS, indirect=True)
def test_without_the_permission_to_list_operations_a_warning_says_what_is_unknown(cloud, stack, name):
    for method in OPERATION_LISTS:
        cloud.fail(method, status=403)
    stack.refresh()

    if "fleet" in name:  # its members are seen while they are made; whose they are is not known
        assert stack.state is not None
        assert re.search(r"needs the permission compute\.\w+Operations\.list", stack.failed.message)
    else:
        assert (stack.failed, stack.state) == (None, None)
    assert "gcpx cannot find out whether Google is still working on it" in "\n".join(stack.warnings)
    cloud.finish_operations()


@pytest.mark.parametrize(("policy", "seconds"), [({}, 60), ({"onFailure": "ROLL_BACK"}, 1200)])
def test_a_destroy_deletes_what_a_growth_that_took_too_long_is_still_creating(cloud, before, policy, seconds):
    stack = Stack(cloud, FLEET)
    stack.up({**SMALL, "updatePolicy": policy} if policy else SMALL)
    engine = stack.engine
    engine.timeout = 0 if policy else seconds
    with ThreadPoolExecutor() as pool:
        cloud.hold_operations()
        growth = pool.submit(stack.up, {**LARGE, "updatePolicy": policy} if policy else LARGE)
        cloud.clock.wait_for_waiting()
        stack.provider.time.advance(seconds + 0.5)
        cloud.clock.advance(1)  # Google responds before the operation is done, as it does after two minutes
        growth.result()
    assert "did not finish in time" in stack.failed.message
    _let_time_pass(cloud)
    stack.run("destroy", {})

    _assert_only(cloud, before)
    stack.end_plugin()
