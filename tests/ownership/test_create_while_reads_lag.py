"""Reads that lag: what Google has just created is not created again because it is not visible yet.

Holds reliability.md: "If Google does not show"; "It is created again only if"; "If somebody else detaches a disk within
20 seconds".
"""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
from engines.disturbed import require_settled
from engines.inventory import Inventory
from engines.stack import Stack
from google.protobuf import empty_pb2
from servers import plain_http
from servers.surroundings import prepare
from values.programs import PROJECT, VM, ZONE
from values.scenarios import CREATIONS, READS

FOR_GOOD = 10**9
EMPTY = json.dumps({"kind": "compute#instanceList"})
NO_OPERATIONS = json.dumps({"kind": "compute#operationList"})
MISSING = {"status": 404, "message": "not there yet"}
NAMES = ["template_named", "template", "template_regional_generated", "image_named", "image", "attachment"]
FLEETS = ["fleet_with_id", "fleet_generated", "fleet_of_names"]


@attrs.frozen
class Case:
    """The creation of a scenario whose operation is done in the first response.

    Attributes:
        before: what existed before it.
        reads: the API method that reads it.
        stale: the fault that makes this method answer as before the creation.
        looks: how many of these calls it takes to look once.
    """

    stack: Stack
    before: Inventory
    inputs: dict[str, Any]
    reads: str
    stale: dict[str, Any]
    looks: int

    def lag(self, looks=FOR_GOOD):
        """Let Google's answers show for a while what existed before."""
        self.stack.cloud.fail(self.reads, times=looks * self.looks, **self.stale)

    @property
    def insertions(self):
        """How many insertions Google has accepted."""
        rows = self.stack.cloud.emulator.store.run("select body from operations where request is not null")
        types = [json.loads(row["body"])["operationType"] for row in rows]
        return sum(name.endswith(("insert", "bulkInsert", "attachDisk")) for name in types)

    def up(self, *, refresh=False):
        """Run `up` with a new plugin."""
        self.stack.end_plugin()
        self.stack.up(self.inputs, refresh=refresh)

    def assert_settled(self, insertions=None):
        """Assert that Google accepted so many insertions, that the state is right, and that a destroy leaves nothing."""
        assert self.stack.failed is None
        assert insertions in {None, self.insertions}
        self.stack.end_plugin()
        require_settled(self.stack, self.inputs, self.before)


def _case(cloud, name):
    before = prepare(cloud)
    scenario = CREATIONS[name]
    stack = Stack(cloud, scenario.token)
    cloud.emulator.operations.done_at_once = True
    if "fleet" in name:
        stale, looks = {"body": EMPTY}, 3
    else:
        stale, looks = {"body": json.dumps(cloud.get(VM))} if name == "attachment" else MISSING, 1
    return Case(stack, before, scenario.inputs, READS[name], stale, looks)


@pytest.fixture
def case(request, cloud):
    made = _case(cloud, request.param)
    yield made
    cloud.emulator.faults.queue.clear()
    made.stack.end_plugin()


@pytest.mark.parametrize("case", [*NAMES, *FLEETS], indirect=True)
@pytest.mark.parametrize("done", [True, False], ids=["done at once", "done later"])
def test_what_becomes_visible_after_a_while_is_created_once(cloud, case, done):
    cloud.emulator.operations.done_at_once = done
    case.lag(3)
    case.up()
    if case.stack.failed is not None:  # it was kept in the state, unread
        assert not done
        case.up()

    assert case.stack.failed is None
    assert case.insertions == 1
    cloud.emulator.faults.queue.clear()
    case.assert_settled()


@pytest.mark.parametrize("case", [*NAMES, *FLEETS], indirect=True)
def test_what_does_not_become_visible_stays_in_the_state_and_is_found_by_the_next_run(cloud, case):
    case.lag()
    case.up()
    assert "un `pulumi up` again" in case.stack.failed.message
    assert case.stack.state is not None
    made = Inventory.of(cloud)
    cloud.emulator.faults.queue.clear()
    case.up()

    assert case.stack.failed is None
    assert case.insertions == 1
    assert Inventory.of(cloud) == made
    case.assert_settled()


@pytest.mark.parametrize("case", [*NAMES, *FLEETS], indirect=True)
def test_what_was_deleted_is_created_again_although_its_deletion_is_not_listed_at_once(cloud, case):
    case.up()
    cloud.clock.advance(1.0)
    case.stack.run("destroy", {})
    for scope in ("global", "region", "zone"):
        cloud.fail(f"compute.{scope}Operations.list", times=3, body=NO_OPERATIONS)
    case.up()

    assert case.stack.failed is None
    assert case.insertions == 2
    cloud.emulator.faults.queue.clear()
    case.assert_settled()


