"""All responses to a creation are lost: what an operation of this stack created is ours, whatever Google calls its type.

Holds reliability.md: "What is promised"; "It repeats the creation of a fleet".
"""

from __future__ import annotations

import json

import pytest
from engines.disturbed import require_deleted
from engines.import_commands import fits
from engines.inventory import Inventory
from engines.stack import Stack
from rolling.rollouts import BULK
from servers.surroundings import prepare
from values.scenarios import CREATIONS, INSERTIONS, OPERATION_LISTS, lose_answers

from gcpx.gcp.request import PATIENCE

NO_OPERATIONS = json.dumps({"kind": "compute#operationList"})

GIVEN = ["template_named", "image_named", "attachment"]
NAMES = [*GIVEN, "template_regional_generated"]
FAILED = {"errors": [{"code": "QUOTA_EXCEEDED", "message": "Quota exceeded"}]}


def _stack(cloud, name):
    return Stack(cloud, CREATIONS[name].token)


@pytest.fixture(params=NAMES)
def lost(request, cloud):
    """A stack whose resource was created, but whose state knows only that it may have been; and what existed before."""
    before, stack = prepare(cloud), _stack(cloud, request.param)
    lose_answers(stack, request.param)
    yield stack, before
    stack.end_plugin()


def test_operations_are_known_by_the_end_of_their_type(cloud, lost):
    stack, before = lost
    cloud.name_operations("compute.collections.")
    stack.refresh()
    assert (stack.failed, stack.warnings) == (None, [])
    require_deleted(stack, before)


@pytest.mark.parametrize("name", ["fleet_with_id", "fleet_generated"])
@pytest.mark.parametrize("lists_fail", [True, False])
def test_a_fleets_creation_is_not_sent_again_if_nothing_shows_what_became_of_it(cloud, name, lists_fail):
    before, stack = prepare(cloud), _stack(cloud, name)
    cloud.fail("compute.regionInstances.bulkInsert", drop="after")
    if name == "fleet_generated":
        cloud.fail("compute.regionOperations.list", delay=0.0)  # the look at what earlier runs began
    cloud.fail("compute.regionOperations.list", status=403)
    if lists_fail:
        cloud.fail("compute.instances.list", times=3, status=403)
    stack.up(CREATIONS[name].inputs)
    assert stack.init_errors
    assert len(cloud.requests("compute.regionInstances.bulkInsert")) == 1
    cloud.emulator.faults.queue.clear()
    made = Inventory.of(cloud)
    stack.end_plugin()
    stack.up(CREATIONS[name].inputs)

    assert stack.failed is None
    assert Inventory.of(cloud) == made
    require_deleted(stack, before)
    stack.end_plugin()


@pytest.mark.parametrize("name", NAMES)
def test_what_was_created_after_many_failures_is_ours_too(cloud, name):
    before, stack = prepare(cloud), _stack(cloud, name)
    for _ in range(3):
        cloud.fail(INSERTIONS[name], times=10, operation=FAILED)
        stack.run("up", CREATIONS[name].inputs)
        assert stack.state is None
        cloud.emulator.faults.queue.clear()
    cloud.fail(INSERTIONS[name], times=3, delay=0.0)
    lose_answers(stack, name)
    stack.refresh()
    assert (stack.failed, stack.warnings) == (None, [])
    require_deleted(stack, before)
    stack.end_plugin()


@pytest.mark.parametrize("name", ["template_named", "image_named"])
def test_a_namesake_of_what_an_operation_of_the_stack_created_is_left(cloud, name):
    prepare(cloud)
    stack = _stack(cloud, name)
    lose_answers(stack, name)
    path = stack.state.id
    theirs = cloud.get(path) | {"id": cloud.emulator.store.new_id()}
    cloud.emulator.store.put(path, theirs)
    stack.destroy()

    assert stack.failed is None
    assert ["nothing shows that this stack created it" in said for said in stack.warnings] == [True]
    assert cloud.get(path) == theirs
    stack.end_plugin()