@pytest.mark.parametrize("case", [*NAMES, "fleet_with_id"], indirect=True)
def test_what_was_deleted_is_created_again_by_a_later_run_if_operations_may_not_be_listed(cloud, case):
    case.up()
    cloud.clock.advance(1.0)
    case.stack.run("destroy", {})
    for scope in ("global", "region", "zone"):
        cloud.fail(f"compute.{scope}Operations.list", status=403, times=FOR_GOOD)
    case.up()
    assert "un `pulumi up` again" in case.stack.failed.message
    case.up()
    if case.stack.failed is not None and case.stack.failed.partial is None:  # an update cannot change the name
        assert "run `pulumi up --refresh`" in case.stack.failed.message
        case.up(refresh=True)

    assert case.insertions == 2
    cloud.emulator.faults.queue.clear()
    case.up()
    case.assert_settled()


@pytest.mark.parametrize("name", [*NAMES, *FLEETS])
def test_a_creation_that_crashed_is_not_repeated_by_a_run_whose_reads_lag(cloud, name):
    case = _case(cloud, name)
    case.stack.crash("up", case.inputs, None, "after")
    made = Inventory.of(cloud)
    case.lag()
    case.up()
    assert case.stack.failed.partial is not None
    cloud.emulator.faults.queue.clear()
    case.up()
    if case.stack.failed is not None:  # an update cannot change the ID of what was created under another name
        assert "run `pulumi up --refresh`" in case.stack.failed.message
        case.up(refresh=True)

    assert case.stack.failed is None
    assert Inventory.of(cloud) == made
    case.assert_settled()


@pytest.mark.parametrize("case", ["template_named", "attachment", "fleet_with_id"], indirect=True)
def test_a_cancellation_ends_the_wait_for_what_is_not_visible(cloud, case):
    case.lag()
    engine, reads = case.stack.engine, []

    def cancel(_, request):
        if request.startswith("GET") and case.insertions:
            reads.append(request)
            engine.stub.Cancel(empty_pb2.Empty())

    with cloud.interceptor.observed(cancel):
        case.stack.up(case.inputs)
    assert case.stack.failed.partial is not None
    assert len(reads) <= case.looks
    cloud.emulator.faults.queue.clear()
    case.up()

    assert case.insertions == 1
    case.assert_settled()


@pytest.mark.parametrize("case", ["template_named", "attachment", "fleet_with_id"], indirect=True)
def test_a_custom_timeout_limits_the_wait_for_what_is_not_visible(cloud, case):
    case.lag()
    case.stack.engine.timeout = 5.0
    case.stack.up(case.inputs)
    assert case.stack.failed.partial is not None
    assert case.stack.provider.clock() <= 6.0
    cloud.emulator.faults.queue.clear()
    case.up()

    assert case.insertions == 1
    case.assert_settled()


@pytest.fixture
def beside(cloud):
    """The creation of an attachment to an instance that has another disk; and this disk."""
    made = _case(cloud, "attachment")
    other = cloud.make_disk("other")
    before = Inventory.of(cloud)
    cloud.post(f"/compute/v1/{VM}/attachDisk", {"source": other})
    made = attrs.evolve(made, before=before, stale={"body": json.dumps(cloud.get(VM))})
    yield made, other
    cloud.emulator.faults.queue.clear()
    made.stack.end_plugin()


def _detach_when_attached(case, other):
    """Run `up`, and detach another disk as soon as ours is attached."""
    seen = []

    def detach(_, request):
        if request.startswith("GET") and case.insertions and not seen:
            seen.append(request)
            case.stack.cloud.clock.advance(1.0)
            case.stack.cloud.detach(VM, other)

    with case.stack.cloud.interceptor.observed(detach):
        case.up()
    assert seen


def test_an_attachment_is_looked_for_although_another_disk_is_detached_meanwhile(cloud, beside):
    case, other = beside
    case.lag(3)
    _detach_when_attached(case, other)

    case.assert_settled(1)


def test_an_attachment_that_is_not_seen_and_is_refused_again_stays_in_the_state(cloud, beside):
    case, other = beside
    case.lag()
    _detach_when_attached(case, other)
    assert "The disk is already attached" in case.stack.failed.message
    assert case.stack.failed.partial is not None
    cloud.emulator.faults.queue.clear()
    case.up()

    case.assert_settled()


def test_an_attachment_of_a_crashed_run_is_kept_although_reads_lag_after_a_later_detachment_of_another_disk(
    cloud, beside
):
    case, other = beside
    case.stack.crash("up", case.inputs, None, "after")
    cloud.clock.advance(60.0)
    cloud.detach(VM, other)
    case.lag()
    case.up()
    assert "The disk is already attached" in case.stack.failed.message
    assert case.stack.failed.partial is not None
    assert case.stack.provider.clock() < 1.0
    cloud.emulator.faults.queue.clear()
    case.up()

    case.assert_settled(1)


@pytest.mark.parametrize("case", ["attachment"], indirect=True)
def test_a_disk_that_this_resource_detached_is_attached_again_without_a_wait(cloud, case):
    case.up()
    cloud.clock.advance(1.0)
    case.stack.run("destroy", {})
    case.stack.end_plugin()
    case.stack.up(case.inputs)

    assert case.stack.failed is None
    assert case.stack.provider.clock() < 1.0
    case.assert_settled()


@pytest.mark.parametrize("case", ["attachment"], indirect=True)
@pytest.mark.parametrize(("since", "waits"), [(1.0, 20.0), (20.0, 0.0), (60.0, 0.0)])
def test_a_disk_that_others_detached_is_attached_again_as_soon_as_reads_no_longer_lag(cloud, case, since, waits):
    case.up()
    for number in range(3):
        cloud.clock.advance(since)
        cloud.detach(VM, f"projects/{PROJECT}/zones/{ZONE}/disks/example-data")
        cloud.clock.advance(20.0)
        case.up(refresh=True)
        assert (case.stack.failed, case.insertions) == (None, 2 + number)
        assert case.stack.provider.clock() == waits, "only what was detached at once is looked for, not all before it"
    case.assert_settled()


def _crash_at_attachment(case, number):
    """Run `up` with a new plugin, which is killed when it has sent so many requests that attach a disk."""
    stack, interceptor, sent = case.stack, case.stack.cloud.interceptor, []

    def kill(_, request):
        if request.endswith("/attachDisk"):
            sent.append(request)
            if len(sent) == number:
                interceptor.lose("after")
                stack.kill()

    stack.end_plugin()
    with interceptor.observed(kill):
        stack.up(case.inputs, crashes=True)
    assert len(sent) == number
    stack.failed = None
    stack.end_plugin()
    interceptor.drain()


@pytest.mark.parametrize("case", ["attachment"], indirect=True)
def test_an_attachment_of_a_crashed_run_is_taken_over_however_often_others_detached_the_disk_before(cloud, case):
    for _ in range(5):
        case.up(refresh=True)
        cloud.clock.advance(60.0)
        cloud.detach(VM, f"projects/{PROJECT}/zones/{ZONE}/disks/example-data")
        cloud.clock.advance(60.0)
    case.stack.refresh()
    _crash_at_attachment(case, 6)
    case.up()

    case.assert_settled(6)


@pytest.fixture(params=["template_named", "image_named"])
def replaced(request, cloud):
    """The second half of a replacement that deletes first; and what reads showed before it."""
    made = _case(cloud, request.param)
    made.up()
    stale = {"body": json.dumps(cloud.get(made.stack.state.id))}
    cloud.clock.advance(1.0)
    made.stack.run("destroy", {})
    cloud.clock.advance(1.0)
    yield attrs.evolve(made, inputs=CREATIONS[request.param].other, stale=stale)
    cloud.emulator.faults.queue.clear()
    made.stack.end_plugin()


@pytest.mark.parametrize("done", [True, False], ids=["done at once", "done later"])
def test_a_replacement_is_looked_for_while_reads_show_what_had_its_name_before(cloud, replaced, done):
    cloud.emulator.operations.done_at_once = done
    replaced.lag(3)
    replaced.up()
    if replaced.stack.failed is not None:  # it was kept in the state, unread
        assert not done
        assert replaced.stack.failed.partial is not None
        cloud.emulator.faults.queue.clear()
        replaced.up()

    replaced.assert_settled(2)


def test_a_replacement_that_does_not_become_visible_stays_in_the_state(cloud, replaced):
    replaced.lag()
    replaced.up()
    assert "un `pulumi up` again" in replaced.stack.failed.message
    assert replaced.stack.failed.partial is not None
    cloud.emulator.faults.queue.clear()
    replaced.up()

    replaced.assert_settled(2)


@pytest.mark.parametrize("case", ["attachment"], indirect=True)
@pytest.mark.parametrize("looks", [3, FOR_GOOD], ids=["for a while", "for good"])
def test_a_disk_is_attached_once_although_reads_do_not_show_the_instance(cloud, case, looks):
    cloud.fail(case.reads, times=looks, **MISSING)
    case.up()
    if looks == FOR_GOOD:
        assert case.stack.failed.partial is not None
        cloud.emulator.faults.queue.clear()
        case.up()

    case.assert_settled(1)


@pytest.mark.parametrize("case", ["attachment"], indirect=True)
def test_a_disk_is_attached_again_to_an_instance_that_was_created_anew(cloud, case):
    case.up()
    cloud.clock.advance(1.0)
    url = f"http://{cloud.host}/compute/v1/{VM}"
    plain_http.delete(url).raise_for_status()
    cloud.emulator.operations.settle()
    cloud.clock.advance(1.0)
    cloud.make_instance()
    case.stack.refresh()
    assert case.stack.state is None
    case.up()

    assert case.stack.failed is None
    assert case.insertions == 2