@pytest.mark.parametrize("refusal", [{"status": 403}, {"status": 409, "reason": "alreadyExists"}], ids=str)
@pytest.mark.parametrize(("name", "lag"), [*((name, 0) for name in NAMES), *((name, 3) for name in GIVEN)])
def test_what_exists_is_ours_if_an_operation_has_its_request_id_although_lists_lag(cloud, name, lag, refusal):
    before, stack = prepare(cloud), _stack(cloud, name)
    cloud.fail(INSERTIONS[name], drop="after")
    cloud.fail(INSERTIONS[name], **refusal)
    for method in OPERATION_LISTS if lag else ():
        cloud.fail(method, body=NO_OPERATIONS, times=lag)
    stack.up(CREATIONS[name].inputs)

    assert stack.state is not None, stack.failed
    require_deleted(stack, before)
    stack.end_plugin()


@pytest.mark.parametrize("name", GIVEN)
def test_what_exists_without_an_operation_is_refused_and_taken_over_when_google_lists_the_operation(cloud, name):
    prepare(cloud)
    stack = _stack(cloud, name)
    cloud.fail(INSERTIONS[name], drop="after")
    cloud.fail(INSERTIONS[name], status=403)
    for method in OPERATION_LISTS:
        cloud.fail(method, body=NO_OPERATIONS, times=100)
    stack.run("up", CREATIONS[name].inputs)
    cloud.emulator.faults.queue.clear()

    assert stack.state is None
    assert "Google has listed no operation of this request; if it lists one later" in stack.failed.message
    assert fits(stack.failed.message[stack.failed.message.index("It exists") :]), "besides what Google says"
    assert "may have carried" not in stack.failed.message
    assert "created by another" not in stack.failed.message
    stack.up(CREATIONS[name].inputs)
    assert stack.failed is None
    stack.end_plugin()


@pytest.mark.parametrize("name", ["template_named", "fleet_with_id", "fleet_generated"])
def test_the_permission_that_is_missing_to_find_out_what_became_of_a_request_is_named(cloud, name):
    prepare(cloud)
    stack = _stack(cloud, name)
    for method in ("compute.globalOperations.list", "compute.regionOperations.list"):
        cloud.fail(method, status=403, times=1000)
    insertion = INSERTIONS[name]
    cloud.fail(insertion, drop="after")
    cloud.fail(insertion, status=403)
    stack.up(CREATIONS[name].inputs)

    scope = "region" if "fleet" in name else "global"
    assert f"needs the permission compute.{scope}Operations.list on projects/" in stack.init_errors[0]
    assert "may have carried the request out" in stack.init_errors[0]
    stack.end_plugin()


def test_a_growth_whose_members_are_not_known_says_how_many_gcpx_knows_of(cloud):
    prepare(cloud)
    stack, inputs = _stack(cloud, "fleet_with_id"), CREATIONS["fleet_with_id"].inputs
    stack.up(inputs)
    cloud.fail("compute.regionOperations.list", status=403, times=1000)
    cloud.fail(BULK, drop="after")
    stack.up({**inputs, "count": inputs["count"] + 2})

    assert f"as far as gcpx knows, {inputs['count']} of {inputs['count'] + 2} members exist" in stack.init_errors[0]
    assert "compute.regionOperations.list" in stack.init_errors[0]
    assert len(cloud.requests(BULK)) == 2
    stack.end_plugin()


def test_a_growth_goes_on_after_an_outage_of_the_lists_as_long_as_its_request_may_be_repeated(cloud):
    prepare(cloud)
    stack, inputs = _stack(cloud, "fleet_with_id"), CREATIONS["fleet_with_id"].inputs
    stack.up(inputs)
    cloud.fail(BULK, status=503)
    outage = []

    def begin(_, request):
        if request.endswith("/bulkInsert") and not outage:
            outage.append(request)
            cloud.fail("compute.instances.list", status=503, times=60)

    with cloud.interceptor.observed(begin):
        stack.up({**inputs, "count": inputs["count"] + 2})

    assert stack.failed is None
    assert len(cloud.requests(BULK)) == 3
    assert stack.longest_wait > PATIENCE, "longer than a list alone is repeated"
    stack.end_plugin()
